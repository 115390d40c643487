//! From a member to the leaf that holds it: eight bytes a member, whatever its length.

use ahash::RandomState;

use super::arena::Id;
use crate::store::hash_bytes;
use crate::store::segments::{Place, Segments};

/// One member's leaf. Members of one leaf whose hashes agree have equal pointers, which may stand
/// for each other.
#[derive(Clone, Copy, Debug)]
struct Pointer {
    hash: u32,
    leaf: Id,
}

impl Pointer {
    /// The hash in the width that the table wants, computed from what the pointer keeps.
    fn wide_hash(&self) -> u64 {
        u64::from(self.hash).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// The leaves of all members of a tree.
#[derive(Clone, Debug)]
pub(super) struct Index {
    seeds: RandomState,
    pointers: Segments<Pointer>,
}

impl Index {
    pub(super) fn new(seeds: RandomState) -> Self {
        Self {
            seeds,
            pointers: Segments::default(),
        }
    }

    /// How many members there are.
    pub(super) fn len(&self) -> usize {
        self.pointers.len()
    }

    /// Adds a member.
    pub(super) fn add(&mut self, member: &[u8], leaf: Id) {
        let pointer = self.pointer(member, leaf);
        self.pointers
            .insert(pointer.wide_hash(), pointer, Pointer::wide_hash);
    }

    /// The leaf of a member, and the place there that `find_in` gives for it; `find_in` is asked
    /// about leaves that may not hold the member.
    #[inline]
    pub(super) fn find(
        &self,
        member: &[u8],
        mut find_in: impl FnMut(Id) -> Option<usize>,
    ) -> Option<Found> {
        let sought = self.pointer(member, 0);
        let mut at = None;
        let place = self.pointers.find(sought.wide_hash(), |pointer| {
            if pointer.hash == sought.hash {
                at = find_in(pointer.leaf);
            }
            at.is_some()
        })?;
        Some(Found {
            leaf: self.pointers.get(place)?.leaf,
            at: at?,
            place,
        })
    }

    /// Notes that a member has moved to another leaf.
    pub(super) fn relocate(&mut self, member: &[u8], from: Id, to: Id) {
        let sought = self.pointer(member, from);
        let place = self.pointers.find(sought.wide_hash(), |pointer| {
            pointer.hash == sought.hash && pointer.leaf == from
        });
        if let Some(pointer) = place.and_then(|place| self.pointers.get_mut(place)) {
            pointer.leaf = to;
        }
    }

    /// Removes the member that was found.
    pub(super) fn remove(&mut self, found: &Found) {
        self.pointers.remove(found.place, Pointer::wide_hash);
    }

    /// Drops some of it, for giving it up bit by bit; false when nothing is left.
    pub(super) fn drop_some(&mut self) -> bool {
        self.pointers.take_segment().is_some()
    }

    fn pointer(&self, member: &[u8], leaf: Id) -> Pointer {
        let hash = hash_bytes(&self.seeds, member);
        Pointer {
            hash: (hash >> 32) as u32,
            leaf,
        }
    }
}

/// A member that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The leaf that holds it.
    pub(super) leaf: Id,
    /// Its place in the leaf.
    pub(super) at: usize,
    place: Place,
}
