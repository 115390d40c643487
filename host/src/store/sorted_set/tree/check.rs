//! The tree's invariants, checked one by one.

use super::{Child, Tree};
use crate::store::sorted_set::arena::{Id, NONE};

impl Tree {
    /// Panics unless every invariant holds.
    pub(in crate::store) fn check(&self) {
        let mut leaves = Vec::new();
        let root = self.check_node(self.height, self.root, NONE, &mut leaves);
        assert_eq!(root.count, self.index.len());
        if self.height > 0 {
            assert!(
                self.inners[self.root].children.len() > 1,
                "a root with one child"
            );
        }
        for (at, &leaf) in leaves.iter().enumerate() {
            let previous = at.checked_sub(1).map_or(NONE, |at| leaves[at]);
            let next = leaves.get(at + 1).copied().unwrap_or(NONE);
            assert_eq!(
                (self.leaves[leaf].previous, self.leaves[leaf].next),
                (previous, next)
            );
        }
    }

    fn check_node(&self, level: usize, node: Id, parent: Id, leaves: &mut Vec<Id>) -> Child {
        if level == 0 {
            return self.check_leaf(node, parent, leaves);
        }
        let inner = &self.inners[node];
        assert_eq!(inner.parent, parent);
        assert!(!inner.children.is_empty() && inner.children.len() <= super::CHILDREN_MAX);
        let mut count = 0;
        for child in &inner.children {
            let found = self.check_node(level - 1, child.node, node, leaves);
            assert_eq!(found.count, child.count);
            assert_eq!(found.first_leaf, child.first_leaf);
            // Bitwise: a zero keeps its sign.
            assert_eq!(found.score.to_bits(), child.score.to_bits());
            count += child.count;
        }
        Child {
            count,
            node,
            ..inner.children[0]
        }
    }

    fn check_leaf(&self, node: Id, parent: Id, leaves: &mut Vec<Id>) -> Child {
        let leaf = &self.leaves[node];
        assert_eq!(leaf.parent, parent);
        assert!(leaf.run.len() <= super::LEAF_ENTRIES_MAX);
        assert!(leaf.run.len() > 0 || self.height == 0);
        leaves.push(node);
        for at in 0..leaf.run.len() {
            let found = self
                .find(leaf.run.member(at))
                .expect("every member is in the index");
            assert_eq!((found.leaf, found.at), (node, at));
        }
        Child {
            score: leaf.run.score(0),
            count: leaf.run.len(),
            node,
            first_leaf: node,
        }
    }
}
