//! What the store does with whole keys whatever they hold: renaming, copying, listing, choosing.

use ahash::RandomState;
use goblin_protocol::time::Now;

use super::random::Random;
use super::slot::{Collection, Slot};
use super::{Encoding, Kind, Store, Type, WrongType, hash_bytes, is_due};

impl Store {
    /// Gives a key another name, whatever was there before. False when there is no such key.
    pub fn rename(&mut self, from: &[u8], to: &[u8], now: Now) -> bool {
        let hash = hash_bytes(&self.seeds, from);
        let Some(place) = self.find(hash, from, now) else {
            return false;
        };
        if from == to {
            return true;
        }
        let seeds = &self.seeds;
        let removed = self
            .keys
            .remove(place, |slot| hash_bytes(seeds, slot.name()));
        if let Some(slot) = removed {
            self.expiries.change(hash, slot.expiry(), None);
            self.changed(hash, from);
            self.replace(slot.named(to), now);
        }
        true
    }

    /// Copies value and expiry of a key to another one, whatever was there before. False when there
    /// is no such key.
    pub fn copy(&mut self, from: &[u8], to: &[u8], now: Now) -> bool {
        let copy = self.slot(from, now).cloned();
        let exists = copy.is_some();
        if let Some(slot) = copy {
            self.replace(slot.named(to), now);
        }
        exists
    }

    /// The name of a key that chance has chosen.
    pub fn random_key(&mut self, now: Now) -> Option<&[u8]> {
        let mut random = self.random();
        let place = loop {
            let place = self.keys.at_random(&mut random)?;
            let slot = self.keys.get(place)?;
            if !is_due(slot.expiry(), now) {
                break place;
            }
            let hash = hash_bytes(&self.seeds, slot.name());
            self.expire(hash, place);
        };
        self.keys.get(place).map(Slot::name)
    }

    /// Hands some keys to `visit` and returns the cursor of the next ones, 0 behind the last. Whoever
    /// begins at 0 and ends there has seen every key that was there all the time.
    pub fn scan<'a>(&'a self, cursor: u64, now: Now, mut visit: impl FnMut(&'a [u8], Type)) -> u64 {
        self.keys.scan(cursor, |slot| {
            if !is_due(slot.expiry(), now) {
                visit(slot.name(), slot.type_of());
            }
        })
    }

    /// How the value of a key is represented.
    pub fn encoding(&mut self, key: &[u8], now: Now) -> Option<Encoding> {
        self.slot(key, now).map(Slot::encoding)
    }

    /// A generator for choices by chance.
    pub fn random(&mut self) -> Random {
        Random::new(self.random.number())
    }

    /// The collection that a key holds, for looking at several at once.
    ///
    /// # Errors
    ///
    /// When the key holds a value of another type.
    pub fn view<K: Kind>(&self, key: &[u8], now: Now) -> Result<Option<&K>, WrongType> {
        let hash = hash_bytes(&self.seeds, key);
        let place = self.keys.find(hash, |slot| slot.name() == key);
        match place.and_then(|place| self.keys.get(place)) {
            None => Ok(None),
            Some(slot) if is_due(slot.expiry(), now) => Ok(None),
            Some(Slot::Collection(collection)) => {
                K::of(&collection.value).map(Some).ok_or(WrongType)
            }
            Some(Slot::String(_)) => Err(WrongType),
        }
    }

    /// Gives a key a collection, whatever it held before. With an empty one the key ceases to exist.
    pub fn put<K: Kind>(&mut self, key: &[u8], value: K, now: Now) {
        if value.is_empty() {
            self.remove(key, now);
            return;
        }
        let collection = Collection {
            name: key.into(),
            expiry: None,
            value: value.into_value(),
        };
        self.replace(Slot::Collection(Box::new(collection)), now);
    }

    /// What the tables of collections hash with.
    pub fn seeds(&self) -> &RandomState {
        &self.seeds
    }

    /// Puts a key in, in place of what has its name.
    fn replace(&mut self, slot: Slot, now: Now) {
        let (hash, expiry) = (hash_bytes(&self.seeds, slot.name()), slot.expiry());
        let name = slot.name().to_vec();
        let place = self.find(hash, &name, now);
        let mut old_expiry = None;
        if let Some(old) = place.and_then(|place| self.keys.get_mut(place)) {
            old_expiry = old.expiry();
            if let Some(value) = std::mem::replace(old, slot).into_value() {
                self.graveyard.bury(value);
            }
        } else {
            self.put_in(hash, slot);
        }
        self.expiries.change(hash, old_expiry, expiry);
        self.changed(hash, &name);
    }
}
