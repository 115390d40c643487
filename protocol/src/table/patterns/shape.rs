//! How nodes are made, divided, joined and dropped, so that the trie is as small as it can be.

use super::PatternIndex;
use super::node::{Content, Node, Ref, Star};

/// The last part of the way to a node: the parent and what leads on from it.
#[derive(Clone, Copy)]
pub(super) struct Step<'a> {
    pub(super) parent: u32,
    pub(super) via: Via<'a>,
}

#[derive(Clone, Copy)]
pub(super) enum Via<'a> {
    Byte(u8),
    Any,
    Class(&'a [u8]),
    /// The node whose star sweeps over the parent, if any.
    Star {
        owner: Option<u32>,
    },
}

impl PatternIndex {
    /// The node that a step leads to, made from what is there if that is less than a node; and
    /// whether there was nothing.
    pub(super) fn resolve(&mut self, step: Step<'_>) -> (u32, bool) {
        let content = self.reference(step).content();
        let mut node = Node::default();
        match content {
            Content::Node(node) => return (node, false),
            Content::Nothing => {}
            Content::End(id) => node.extra_mut().end = Some(id),
            Content::Tail(id) => node.extra_mut().tail = Some(id),
        }
        let node = self.add(node);
        self.set_reference(step, Ref::node(node));
        (node, matches!(content, Content::Nothing))
    }

    /// Cuts the label of `node`, where `step` leads to, after `common` bytes, and returns the new
    /// node before the cut.
    pub(super) fn split(&mut self, step: Step<'_>, node: u32, common: usize) -> u32 {
        let below = &mut self.nodes[node as usize];
        let label = below.take_label();
        let byte = label[common];
        below.set_label(&label[common + 1..]);
        let mut upper = Node::default();
        upper.set_label(&label[..common]);
        upper.set_child(byte, Ref::node(node));
        let upper = self.add(upper);
        self.set_reference(step, Ref::node(upper));
        // What is below may be no more than the end of one pattern now.
        self.compact(Step {
            parent: upper,
            via: Via::Byte(byte),
        });
        upper
    }

    /// Makes what a step leads to as small as it can be: a node without content goes, one that only
    /// ends a pattern becomes a mere reference, one that only leads on joins the next.
    pub(super) fn compact(&mut self, step: Step<'_>) {
        let Content::Node(at) = self.reference(step).content() else {
            return;
        };
        let node = &self.nodes[at as usize];
        if let Some(reference) = node.as_reference() {
            self.set_reference(step, reference);
            self.free(at);
            if let (Via::Star { owner: Some(owner) }, Ref::NONE) = (step.via, reference) {
                self.nodes[owner as usize].wild_mut().star.onces -= 1;
            }
            return;
        }
        let (Via::Byte(_), Some(byte)) = (step.via, node.only_byte()) else {
            return;
        };
        let (below, _) = self.resolve(Step {
            parent: at,
            via: Via::Byte(byte),
        });
        let upper = self.free(at);
        let lower = &mut self.nodes[below as usize];
        let label = [upper.label(), &[byte], lower.label()].concat();
        lower.set_label(&label);
        self.set_reference(step, Ref::node(below));
    }

    fn reference(&self, step: Step<'_>) -> Ref {
        let parent = &self.nodes[step.parent as usize];
        match (step.via, parent.wild()) {
            (Via::Byte(byte), _) => parent.child(byte),
            (_, None) => Ref::NONE,
            (Via::Any, Some(wild)) => wild.any,
            (Via::Class(inside), Some(wild)) => {
                wild.classes.get(inside).copied().unwrap_or_default()
            }
            (Via::Star { .. }, Some(wild)) => wild.star.root,
        }
    }

    fn set_reference(&mut self, step: Step<'_>, reference: Ref) {
        let parent = &mut self.nodes[step.parent as usize];
        if let Via::Byte(byte) = step.via {
            return parent.set_child(byte, reference);
        }
        let wild = parent.wild_mut();
        match step.via {
            Via::Any | Via::Byte(_) => wild.any = reference,
            Via::Class(inside) if reference == Ref::NONE => {
                wild.classes.remove(inside);
            }
            Via::Class(inside) => {
                wild.classes.insert(inside.into(), reference);
            }
            Via::Star { .. } if reference == Ref::NONE => wild.star = Star::default(),
            Via::Star { .. } => wild.star.root = reference,
        }
        parent.tidy();
    }

    fn add(&mut self, node: Node) -> u32 {
        if let Some(at) = self.vacant.pop() {
            self.nodes[at as usize] = node;
            return at;
        }
        self.nodes.push(node);
        self.nodes.len() as u32 - 1
    }

    fn free(&mut self, at: u32) -> Node {
        self.vacant.push(at);
        std::mem::take(&mut self.nodes[at as usize])
    }
}
