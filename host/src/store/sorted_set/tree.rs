//! A large sorted set: a B+-tree whose leaves hold the members, and an index from members to leaves.
//!
//! A leaf is a [`Run`]; leaves are linked in order. An inner node keeps, per child, how many members
//! are below it and the lowest score there; the lowest member is read from the leaf that holds it
//! when scores are equal. Thus a member's bytes exist once, and both rank → member and member → rank
//! follow one path of the tree. Nodes know their parents: a member found through the index is ranked
//! upwards.
//!
//! Invariants: all leaves are at the same depth; the counts and lowest scores in a parent are those
//! of the child; the root is a leaf or has two children at least; only a root leaf may be empty; the
//! index has exactly the members of the leaves. Two neighbouring small nodes of one parent are
//! joined, so that the depth stays logarithmic.

#[cfg(test)]
pub(in crate::store) mod check;
mod shape;

use ahash::RandomState;

use super::arena::{Arena, Id, NONE};
use super::index::{Found, Index};
use super::run::{Entry, Run};

/// Most entries of a leaf.
const LEAF_ENTRIES_MAX: usize = 64;
/// Most bytes of a leaf's members, unless it has a single one.
const LEAF_BYTES_MAX: usize = 16 * 1024;
/// Most children of an inner node.
const CHILDREN_MAX: usize = 64;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    leaves: Arena<Leaf>,
    inners: Arena<Inner>,
    /// A leaf when `height` is 0, else an inner node.
    root: Id,
    /// How many levels of inner nodes there are.
    height: usize,
    index: Index,
}

#[derive(Clone, Debug)]
struct Leaf {
    run: Run,
    parent: Id,
    previous: Id,
    next: Id,
}

impl Default for Leaf {
    fn default() -> Self {
        Self {
            run: Run::default(),
            parent: NONE,
            previous: NONE,
            next: NONE,
        }
    }
}

#[derive(Clone, Debug)]
struct Inner {
    parent: Id,
    children: Vec<Child>,
}

impl Default for Inner {
    fn default() -> Self {
        Self {
            parent: NONE,
            children: Vec::new(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Child {
    /// The lowest score below.
    score: f64,
    /// How many members are below.
    count: usize,
    node: Id,
    /// The leaf with the lowest member below.
    first_leaf: Id,
}

impl Inner {
    fn position(&self, node: Id) -> usize {
        self.children
            .iter()
            .position(|child| child.node == node)
            .unwrap_or(0)
    }
}

/// Where an entry is, or would be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) leaf: Id,
    pub(super) at: usize,
}

impl Tree {
    /// A tree without members, which hashes with `seeds`.
    pub(super) fn new(seeds: RandomState) -> Self {
        let mut leaves = Arena::new();
        let root = leaves.add(Leaf::default());
        Self {
            leaves,
            inners: Arena::new(),
            root,
            height: 0,
            index: Index::new(seeds),
        }
    }

    /// How many members there are.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// Where a member is.
    pub(super) fn find(&self, member: &[u8]) -> Option<Found> {
        self.index
            .find(member, |leaf| self.leaves[leaf].run.find(member))
    }

    /// The score of a member that was found.
    pub(super) fn score(&self, found: &Found) -> f64 {
        self.leaves[found.leaf].run.score(found.at)
    }

    /// How many members come before one that was found.
    pub(super) fn rank(&self, found: &Found) -> usize {
        let mut rank = found.at;
        let (mut node, mut parent) = (found.leaf, self.leaves[found.leaf].parent);
        while parent != NONE {
            let inner = &self.inners[parent];
            let before = inner.children.iter().take_while(|child| child.node != node);
            rank += before.map(|child| child.count).sum::<usize>();
            (node, parent) = (parent, inner.parent);
        }
        rank
    }

    /// How many entries are `before`, which is so for all up to some point.
    pub(super) fn count_before(&self, before: impl Fn(Entry<'_>) -> bool) -> usize {
        self.seek(before).1
    }

    /// Where the entry of a rank is; behind the last when there is none.
    pub(super) fn at_rank(&self, mut rank: usize) -> Position {
        let mut node = self.root;
        for _ in 0..self.height {
            let children = &self.inners[node].children;
            let mut chosen = node;
            for child in children {
                chosen = child.node;
                if rank < child.count {
                    break;
                }
                rank -= child.count;
            }
            node = chosen;
        }
        Position {
            leaf: node,
            at: rank,
        }
    }

    /// The entry at a position.
    pub(super) fn entry(&self, position: Position) -> Option<Entry<'_>> {
        self.leaves[position.leaf].run.entry(position.at)
    }

    /// The position behind that of an entry.
    pub(super) fn next(&self, position: Position) -> Option<Position> {
        let leaf = &self.leaves[position.leaf];
        if position.at + 1 < leaf.run.len() {
            return Some(Position {
                at: position.at + 1,
                ..position
            });
        }
        (leaf.next != NONE).then_some(Position {
            leaf: leaf.next,
            at: 0,
        })
    }

    /// The position before that of an entry.
    pub(super) fn previous(&self, position: Position) -> Option<Position> {
        if let Some(at) = position.at.checked_sub(1) {
            return Some(Position { at, ..position });
        }
        let leaf = self.leaves[position.leaf].previous;
        let last = (leaf != NONE).then(|| self.leaves[leaf].run.len())?;
        Some(Position {
            leaf,
            at: last.saturating_sub(1),
        })
    }

    /// Adds a member that is not there yet.
    pub(super) fn insert(&mut self, score: f64, member: &[u8]) {
        let (Position { leaf, at }, _) = self.seek(|entry| entry.is_before(score, member));
        self.leaves[leaf].run.insert(at, score, member);
        self.index.add(member, leaf);
        self.update_path(leaf, 1);
        self.split_leaf_if_large(leaf, at);
    }

    /// Removes a member that was found.
    pub(super) fn remove(&mut self, found: &Found) {
        self.index.remove(found);
        self.leaves[found.leaf].run.remove(found.at);
        self.update_path(found.leaf, -1);
        self.join_leaf_if_small(found.leaf);
    }

    /// Gives a member that was found another score.
    pub(super) fn set_score(&mut self, found: &Found, member: &[u8], score: f64) {
        let run = &mut self.leaves[found.leaf].run;
        if run.fits_between(found.at, score) {
            run.set_score(found.at, score);
        } else {
            self.remove(found);
            self.insert(score, member);
        }
    }

    /// Drops some of it, for giving it up bit by bit; false when nothing is left.
    pub(super) fn drop_some(&mut self) -> bool {
        self.leaves.drop_one() || self.inners.drop_one() || self.index.drop_some()
    }

    /// Where the first entry that is not `before` is in the leaf that would hold it, and how many
    /// are `before`.
    fn seek(&self, before: impl Fn(Entry<'_>) -> bool) -> (Position, usize) {
        let (mut node, mut rank) = (self.root, 0);
        for _ in 0..self.height {
            let children = &self.inners[node].children;
            let after = children.partition_point(|child| {
                before(Entry::new(
                    child.score,
                    &self.leaves[child.first_leaf].run,
                    0,
                ))
            });
            let chosen = after.saturating_sub(1);
            rank += children
                .iter()
                .take(chosen)
                .map(|child| child.count)
                .sum::<usize>();
            node = children[chosen].node;
        }
        let at = self.leaves[node].run.partition_point(before);
        (Position { leaf: node, at }, rank + at)
    }
}
