//! Sorted sets: members with scores, in the order of scores and, among equal scores, of bytes.
//!
//! Compact while small, then a tree; what has once become a tree stays one. Ranks count from 0 at
//! the lowest score. Scores are never NaN: the callers see to it.

mod arena;
mod index;
mod run;
mod tree;

use std::ops::Range;

use ahash::RandomState;

pub use run::Entry;

use run::Run;
use tree::{Position, Tree};

/// Most members of a compact set (Redis's `zset-max-listpack-entries`).
const COMPACT_ENTRIES_MAX: usize = 128;
/// Longest member of a compact set, in bytes (Redis's `zset-max-listpack-value`).
const COMPACT_BYTES_MAX: usize = 64;

/// A sorted set value.
#[derive(Clone, Debug)]
pub struct SortedSet(Form);

#[derive(Clone, Debug)]
enum Form {
    Compact(Run),
    Tree(Box<Tree>),
}

impl SortedSet {
    /// A set without members.
    pub(crate) fn new() -> Self {
        Self(Form::Compact(Run::default()))
    }

    /// How many members it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Compact(run) => run.len(),
            Form::Tree(tree) => tree.len(),
        }
    }

    /// Whether it has no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The score of a member.
    #[must_use]
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        match &self.0 {
            Form::Compact(run) => run.find(member).map(|at| run.score(at)),
            Form::Tree(tree) => tree.find(member).map(|found| tree.score(&found)),
        }
    }

    /// The rank and the score of a member.
    #[must_use]
    pub fn rank(&self, member: &[u8]) -> Option<(usize, f64)> {
        match &self.0 {
            Form::Compact(run) => run.find(member).map(|at| (at, run.score(at))),
            Form::Tree(tree) => {
                let found = tree.find(member)?;
                Some((tree.rank(&found), tree.score(&found)))
            }
        }
    }

    /// How many members are `before`, which must hold for all up to some rank and for none from
    /// there on.
    #[must_use]
    pub fn count_before(&self, before: impl Fn(Entry<'_>) -> bool) -> usize {
        match &self.0 {
            Form::Compact(run) => run.partition_point(before),
            Form::Tree(tree) => tree.count_before(before),
        }
    }

    /// The members of these ranks, lowest first.
    pub fn range(&self, ranks: Range<usize>) -> Entries<'_> {
        self.entries(ranks.start, ranks.len(), false)
    }

    /// The members of these ranks, highest first.
    pub fn range_reversed(&self, ranks: Range<usize>) -> Entries<'_> {
        self.entries(ranks.end.saturating_sub(1), ranks.len(), true)
    }

    /// Gives a member the score that `change` makes of its present one, which is `None` when it is
    /// not in the set; `None` leaves everything as it is. A tree that comes to be hashes with
    /// `seeds`.
    pub fn update(
        &mut self,
        member: &[u8],
        seeds: &RandomState,
        change: impl FnOnce(Option<f64>) -> Option<f64>,
    ) {
        match &mut self.0 {
            Form::Compact(run) => {
                let at = run.find(member);
                let Some(score) = change(at.map(|at| run.score(at))) else {
                    return;
                };
                if let Some(at) = at {
                    run.remove(at);
                } else if run.len() >= COMPACT_ENTRIES_MAX || member.len() > COMPACT_BYTES_MAX {
                    let mut tree = Box::new(tree_of(run, seeds));
                    tree.insert(score, member);
                    self.0 = Form::Tree(tree);
                    return;
                }
                // A zero loses its sign, as it does in Redis's compact form.
                let score = score + 0.0;
                let at = run.partition_point(|entry| entry.is_before(score, member));
                run.insert(at, score, member);
            }
            Form::Tree(tree) => {
                let found = tree.find(member);
                let present = found.as_ref().map(|found| tree.score(found));
                match (found, change(present)) {
                    (Some(found), Some(score)) => tree.set_score(&found, member, score),
                    (None, Some(score)) => tree.insert(score, member),
                    (_, None) => {}
                }
            }
        }
    }

    /// Whether it is in its small form.
    #[must_use]
    pub fn is_compact(&self) -> bool {
        matches!(self.0, Form::Compact(_))
    }

    /// Removes a member and says whether it was there.
    pub fn remove(&mut self, member: &[u8]) -> bool {
        match &mut self.0 {
            Form::Compact(run) => run.find(member).map(|at| run.remove(at)).is_some(),
            Form::Tree(tree) => match tree.find(member) {
                Some(found) => {
                    tree.remove(&found);
                    true
                }
                None => false,
            },
        }
    }

    /// Drops some of a set that is given up; false when nothing is left that takes long to drop.
    pub(crate) fn drop_some(&mut self) -> bool {
        match &mut self.0 {
            Form::Compact(_) => false,
            Form::Tree(tree) => tree.drop_some(),
        }
    }

    fn entries(&self, rank: usize, count: usize, reversed: bool) -> Entries<'_> {
        let position = match &self.0 {
            Form::Compact(_) => Position { leaf: 0, at: rank },
            Form::Tree(tree) => tree.at_rank(rank),
        };
        Entries {
            form: &self.0,
            position: Some(position),
            left: count,
            reversed,
        }
    }
}

fn tree_of(run: &Run, seeds: &RandomState) -> Tree {
    let mut tree = Tree::new(seeds.clone());
    for entry in (0..run.len()).filter_map(|at| run.entry(at)) {
        tree.insert(entry.score(), entry.member());
    }
    tree
}

/// Members in one direction from some rank on.
#[derive(Debug)]
pub struct Entries<'a> {
    form: &'a Form,
    /// Where the next one is.
    position: Option<Position>,
    left: usize,
    reversed: bool,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        self.left = self.left.checked_sub(1)?;
        let position = self.position?;
        let (entry, next) = match self.form {
            Form::Compact(run) => {
                let at = if self.reversed {
                    position.at.checked_sub(1)
                } else {
                    Some(position.at + 1)
                };
                (
                    run.entry(position.at)?,
                    at.map(|at| Position { at, ..position }),
                )
            }
            Form::Tree(tree) => {
                let next = if self.reversed {
                    tree.previous(position)
                } else {
                    tree.next(position)
                };
                (tree.entry(position)?, next)
            }
        };
        self.position = next;
        Some(entry)
    }
}

#[cfg(test)]
mod tests;
