//! When keys expire: an ordered set of moments and hashes of keys, which is all it takes to find
//! those that are due.

use std::collections::BTreeSet;

/// Moments are milliseconds since 1970. Keys whose hashes and moments agree share an entry.
#[derive(Debug, Default)]
pub(super) struct Expiries {
    due: BTreeSet<(u64, u64)>,
}

impl Expiries {
    /// Notes that the expiry of a key has changed.
    #[inline]
    pub(super) fn change(&mut self, hash: u64, old: Option<u64>, new: Option<u64>) {
        if old == new {
            return;
        }
        if let Some(old) = old {
            self.due.remove(&(old, hash));
        }
        if let Some(new) = new {
            self.due.insert((new, hash));
        }
    }

    /// The first moment at which a key expires.
    pub(super) fn first(&self) -> Option<u64> {
        self.due.first().map(|&(moment, _)| moment)
    }

    /// Takes out the first entry if it is due: its moment and hash.
    pub(super) fn take_due(&mut self, now_ms: u64) -> Option<(u64, u64)> {
        let &(moment, _) = self.due.first()?;
        if moment > now_ms {
            return None;
        }
        self.due.pop_first()
    }

    /// Drops up to `count` entries; false when none is left.
    pub(super) fn drop_some(&mut self, count: usize) -> bool {
        (0..count).all(|_| self.due.pop_first().is_some())
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.due.len()
    }
}
