//! The names of one kind that somebody is subscribed to, found by hash, with their subscribers.
//!
//! A name's index stays the same as long as it has a subscriber, and is used again afterwards. The
//! hash table is cut into [`SHARDS`], so that growing it moves a small part at a time.

use ahash::RandomState;
use hashbrown::HashTable;

use super::chunked::Chunked;
use super::list::List;

/// Parts of the hash table. At a million names each holds 16,000.
const SHARDS: usize = 64;
/// The lowest bit of a hash that chooses the shard. hashbrown uses the top seven and, in tables
/// of less than 2^40 entries, none from here on.
const SHARD_SHIFT: u32 = 40;

/// One end of a subscription, kept with the name.
#[derive(Clone, Copy, Default)]
pub(super) struct Edge<W> {
    pub(super) who: u32,
    /// Where the other end is in the subscriber's own list.
    pub(super) slot: u32,
    pub(super) weight: W,
}

/// A name and who is subscribed to it. Without subscribers it is vacant and has no name either.
#[derive(Default)]
pub(super) struct Entry<W> {
    pub(super) name: Box<[u8]>,
    pub(super) edges: List<Edge<W>>,
}

/// The names of one kind.
pub(super) struct Names<W> {
    shards: [HashTable<u32>; SHARDS],
    entries: Chunked<Entry<W>>,
    vacant: Vec<u32>,
}

impl<W: Copy + Default> Names<W> {
    pub(super) fn new() -> Self {
        Self {
            shards: [const { HashTable::new() }; SHARDS],
            entries: Chunked::new(),
            vacant: Vec::new(),
        }
    }

    /// How many names there are.
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.vacant.len()
    }

    /// The name's index and its entry.
    #[inline]
    pub(super) fn find(&self, hash: u64, name: &[u8]) -> Option<(u32, &Entry<W>)> {
        let mut found = None;
        self.shards[shard(hash)].find(hash, |&index| {
            let entry = &self.entries[index];
            let equal = *entry.name == *name;
            if equal {
                found = Some((index, entry));
            }
            equal
        });
        found
    }

    pub(super) fn get(&self, index: u32) -> Option<&Entry<W>> {
        self.entries.get(index)
    }

    pub(super) fn entry(&self, index: u32) -> &Entry<W> {
        &self.entries[index]
    }

    pub(super) fn edges_mut(&mut self, index: u32) -> &mut List<Edge<W>> {
        &mut self.entries[index].edges
    }

    /// Adds a name that `find` did not find. The caller subscribes somebody to it.
    pub(super) fn insert(&mut self, hasher: &RandomState, hash: u64, name: &[u8]) -> u32 {
        let entry = Entry {
            name: name.into(),
            edges: List::Empty,
        };
        let index = if let Some(index) = self.vacant.pop() {
            self.entries[index] = entry;
            index
        } else {
            let index = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
            self.entries.push(entry);
            index
        };
        let entries = &self.entries;
        self.shards[shard(hash)].insert_unique(hash, index, |&index| {
            super::hash(hasher, &entries[index].name)
        });
        index
    }

    /// Removes a name that has no subscribers left, and returns it.
    pub(super) fn remove(&mut self, hasher: &RandomState, index: u32) -> Box<[u8]> {
        let name = std::mem::take(&mut self.entries[index].name);
        let hash = super::hash(hasher, &name);
        let table = &mut self.shards[shard(hash)];
        if let Ok(found) = table.find_entry(hash, |&found| found == index) {
            found.remove();
        }
        self.vacant.push(index);
        if self.vacant.len() == self.entries.len() {
            *self = Self::new();
        } else if table.len() < table.capacity() / 8 {
            let (entries, room) = (&self.entries, table.len() * 2);
            table.shrink_to(room, |&index| super::hash(hasher, &entries[index].name));
        }
        name
    }

    /// All names, in the order of their indices.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry<W>> {
        self.entries.iter().filter(|entry| !entry.edges.is_empty())
    }
}

/// The shard that a hash belongs to.
#[inline]
fn shard(hash: u64) -> usize {
    (hash >> SHARD_SHIFT) as usize % SHARDS
}
