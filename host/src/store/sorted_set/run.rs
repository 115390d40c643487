//! A short sequence of scored members in order, in one run of bytes: a small sorted set, or a leaf of
//! the tree of a large one.
//!
//! ```text
//! | count u16 | scores f64 × n | ends u32 × n | tags u8 × n | members |
//! ```
//!
//! `ends` are where the members end, counted from the first one's start. A member's tag is a byte
//! computed from it, so that finding a member compares hardly any other. Numbers are little-endian.
//!
//! Invariants: scores do not decrease, and members of equal scores increase bytewise; no score is
//! NaN; the members together stay below 4 GiB, which the callers' bounds on numbers and bytes give.

use std::cmp::Ordering;

use memchr::memchr_iter;

const COUNT_BYTES: usize = 2;
const SCORE_BYTES: usize = 8;
const END_BYTES: usize = 4;
/// What an entry needs beside its member.
pub(crate) const ENTRY_BYTES: usize = SCORE_BYTES + END_BYTES + 1;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Run {
    bytes: Vec<u8>,
}

/// A scored member as found in a run. Reading the member may touch memory that the score does not.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    score: f64,
    run: &'a Run,
    at: usize,
}

impl<'a> Entry<'a> {
    /// The entry at a place in a run, whose score is known already.
    pub(crate) const fn new(score: f64, run: &'a Run, at: usize) -> Self {
        Self { score, run, at }
    }

    /// The score.
    #[must_use]
    pub const fn score(&self) -> f64 {
        self.score
    }

    /// The member.
    #[must_use]
    pub fn member(&self) -> &'a [u8] {
        self.run.member(self.at)
    }

    /// Whether it comes before a member with a score.
    pub(crate) fn is_before(&self, score: f64, member: &[u8]) -> bool {
        match self.score.partial_cmp(&score) {
            Some(Ordering::Less) => true,
            Some(Ordering::Equal) => self.member() < member,
            _ => false,
        }
    }
}

/// Where the parts of a run of `count` entries begin.
#[derive(Clone, Copy)]
struct Layout {
    ends: usize,
    tags: usize,
    members: usize,
}

impl Layout {
    const fn of(count: usize) -> Self {
        let ends = COUNT_BYTES + count * SCORE_BYTES;
        let tags = ends + count * END_BYTES;
        Self {
            ends,
            tags,
            members: tags + count,
        }
    }
}

impl Run {
    /// How many entries there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        let count = self.bytes.first_chunk();
        count.map_or(0, |&count| usize::from(u16::from_le_bytes(count)))
    }

    /// The bytes of all members together.
    pub(crate) fn member_bytes(&self) -> usize {
        self.bytes
            .len()
            .saturating_sub(Layout::of(self.len()).members)
    }

    /// The score at a place; NaN where there is no entry.
    #[inline]
    pub(crate) fn score(&self, at: usize) -> f64 {
        let bytes = self.bytes.get(COUNT_BYTES + at * SCORE_BYTES..);
        let score = bytes.and_then(<[u8]>::first_chunk);
        score.map_or(f64::NAN, |&score| f64::from_le_bytes(score))
    }

    /// The member at a place where there is an entry.
    #[inline]
    pub(crate) fn member(&self, at: usize) -> &[u8] {
        let layout = Layout::of(self.len());
        let start = layout.members + self.start(layout, at);
        let end = layout.members + self.end(layout, at);
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The entry at a place.
    pub(crate) fn entry(&self, at: usize) -> Option<Entry<'_>> {
        (at < self.len()).then(|| Entry::new(self.score(at), self, at))
    }

    /// Where a member is.
    pub(crate) fn find(&self, member: &[u8]) -> Option<usize> {
        let layout = Layout::of(self.len());
        let tags = self.bytes.get(layout.tags..layout.members)?;
        memchr_iter(tag_of(member), tags).find(|&at| self.member(at) == member)
    }

    /// The first place whose entry is not `before`, all before it being so.
    pub(crate) fn partition_point(&self, before: impl Fn(Entry<'_>) -> bool) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if before(Entry::new(self.score(middle), self, middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Whether an entry at that place could have another score and stay where it is, as far as the
    /// entries beside it in this run tell; at the run's ends it could not.
    pub(crate) fn fits_between(&self, at: usize, score: f64) -> bool {
        let Some(previous) = at.checked_sub(1).and_then(|at| self.entry(at)) else {
            return false;
        };
        let Some(next) = self.entry(at + 1) else {
            return false;
        };
        let member = self.member(at);
        previous.is_before(score, member) && !next.is_before(score, member)
    }

    /// Gives an entry another score, which must keep the order.
    pub(crate) fn set_score(&mut self, at: usize, score: f64) {
        self.write(COUNT_BYTES + at * SCORE_BYTES, &score.to_le_bytes());
    }

    /// Puts an entry at a place, which must be its in the order.
    pub(crate) fn insert(&mut self, at: usize, score: f64, member: &[u8]) {
        let count = self.len();
        let (old, new) = (Layout::of(count), Layout::of(count + 1));
        let offset = self.start(old, at);
        let old_size = self.bytes.len().max(COUNT_BYTES);
        let size = old_size + ENTRY_BYTES + member.len();
        self.make_room(size);
        self.bytes.resize(size, 0);
        // From the back, so that nothing is overwritten before it has moved.
        let behind = new.members + offset + member.len();
        self.bytes
            .copy_within(old.members + offset..old_size, behind);
        self.shift(old.members, offset, new.members);
        self.shift(old.tags + at, count - at, new.tags + at + 1);
        self.shift(old.tags, at, new.tags);
        let (at_end, at_score) = (at * END_BYTES, COUNT_BYTES + at * SCORE_BYTES);
        self.shift(
            old.ends + at_end,
            (count - at) * END_BYTES,
            new.ends + at_end + END_BYTES,
        );
        self.shift(old.ends, at_end, new.ends);
        self.shift(at_score, (count - at) * SCORE_BYTES, at_score + SCORE_BYTES);

        self.write(0, &((count + 1) as u16).to_le_bytes());
        self.write(at_score, &score.to_le_bytes());
        self.write(new.ends + at_end, &(offset as u32).to_le_bytes());
        self.write(new.tags + at, &[tag_of(member)]);
        self.write(new.members + offset, member);
        self.move_ends(new, at, |end| end.wrapping_add(member.len() as u32));
    }

    /// Takes out the entry at a place.
    pub(crate) fn remove(&mut self, at: usize) {
        let count = self.len();
        if at >= count {
            return;
        }
        let (old, new) = (Layout::of(count), Layout::of(count - 1));
        let (start, end) = (self.start(old, at), self.end(old, at));
        let length = end - start;
        self.move_ends(old, at + 1, |end| end.wrapping_sub(length as u32));
        let (at_end, at_score) = (at * END_BYTES, COUNT_BYTES + at * SCORE_BYTES);
        let after = count - at - 1;
        self.shift(at_score + SCORE_BYTES, after * SCORE_BYTES, at_score);
        self.shift(old.ends, at_end, new.ends);
        self.shift(
            old.ends + at_end + END_BYTES,
            after * END_BYTES,
            new.ends + at_end,
        );
        self.shift(old.tags, at, new.tags);
        self.shift(old.tags + at + 1, after, new.tags + at);
        self.shift(old.members, start, new.members);
        self.bytes
            .copy_within(old.members + end.., new.members + start);
        self.write(0, &((count - 1) as u16).to_le_bytes());
        self.bytes.truncate(self.bytes.len() - ENTRY_BYTES - length);
        if self.bytes.capacity() > 2 * self.bytes.len() {
            self.bytes.shrink_to_fit();
        }
    }

    /// Takes out the entries from a place on, as a run of their own.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        let mut left = Self::default();
        left.append(self, 0, at);
        let mut right = Self::default();
        right.append(self, at, self.len());
        *self = left;
        right
    }

    /// Adds the entries `from..to` of another run, which must follow in the order.
    pub(crate) fn append(&mut self, other: &Self, from: usize, to: usize) {
        let size = |run: &Self, from, to| {
            let layout = Layout::of(run.len());
            let members = run.start(layout, to) - run.start(layout, from);
            members + (to - from) * ENTRY_BYTES
        };
        let (own, added) = (self.len(), to - from);
        let (old, theirs) = (Layout::of(own), Layout::of(other.len()));
        let mut bytes =
            Vec::with_capacity(COUNT_BYTES + size(self, 0, own) + size(other, from, to));
        bytes.extend_from_slice(&((own + added) as u16).to_le_bytes());
        bytes.extend_from_slice(self.part(COUNT_BYTES, own * SCORE_BYTES));
        let scores = COUNT_BYTES + from * SCORE_BYTES;
        bytes.extend_from_slice(other.part(scores, added * SCORE_BYTES));
        bytes.extend_from_slice(self.part(old.ends, own * END_BYTES));
        let first = other.start(theirs, from);
        let base = self.start(old, own);
        for at in from..to {
            let end = base + other.end(theirs, at) - first;
            bytes.extend_from_slice(&(end as u32).to_le_bytes());
        }
        bytes.extend_from_slice(self.part(old.tags, own));
        bytes.extend_from_slice(other.part(theirs.tags + from, added));
        bytes.extend_from_slice(self.part(old.members, base));
        let members = other.start(theirs, to) - first;
        bytes.extend_from_slice(other.part(theirs.members + first, members));
        self.bytes = bytes;
    }

    fn part(&self, start: usize, length: usize) -> &[u8] {
        self.bytes.get(start..start + length).unwrap_or_default()
    }

    fn start(&self, layout: Layout, at: usize) -> usize {
        at.checked_sub(1)
            .map_or(0, |previous| self.end(layout, previous))
    }

    #[inline]
    fn end(&self, layout: Layout, at: usize) -> usize {
        let bytes = self.bytes.get(layout.ends + at * END_BYTES..);
        let end = bytes.and_then(<[u8]>::first_chunk);
        end.map_or(0, |&end| u32::from_le_bytes(end) as usize)
    }

    fn shift(&mut self, from: usize, length: usize, to: usize) {
        self.bytes.copy_within(from..from + length, to);
    }

    fn write(&mut self, at: usize, bytes: &[u8]) {
        if let Some(room) = self.bytes.get_mut(at..at + bytes.len()) {
            room.copy_from_slice(bytes);
        }
    }

    /// Changes the ends of the entries from `at` on.
    fn move_ends(&mut self, layout: Layout, at: usize, change: impl Fn(u32) -> u32) {
        let ends = self
            .bytes
            .get_mut(layout.ends + at * END_BYTES..layout.tags);
        for bytes in ends.unwrap_or_default().as_chunks_mut::<END_BYTES>().0 {
            *bytes = change(u32::from_le_bytes(*bytes)).to_le_bytes();
        }
    }

    /// Grows by a sixteenth more than necessary, which costs little memory and saves most copies.
    fn make_room(&mut self, size: usize) {
        if size > self.bytes.capacity() {
            self.bytes
                .reserve_exact(size + size / 16 - self.bytes.len());
        }
    }
}

/// A byte that differs between most members. It need not withstand anyone: a run is short.
fn tag_of(member: &[u8]) -> u8 {
    let number = match member.last_chunk() {
        Some(&last) => u64::from_le_bytes(last),
        None => member
            .iter()
            .fold(1, |number, &byte| number << 8 | u64::from(byte)),
    };
    let mixed = (number ^ member.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn contents(run: &Run) -> Vec<(f64, Vec<u8>)> {
        (0..run.len())
            .map(|at| (run.score(at), run.member(at).to_vec()))
            .collect()
    }

    proptest! {
        #[test]
        fn a_run_is_like_a_sorted_list(
            steps in prop::collection::vec((any::<bool>(), 0_u16..200, 0_u8..10), 0..150),
            cut in 0_usize..150,
        ) {
            let (mut run, mut oracle) = (Run::default(), Vec::<(f64, Vec<u8>)>::new());
            for (adds, number, score) in steps {
                let member = vec![b'a' + (number % 7) as u8; usize::from(number / 7)];
                let score = f64::from(score);
                if let Some(at) = run.find(&member) {
                    prop_assert_eq!(&oracle[at].1, &member);
                    run.remove(at);
                    oracle.remove(at);
                } else {
                    prop_assert!(oracle.iter().all(|(_, known)| *known != member));
                    if adds {
                        let at = run.partition_point(|entry| entry.is_before(score, &member));
                        run.insert(at, score, &member);
                        oracle.push((score, member));
                        oracle.sort_by(|a, b| a.partial_cmp(b).unwrap());
                    }
                }
                prop_assert_eq!(contents(&run), oracle.clone());
                let bytes: usize = oracle.iter().map(|(_, member)| member.len()).sum();
                prop_assert_eq!(run.member_bytes(), bytes);
            }
            let cut = cut.min(run.len());
            let right = run.split_off(cut);
            prop_assert_eq!(contents(&run), oracle[..cut].to_vec());
            prop_assert_eq!(contents(&right), oracle[cut..].to_vec());
            run.append(&right, 0, right.len());
            prop_assert_eq!(contents(&run), oracle);
        }
    }
}
