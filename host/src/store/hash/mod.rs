//! Hashes: fields with values, compact while small, then a table.
//!
//! A hash that has once become a table stays one. Values are strings of any bytes; in a table those
//! that are integers are kept as such.

pub(super) mod compact;

use ahash::RandomState;
use hashbrown::HashTable;

use super::hash_bytes;
use super::random::Random;
use super::record::Record;
use super::segments::Segments;
use super::text::Text;
use compact::Compact;

/// A hash value.
#[derive(Clone, Debug)]
pub struct Hash(Form);

#[derive(Clone, Debug)]
enum Form {
    Compact(Compact),
    Table(Box<Table>),
}

#[derive(Clone, Debug)]
struct Table {
    seeds: RandomState,
    fields: Segments<Record>,
}

impl Hash {
    /// A hash without fields.
    pub(crate) fn new() -> Self {
        Self(Form::Compact(Compact::default()))
    }

    /// How many fields it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Compact(compact) => compact.len(),
            Form::Table(table) => table.fields.len(),
        }
    }

    /// Whether it has no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Form::Compact(compact) => compact.is_empty(),
            Form::Table(table) => table.fields.is_empty(),
        }
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, field: &[u8]) -> Option<Text<'_>> {
        match &self.0 {
            Form::Compact(compact) => compact.get(field).map(Text::Bytes),
            Form::Table(table) => table.get(field),
        }
    }

    /// Sets a field and says whether it is new. A table that comes to be hashes with `seeds`.
    pub fn set(&mut self, field: &[u8], value: &[u8], seeds: &RandomState) -> bool {
        match &mut self.0 {
            Form::Compact(compact) if compact.admits(field, value) => compact.set(field, value),
            Form::Compact(compact) => {
                let mut table = Box::new(Table::of(compact, seeds.clone()));
                let is_new = table.set(field, value);
                self.0 = Form::Table(table);
                is_new
            }
            Form::Table(table) => table.set(field, value),
        }
    }

    /// Removes a field and says whether it was there.
    pub fn remove(&mut self, field: &[u8]) -> bool {
        match &mut self.0 {
            Form::Compact(compact) => compact.remove(field),
            Form::Table(table) => table.remove(field),
        }
    }

    /// All fields with their values; of a compact hash in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], Text<'_>)> {
        let (compact, table) = match &self.0 {
            Form::Compact(compact) => (Some(compact), None),
            Form::Table(table) => (None, Some(table)),
        };
        let compact = compact.into_iter().flat_map(Compact::iter);
        let table = table.into_iter().flat_map(|table| table.fields.iter());
        compact
            .map(|(field, value)| (field, Text::Bytes(value)))
            .chain(table.map(|record| (record.name(), record.value())))
    }

    /// A field with its value that chance has chosen.
    pub fn at_random(&self, random: &mut Random) -> Option<(&[u8], Text<'_>)> {
        match &self.0 {
            Form::Compact(compact) => {
                let (field, value) = compact.iter().nth(random.below(compact.len()))?;
                Some((field, Text::Bytes(value)))
            }
            Form::Table(table) => {
                let record = table.fields.get(table.fields.at_random(random)?)?;
                Some((record.name(), record.value()))
            }
        }
    }

    /// Hands some fields to `visit` and returns the cursor of the next ones, 0 behind the last.
    /// Whoever begins at 0 and ends there has seen every field that was there all the time.
    pub fn scan<'a>(&'a self, cursor: u64, mut visit: impl FnMut(&'a [u8], Text<'a>)) -> u64 {
        match &self.0 {
            Form::Compact(compact) => {
                for (field, value) in compact.iter() {
                    visit(field, Text::Bytes(value));
                }
                0
            }
            Form::Table(table) => table
                .fields
                .scan(cursor, |record| visit(record.name(), record.value())),
        }
    }

    /// Whether it is in its small form.
    #[must_use]
    pub fn is_compact(&self) -> bool {
        matches!(self.0, Form::Compact(_))
    }

    /// Takes a part out of a hash that is given up; `None` when nothing is left to take.
    pub(crate) fn take_part(&mut self) -> Option<HashTable<Record>> {
        match &mut self.0 {
            Form::Compact(_) => None,
            Form::Table(table) => table.fields.take_segment(),
        }
    }
}

impl Table {
    fn of(compact: &Compact, seeds: RandomState) -> Self {
        let fields = Segments::default();
        let mut table = Self { seeds, fields };
        for (field, value) in compact.iter() {
            table.set(field, value);
        }
        table
    }

    fn get(&self, field: &[u8]) -> Option<Text<'_>> {
        let hash = hash_bytes(&self.seeds, field);
        let place = self.fields.find(hash, |record| record.name() == field)?;
        self.fields.get(place).map(Record::value)
    }

    fn set(&mut self, field: &[u8], value: &[u8]) -> bool {
        let Self { seeds, fields } = self;
        let (hash, value) = (hash_bytes(seeds, field), Text::of(value));
        let place = fields.find(hash, |record| record.name() == field);
        if let Some(record) = place.and_then(|place| fields.get_mut(place)) {
            record.set(value, None);
            return false;
        }
        let record = Record::new(field, value, None);
        fields.insert(hash, record, |record| hash_bytes(seeds, record.name()));
        true
    }

    fn remove(&mut self, field: &[u8]) -> bool {
        let Self { seeds, fields } = self;
        let hash = hash_bytes(seeds, field);
        let Some(place) = fields.find(hash, |record| record.name() == field) else {
            return false;
        };
        let removed = fields.remove(place, |record| hash_bytes(seeds, record.name()));
        removed.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::compact::{BYTES_MAX, FIELDS_MAX};
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn seeds() -> RandomState {
        RandomState::with_seeds(1, 2, 3, 4)
    }

    fn owned(text: Text<'_>) -> Vec<u8> {
        text.bytes(&mut Default::default()).to_vec()
    }

    #[test]
    fn a_hash_becomes_a_table_with_its_129th_field() {
        let mut hash = Hash::new();
        for field in 0..FIELDS_MAX {
            hash.set(field.to_string().as_bytes(), b"", &seeds());
        }
        hash.set(b"5", b"five", &seeds());
        assert!(hash.is_compact());
        assert!(hash.set(b"one more", b"", &seeds()));
        assert!(!hash.is_compact());
        assert_eq!(hash.len(), FIELDS_MAX + 1);
        assert_eq!(hash.get(b"5").map(owned), Some(b"five".to_vec()));
    }

    #[test]
    fn a_hash_becomes_a_table_with_a_long_field_or_value() {
        for (field, value) in [(BYTES_MAX + 1, 0), (0, BYTES_MAX + 1)] {
            let mut hash = Hash::new();
            hash.set(&[b'f'; BYTES_MAX], &[b'v'; BYTES_MAX], &seeds());
            assert!(hash.is_compact());
            hash.set(&vec![b'f'; field], &vec![b'v'; value], &seeds());
            assert!(!hash.is_compact());
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Set(u8, u16),
        Remove(u8),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (any::<u8>(), any::<u16>()).prop_map(|(field, value)| Step::Set(field, value)),
            1 => any::<u8>().prop_map(Step::Remove),
        ]
    }

    /// Some fields and values are empty, some repeat, some pass the bound of a compact hash.
    fn word(number: u16) -> Vec<u8> {
        match number % 700 {
            0 => Vec::new(),
            1..=3 => vec![b'x'; usize::from(number % 700) * 32],
            _ => number.to_string().into_bytes(),
        }
    }

    proptest! {
        #[test]
        fn a_hash_is_like_a_map(steps in prop::collection::vec(step(), 0..600)) {
            let (mut hash, mut oracle) = (Hash::new(), HashMap::new());
            for step in steps {
                match step {
                    Step::Set(field, value) => {
                        let (field, value) = (word(u16::from(field)), word(value));
                        let is_new = hash.set(&field, &value, &seeds());
                        prop_assert_eq!(is_new, oracle.insert(field, value).is_none());
                    }
                    Step::Remove(field) => {
                        let field = word(u16::from(field));
                        prop_assert_eq!(hash.remove(&field), oracle.remove(&field).is_some());
                    }
                }
                prop_assert_eq!(hash.len(), oracle.len());
                prop_assert_eq!(hash.is_empty(), oracle.is_empty());
            }
            for (field, value) in &oracle {
                prop_assert_eq!(hash.get(field).map(owned), Some(value.clone()));
            }
            let all: HashMap<_, _> =
                hash.iter().map(|(field, value)| (field.to_vec(), owned(value))).collect();
            prop_assert_eq!(all, oracle);
        }
    }
}
