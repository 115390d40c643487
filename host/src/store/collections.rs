//! What the store does with collections, whatever their type.

use ahash::RandomState;
use goblin_protocol::time::Now;

use super::segments::Place;
use super::slot::{Collection, Slot};
use super::{Kind, Store, WrongType, hash_bytes};

/// What a change of a collection answers, and whether it changed anything.
#[derive(Clone, Copy, Debug)]
pub struct Changed<R> {
    /// The answer.
    pub answer: R,
    /// Whether anything is other than before.
    pub is_changed: bool,
}

impl Store {
    /// The collection that a key holds.
    ///
    /// # Errors
    ///
    /// When the key holds a value of another type.
    pub fn collection<K: Kind>(&mut self, key: &[u8], now: Now) -> Result<Option<&K>, WrongType> {
        match self.slot(key, now) {
            None => Ok(None),
            Some(Slot::Collection(collection)) => {
                K::of(&collection.value).map(Some).ok_or(WrongType)
            }
            Some(Slot::String(_)) => Err(WrongType),
        }
    }

    /// Changes the collection that a key holds, if there is one. One that is empty after that is
    /// removed.
    ///
    /// # Errors
    ///
    /// When the key holds a value of another type.
    pub fn update<K: Kind, R>(
        &mut self,
        key: &[u8],
        now: Now,
        change: impl FnOnce(&mut K, &RandomState) -> Changed<R>,
    ) -> Result<Option<R>, WrongType> {
        let hash = hash_bytes(&self.seeds, key);
        match self.find(hash, key, now) {
            Some(place) => self.update_at(place, hash, key, change).map(Some),
            None => Ok(None),
        }
    }

    /// Changes the collection that a key holds, or an empty one where there is none. One that is
    /// empty after that is removed, or not created.
    ///
    /// # Errors
    ///
    /// When the key holds a value of another type.
    pub fn update_or_create<K: Kind, R>(
        &mut self,
        key: &[u8],
        now: Now,
        change: impl FnOnce(&mut K, &RandomState) -> Changed<R>,
    ) -> Result<R, WrongType> {
        let hash = hash_bytes(&self.seeds, key);
        if let Some(place) = self.find(hash, key, now) {
            return self.update_at(place, hash, key, change);
        }
        let mut value = K::empty();
        let answer = change(&mut value, &self.seeds).answer;
        if !value.is_empty() {
            let (name, value) = (key.into(), value.into_value());
            let collection = Collection {
                name,
                expiry: None,
                value,
            };
            self.put_in(hash, Slot::Collection(Box::new(collection)));
            self.changed(hash, key);
        }
        Ok(answer)
    }

    fn update_at<K: Kind, R>(
        &mut self,
        place: Place,
        hash: u64,
        key: &[u8],
        change: impl FnOnce(&mut K, &RandomState) -> Changed<R>,
    ) -> Result<R, WrongType> {
        let Some(Slot::Collection(collection)) = self.keys.get_mut(place) else {
            return Err(WrongType);
        };
        let value = K::of_mut(&mut collection.value).ok_or(WrongType)?;
        let Changed { answer, is_changed } = change(value, &self.seeds);
        if value.is_empty() {
            self.take_out(hash, key, place);
        } else if is_changed {
            self.changed(hash, key);
        }
        Ok(answer)
    }
}
