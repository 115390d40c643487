//! Nodes by number: what a pointer would be, in four bytes and without `unsafe`.

use std::ops::{Index, IndexMut};

/// Names a node of an arena.
pub(super) type Id = u32;
/// Names no node.
pub(super) const NONE: Id = Id::MAX;

/// Nodes of type `T`. Indexing with a number that was not handed out panics.
#[derive(Clone, Debug)]
pub(super) struct Arena<T> {
    nodes: Vec<T>,
    free: Vec<Id>,
}

impl<T: Default> Arena<T> {
    pub(super) const fn new() -> Self {
        Self {
            nodes: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Takes in a node. There are fewer than 2³² of them: memory ends before.
    pub(super) fn add(&mut self, node: T) -> Id {
        if let Some(id) = self.free.pop() {
            self[id] = node;
            return id;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as Id
    }

    /// Takes out a node, whose number may be handed out again.
    pub(super) fn remove(&mut self, id: Id) -> T {
        self.free.push(id);
        std::mem::take(&mut self[id])
    }

    /// Drops any node, for giving up all bit by bit; false when none is left.
    pub(super) fn drop_one(&mut self) -> bool {
        self.nodes.pop().is_some()
    }
}

impl<T> Index<Id> for Arena<T> {
    type Output = T;

    #[inline]
    fn index(&self, id: Id) -> &T {
        &self.nodes[id as usize]
    }
}

impl<T> IndexMut<Id> for Arena<T> {
    #[inline]
    fn index_mut(&mut self, id: Id) -> &mut T {
        &mut self.nodes[id as usize]
    }
}
