#![allow(unsafe_code)] // Receives into the arena and poisons what is given back.

//! The memory of receive buffers: slots of one block, as in the real library's pool.
//!
//! A slot is free, or held by the program since an rx callback. Its descriptor, whose address the
//! program gets, is one word beside the block. An empty arena means that nothing is received.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::AtomicU64;

use goblin_xlio_sys::{Buf, InitAttr};

use crate::settings::Random;
use crate::system;

/// Bytes of a slot.
pub(crate) const SLOT_BYTES: usize = 64 * 1024;

/// The memory.
#[derive(Debug)]
pub(crate) struct Arena {
    base: usize,
    headers: Vec<AtomicU64>,
    /// The group whose program holds the slot, and the length that was received.
    held: Vec<Option<(usize, usize)>>,
    free: Vec<u32>,
    /// Owns the block unless the program's allocator does.
    _block: Vec<u8>,
}

impl Arena {
    /// A block of the program's allocator, if it has one.
    pub(crate) fn new(bytes: usize, attr: &InitAttr) -> Option<Self> {
        let slots = (bytes / SLOT_BYTES).max(1);
        let length = slots * SLOT_BYTES;
        let (base, block) = if let Some(allocate) = attr.memory_alloc {
            // SAFETY: the program says that this is an allocator.
            let base = unsafe { allocate(length) } as usize;
            (base, Vec::new())
        } else {
            let mut block = vec![0; length];
            (block.as_mut_ptr() as usize, block)
        };
        (base != 0).then(|| Self {
            base,
            headers: (0..slots).map(|_| AtomicU64::new(0)).collect(),
            held: vec![None; slots],
            free: (0..slots as u32).rev().collect(),
            _block: block,
        })
    }

    /// Where the block is.
    pub(crate) fn block(&self) -> (usize, usize) {
        (self.base, self.held.len() * SLOT_BYTES)
    }

    /// Receives at most `most` bytes into a free slot for `group`: the slot and how many, `None`
    /// at the end or when no slot is free.
    pub(crate) fn receive(
        &mut self,
        fd: BorrowedFd<'_>,
        group: usize,
        most: usize,
    ) -> Option<io::Result<(u32, usize)>> {
        let slot = *self.free.last()?;
        let address = self.address(slot);
        // SAFETY: the slot is free, hence nobody's, and `most` fits into it.
        let received = unsafe { system::receive(fd, address, most.min(SLOT_BYTES)) };
        Some(received.map(|bytes| {
            if bytes > 0 {
                self.free.pop();
                self.held[slot as usize] = Some((group, bytes));
            }
            (slot, bytes)
        }))
    }

    /// Where a slot's bytes are.
    pub(crate) fn address(&self, slot: u32) -> usize {
        self.base + slot as usize * SLOT_BYTES
    }

    /// A slot's descriptor.
    pub(crate) fn descriptor(&self, slot: u32) -> *mut Buf {
        self.headers[slot as usize].as_ptr().cast()
    }

    /// Which slot a descriptor belongs to, and for which group it is held.
    pub(crate) fn holder(&self, descriptor: *mut Buf) -> Option<(u32, usize)> {
        let first = self.headers.as_ptr() as usize;
        let slot = (descriptor as usize).checked_sub(first)? / size_of::<AtomicU64>();
        let (group, _) = (*self.held.get(slot)?)?;
        Some((slot as u32, group))
    }

    /// Takes a slot back.
    pub(crate) fn release(&mut self, slot: u32) {
        if let Some((_, length)) = self.held[slot as usize].take() {
            // SAFETY: the slot was given back, hence nobody's, and `length` bytes are in it.
            unsafe { system::poison(self.address(slot), length) };
            self.free.push(slot);
        }
    }

    /// A buffer of a group that the program has not given back.
    pub(crate) fn leaked(&self, group: usize) -> Option<u32> {
        let position = self
            .held
            .iter()
            .position(|it| matches!(it, Some((g, _)) if *g == group))?;
        Some(position as u32)
    }

    /// How large the next buffer is.
    pub(crate) fn chunk(rx_max: Option<usize>, random: &mut Random) -> usize {
        match rx_max {
            Some(most) => 1 + random.below(most as u64) as usize,
            None => SLOT_BYTES,
        }
    }
}
