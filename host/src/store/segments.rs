//! A hash table that grows and shrinks a segment at a time, so that no insertion or removal stalls
//! however large the table is.
//!
//! The segments are small tables of their own, chosen by the middle bits of an entry's hash (linear
//! hashing). Whenever there are more than [`SEGMENT_ENTRIES`] entries per segment, one segment is
//! split in two, in a fixed order; whenever there are far fewer, the last split is undone. The work
//! of one call is that of one segment.
//!
//! Invariants: an entry lies in the segment [`segment_of`] gives for its hash and the present number
//! of segments; `len` is the sum of the segments' lengths. The caller gives for an entry always the
//! same hash, and decides which entries are equal.

use hashbrown::HashTable;

use super::random::Random;

/// Entries per segment beyond which the table gets another one. The value matters little for
/// memory; it bounds what one call costs.
const SEGMENT_ENTRIES: usize = 52;
/// With less than this part of them per segment the table gives one up.
const SPARSE_DIVISOR: usize = 4;
/// The hash bits below choose the place within a segment, and the topmost seven tell its entries
/// apart.
const SEGMENT_SHIFT: u32 = 16;

/// Entries of type `T`.
#[derive(Clone, Debug)]
pub(crate) struct Segments<T> {
    tables: Vec<HashTable<T>>,
    len: usize,
}

/// Where an entry lies, until the next insertion or removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    segment: usize,
    bucket: usize,
}

impl<T> Default for Segments<T> {
    fn default() -> Self {
        Self {
            tables: Vec::new(),
            len: 0,
        }
    }
}

impl<T> Segments<T> {
    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no entry.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the entry of that hash is that `is_it` accepts.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_it: impl FnMut(&T) -> bool) -> Option<Place> {
        let segment = segment_of(hash, self.tables.len());
        let bucket = self.tables.get(segment)?.find_bucket_index(hash, is_it)?;
        Some(Place { segment, bucket })
    }

    /// The entry at a place.
    #[inline]
    pub(crate) fn get(&self, place: Place) -> Option<&T> {
        self.tables.get(place.segment)?.get_bucket(place.bucket)
    }

    /// The entry at a place. It may change in whatever its hash does not depend on.
    #[inline]
    pub(crate) fn get_mut(&mut self, place: Place) -> Option<&mut T> {
        let table = self.tables.get_mut(place.segment)?;
        table.get_bucket_mut(place.bucket)
    }

    /// Adds an entry that is not there yet.
    pub(crate) fn insert(&mut self, hash: u64, entry: T, hash_of: impl Fn(&T) -> u64) {
        if self.tables.is_empty() {
            self.tables.push(HashTable::new());
        }
        let segment = segment_of(hash, self.tables.len());
        if let Some(table) = self.tables.get_mut(segment) {
            table.insert_unique(hash, entry, &hash_of);
            self.len += 1;
        }
        if self.len > self.tables.len() * SEGMENT_ENTRIES {
            self.split(hash_of);
        }
    }

    /// Takes out the entry at a place.
    pub(crate) fn remove(&mut self, place: Place, hash_of: impl Fn(&T) -> u64) -> Option<T> {
        let table = self.tables.get_mut(place.segment)?;
        let (entry, _) = table.get_bucket_entry(place.bucket).ok()?.remove();
        self.len -= 1;
        if self.len * SPARSE_DIVISOR < self.tables.len() * SEGMENT_ENTRIES {
            self.merge(hash_of);
        }
        Some(entry)
    }

    /// All entries, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.tables.iter().flat_map(HashTable::iter)
    }

    /// All entries, in no particular order. They may change in whatever their hashes do not depend
    /// on.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.tables.iter_mut().flat_map(HashTable::iter_mut)
    }

    /// Hands the entries of the segment at `cursor` to `visit` and returns the cursor of the next
    /// one, 0 behind the last. Whoever begins at 0 and ends there has seen every entry that was there
    /// all the time, whatever came, went or moved in between; some he may have seen twice.
    ///
    /// A cursor is a point in the space of hash bits read backwards: however often segments are split
    /// and joined, each covers one interval of it.
    pub(crate) fn scan<'a>(&'a self, cursor: u64, visit: impl FnMut(&'a T)) -> u64 {
        let bits = u64::BITS - SEGMENT_SHIFT;
        let point = cursor & (u64::MAX >> SEGMENT_SHIFT);
        let segment = segment_of(point.reverse_bits(), self.tables.len().max(1));
        if let Some(table) = self.tables.get(segment) {
            table.iter().for_each(visit);
        }
        let width = 1 << (bits - depth_of(segment, self.tables.len().max(1)));
        ((point / width + 1) * width) & (u64::MAX >> SEGMENT_SHIFT)
    }

    /// Where an entry is that chance has chosen.
    pub(crate) fn at_random(&self, random: &mut Random) -> Option<Place> {
        if self.is_empty() {
            return None;
        }
        loop {
            let segment = random.below(self.tables.len());
            let buckets = self.tables.get(segment).map_or(0, HashTable::num_buckets);
            let bucket = random.below(buckets);
            let place = Place { segment, bucket };
            if self.get(place).is_some() {
                return Some(place);
            }
        }
    }

    /// Takes out a whole segment, for giving up the table bit by bit. What is left is no table any
    /// more: only this method is of use.
    pub(crate) fn take_segment(&mut self) -> Option<HashTable<T>> {
        let table = self.tables.pop()?;
        self.len -= table.len();
        Some(table)
    }

    /// Splits the segment whose turn it is.
    fn split(&mut self, hash_of: impl Fn(&T) -> u64) {
        let added = self.tables.len();
        let Some(source) = self.tables.get_mut(origin_of(added)) else {
            return;
        };
        let entries = std::mem::take(source);
        let half = entries.len() / 2;
        let mut kept = HashTable::with_capacity(half);
        let mut moved = HashTable::with_capacity(half);
        for entry in entries {
            let hash = hash_of(&entry);
            let stays = segment_of(hash, added + 1) != added;
            let table = if stays { &mut kept } else { &mut moved };
            table.insert_unique(hash, entry, &hash_of);
        }
        *source = kept;
        self.tables.push(moved);
    }

    /// Undoes the last split. The only segment stays, unless it is empty.
    fn merge(&mut self, hash_of: impl Fn(&T) -> u64) {
        let last = self.tables.len() - 1;
        if last == 0 {
            if self.len == 0 {
                self.tables = Vec::new();
            }
            return;
        }
        let entries = self.tables.pop().unwrap_or_default();
        if let Some(target) = self.tables.get_mut(origin_of(last)) {
            for entry in entries {
                target.insert_unique(hash_of(&entry), entry, &hash_of);
            }
        }
    }
}

/// The segment of a hash among `count`.
#[inline]
fn segment_of(hash: u64, count: usize) -> usize {
    let mask = count.next_power_of_two() - 1;
    let bits = (hash >> SEGMENT_SHIFT) as usize & mask;
    if bits < count {
        bits
    } else {
        bits & (mask >> 1)
    }
}

/// How many bits of the hashes in a segment among `count` are alike.
fn depth_of(segment: usize, count: usize) -> u32 {
    let whole = count.next_power_of_two();
    let is_unsplit = segment < whole / 2 && segment + whole / 2 >= count;
    whole.trailing_zeros() - u32::from(is_unsplit)
}

/// The segment that was split when `segment`, which is not the first, was added.
fn origin_of(segment: usize) -> usize {
    segment & ((segment + 1).next_power_of_two() / 2 - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hash_of(entry: &u32) -> u64 {
        u64::from(*entry).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    #[test]
    fn every_entry_is_found_while_the_table_grows_and_shrinks() {
        let mut table = Segments::default();
        for entry in 0..3_000 {
            table.insert(hash_of(&entry), entry, hash_of);
            for sought in (0..=entry).step_by(97) {
                assert!(table.find(hash_of(&sought), |&it| it == sought).is_some());
            }
        }
        assert!(table.tables.len() > 3_000 / SEGMENT_ENTRIES);
        for entry in 0..3_000 {
            let place = table.find(hash_of(&entry), |&it| it == entry);
            let place = place.expect("was inserted");
            assert_eq!(table.remove(place, hash_of), Some(entry));
            assert_eq!(table.len(), 2_999 - entry as usize);
            assert_eq!(table.iter().count(), table.len());
        }
        assert!(table.tables.is_empty());
    }

    #[test]
    fn segments_taken_one_by_one_hold_everything() {
        let mut table = Segments::default();
        (0..1_000).for_each(|entry| table.insert(hash_of(&entry), entry, hash_of));
        let taken: usize = std::iter::from_fn(|| table.take_segment())
            .map(|segment| segment.len())
            .sum();
        assert_eq!((taken, table.len()), (1_000, 0));
    }

    #[test]
    fn chance_chooses_any_entry() {
        let mut table = Segments::default();
        assert!(table.at_random(&mut Random::new(7)).is_none());
        (0..200).for_each(|entry| table.insert(hash_of(&entry), entry, hash_of));
        let mut random = Random::new(7);
        let chosen: std::collections::HashSet<_> = (0..10_000)
            .map(|_| {
                table
                    .at_random(&mut random)
                    .and_then(|place| table.get(place))
            })
            .collect();
        assert_eq!(chosen.len(), 200);
    }

    proptest! {
        #[test]
        fn a_scan_sees_every_entry_that_stays(
            steps in prop::collection::vec(-400_i32..400, 1..60),
            before in 0_u32..2_000,
        ) {
            let mut table = Segments::default();
            // Those below 100 stay; the others come and go between the calls.
            let (mut next, mut gone) = (100 + before, 100);
            (0..next).for_each(|entry| table.insert(hash_of(&entry), entry, hash_of));
            let (mut seen, mut cursor) = (std::collections::HashSet::new(), 0);
            for step in steps.iter().cycle() {
                cursor = table.scan(cursor, |&entry| { seen.insert(entry); });
                if cursor == 0 {
                    break;
                }
                // Growing for ever would never end.
                for _ in 0..(*step).min(20_000 - next as i32) {
                    table.insert(hash_of(&next), next, hash_of);
                    next += 1;
                }
                for _ in *step..0 {
                    if gone < next {
                        let place = table.find(hash_of(&gone), |&it| it == gone);
                        table.remove(place.expect("is there"), hash_of);
                        gone += 1;
                    }
                }
            }
            prop_assert!((0..100).all(|entry| seen.contains(&entry)));
        }

        #[test]
        fn a_hash_moves_only_to_the_segment_that_was_added(hash: u64, count in 1_usize..5_000) {
            let before = segment_of(hash, count);
            let after = segment_of(hash, count + 1);
            prop_assert!(before < count);
            prop_assert!(after == before || (after == count && before == origin_of(count)));
        }
    }
}
