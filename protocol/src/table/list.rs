//! Very many lists, most of them very short.
//!
//! A list of one keeps its item in itself; a longer one has a block of 2, 4, 8, … items in a
//! [`Pool`] that all lists of one sort share. That saves the allocator's overhead per list, and a
//! list's own size stays at the item's plus four bytes.
//!
//! A block is full to more than a quarter. Blocks of the same size are cut from chunks; the last
//! one of a size to be freed gives the chunks of that size back, and a block that is a chunk of its
//! own is given back at once.

use std::ops::Range;
use std::slice;

/// A chunk holds `1 << CHUNK_BITS` items, unless a single block is larger.
const CHUNK_BITS: u32 = 9;
/// Blocks of class `c` hold `2 << c` items. The largest class is beyond any memory.
const CLASSES: usize = 31;

/// A list of `T`. Its items are reached through the pool it grew in, and must be released there:
/// dropped, it would leave its block in use.
#[derive(Default)]
pub(super) enum List<T> {
    #[default]
    Empty,
    One(T),
    Many {
        class: u8,
        /// Which block of its class.
        block: u32,
        len: u32,
    },
}

impl<T> List<T> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::One(_) => 1,
            Self::Many { len, .. } => *len as usize,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Empty)
    }
}

/// Where the items of lists live.
pub(super) struct Pool<T> {
    classes: [Class<T>; CLASSES],
}

impl<T: Copy + Default> Pool<T> {
    pub(super) fn new() -> Self {
        Self {
            classes: std::array::from_fn(|class| Class::new(class as u32 + 1)),
        }
    }

    #[inline]
    pub(super) fn items<'a>(&'a self, list: &'a List<T>) -> &'a [T] {
        match list {
            List::Empty => &[],
            List::One(item) => slice::from_ref(item),
            List::Many { class, block, len } => {
                &self.classes[usize::from(*class)].block(*block)[..*len as usize]
            }
        }
    }

    pub(super) fn items_mut<'a>(&'a mut self, list: &'a mut List<T>) -> &'a mut [T] {
        match list {
            List::Empty => &mut [],
            List::One(item) => slice::from_mut(item),
            List::Many { class, block, len } => {
                &mut self.classes[usize::from(*class)].block_mut(*block)[..*len as usize]
            }
        }
    }

    pub(super) fn push(&mut self, list: &mut List<T>, item: T) {
        match *list {
            List::Empty => *list = List::One(item),
            List::One(first) => {
                let block = self.classes[0].allocate();
                self.classes[0]
                    .block_mut(block)
                    .copy_from_slice(&[first, item]);
                let (class, len) = (0, 2);
                *list = List::Many { class, block, len };
            }
            List::Many { class, block, len } => {
                let full = len as usize == self.classes[usize::from(class)].block_items();
                let (class, block) = if full {
                    (class + 1, self.copy(class, block, class + 1))
                } else {
                    (class, block)
                };
                self.classes[usize::from(class)].block_mut(block)[len as usize] = item;
                let len = len + 1;
                *list = List::Many { class, block, len };
            }
        }
    }

    /// Removes the item at `index`, which must exist; the last item takes its place.
    pub(super) fn swap_remove(&mut self, list: &mut List<T>, index: usize) {
        let items = self.items_mut(list);
        let last = items.len() - 1;
        items[index] = items[last];
        let first = items[0];
        match *list {
            List::Empty => {}
            List::One(_) => *list = List::Empty,
            List::Many { class, block, .. } if last == 1 => {
                self.classes[usize::from(class)].free(block);
                *list = List::One(first);
            }
            List::Many { class, block, len } => {
                let len = len - 1;
                let sparse = len as usize * 4 <= self.classes[usize::from(class)].block_items();
                let (class, block) = if sparse {
                    (class - 1, self.copy(class, block, class - 1))
                } else {
                    (class, block)
                };
                *list = List::Many { class, block, len };
            }
        }
    }

    /// Empties the list.
    pub(super) fn release(&mut self, list: &mut List<T>) {
        if let List::Many { class, block, .. } = std::mem::take(list) {
            self.classes[usize::from(class)].free(block);
        }
    }

    /// Moves as many items as fit from a block into a new one of class `to`.
    fn copy(&mut self, from: u8, block: u32, to: u8) -> u32 {
        let [from, to] = [from, to].map(usize::from);
        let copy = self.classes[to].allocate();
        if let Ok([source, target]) = self.classes.get_disjoint_mut([from, to]) {
            let items = source.block_items().min(target.block_items());
            target.block_mut(copy)[..items].copy_from_slice(&source.block(block)[..items]);
        }
        self.classes[from].free(block);
        copy
    }
}

/// All blocks of one size.
struct Class<T> {
    /// A block holds `1 << item_bits` items.
    item_bits: u32,
    /// A chunk holds `1 << block_bits` blocks.
    block_bits: u32,
    /// A chunk whose only block is free is empty.
    chunks: Vec<Box<[T]>>,
    /// Blocks that were freed.
    free: Vec<u32>,
    /// Blocks from here on have never been used.
    fresh: u32,
}

impl<T: Copy + Default> Class<T> {
    fn new(item_bits: u32) -> Self {
        Self {
            item_bits,
            block_bits: CHUNK_BITS.saturating_sub(item_bits),
            chunks: Vec::new(),
            free: Vec::new(),
            fresh: 0,
        }
    }

    fn block_items(&self) -> usize {
        1 << self.item_bits
    }

    /// The chunk that a block is in, and its items there.
    fn place(&self, block: u32) -> (usize, Range<usize>) {
        let (chunk, within) = (
            block >> self.block_bits,
            block & ((1 << self.block_bits) - 1),
        );
        let start = (within as usize) << self.item_bits;
        (chunk as usize, start..start + self.block_items())
    }

    fn block(&self, block: u32) -> &[T] {
        let (chunk, items) = self.place(block);
        &self.chunks[chunk][items]
    }

    fn block_mut(&mut self, block: u32) -> &mut [T] {
        let (chunk, items) = self.place(block);
        &mut self.chunks[chunk][items]
    }

    fn allocate(&mut self) -> u32 {
        let block = self.free.pop().unwrap_or_else(|| {
            self.fresh += 1;
            self.fresh - 1
        });
        let (chunk, _) = self.place(block);
        if chunk == self.chunks.len() {
            self.chunks.push(Box::default());
        }
        if self.chunks[chunk].is_empty() {
            let items = 1 << (self.item_bits + self.block_bits);
            self.chunks[chunk] = vec![T::default(); items].into();
        }
        block
    }

    fn free(&mut self, block: u32) {
        self.free.push(block);
        if self.free.len() == self.fresh as usize {
            *self = Self::new(self.item_bits);
        } else if self.block_bits == 0 {
            let (chunk, _) = self.place(block);
            self.chunks[chunk] = Box::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::{List, Pool};

    fn chunks(pool: &Pool<u32>) -> usize {
        let classes = pool.classes.iter();
        classes.map(|class| class.chunks.len()).sum()
    }

    proptest! {
        #[test]
        fn lists_that_share_a_pool_are_like_vectors(
            operations in vec((0..4_usize, any::<prop::sample::Index>(), 0..8_u8), 0..2000),
        ) {
            let mut pool = Pool::new();
            let mut lists: [List<u32>; 4] = Default::default();
            let mut model: [Vec<u32>; 4] = Default::default();
            for (next, (which, at, what)) in operations.into_iter().enumerate() {
                let (list, items) = (&mut lists[which], &mut model[which]);
                // The lists differ in how long they tend to be.
                if usize::from(what) > which || items.is_empty() {
                    pool.push(list, next as u32);
                    items.push(next as u32);
                } else {
                    let at = at.index(items.len());
                    pool.swap_remove(list, at);
                    items.swap_remove(at);
                }
                prop_assert_eq!(lists[which].len(), model[which].len());
                for (list, items) in lists.iter_mut().zip(&mut model) {
                    prop_assert_eq!(pool.items(list), items.as_slice());
                    prop_assert_eq!(pool.items_mut(list), items.as_mut_slice());
                }
            }
            for list in &mut lists {
                pool.release(list);
                prop_assert!(list.is_empty());
            }
            prop_assert_eq!(chunks(&pool), 0);
        }
    }

    #[test]
    fn a_long_list_that_becomes_short_gives_its_block_back() {
        let (mut pool, mut long, mut other) = (Pool::new(), List::Empty, List::Empty);
        for item in 0..100_000 {
            pool.push(&mut long, item);
            pool.push(&mut other, item);
        }
        while long.len() > 2 {
            pool.swap_remove(&mut long, 0);
        }
        let capacity = |pool: &Pool<u32>| -> usize {
            let chunks = pool.classes.iter().flat_map(|class| &class.chunks);
            chunks.map(|chunk| chunk.len()).sum()
        };
        assert!(capacity(&pool) < (1 << 17) + 1024, "{}", capacity(&pool));
        assert_eq!(pool.items(&long).len(), 2);
        assert_eq!(pool.items(&other).len(), 100_000);
    }

    #[test]
    fn a_list_is_four_bytes_larger_than_its_item() {
        assert_eq!(size_of::<List<[u32; 2]>>(), 12);
        assert_eq!(size_of::<List<[u32; 3]>>(), 16);
    }
}
