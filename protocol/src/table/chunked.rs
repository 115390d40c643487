//! An array that grows by whole chunks: growing moves nothing, so it never stalls over what is
//! there already and never holds room for twice what it needs.

use std::ops::{Index, IndexMut};

/// Elements of one chunk. Small enough that an empty table is small, large enough that a chunk's
/// header does not count.
const CHUNK: usize = 1024;

/// The array. Indices are `u32` because that is what the table's edges store.
pub(super) struct Chunked<T> {
    /// All but the last are full; each has room for `CHUNK` elements from the start.
    chunks: Vec<Vec<T>>,
}

impl<T> Chunked<T> {
    pub(super) const fn new() -> Self {
        Self { chunks: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        match self.chunks.as_slice() {
            [] => 0,
            [full @ .., last] => full.len() * CHUNK + last.len(),
        }
    }

    pub(super) fn get(&self, index: u32) -> Option<&T> {
        let index = index as usize;
        self.chunks.get(index / CHUNK)?.get(index % CHUNK)
    }

    pub(super) fn push(&mut self, element: T) {
        match self.chunks.last_mut() {
            Some(last) if last.len() < CHUNK => last.push(element),
            _ => {
                let mut chunk = Vec::with_capacity(CHUNK);
                chunk.push(element);
                self.chunks.push(chunk);
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flatten()
    }
}

/// For indices that the table itself stored.
impl<T> Index<u32> for Chunked<T> {
    type Output = T;

    fn index(&self, index: u32) -> &T {
        let index = index as usize;
        &self.chunks[index / CHUNK][index % CHUNK]
    }
}

impl<T> IndexMut<u32> for Chunked<T> {
    fn index_mut(&mut self, index: u32) -> &mut T {
        let index = index as usize;
        &mut self.chunks[index / CHUNK][index % CHUNK]
    }
}
