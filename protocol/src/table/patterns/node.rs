//! The parts of the trie: nodes, references to them, and what is rare enough to be kept apart.

use std::cell::Cell;
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

/// A place in the trie.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Literals that follow the token that led here, all of which the name must have.
    pub(super) label: Box<[u8]>,
    /// What each literal leads to, from `low` on without gaps; the first and the last lead to
    /// something.
    children: Box<[Ref]>,
    low: u8,
    /// The pattern that ends here.
    pub(super) end: Option<u32>,
    /// The pattern that ends here but for a star.
    pub(super) tail: Option<u32>,
    pub(super) wild: Option<Box<Wild>>,
}

/// What other tokens than literals lead to from a node. Exists only if they lead to something.
#[derive(Debug, Default)]
pub(super) struct Wild {
    pub(super) any: Ref,
    pub(super) classes: Vec<Class>,
    pub(super) star: Star,
    /// Patterns with too many wild tokens to go on.
    pub(super) crowd: Vec<(u32, Box<[u8]>)>,
}

/// A class and what it leads to.
#[derive(Debug)]
pub(super) struct Class {
    /// Its text, without the first bracket.
    pub(super) inside: Box<[u8]>,
    pub(super) next: Ref,
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

    /// The only literal that leads on, if there is just one and the node has no other use.
    pub(super) fn only_byte(&self) -> Option<u8> {
        let only = self.children.len() == 1
            && self.end.is_none()
            && self.tail.is_none()
            && self.wild.is_none();
        only.then_some(self.low)
    }

    /// What can stand for the node, if nothing of it but that is needed.
    pub(super) fn as_reference(&self) -> Option<Ref> {
        if !self.children.is_empty() || self.wild.is_some() {
            return None;
        }
        match (self.end, self.tail) {
            (None, None) => Some(Ref::NONE),
            (Some(id), None) if self.label.is_empty() => Some(Ref::end(id)),
            (None, Some(id)) if self.label.is_empty() => Some(Ref::tail(id)),
            _ => None,
        }
    }

    pub(super) fn wild_mut(&mut self) -> &mut Wild {
        self.wild.get_or_insert_default()
    }

    pub(super) fn drop_vacant_wild(&mut self) {
        let vacant = |wild: &Wild| {
            wild.any == Ref::NONE
                && wild.classes.is_empty()
                && wild.star.root == Ref::NONE
                && wild.crowd.is_empty()
        };
        if self.wild.as_deref().is_some_and(vacant) {
            self.wild = None;
        }
    }

    /// The first place from `from` on where something below the node could begin.
    pub(super) fn next_start(&self, name: &[u8], from: usize) -> Option<usize> {
        let rest = name.get(from..)?;
        let skipped = match *self.children {
            _ if self.wild.is_some() => (!rest.is_empty()).then_some(0),
            [_] => memchr::memchr(self.low, rest),
            _ => rest.iter().position(|byte| self.child(*byte) != Ref::NONE),
        };
        skipped.map(|skipped| from + skipped)
    }
}
