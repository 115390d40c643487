//! The data: keys with values and expiries.
//!
//! A [`Store`] does no I/O and reads no clock: whoever calls says what time it is. A key that is due
//! is gone for every call from that moment on, whether or not its memory has been freed.
//!
//! * **One place for changes.** Every change of a key, its expiry and its removal included, passes
//!   `Store::changed`, which counts it and stamps the key for whoever watches it.
//! * **No stalls.** Tables grow a segment at a time; keys that fall due together are removed by
//!   [`Store::expire_some`] within the caller's budget; large collections and flushed keyspaces are
//!   dismantled there too. What a call costs depends on what it is asked to read or write.
//! * **Few bytes.** A string lies beside its key in one allocation (`record`); collections are
//!   single runs of bytes while small.
//!
//! Invariants: the expiries are exactly those of the keys in the table; no collection in the table
//! is empty.

mod collections;
mod expiry;
mod graveyard;
mod hash;
mod list;
mod naming;
mod random;
mod record;
mod segments;
mod set;
mod slot;
mod sorted_set;
mod strings;
#[cfg(test)]
mod tests;
mod text;
mod watch;

use std::error::Error;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::hint::black_box;
use std::time::Duration;

use ahash::RandomState;
use goblin_protocol::table::HashSeed;
use goblin_protocol::time::{Now, Time};

pub use collections::Changed;
pub use hash::Hash;
pub use list::{End, List};
pub use random::Random;
pub use set::Set;
pub use slot::{Encoding, Kind, Type, Value};
pub use sorted_set::{Entries, Entry, SortedSet};
pub use strings::Lifetime;
pub use text::{Digits, Text};
pub use watch::Stamp;

use expiry::Expiries;
use graveyard::Graveyard;
use segments::{Place, Segments};
use slot::Slot;
use watch::Watches;

/// What freeing a part of something large costs, in removals of keys.
const PART_COST: usize = 32;

/// More than any size that the C library's allocator takes from its lists of small pieces.
const LARGE_ALLOCATION_BYTES: usize = 2_048;

/// See the module.
#[derive(Debug)]
pub struct Store {
    seeds: RandomState,
    keys: Segments<Slot>,
    expiries: Expiries,
    watches: Watches,
    graveyard: Graveyard,
    random: Random,
    changes: u64,
    expired_keys: u64,
}

/// The key holds a value of another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongType;

impl fmt::Display for WrongType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the key holds a value of another type")
    }
}

impl Error for WrongType {}

impl Store {
    /// A store without keys.
    #[must_use]
    pub fn new(seed: HashSeed) -> Self {
        let HashSeed([a, b, c, d]) = seed;
        Self {
            seeds: RandomState::with_seeds(a, b, c, d),
            keys: Segments::default(),
            expiries: Expiries::default(),
            watches: Watches::default(),
            graveyard: Graveyard::default(),
            random: Random::new(a ^ b.rotate_left(16) ^ c.rotate_left(32) ^ d.rotate_left(48)),
            changes: 0,
            expired_keys: 0,
        }
    }

    /// How many keys there are, those included that are due but not removed yet.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// How many keys have an expiry.
    #[must_use]
    pub fn expiring(&self) -> usize {
        self.expiries.len()
    }

    /// How many changes there were since the start.
    #[must_use]
    pub const fn changes(&self) -> u64 {
        self.changes
    }

    /// How many keys have expired since the start.
    #[must_use]
    pub const fn expired_keys(&self) -> u64 {
        self.expired_keys
    }

    /// The names of all keys, in no particular order.
    pub fn keys(&self, now: Now) -> impl Iterator<Item = &[u8]> {
        let alive = move |slot: &&Slot| !is_due(slot.expiry(), now);
        self.keys.iter().filter(alive).map(Slot::name)
    }

    /// The type of a key's value.
    pub fn type_of(&mut self, key: &[u8], now: Now) -> Option<Type> {
        self.slot(key, now).map(Slot::type_of)
    }

    /// When a key expires, in milliseconds since 1970; the outer `None` is a key that does not
    /// exist.
    pub fn expiry(&mut self, key: &[u8], now: Now) -> Option<Option<u64>> {
        self.slot(key, now).map(Slot::expiry)
    }

    /// Lets a key expire at another moment, in milliseconds since 1970, or never. False when there
    /// is no such key.
    pub fn set_expiry(&mut self, key: &[u8], expiry: Option<u64>, now: Now) -> bool {
        let hash = hash_bytes(&self.seeds, key);
        let expiry = expiry.map(|moment| moment.max(1));
        let place = self.find(hash, key, now);
        let Some(slot) = place.and_then(|place| self.keys.get_mut(place)) else {
            return false;
        };
        self.expiries.change(hash, slot.expiry(), expiry);
        slot.set_expiry(expiry);
        self.changed(hash, key);
        true
    }

    /// Removes a key and says whether it was there.
    pub fn remove(&mut self, key: &[u8], now: Now) -> bool {
        let hash = hash_bytes(&self.seeds, key);
        let Some(place) = self.find(hash, key, now) else {
            return false;
        };
        self.take_out(hash, key, place);
        true
    }

    /// Removes all keys; their memory is freed by and by.
    pub fn clear(&mut self) {
        self.changes += 1;
        let Self {
            seeds,
            keys,
            watches,
            ..
        } = self;
        watches.touch_each(self.changes, |name| {
            let hash = hash_bytes(seeds, name);
            keys.find(hash, |slot| slot.name() == name).is_some()
        });
        let keys = std::mem::take(&mut self.keys);
        self.graveyard
            .bury_all(keys, std::mem::take(&mut self.expiries));
    }

    /// Starts watching a key, which need not exist. Each watching is ended by
    /// [`unwatch`](Self::unwatch).
    pub fn watch(&mut self, key: &[u8], now: Now) -> Stamp {
        let hash = hash_bytes(&self.seeds, key);
        self.find(hash, key, now);
        self.watches.add(hash, key, &self.seeds)
    }

    /// The present stamp of a watched key: another one than [`watch`](Self::watch) returned if the
    /// key has been changed, removed or flushed, or has expired since. `None` when nobody watches
    /// it.
    pub fn stamp(&mut self, key: &[u8], now: Now) -> Option<Stamp> {
        let hash = hash_bytes(&self.seeds, key);
        self.find(hash, key, now);
        self.watches.stamp(hash, key)
    }

    /// Ends watching a key once.
    pub fn unwatch(&mut self, key: &[u8]) {
        let hash = hash_bytes(&self.seeds, key);
        self.watches.remove(hash, key, &self.seeds);
    }

    /// Removes keys that are due and frees what was given up. Returns how much of `budget`, which
    /// counts keys or as much work, it has used: all of it when there may be more to do.
    pub fn expire_some(&mut self, now: Now, budget: usize) -> usize {
        let mut left = budget;
        while left > 0 {
            if let Some((moment, hash)) = self.expiries.take_due(now.unix_ms()) {
                self.expire_all_of(hash, moment);
                left -= 1;
            } else if self.graveyard.free_part() {
                left = left.saturating_sub(PART_COST);
            } else {
                break;
            }
        }
        if left < budget {
            merge_freed_memory();
        }
        budget - left
    }

    /// Whether [`expire_some`](Self::expire_some) has something to do, now or later.
    #[must_use]
    pub fn has_expiries(&self) -> bool {
        self.expiries.first().is_some() || !self.graveyard.is_empty()
    }

    /// When [`expire_some`](Self::expire_some) has something to do, as seen at `now`. It may be
    /// called later than that: keys that are due are gone all the same, their memory is not.
    #[must_use]
    pub fn next_expiry_deadline(&self, now: Now) -> Option<Time> {
        if !self.graveyard.is_empty() {
            return Some(now.monotonic);
        }
        let wait = self.expiries.first()?.saturating_sub(now.unix_ms());
        Some(now.monotonic + Duration::from_millis(wait))
    }

    /// Removes the keys of that hash that expire at that moment: one, unless hashes collide.
    fn expire_all_of(&mut self, hash: u64, moment: u64) {
        loop {
            // The table asks about any key whose hash is alike in a few bits.
            let found = self.keys.find(hash, |slot| {
                slot.expiry() == Some(moment) && hash_bytes(&self.seeds, slot.name()) == hash
            });
            let Some(place) = found else {
                return;
            };
            self.expire(hash, place);
        }
    }

    fn expire(&mut self, hash: u64, place: Place) {
        let seeds = &self.seeds;
        let removed = self
            .keys
            .remove(place, |slot| hash_bytes(seeds, slot.name()));
        let Some(slot) = removed else {
            return;
        };
        self.expired_keys += 1;
        self.expiries.change(hash, slot.expiry(), None);
        self.changed(hash, slot.name());
        if let Some(value) = slot.into_value() {
            self.graveyard.bury(value);
        }
    }

    /// What every change of a key passes, after it has happened.
    #[inline]
    fn changed(&mut self, hash: u64, key: &[u8]) {
        self.changes += 1;
        self.watches.touch(hash, key, self.changes);
    }

    #[inline]
    fn slot(&mut self, key: &[u8], now: Now) -> Option<&Slot> {
        let hash = hash_bytes(&self.seeds, key);
        let place = self.find(hash, key, now)?;
        self.keys.get(place)
    }

    /// Where a key is, after removing it if it is due.
    #[inline]
    fn find(&mut self, hash: u64, key: &[u8], now: Now) -> Option<Place> {
        let place = self.keys.find(hash, |slot| slot.name() == key)?;
        if is_due(self.keys.get(place)?.expiry(), now) {
            self.expire(hash, place);
            return None;
        }
        Some(place)
    }

    fn put_in(&mut self, hash: u64, slot: Slot) {
        let seeds = &self.seeds;
        self.keys
            .insert(hash, slot, |slot| hash_bytes(seeds, slot.name()));
    }

    fn take_out(&mut self, hash: u64, key: &[u8], place: Place) {
        let seeds = &self.seeds;
        let removed = self
            .keys
            .remove(place, |slot| hash_bytes(seeds, slot.name()));
        if let Some(slot) = removed {
            self.expiries.change(hash, slot.expiry(), None);
            if let Some(value) = slot.into_value() {
                self.graveyard.bury(value);
            }
        }
        self.changed(hash, key);
    }
}

/// Lets the allocator merge what was just freed. The C library's puts that off, for small pieces,
/// until something large is asked for, and would stall then for as long as it takes to merge
/// millions.
fn merge_freed_memory() {
    drop(black_box(Vec::<u8>::with_capacity(LARGE_ALLOCATION_BYTES)));
}

#[inline]
fn is_due(expiry: Option<u64>, now: Now) -> bool {
    expiry.is_some_and(|moment| moment <= now.unix_ms())
}

/// The hash of a name in the tables of whoever has these seeds.
#[inline]
fn hash_bytes(seeds: &RandomState, bytes: &[u8]) -> u64 {
    let mut hasher = seeds.build_hasher();
    hasher.write(bytes);
    hasher.finish()
}
