//! Lists: elements in a row, in nodes of a few KiB. Both ends cost the same at any length; reaching
//! an element within costs a step per node and per element of its node.
//!
//! Invariants: no node is empty; `len` is the sum of the nodes' lengths, `size` that of their sizes.

mod node;

use std::collections::VecDeque;
use std::ops::Range;

use node::Node;

/// Size that a node of several elements does not exceed, in bytes: what an insertion moves.
const NODE_BYTES_MAX: usize = 2_048;
/// Size up to which a list is called compact, as Redis does, in bytes.
const COMPACT_BYTES_MAX: usize = 8_192;
/// Nodes dropped at a time of a list that is given up.
const NODES_AT_A_TIME: usize = 32;

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The first element's.
    Left,
    /// The last element's.
    Right,
}

/// A list value.
#[derive(Clone, Debug, Default)]
pub struct List {
    nodes: VecDeque<Node>,
    len: usize,
    size: usize,
}

impl List {
    /// A list without elements.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many elements it has.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no element.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether it is small enough for Redis's small form.
    #[must_use]
    pub const fn is_compact(&self) -> bool {
        self.size <= COMPACT_BYTES_MAX
    }

    /// All elements, first to last or the other way round.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.nodes.iter().flat_map(Node::iter)
    }

    /// The elements at these positions.
    pub fn range(&self, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let (node, at) = self.locate(range.start);
        self.nodes
            .range(node.min(self.nodes.len())..)
            .flat_map(Node::iter)
            .skip(at)
            .take(range.len())
    }

    /// The element at a position.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<&[u8]> {
        let (node, at) = self.locate(at);
        let node = self.nodes.get(node)?;
        if at < node.len() / 2 {
            node.iter().nth(at)
        } else {
            node.iter().nth_back(node.len().checked_sub(at + 1)?)
        }
    }

    /// Adds an element at an end.
    pub fn push(&mut self, end: End, element: &[u8]) {
        self.insert(if end == End::Left { 0 } else { self.len }, element);
    }

    /// Takes the element at an end.
    pub fn pop(&mut self, end: End) -> Option<Vec<u8>> {
        let at = if end == End::Left {
            0
        } else {
            self.len.checked_sub(1)?
        };
        let element = self.get(at)?.to_vec();
        self.remove(at..at + 1);
        Some(element)
    }

    /// Adds an element before the one at a position, which may be the length.
    pub fn insert(&mut self, at: usize, element: &[u8]) {
        let (mut index, mut at) = self.locate(at);
        if index > 0 && (index == self.nodes.len() || at == 0 && self.has_room(index - 1, element))
        {
            index -= 1;
            at = self.nodes.get(index).map_or(0, Node::len);
        }
        if !self.has_room(index, element) {
            self.make_node(&mut index, &mut at);
        }
        if let Some(node) = self.nodes.get_mut(index) {
            let before = node.size();
            node.insert(at, element);
            self.len += 1;
            self.size += node.size() - before;
        }
    }

    /// Replaces the element at a position.
    pub fn set(&mut self, at: usize, element: &[u8]) {
        self.remove(at..at + 1);
        self.insert(at, element);
    }

    /// Removes the elements at these positions.
    pub fn remove(&mut self, range: Range<usize>) {
        let (mut left, (mut index, mut at)) = (range.len(), self.locate(range.start));
        while left > 0 {
            let Some(node) = self.nodes.get_mut(index) else {
                return;
            };
            let (before, count) = (node.size(), left.min(node.len() - at));
            if count == node.len() {
                self.size -= before;
                self.nodes.remove(index);
            } else {
                node.remove(at, count);
                self.size -= before - node.size();
                index += 1;
            }
            self.len -= count;
            left -= count;
            at = 0;
        }
    }

    /// Drops some of a list that is given up; false when nothing is left.
    pub(super) fn drop_some(&mut self) -> bool {
        let kept = self.nodes.len().saturating_sub(NODES_AT_A_TIME);
        let is_left = !self.nodes.is_empty();
        self.nodes.truncate(kept);
        is_left
    }

    fn has_room(&self, index: usize, element: &[u8]) -> bool {
        let node = self.nodes.get(index);
        node.is_some_and(|node| node.size() + element.len() < NODE_BYTES_MAX)
    }

    /// Makes an empty node for what is to stand before the element at `at` of the node `index`.
    fn make_node(&mut self, index: &mut usize, at: &mut usize) {
        let rest = match self.nodes.get_mut(*index) {
            Some(node) if *at > 0 => {
                *index += 1;
                Some(node.split_off(*at)).filter(|rest| rest.len() > 0)
            }
            _ => None,
        };
        if let Some(rest) = rest {
            self.nodes.insert(*index, rest);
        }
        self.nodes.insert(*index, Node::default());
        *at = 0;
    }

    /// The node that a position lies in and the position within; the number of nodes when it lies
    /// behind them all. Found from the nearer end.
    fn locate(&self, position: usize) -> (usize, usize) {
        if position >= self.len {
            return (self.nodes.len(), 0);
        }
        if position < self.len / 2 {
            let mut at = position;
            for (index, node) in self.nodes.iter().enumerate() {
                if at < node.len() {
                    return (index, at);
                }
                at -= node.len();
            }
        } else {
            let mut start = self.len;
            for (index, node) in self.nodes.iter().enumerate().rev() {
                start -= node.len();
                if position >= start {
                    return (index, position - start);
                }
            }
        }
        (self.nodes.len(), 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        Insert(usize, usize),
        Set(usize, usize),
        Remove(usize, usize),
        Pop(bool),
    }

    fn step() -> impl Strategy<Value = Step> {
        let bytes = prop_oneof![6 => 0_usize..40, 2 => 240..270_usize, 1 => 1_500..3_000_usize];
        prop_oneof![
            6 => (any::<usize>(), bytes.clone()).prop_map(|(at, bytes)| Step::Insert(at, bytes)),
            1 => (any::<usize>(), bytes).prop_map(|(at, bytes)| Step::Set(at, bytes)),
            1 => (any::<usize>(), 0_usize..12).prop_map(|(at, count)| Step::Remove(at, count)),
            1 => any::<bool>().prop_map(Step::Pop),
        ]
    }

    proptest! {
        #[test]
        fn a_list_is_like_a_vector(steps in prop::collection::vec(step(), 0..300)) {
            let (mut list, mut oracle) = (List::new(), Vec::<Vec<u8>>::new());
            for (number, step) in steps.into_iter().enumerate() {
                let element = |bytes| vec![number as u8; bytes];
                match step {
                    Step::Insert(at, bytes) => {
                        let at = at % (oracle.len() + 1);
                        list.insert(at, &element(bytes));
                        oracle.insert(at, element(bytes));
                    }
                    Step::Set(at, bytes) if !oracle.is_empty() => {
                        let at = at % oracle.len();
                        list.set(at, &element(bytes));
                        oracle[at] = element(bytes);
                    }
                    Step::Remove(at, count) => {
                        let at = at % (oracle.len() + 1);
                        let range = at..oracle.len().min(at + count);
                        list.remove(range.clone());
                        oracle.drain(range);
                    }
                    Step::Pop(true) if !oracle.is_empty() => {
                        prop_assert_eq!(list.pop(End::Left), Some(oracle.remove(0)));
                    }
                    Step::Pop(_) => prop_assert_eq!(list.pop(End::Right), oracle.pop()),
                    Step::Set(..) => {}
                }
                prop_assert_eq!(list.len(), oracle.len());
                let at = number % (oracle.len() + 1);
                prop_assert_eq!(list.get(at), oracle.get(at).map(Vec::as_slice));
            }
            prop_assert!(list.iter().eq(oracle.iter()));
            prop_assert!(list.iter().rev().eq(oracle.iter().rev()));
            prop_assert!(list.nodes.iter().all(|node| node.len() > 0));
            prop_assert_eq!(list.size, list.nodes.iter().map(Node::size).sum::<usize>());
            let part = oracle.len() / 3..oracle.len() / 2;
            prop_assert!(list.range(part.clone()).eq(oracle[part].iter()));
        }
    }
}
