//! Sets: members, compact while small, then a table.
//!
//! A small set of integers is a sorted run of them, another small set a run of bytes. What has left
//! a form never comes back to it.

mod ints;

use ahash::RandomState;
use goblin_protocol::resp::parse_integer;
use hashbrown::HashTable;

use super::hash::compact::{BYTES_MAX, Compact, FIELDS_MAX};
use super::hash_bytes;
use super::random::Random;
use super::segments::Segments;
use super::slot::Encoding;
use super::text::{Digits, Text};
use ints::Ints;

/// Most members of a set of integers (Redis's `set-max-intset-entries`).
const INTEGERS_MAX: usize = 512;

/// A set value.
#[derive(Clone, Debug)]
pub struct Set(Form);

#[derive(Clone, Debug)]
enum Form {
    Ints(Ints),
    /// The fields are the members; their values are empty.
    Compact(Compact),
    Table(Box<Table>),
}

#[derive(Clone, Debug)]
struct Table {
    seeds: RandomState,
    members: Segments<Box<[u8]>>,
}

impl Set {
    /// A set without members.
    #[must_use]
    pub fn new() -> Self {
        Self(Form::Ints(Ints::default()))
    }

    /// How many members it has.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Ints(ints) => ints.len(),
            Form::Compact(compact) => compact.len(),
            Form::Table(table) => table.members.len(),
        }
    }

    /// Whether it has no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Form::Compact(compact) => compact.is_empty(),
            _ => self.len() == 0,
        }
    }

    /// Whether it has a member.
    #[must_use]
    pub fn contains(&self, member: &[u8]) -> bool {
        match &self.0 {
            Form::Ints(ints) => parse_integer(member).is_some_and(|value| ints.contains(value)),
            Form::Compact(compact) => compact.get(member).is_some(),
            Form::Table(table) => table.contains(member),
        }
    }

    /// Adds a member and says whether it is new. A table that comes to be hashes with `seeds`.
    pub fn add(&mut self, member: &[u8], seeds: &RandomState) -> bool {
        match &mut self.0 {
            Form::Ints(ints) => match parse_integer(member) {
                Some(value) if ints.contains(value) => return false,
                Some(value) if ints.len() < INTEGERS_MAX => return ints.add(value),
                None if ints.len() < FIELDS_MAX && member.len() <= BYTES_MAX => {
                    self.0 = Form::Compact(compact_of(ints));
                }
                _ => self.become_table(seeds),
            },
            Form::Compact(compact) if compact.admits(member, b"") => {
                return compact.set(member, b"");
            }
            Form::Compact(_) => self.become_table(seeds),
            Form::Table(table) => return table.add(member),
        }
        self.add(member, seeds)
    }

    /// Removes a member and says whether it was there.
    pub fn remove(&mut self, member: &[u8]) -> bool {
        match &mut self.0 {
            Form::Ints(ints) => parse_integer(member).is_some_and(|value| ints.remove(value)),
            Form::Compact(compact) => compact.remove(member),
            Form::Table(table) => table.remove(member),
        }
    }

    /// All members.
    pub fn iter(&self) -> impl Iterator<Item = Text<'_>> {
        let (ints, compact, table) = match &self.0 {
            Form::Ints(ints) => (Some(ints), None, None),
            Form::Compact(compact) => (None, Some(compact), None),
            Form::Table(table) => (None, None, Some(table)),
        };
        let ints = ints.into_iter().flat_map(Ints::iter).map(Text::Integer);
        let compact = compact.into_iter().flat_map(Compact::iter);
        let table = table.into_iter().flat_map(|table| table.members.iter());
        ints.chain(compact.map(|(member, _)| Text::Bytes(member)))
            .chain(table.map(|member| Text::Bytes(member)))
    }

    /// A member that chance has chosen.
    pub fn at_random(&self, random: &mut Random) -> Option<Text<'_>> {
        match &self.0 {
            Form::Ints(ints) => ints.get(random.below(ints.len())).map(Text::Integer),
            Form::Compact(compact) => {
                let (member, _) = compact.iter().nth(random.below(compact.len()))?;
                Some(Text::Bytes(member))
            }
            Form::Table(table) => {
                let place = table.members.at_random(random)?;
                table.members.get(place).map(|member| Text::Bytes(member))
            }
        }
    }

    /// Hands some members to `visit` and returns the cursor of the next ones, 0 behind the last.
    /// Whoever begins at 0 and ends there has seen every member that was there all the time.
    pub fn scan<'a>(&'a self, cursor: u64, mut visit: impl FnMut(Text<'a>)) -> u64 {
        match &self.0 {
            Form::Table(table) => table
                .members
                .scan(cursor, |member| visit(Text::Bytes(member))),
            _ => {
                self.iter().for_each(visit);
                0
            }
        }
    }

    pub(super) const fn encoding(&self) -> Encoding {
        match self.0 {
            Form::Ints(_) => Encoding::IntSet,
            Form::Compact(_) => Encoding::ListPack,
            Form::Table(_) => Encoding::HashTable,
        }
    }

    /// Takes a part out of a set that is given up; `None` when nothing is left to take.
    pub(super) fn take_part(&mut self) -> Option<HashTable<Box<[u8]>>> {
        match &mut self.0 {
            Form::Table(table) => table.members.take_segment(),
            _ => None,
        }
    }

    fn become_table(&mut self, seeds: &RandomState) {
        let mut table = Box::new(Table {
            seeds: seeds.clone(),
            members: Segments::default(),
        });
        for member in self.iter() {
            table.add(member.bytes(&mut Digits::default()));
        }
        self.0 = Form::Table(table);
    }
}

impl Default for Set {
    fn default() -> Self {
        Self::new()
    }
}

fn compact_of(ints: &Ints) -> Compact {
    let mut compact = Compact::default();
    for value in ints.iter() {
        compact.set(Text::Integer(value).bytes(&mut Digits::default()), b"");
    }
    compact
}

impl Table {
    fn contains(&self, member: &[u8]) -> bool {
        let hash = hash_bytes(&self.seeds, member);
        self.members.find(hash, |it| **it == *member).is_some()
    }

    fn add(&mut self, member: &[u8]) -> bool {
        let Self { seeds, members } = self;
        let hash = hash_bytes(seeds, member);
        let is_new = members.find(hash, |it| **it == *member).is_none();
        if is_new {
            members.insert(hash, member.into(), |it| hash_bytes(seeds, it));
        }
        is_new
    }

    fn remove(&mut self, member: &[u8]) -> bool {
        let Self { seeds, members } = self;
        let hash = hash_bytes(seeds, member);
        let place = members.find(hash, |it| **it == *member);
        place.is_some_and(|place| members.remove(place, |it| hash_bytes(seeds, it)).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn seeds() -> RandomState {
        RandomState::with_seeds(1, 2, 3, 4)
    }

    fn owned(text: Text<'_>) -> Vec<u8> {
        text.bytes(&mut Default::default()).to_vec()
    }

    fn set_of(members: impl Iterator<Item = String>) -> Set {
        let mut set = Set::new();
        members.for_each(|member| {
            set.add(member.as_bytes(), &seeds());
        });
        set
    }

    #[test]
    fn a_set_changes_its_form_where_redis_changes_it() {
        let numbers = |count: usize| (0..count).map(|number| number.to_string());
        let words = |count: usize| (0..count).map(|number| format!("w{number}"));
        assert_eq!(set_of(numbers(512)).encoding(), Encoding::IntSet);
        assert_eq!(set_of(numbers(513)).encoding(), Encoding::HashTable);
        assert_eq!(set_of(words(128)).encoding(), Encoding::ListPack);
        assert_eq!(set_of(words(129)).encoding(), Encoding::HashTable);
        assert_eq!(
            set_of(numbers(127).chain(words(1))).encoding(),
            Encoding::ListPack
        );
        assert_eq!(
            set_of(numbers(128).chain(words(1))).encoding(),
            Encoding::HashTable
        );
        let long = std::iter::once("x".repeat(BYTES_MAX + 1));
        assert_eq!(set_of(long).encoding(), Encoding::HashTable);
    }

    /// Numbers of every width and words.
    fn member() -> impl Strategy<Value = String> {
        prop_oneof![
            8 => (-600_i64..600).prop_map(|number| number.to_string()),
            2 => (-3_i64..3).prop_map(|number| (number * 40_000).to_string()),
            1 => (-3_i64..3).prop_map(|number| (number << 40).to_string()),
            1 => "[a-c]{0,3}",
        ]
    }

    proptest! {
        #[test]
        fn a_set_is_like_a_set(steps in prop::collection::vec((any::<bool>(), member()), 0..900)) {
            let (mut set, mut oracle) = (Set::new(), HashSet::new());
            for (is_added, member) in steps {
                let member = member.into_bytes();
                if is_added || oracle.len() < 5 {
                    prop_assert_eq!(set.add(&member, &seeds()), oracle.insert(member));
                } else {
                    prop_assert_eq!(set.remove(&member), oracle.remove(&member));
                }
                prop_assert_eq!(set.len(), oracle.len());
                prop_assert_eq!(set.is_empty(), oracle.is_empty());
            }
            prop_assert!(oracle.iter().all(|member| set.contains(member)));
            prop_assert_eq!(set.iter().map(owned).collect::<HashSet<_>>(), oracle);
        }
    }
}
