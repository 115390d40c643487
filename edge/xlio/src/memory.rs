#![allow(unsafe_code)] // Writes to memory of which the library reads other parts.

//! Memory for zero-copy sends: chunks of one block, each free or in flight.
//!
//! A chunk in flight is the library's: it is neither read nor written here until its completion.
//! The block outlives the group, because a completion may be lost when a group is destroyed.

use std::io::IoSlice;

use crate::callbacks::Tag;

/// Bytes of a chunk.
pub(crate) const CHUNK_BYTES: usize = 64 * 1024;

/// The block.
#[derive(Debug)]
pub(crate) struct Memory {
    /// Touched through `base` only.
    _block: Vec<u8>,
    base: *mut u8,
    chunks: usize,
    free: Vec<u32>,
    /// For whom a chunk is in flight.
    owners: Vec<Option<Tag>>,
}

impl Memory {
    /// Room for so many chunks. Pages that are never used cost nothing.
    pub(crate) fn new(chunks: usize) -> Self {
        let mut block = vec![0; chunks * CHUNK_BYTES];
        Self {
            base: block.as_mut_ptr(),
            _block: block,
            chunks,
            free: (0..chunks as u32).rev().collect(),
            owners: vec![None; chunks],
        }
    }

    /// Where the block is, for registration.
    pub(crate) fn block(&self) -> (*mut u8, usize) {
        (self.base, self.chunks * CHUNK_BYTES)
    }

    pub(crate) fn has_free(&self) -> bool {
        !self.free.is_empty()
    }

    /// A chunk filled with up to `most` bytes from `slices`, behind the first `skip`: chunk, address,
    /// length.
    pub(crate) fn fill(
        &mut self,
        owner: Tag,
        slices: &[IoSlice<'_>],
        skip: usize,
        most: usize,
    ) -> Option<(u32, *const u8, usize)> {
        let chunk = self.free.pop()?;
        *self.owners.get_mut(chunk as usize)? = Some(owner);
        // SAFETY: `chunk` is below the number of chunks, so the place is inside the block.
        let place = unsafe { self.base.add(chunk as usize * CHUNK_BYTES) };
        // SAFETY: the chunk was free: the library does not read it, and nobody else refers to it.
        let bytes = unsafe { std::slice::from_raw_parts_mut(place, CHUNK_BYTES) };
        let length = gather(slices, skip, &mut bytes[..most.min(CHUNK_BYTES)]);
        Some((chunk, place, length))
    }

    /// For whom a chunk is in flight.
    pub(crate) fn owner(&self, chunk: u32) -> Option<Tag> {
        *self.owners.get(chunk as usize)?
    }

    /// The library is done with a chunk. One that is not in flight is left alone.
    pub(crate) fn release(&mut self, chunk: u32) {
        if let Some(owner) = self.owners.get_mut(chunk as usize)
            && owner.take().is_some()
        {
            self.free.push(chunk);
        }
    }
}

/// Copies from `slices`, behind the first `skip` bytes, to `to`; how many.
pub(crate) fn gather(slices: &[IoSlice<'_>], mut skip: usize, to: &mut [u8]) -> usize {
    let mut done = 0;
    for slice in slices {
        let start = skip.min(slice.len());
        skip -= start;
        let step = (slice.len() - start).min(to.len() - done);
        to[done..done + step].copy_from_slice(&slice[start..start + step]);
        done += step;
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callbacks::allocate_tag;

    #[test]
    fn bytes_are_gathered_from_any_place_on() {
        let slices = [
            IoSlice::new(b"abc"),
            IoSlice::new(b""),
            IoSlice::new(b"defg"),
        ];
        for skip in 0..=7 {
            for most in 0..=8 {
                let mut to = vec![0; most];
                let done = gather(&slices, skip, &mut to);
                let rest = &b"abcdefg"[skip..];
                assert_eq!(to[..done], rest[..most.min(rest.len())]);
            }
        }
    }

    #[test]
    fn a_chunk_in_flight_is_not_handed_out_and_comes_back_once() {
        let mut memory = Memory::new(2);
        let first = memory
            .fill(allocate_tag(), &[IoSlice::new(b"a")], 0, 10)
            .unwrap()
            .0;
        let second = memory
            .fill(allocate_tag(), &[IoSlice::new(b"b")], 0, 10)
            .unwrap()
            .0;
        assert_ne!(first, second);
        assert!(memory.fill(allocate_tag(), &[], 0, 1).is_none());
        memory.release(first);
        memory.release(first);
        assert_eq!(memory.free, [first]);
    }
}
