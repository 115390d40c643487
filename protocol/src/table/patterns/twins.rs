//! Patterns that differ in nothing but their text, such as `a*`, `a**` and `\a*`. One of them is in
//! the trie, the others are found through it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::PatternId;

/// By the pattern in the trie, the others.
pub(super) struct Twins(BTreeMap<u32, BTreeSet<u32>>);

impl Twins {
    pub(super) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// `id` took the place of `present` in the trie.
    pub(super) fn add(&mut self, id: u32, present: u32) {
        let mut others = self.0.remove(&present).unwrap_or_default();
        others.insert(present);
        self.0.insert(id, others);
    }

    /// Removes `id`, the one in the trie or another, from those whose place is `place`; whether it
    /// was the last of them.
    pub(super) fn remove(&mut self, id: u32, place: &mut Option<u32>) -> bool {
        let Some(present) = *place else { return true };
        let mut others = self.0.remove(&present).unwrap_or_default();
        if present == id {
            *place = others.pop_first();
        } else {
            others.remove(&id);
        }
        if let (Some(present), false) = (*place, others.is_empty()) {
            self.0.insert(present, others);
        }
        place.is_none()
    }

    /// Appends the twins of all that is in `found`.
    pub(super) fn extend(&self, found: &mut Vec<PatternId>) {
        if self.0.is_empty() {
            return;
        }
        for at in 0..found.len() {
            if let Some(others) = self.0.get(&found[at].0) {
                found.extend(others.iter().copied().map(PatternId));
            }
        }
    }
}
