//! The parts of the trie: nodes, references to them, and what is rare enough to be kept apart.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;

/// What a branch leads to, in four bytes: nothing, a node, or just one pattern that ends here, or
/// that ends here with a star. The latter make no node necessary for most patterns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Ref(u32);

/// A [`Ref`], taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Nothing,
    Node(u32),
    End(u32),
    Tail(u32),
}

impl Ref {
    pub(super) const NONE: Self = Self(u32::MAX);
    /// Set in what is no node.
    const LEAF: u32 = 1 << 31;
    const TAIL: u32 = 1 << 30;

    pub(super) const fn node(node: u32) -> Self {
        Self(node)
    }

    const fn end(pattern: u32) -> Self {
        Self(pattern | Self::LEAF)
    }

    const fn tail(pattern: u32) -> Self {
        Self(pattern | Self::LEAF | Self::TAIL)
    }

    pub(super) const fn content(self) -> Content {
        match self.0 {
            node if node & Self::LEAF == 0 => Content::Node(node),
            u32::MAX => Content::Nothing,
            tail if tail & Self::TAIL != 0 => Content::Tail(tail & !(Self::LEAF | Self::TAIL)),
            end => Content::End(end & !Self::LEAF),
        }
    }
}

impl Default for Ref {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Debug for Ref {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.content().fmt(f)
    }
}

/// A place in the trie. Most only choose by the next byte, which `extra` keeps to one test.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// What each literal leads to, from `low` on without gaps; the first and the last lead to
    /// something.
    children: Box<[Ref]>,
    low: u8,
    /// Exists only if there is something in it.
    pub(super) extra: Option<Box<Extra>>,
}

/// What else there can be in a place.
#[derive(Debug, Default)]
pub(super) struct Extra {
    /// Literals that follow the token that led here, all of which the name must have.
    pub(super) label: Box<[u8]>,
    /// The pattern that ends here.
    pub(super) end: Option<u32>,
    /// The pattern that ends here but for a star.
    pub(super) tail: Option<u32>,
    /// Exists only if it leads to something.
    pub(super) wild: Option<Box<Wild>>,
}

/// What other tokens than literals lead to from a node.
#[derive(Debug, Default)]
pub(super) struct Wild {
    pub(super) any: Ref,
    /// By the text of the class, without its first bracket.
    pub(super) classes: BTreeMap<Box<[u8]>, Ref>,
    pub(super) star: Star,
    /// Patterns with too many wild tokens to go on.
    pub(super) crowd: BTreeMap<u32, Box<[u8]>>,
}

/// A star that something follows. What counts as below it ends with the next star.
#[derive(Debug, Default)]
pub(super) struct Star {
    /// A node with an empty label and neither end nor tail, or nothing.
    pub(super) root: Ref,
    /// Stars, tails and members of crowds below.
    pub(super) onces: u32,
    /// Patterns that end below, without a star.
    pub(super) ends: u32,
    /// The bytes that such a pattern takes after the star, at most.
    pub(super) width_max: u32,
    /// The query that reached it last.
    pub(super) reached: Cell<u64>,
}

impl Node {
    pub(super) fn child(&self, byte: u8) -> Ref {
        let offset = byte.wrapping_sub(self.low);
        self.children
            .get(usize::from(offset))
            .copied()
            .unwrap_or(Ref::NONE)
    }

    pub(super) fn set_child(&mut self, byte: u8, reference: Ref) {
        let offset = usize::from(byte.wrapping_sub(self.low));
        if let (Some(child), true) = (self.children.get_mut(offset), reference != Ref::NONE) {
            *child = reference;
            return;
        }
        let mut all = [Ref::NONE; 256];
        let low = usize::from(self.low);
        all[low..low + self.children.len()].copy_from_slice(&self.children);
        all[usize::from(byte)] = reference;
        let used = |child: &Ref| *child != Ref::NONE;
        let first = all.iter().position(used).unwrap_or(0);
        let end = all.iter().rposition(used).map_or(first, |last| last + 1);
        self.low = first as u8;
        self.children = all[first..end].into();
    }

    /// The only literal that leads on, if the node has no other use than that and its label.
    pub(super) fn only_byte(&self) -> Option<u8> {
        let labelled =
            |extra: &Extra| extra.end.is_none() && extra.tail.is_none() && extra.wild.is_none();
        let only = self.children.len() == 1 && self.extra.as_deref().is_none_or(labelled);
        only.then_some(self.low)
    }

    /// What can stand for the node, if it has no more use than that.
    pub(super) fn as_reference(&self) -> Option<Ref> {
        if !self.children.is_empty() {
            return None;
        }
        let Some(extra) = &self.extra else {
            return Some(Ref::NONE);
        };
        match (extra.end, extra.tail, &extra.wild) {
            (None, None, None) => Some(Ref::NONE),
            (Some(id), None, None) if extra.label.is_empty() => Some(Ref::end(id)),
            (None, Some(id), None) if extra.label.is_empty() => Some(Ref::tail(id)),
            _ => None,
        }
    }

    pub(super) fn label(&self) -> &[u8] {
        self.extra.as_ref().map_or(&[], |extra| &extra.label)
    }

    pub(super) fn take_label(&mut self) -> Box<[u8]> {
        self.extra
            .as_mut()
            .map(|extra| std::mem::take(&mut extra.label))
            .unwrap_or_default()
    }

    pub(super) fn set_label(&mut self, label: &[u8]) {
        self.extra_mut().label = label.into();
        self.tidy();
    }

    pub(super) fn wild(&self) -> Option<&Wild> {
        self.extra.as_ref()?.wild.as_deref()
    }

    /// May create what must not stay when nothing is put there: `tidy` follows.
    pub(super) fn extra_mut(&mut self) -> &mut Extra {
        self.extra.get_or_insert_default()
    }

    /// Like `extra_mut`.
    pub(super) fn wild_mut(&mut self) -> &mut Wild {
        self.extra_mut().wild.get_or_insert_default()
    }

    /// Drops what there is no use for.
    pub(super) fn tidy(&mut self) {
        let Some(extra) = &mut self.extra else { return };
        extra.wild.take_if(|wild| wild.is_vacant());
        self.extra.take_if(|extra| {
            extra.label.is_empty()
                && extra.end.is_none()
                && extra.tail.is_none()
                && extra.wild.is_none()
        });
    }

    /// The first place from `from` on where something below the node could begin.
    pub(super) fn next_start(&self, name: &[u8], from: usize) -> Option<usize> {
        let rest = name.get(from..)?;
        let skipped = match *self.children {
            _ if self.wild().is_some() => (!rest.is_empty()).then_some(0),
            [_] => memchr::memchr(self.low, rest),
            _ => rest.iter().position(|byte| self.child(*byte) != Ref::NONE),
        };
        skipped.map(|skipped| from + skipped)
    }
}

impl Wild {
    fn is_vacant(&self) -> bool {
        self.any == Ref::NONE
            && self.classes.is_empty()
            && self.star.root == Ref::NONE
            && self.crowd.is_empty()
    }
}
