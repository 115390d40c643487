//! What the store has given up but not freed yet: freeing millions of pieces takes long, so it is
//! done a part at a time.

use super::expiry::Expiries;
use super::hash::Hash;
use super::list::List;
use super::segments::Segments;
use super::set::Set;
use super::slot::{Slot, Value};
use super::sorted_set::SortedSet;

/// Collections with no more elements than this are freed at once, which is cheaper than coming back.
const FREED_AT_ONCE_MAX: usize = 1_024;
/// Expiries freed at a time: about as much work as the parts of everything else.
const EXPIRIES_AT_A_TIME: usize = 64;

#[derive(Debug)]
enum Remains {
    Keys(Segments<Slot>),
    Expiries(Expiries),
    Hash(Hash),
    List(List),
    Set(Set),
    SortedSet(SortedSet),
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Graveyard {
    remains: Vec<Remains>,
}

impl Graveyard {
    /// Takes a value that nothing refers to any more.
    pub(super) fn bury(&mut self, value: Value) {
        match value {
            Value::Hash(hash) if hash.len() > FREED_AT_ONCE_MAX => {
                self.remains.push(Remains::Hash(hash));
            }
            Value::List(list) if list.len() > FREED_AT_ONCE_MAX => {
                self.remains.push(Remains::List(list));
            }
            Value::Set(set) if set.len() > FREED_AT_ONCE_MAX => {
                self.remains.push(Remains::Set(set));
            }
            Value::SortedSet(set) if set.len() > FREED_AT_ONCE_MAX => {
                self.remains.push(Remains::SortedSet(set));
            }
            Value::Hash(_) | Value::List(_) | Value::Set(_) | Value::SortedSet(_) => {}
        }
    }

    /// Takes a whole keyspace.
    pub(super) fn bury_all(&mut self, keys: Segments<Slot>, expiries: Expiries) {
        self.remains.push(Remains::Keys(keys));
        self.remains.push(Remains::Expiries(expiries));
    }

    /// Whether nothing is left to free.
    pub(super) fn is_empty(&self) -> bool {
        self.remains.is_empty()
    }

    /// Frees a part, some hundred pieces at most unless they are small collections; false when
    /// nothing was left.
    pub(super) fn free_part(&mut self) -> bool {
        let Some(last) = self.remains.last_mut() else {
            return false;
        };
        let is_left = match last {
            Remains::Expiries(expiries) => expiries.drop_some(EXPIRIES_AT_A_TIME),
            Remains::Hash(hash) => hash.take_part().is_some(),
            Remains::List(list) => list.drop_some(),
            Remains::Set(set) => set.take_part().is_some(),
            Remains::SortedSet(set) => set.drop_some(),
            Remains::Keys(keys) => match keys.take_segment() {
                Some(segment) => {
                    segment
                        .into_iter()
                        .filter_map(Slot::into_value)
                        .for_each(|value| self.bury(value));
                    return true;
                }
                None => false,
            },
        };
        if !is_left {
            self.remains.pop();
        }
        true
    }
}
