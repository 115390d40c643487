//! Finds the patterns that match a channel without trying them all.
//!
//! All patterns are one trie of glob tokens. A run of literals is compressed into a node's label;
//! `?` and each distinct class lead to a node of their own; so does a star, unless it ends its
//! pattern: then the node before it says so (`tail`). Walking a name down the trie follows every
//! branch that accepts it. Escapes are literals here, and adjacent stars are one.
//!
//! Below a star the trie is tried again from each later byte of the name (see `search`). What lies
//! below two stars is tried only from the earliest place where the second can be reached, because
//! from there it reaches everything that it reaches from later ones. A star therefore counts the
//! further stars and tails directly below it (`onces`), of which each query needs to reach each
//! only once, and knows how far from the end of the name the patterns end that have no further star
//! (`width_max`). When all that is needed once is reached, only the last `width_max` bytes are left
//! to try. So `prefix*` costs the prefix, `*suffix` the suffix, `*infix*` a scan for its first byte,
//! and however many patterns there are, the worst is their total length × the name.
//!
//! A pattern with more than [`WILDS_MAX`] tokens that are no literals goes into a `crowd` where the
//! next of these would be, and is tried on its own; that bounds the recursion.
//!
//! The shape depends on the patterns alone, not on the order in which they came and went.

mod node;
mod search;

use std::cell::Cell;

use crate::glob::{self, Token};
use node::{Class, Content, Node, Ref, Star};

/// Tokens other than literals that a pattern can have in the trie.
const WILDS_MAX: usize = 64;

/// Where the root is, once there is a pattern.
const ROOT: u32 = 0;

/// The index. Patterns are known to it by numbers that the caller chooses, dense and below 2^30.
pub(super) struct PatternIndex {
    nodes: Vec<Node>,
    vacant: Vec<u32>,
    patterns: usize,
    /// By pattern: the query that found it last, for those that need to be found only once.
    found: Vec<Cell<u64>>,
    queries: Cell<u64>,
}

/// The way to a node: the parent and what leads on from it.
#[derive(Clone, Copy)]
struct Step {
    parent: u32,
    via: Via,
}

#[derive(Clone, Copy)]
enum Via {
    Byte(u8),
    Any,
    /// Index into the parent's classes.
    Class(usize),
    /// The node whose star sweeps over the parent, if any.
    Star {
        owner: Option<u32>,
    },
}

/// Where a pattern is, or goes.
struct Place {
    node: u32,
    what: What,
    steps: Vec<Step>,
    /// The node with the last star before this place.
    owner: Option<u32>,
    /// Bytes of the name between that star and this place.
    width: u32,
}

enum What {
    End,
    Tail,
    Crowd,
}

impl PatternIndex {
    pub(super) const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            vacant: Vec::new(),
            patterns: 0,
            found: Vec::new(),
            queries: Cell::new(0),
        }
    }

    /// Adds a pattern that is not in the index, under a number that is not in use.
    pub(super) fn insert(&mut self, id: u32, pattern: &[u8]) {
        if self.patterns == 0 {
            self.nodes.push(Node::default());
        }
        self.patterns += 1;
        let place = self.place(pattern);
        let node = &mut self.nodes[place.node as usize];
        match place.what {
            What::End => node.end = Some(id),
            What::Tail => node.tail = Some(id),
            What::Crowd => node.wild_mut().crowd.push((id, pattern.into())),
        }
        if let Some(owner) = place.owner {
            let star = &mut self.nodes[owner as usize].wild_mut().star;
            match place.what {
                What::End => {
                    star.ends += 1;
                    star.width_max = star.width_max.max(place.width);
                }
                What::Tail | What::Crowd => {
                    star.onces += 1;
                    if self.found.len() <= id as usize {
                        self.found.resize(id as usize + 1, Cell::new(0));
                    }
                }
            }
        }
        if let Some(step) = place.steps.last() {
            self.compact(*step);
        }
    }

    /// Removes a pattern that was added under this number.
    pub(super) fn remove(&mut self, id: u32, pattern: &[u8]) {
        self.patterns -= 1;
        if self.patterns == 0 {
            *self = Self::new();
            return;
        }
        let place = self.place(pattern);
        let node = &mut self.nodes[place.node as usize];
        match place.what {
            What::End => node.end = None,
            What::Tail => node.tail = None,
            What::Crowd => {
                node.wild_mut().crowd.retain(|(other, _)| *other != id);
                node.drop_vacant_wild();
            }
        }
        if let Some(owner) = place.owner {
            let star = &mut self.nodes[owner as usize].wild_mut().star;
            match place.what {
                What::End => star.ends -= 1,
                What::Tail | What::Crowd => star.onces -= 1,
            }
            if star.ends == 0 {
                star.width_max = 0;
            }
        }
        for step in place.steps.into_iter().rev() {
            self.compact(step);
        }
    }

    /// Finds the place of a pattern, building the way there where it does not exist. The last node
    /// is one even if it could be less: `compact` undoes that.
    fn place(&mut self, pattern: &[u8]) -> Place {
        let mut place = Place {
            node: ROOT,
            what: What::End,
            steps: Vec::new(),
            owner: None,
            width: 0,
        };
        let mut literals = Vec::new();
        let mut wilds = 0;
        let mut rest = pattern;
        while let Some((token, after)) = glob::next_token(rest) {
            rest = after;
            if let Token::Literal(byte) = token {
                literals.push(byte);
                continue;
            }
            self.follow_literals(&mut place, &literals);
            literals.clear();
            if token == Token::Star && rest.is_empty() {
                place.what = What::Tail;
                return place;
            }
            if wilds == WILDS_MAX {
                place.what = What::Crowd;
                return place;
            }
            wilds += 1;
            self.follow_wild(&mut place, token);
        }
        self.follow_literals(&mut place, &literals);
        place
    }

    fn follow_literals(&mut self, place: &mut Place, mut literals: &[u8]) {
        place.width += literals.len() as u32;
        while let [first, rest @ ..] = literals {
            let step = Step {
                parent: place.node,
                via: Via::Byte(*first),
            };
            place.steps.push(step);
            let (node, new) = self.resolve(step);
            if new {
                self.nodes[node as usize].label = rest.into();
            }
            let label = &self.nodes[node as usize].label;
            let common = rest.iter().zip(label).take_while(|(a, b)| a == b).count();
            place.node = if common < label.len() {
                self.split(step, node, common)
            } else {
                node
            };
            literals = &rest[common..];
        }
    }

    fn follow_wild(&mut self, place: &mut Place, token: Token<'_>) {
        let at = place.node;
        place.width += 1;
        let wild = self.nodes[at as usize].wild_mut();
        let via = match token {
            Token::Class(inside) => {
                let found = wild
                    .classes
                    .iter()
                    .position(|class| *class.inside == *inside);
                Via::Class(found.unwrap_or_else(|| {
                    wild.classes.push(Class {
                        inside: inside.into(),
                        next: Ref::NONE,
                    });
                    wild.classes.len() - 1
                }))
            }
            Token::Star => Via::Star { owner: place.owner },
            Token::Any | Token::Literal(_) => Via::Any,
        };
        let step = Step { parent: at, via };
        let (node, new) = self.resolve(step);
        if let Via::Star { owner } = via {
            if let (true, Some(owner)) = (new, owner) {
                self.nodes[owner as usize].wild_mut().star.onces += 1;
            }
            place.owner = Some(at);
            place.width = 0;
        }
        place.steps.push(step);
        place.node = node;
    }

    /// The node that a step leads to, made from what is there if that is less than a node; and
    /// whether there was nothing.
    fn resolve(&mut self, step: Step) -> (u32, bool) {
        let content = self.reference(step).content();
        let mut node = Node::default();
        match content {
            Content::Node(node) => return (node, false),
            Content::Nothing => {}
            Content::End(id) => node.end = Some(id),
            Content::Tail(id) => node.tail = Some(id),
        }
        let node = self.add(node);
        self.set_reference(step, Ref::node(node));
        (node, matches!(content, Content::Nothing))
    }

    /// Cuts the label of `node`, where `step` leads to, after `common` bytes, and returns the new
    /// node before the cut.
    fn split(&mut self, step: Step, node: u32, common: usize) -> u32 {
        let below = &mut self.nodes[node as usize];
        let mut upper = Node::default();
        upper.label = below.label[..common].into();
        upper.set_child(below.label[common], Ref::node(node));
        below.label = below.label[common + 1..].into();
        let upper = self.add(upper);
        self.set_reference(step, Ref::node(upper));
        // What is below may be no more than the end of one pattern now.
        let byte = self.nodes[upper as usize].only_byte();
        if let Some(byte) = byte {
            self.compact(Step {
                parent: upper,
                via: Via::Byte(byte),
            });
        }
        upper
    }

    /// Makes what a step leads to as small as it can be: a node without content goes, one that only
    /// ends a pattern becomes a mere reference, one that only leads on joins the next.
    fn compact(&mut self, step: Step) {
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
        lower.label = [&upper.label, &[byte][..], &lower.label].concat().into();
        self.set_reference(step, Ref::node(below));
    }

    fn reference(&self, step: Step) -> Ref {
        let parent = &self.nodes[step.parent as usize];
        match (step.via, &parent.wild) {
            (Via::Byte(byte), _) => parent.child(byte),
            (_, None) => Ref::NONE,
            (Via::Any, Some(wild)) => wild.any,
            (Via::Class(index), Some(wild)) => wild.classes[index].next,
            (Via::Star { .. }, Some(wild)) => wild.star.root,
        }
    }

    fn set_reference(&mut self, step: Step, reference: Ref) {
        let parent = &mut self.nodes[step.parent as usize];
        match step.via {
            Via::Byte(byte) => return parent.set_child(byte, reference),
            Via::Any => parent.wild_mut().any = reference,
            Via::Class(index) if reference == Ref::NONE => {
                parent.wild_mut().classes.remove(index);
            }
            Via::Class(index) => parent.wild_mut().classes[index].next = reference,
            Via::Star { .. } if reference == Ref::NONE => {
                parent.wild_mut().star = Star::default();
            }
            Via::Star { .. } => parent.wild_mut().star.root = reference,
        }
        parent.drop_vacant_wild();
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
