//! The keys that someone watches, each with a stamp that changes whenever the key does.
//!
//! Keys that nobody watches cost nothing here, so what changes a key pays for a look at a table that
//! is mostly empty.

use ahash::RandomState;

use super::hash_bytes;
use super::segments::Segments;

/// What a watched key looks like at a moment: equal stamps mean that nothing has happened to it in
/// between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(u64);

#[derive(Debug)]
struct Watched {
    name: Box<[u8]>,
    stamp: Stamp,
    watchers: usize,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Watches {
    keys: Segments<Watched>,
}

impl Watches {
    /// Counts another watcher of a key.
    pub(super) fn add(&mut self, hash: u64, name: &[u8], seeds: &RandomState) -> Stamp {
        let place = self.keys.find(hash, |key| *key.name == *name);
        if let Some(key) = place.and_then(|place| self.keys.get_mut(place)) {
            key.watchers += 1;
            return key.stamp;
        }
        let stamp = Stamp(0);
        let key = Watched {
            name: name.into(),
            stamp,
            watchers: 1,
        };
        self.keys
            .insert(hash, key, |key| hash_bytes(seeds, &key.name));
        stamp
    }

    /// Counts a watcher less.
    pub(super) fn remove(&mut self, hash: u64, name: &[u8], seeds: &RandomState) {
        let Some(place) = self.keys.find(hash, |key| *key.name == *name) else {
            return;
        };
        let Some(key) = self.keys.get_mut(place) else {
            return;
        };
        key.watchers -= 1;
        if key.watchers == 0 {
            self.keys.remove(place, |key| hash_bytes(seeds, &key.name));
        }
    }

    /// The stamp of a key; `None` when nobody watches it.
    pub(super) fn stamp(&self, hash: u64, name: &[u8]) -> Option<Stamp> {
        let place = self.keys.find(hash, |key| *key.name == *name)?;
        self.keys.get(place).map(|key| key.stamp)
    }

    /// Stamps a key as changed by the `change`-th of all changes.
    #[inline]
    pub(super) fn touch(&mut self, hash: u64, name: &[u8], change: u64) {
        if self.keys.is_empty() {
            return;
        }
        let place = self.keys.find(hash, |key| *key.name == *name);
        if let Some(key) = place.and_then(|place| self.keys.get_mut(place)) {
            key.stamp = Stamp(change);
        }
    }

    /// Stamps the keys that `is_changed` accepts as changed.
    pub(super) fn touch_each(&mut self, change: u64, is_changed: impl Fn(&[u8]) -> bool) {
        for key in self.keys.iter_mut().filter(|key| is_changed(&key.name)) {
            key.stamp = Stamp(change);
        }
    }
}
