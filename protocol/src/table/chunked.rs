//! An array that grows by whole chunks: growing moves nothing, so it never stalls over what is
//! there already and never holds room for twice what it needs.

use std::ops::{Index, IndexMut};

/// Elements of one chunk. Small enough that an empty table is small, large enough that a chunk's
/// header does not count.
const CHUNK: usize = 1024;

/// The array. Indices are `u32` because that is what the table's edges store.
pub(super) struct Chunked<T> {
    /// Filled up with default elements beyond `len`.
    chunks: Vec<Box<[T; CHUNK]>>,
    len: usize,
}

impl<T: Default> Chunked<T> {
    pub(super) const fn new() -> Self {
        Self {
            chunks: Vec::new(),
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The element, or `None` or a default one beyond the end.
    pub(super) fn get(&self, index: u32) -> Option<&T> {
        let index = index as usize;
        let chunk = self.chunks.get(index / CHUNK)?;
        Some(&chunk[index % CHUNK])
    }

    pub(super) fn push(&mut self, element: T) {
        if self.len == self.chunks.len() * CHUNK {
            let chunk: Vec<T> = (0..CHUNK).map(|_| T::default()).collect();
            if let Ok(chunk) = chunk.into_boxed_slice().try_into() {
                self.chunks.push(chunk);
            }
        }
        self.chunks[self.len / CHUNK][self.len % CHUNK] = element;
        self.len += 1;
    }

    /// All elements, and default ones after the last.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
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
