//! What the store does with strings.

use goblin_protocol::time::Now;

use super::record::Record;
use super::slot::Slot;
use super::{Store, Text, WrongType, hash_bytes};

/// How long a key lives that is given a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifetime {
    /// Until it is removed.
    Forever,
    /// As long as it would have lived with its former value.
    Kept,
    /// Until this moment, in milliseconds since 1970.
    Until(u64),
}

impl Store {
    /// The value of a string.
    ///
    /// # Errors
    ///
    /// When the key holds no string.
    #[inline]
    pub fn string(&mut self, key: &[u8], now: Now) -> Result<Option<Text<'_>>, WrongType> {
        match self.slot(key, now) {
            None => Ok(None),
            Some(slot) => slot.text().map(Some).ok_or(WrongType),
        }
    }

    /// Gives a key a string, whatever it held before.
    pub fn set_string(&mut self, key: &[u8], value: Text<'_>, lifetime: Lifetime, now: Now) {
        let hash = hash_bytes(&self.seeds, key);
        let place = self.find(hash, key, now);
        let slot = place.and_then(|place| self.keys.get_mut(place));
        let old = slot.as_ref().and_then(|slot| slot.expiry());
        let expiry = match lifetime {
            Lifetime::Forever => None,
            Lifetime::Kept => old,
            Lifetime::Until(moment) => Some(moment),
        };
        match slot {
            Some(Slot::String(record)) => record.set(value, expiry),
            Some(slot) => {
                let new = Slot::String(Record::new(key, value, expiry));
                if let Some(value) = std::mem::replace(slot, new).into_value() {
                    self.graveyard.bury(value);
                }
            }
            None => self.put_in(hash, Slot::String(Record::new(key, value, expiry))),
        }
        self.expiries.change(hash, old, expiry);
        self.changed(hash, key);
    }

    /// Changes a part of a string, which is created where there is none and lengthened by zeros to at
    /// least `length` bytes, and says what `edit` answers of it and how many bytes it has.
    ///
    /// # Errors
    ///
    /// When the key holds no string.
    pub fn edit<R>(
        &mut self,
        key: &[u8],
        length: usize,
        now: Now,
        edit: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<(R, usize), WrongType> {
        let hash = hash_bytes(&self.seeds, key);
        if self.find(hash, key, now).is_none() {
            self.put_in(hash, Slot::String(Record::new(key, Text::Bytes(b""), None)));
        }
        let place = self.find(hash, key, now);
        let Some(Slot::String(record)) = place.and_then(|place| self.keys.get_mut(place)) else {
            return Err(WrongType);
        };
        let bytes = record.edit(length);
        let answer = (edit(bytes), bytes.len());
        self.changed(hash, key);
        Ok(answer)
    }

    /// Adds bytes to the end of a string, which is created where there is none, and returns how
    /// many it has then.
    ///
    /// # Errors
    ///
    /// When the key holds no string.
    pub fn append(&mut self, key: &[u8], suffix: &[u8], now: Now) -> Result<usize, WrongType> {
        let hash = hash_bytes(&self.seeds, key);
        let place = self.find(hash, key, now);
        let length = match place.and_then(|place| self.keys.get_mut(place)) {
            Some(Slot::String(record)) => {
                record.append(suffix);
                record.value().len()
            }
            Some(Slot::Collection(_)) => return Err(WrongType),
            None => {
                self.put_in(hash, Slot::String(Record::new(key, Text::of(suffix), None)));
                suffix.len()
            }
        };
        self.changed(hash, key);
        Ok(length)
    }
}
