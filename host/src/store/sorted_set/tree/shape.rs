//! How the tree keeps its shape: counts along a path, nodes that split and nodes that are joined.

use super::{CHILDREN_MAX, Child, Inner, LEAF_BYTES_MAX, LEAF_ENTRIES_MAX, Leaf, Tree};
use crate::store::sorted_set::arena::{Id, NONE};

/// A node with less than this part of its most entries looks for one to be joined with.
const SMALL_DIVISOR: usize = 4;
/// Nodes are joined when that fills at most this part, so that they do not split again at once.
const JOINED_DIVISOR: (usize, usize) = (3, 4);

impl Tree {
    /// Adds to the counts above a leaf, and tells its ancestors its lowest score.
    pub(super) fn update_path(&mut self, leaf: Id, change: isize) {
        let score = self.leaves[leaf].run.score(0);
        let (mut node, mut parent) = (leaf, self.leaves[leaf].parent);
        let mut is_first = true;
        while parent != NONE {
            let inner = &mut self.inners[parent];
            let at = inner.position(node);
            let child = &mut inner.children[at];
            child.count = child.count.wrapping_add_signed(change);
            if is_first {
                child.score = score;
            }
            is_first &= at == 0;
            (node, parent) = (parent, inner.parent);
        }
    }

    /// Splits a leaf that has become too large by the entry at `at`.
    pub(super) fn split_leaf_if_large(&mut self, left: Id, at: usize) {
        let leaf = &mut self.leaves[left];
        let count = leaf.run.len();
        if count <= LEAF_ENTRIES_MAX && (leaf.run.member_bytes() <= LEAF_BYTES_MAX || count < 2) {
            return;
        }
        // Members that come in order leave full leaves behind.
        let is_last = leaf.next == NONE && at + 1 == count;
        let run = leaf.run.split_off(if is_last { at } else { count / 2 });
        let (parent, next) = (leaf.parent, leaf.next);
        let (count, score) = (run.len(), run.score(0));
        let right = self.leaves.add(Leaf {
            run,
            parent,
            previous: left,
            next,
        });
        self.leaves[left].next = right;
        if next != NONE {
            self.leaves[next].previous = right;
        }
        self.reindex(right, 0, left);
        self.add_sibling(
            0,
            left,
            Child {
                score,
                count,
                node: right,
                first_leaf: right,
            },
        );
    }

    /// Tells the index that the entries of a leaf from `from` on were in another one.
    fn reindex(&mut self, leaf: Id, from: usize, old_leaf: Id) {
        let run = &self.leaves[leaf].run;
        for at in from..run.len() {
            self.index.relocate(run.member(at), old_leaf, leaf);
        }
    }

    /// Puts a node that was split off `left` into the parent, which may be split for it in turn.
    fn add_sibling(&mut self, level: usize, left: Id, right: Child) {
        let parent = self.parent(level, left);
        if parent == NONE {
            return self.add_root(left, right);
        }
        let children = &mut self.inners[parent].children;
        let at = children
            .iter()
            .position(|child| child.node == left)
            .unwrap_or(0);
        children[at].count -= right.count;
        children.insert(at + 1, right);
        self.set_parent(level, right.node, parent);
        if self.inners[parent].children.len() > CHILDREN_MAX {
            self.split_inner(level, parent, at + 1);
        }
    }

    /// Splits an inner node whose children are of `level`, and which got one at `added`.
    fn split_inner(&mut self, level: usize, left: Id, added: usize) {
        let children = &mut self.inners[left].children;
        let is_last = added + 1 == children.len();
        let moved = children.split_off(if is_last { added } else { children.len() / 2 });
        let (Some(&first), count) = (moved.first(), moved.iter().map(|child| child.count).sum())
        else {
            return;
        };
        let right = self.inners.add(Inner {
            parent: NONE,
            children: Vec::new(),
        });
        for child in &moved {
            self.set_parent(level, child.node, right);
        }
        self.inners[right].children = moved;
        self.add_sibling(
            level + 1,
            left,
            Child {
                count,
                node: right,
                ..first
            },
        );
    }

    /// Puts a new root above the old one and the node that was split off it.
    fn add_root(&mut self, left: Id, right: Child) {
        let level = self.height;
        let (score, first_leaf) = match level {
            0 => (self.leaves[left].run.score(0), left),
            _ => self.inners[left]
                .children
                .first()
                .map_or((f64::NAN, NONE), |first| (first.score, first.first_leaf)),
        };
        let count = self.index.len() - right.count;
        let children = vec![
            Child {
                score,
                count,
                node: left,
                first_leaf,
            },
            right,
        ];
        self.root = self.inners.add(Inner {
            parent: NONE,
            children,
        });
        self.height += 1;
        self.set_parent(level, left, self.root);
        self.set_parent(level, right.node, self.root);
    }

    /// Drops a leaf that has become empty, or joins a small one with a neighbour that has room.
    pub(super) fn join_leaf_if_small(&mut self, leaf: Id) {
        let parent = self.leaves[leaf].parent;
        let count = self.leaves[leaf].run.len();
        if parent == NONE || count > LEAF_ENTRIES_MAX / SMALL_DIVISOR {
            return;
        }
        let at = self.inners[parent].position(leaf);
        if count == 0 {
            self.unlink(leaf);
            return self.remove_child(1, parent, at);
        }
        if let Some(at) = self.joinable(parent, at, |tree, left, right| {
            let (left, right) = (&tree.leaves[left].run, &tree.leaves[right].run);
            left.len() + right.len() <= joined_max(LEAF_ENTRIES_MAX)
                && left.member_bytes() + right.member_bytes() <= joined_max(LEAF_BYTES_MAX)
        }) {
            self.join_leaves(parent, at);
        }
    }

    /// Joins the leaves that are the children `at` and `at + 1`.
    fn join_leaves(&mut self, parent: Id, at: usize) {
        let children = &mut self.inners[parent].children;
        let (left, right) = (children[at].node, children[at + 1].node);
        children[at].count += children[at + 1].count;
        let removed = self.unlink(right);
        let kept = self.leaves[left].run.len();
        self.leaves[left]
            .run
            .append(&removed.run, 0, removed.run.len());
        self.reindex(left, kept, right);
        self.remove_child(1, parent, at + 1);
    }

    /// Takes a leaf out of the list of leaves.
    fn unlink(&mut self, leaf: Id) -> Leaf {
        let removed = self.leaves.remove(leaf);
        if removed.previous != NONE {
            self.leaves[removed.previous].next = removed.next;
        }
        if removed.next != NONE {
            self.leaves[removed.next].previous = removed.previous;
        }
        removed
    }

    /// Takes a child out of an inner node of `level`; what becomes of the node follows.
    fn remove_child(&mut self, level: usize, node: Id, at: usize) {
        self.inners[node].children.remove(at);
        if self.inners[node].children.is_empty() {
            let parent = self.inners.remove(node).parent;
            if parent != NONE {
                let at = self.inners[parent].position(node);
                self.remove_child(level + 1, parent, at);
            }
            return;
        }
        if at == 0 {
            self.update_first(node);
        }
        self.join_inner_if_small(level, node);
        self.lower_root();
    }

    /// Tells the ancestors of an inner node what its first child has become.
    fn update_first(&mut self, node: Id) {
        let (mut node, mut parent) = (node, self.inners[node].parent);
        let Some(&first) = self.inners[node].children.first() else {
            return;
        };
        while parent != NONE {
            let inner = &mut self.inners[parent];
            let at = inner.position(node);
            inner.children[at].score = first.score;
            inner.children[at].first_leaf = first.first_leaf;
            if at > 0 {
                return;
            }
            (node, parent) = (parent, inner.parent);
        }
    }

    fn join_inner_if_small(&mut self, level: usize, node: Id) {
        let parent = self.inners[node].parent;
        if parent == NONE || self.inners[node].children.len() > CHILDREN_MAX / SMALL_DIVISOR {
            return;
        }
        let at = self.inners[parent].position(node);
        let Some(at) = self.joinable(parent, at, |tree, left, right| {
            let (left, right) = (&tree.inners[left], &tree.inners[right]);
            left.children.len() + right.children.len() <= joined_max(CHILDREN_MAX)
        }) else {
            return;
        };
        let children = &mut self.inners[parent].children;
        let (left, right) = (children[at].node, children[at + 1].node);
        children[at].count += children[at + 1].count;
        let moved = self.inners.remove(right).children;
        for child in &moved {
            self.set_parent(level - 1, child.node, left);
        }
        self.inners[left].children.extend(moved);
        self.remove_child(level + 1, parent, at + 1);
    }

    /// The child `at`, or the one before it, if it can be joined with the one behind it.
    fn joinable(
        &self,
        parent: Id,
        at: usize,
        fits: impl Fn(&Self, Id, Id) -> bool,
    ) -> Option<usize> {
        let children = &self.inners[parent].children;
        [Some(at), at.checked_sub(1)]
            .into_iter()
            .flatten()
            .find(|&at| {
                let pair = children.get(at).zip(children.get(at + 1));
                pair.is_some_and(|(left, right)| fits(self, left.node, right.node))
            })
    }

    /// Gives up a root that has a single child.
    fn lower_root(&mut self) {
        while self.height > 0 {
            let &[only] = self.inners[self.root].children.as_slice() else {
                return;
            };
            self.inners.remove(self.root);
            self.root = only.node;
            self.height -= 1;
            self.set_parent(self.height, self.root, NONE);
        }
    }

    fn parent(&self, level: usize, node: Id) -> Id {
        if level == 0 {
            self.leaves[node].parent
        } else {
            self.inners[node].parent
        }
    }

    fn set_parent(&mut self, level: usize, node: Id, parent: Id) {
        if level == 0 {
            self.leaves[node].parent = parent;
        } else {
            self.inners[node].parent = parent;
        }
    }
}

const fn joined_max(most: usize) -> usize {
    most / JOINED_DIVISOR.1 * JOINED_DIVISOR.0
}
