//! Ends a transport's sleep from outside.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, read, write};

/// Wakes a transport that sleeps in [`wait`](crate::Transport::wait), from any thread. Clones wake
/// the same transport.
#[derive(Clone, Debug)]
pub struct Waker {
    descriptor: Arc<OwnedFd>,
}

impl Waker {
    pub(super) fn new() -> Result<Self, Errno> {
        let descriptor = eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?;
        Ok(Self {
            descriptor: Arc::new(descriptor),
        })
    }

    /// Ends the sleep that is going on, or else the next one. One system call that is safe in a
    /// signal handler; a handler that only has a number may write eight bytes, a `u64` of 1 in
    /// native order, to [`Waker::as_fd`] itself.
    pub fn wake(&self) {
        // The only failure is a counter that is full, and then the wake-up is on its way already.
        let _ = write(&*self.descriptor, &1_u64.to_ne_bytes());
    }

    pub(super) fn take(&self) {
        let mut count = [0; 8];
        // Nothing to take means that it was taken already.
        let _ = read(&*self.descriptor, &mut count);
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}
