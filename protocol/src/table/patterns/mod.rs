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
//! Which nodes there are depends on the patterns alone, not on the order in which they came and went.

mod node;
mod place;
mod search;
mod shape;
#[cfg(test)]
mod tests;
mod twins;

use std::cell::Cell;

use node::Node;
use place::{Place, What};
use twins::Twins;

/// Tokens other than literals that a pattern can have in the trie.
const WILDS_MAX: usize = 64;

/// Where the root is, once there is a pattern.
const ROOT: u32 = 0;

/// The index. Patterns are known to it by numbers that the caller chooses, dense and below 2^30.
pub(super) struct PatternIndex {
    nodes: Vec<Node>,
    vacant: Vec<u32>,
    patterns: usize,
    twins: Twins,
    /// By pattern: the query that found it last, for those that need to be found only once.
    found: Vec<Cell<u64>>,
    queries: Cell<u64>,
}

impl PatternIndex {
    pub(super) const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            vacant: Vec::new(),
            patterns: 0,
            twins: Twins::new(),
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
        if place.owner.is_some() && self.found.len() <= id as usize {
            self.found.resize(id as usize + 1, Cell::new(0));
        }
        let node = &mut self.nodes[place.node as usize];
        let present = match place.what {
            What::End => node.extra_mut().end.replace(id),
            What::Tail => node.extra_mut().tail.replace(id),
            What::Crowd => {
                node.wild_mut().crowd.insert(id, pattern.into());
                None
            }
        };
        match present {
            Some(present) => self.twins.add(id, present),
            None => self.count(&place, 1),
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
        let last = match place.what {
            What::End => self.twins.remove(id, &mut node.extra_mut().end),
            What::Tail => self.twins.remove(id, &mut node.extra_mut().tail),
            What::Crowd => node.wild_mut().crowd.remove(&id).is_some(),
        };
        node.tidy();
        if last {
            self.count(&place, -1);
        }
        for step in place.steps.into_iter().rev() {
            self.compact(step);
        }
    }

    /// Counts a pattern that came to or left a place below a star.
    fn count(&mut self, place: &Place<'_>, change: i32) {
        let Some(owner) = place.owner else { return };
        let star = &mut self.nodes[owner as usize].wild_mut().star;
        match place.what {
            What::End => {
                star.ends = star.ends.saturating_add_signed(change);
                star.width_max = match star.ends {
                    0 => 0,
                    _ => star.width_max.max(place.width),
                };
            }
            What::Tail | What::Crowd => star.onces = star.onces.saturating_add_signed(change),
        }
    }
}
