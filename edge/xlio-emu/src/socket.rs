//! One socket, and what it has to send.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use crate::system::{self, Foreign};

/// Where a socket is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Fresh,
    /// On a wildcard address nothing is offloaded: peers connect to the kernel and hang.
    Listening {
        offloaded: bool,
    },
    Connecting,
    Established,
    /// The error it failed with.
    Failed(i32),
    /// Destroyed gracefully; waits for the peer until the deadline.
    Closing(Instant),
}

/// A socket.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) fd: OwnedFd,
    pub(crate) group: Option<usize>,
    pub(crate) userdata: usize,
    pub(crate) state: State,
    pub(crate) destroyed: bool,
    pub(crate) bound: bool,
    pub(crate) bind_failed: bool,
    pub(crate) abortive: bool,
    /// The peer's end was told.
    pub(crate) ended: bool,
    /// Our end was sent.
    pub(crate) finished: bool,
    /// Polls until TERMINATED may be told.
    pub(crate) held_polls: u64,
    pub(crate) output: Output,
}

impl Socket {
    pub(crate) fn new(fd: OwnedFd, group: usize, userdata: usize, state: State) -> Self {
        Self {
            fd,
            group: Some(group),
            userdata,
            state,
            destroyed: false,
            bound: false,
            bind_failed: false,
            abortive: false,
            ended: false,
            finished: false,
            held_polls: 0,
            output: Output::default(),
        }
    }

    /// Why nothing can be sent, as the real library says it.
    pub(crate) fn cannot_send(&self) -> Option<i32> {
        match self.state {
            State::Established | State::Closing(_) => None,
            State::Connecting => Some(libc::EAGAIN),
            State::Failed(error) => Some(error),
            State::Fresh | State::Listening { .. } => Some(libc::EPIPE),
        }
    }

    /// Writes what may be written. What the kernel cannot take now stays; after an error nothing is
    /// left, and the error is found by reading.
    pub(crate) fn write(&mut self) {
        while let pieces = self.output.next()
            && !pieces.is_empty()
        {
            match system::send(self.fd.as_fd(), &pieces) {
                Ok(bytes) => self.output.wrote(bytes),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(error) if error.raw_os_error() == Some(libc::EFAULT) => {
                    let address = pieces.first().map_or(0, |piece| piece.0);
                    crate::rule::broken(crate::rule::Rule::ZeroCopyMemory, address)
                }
                Err(_) => return self.output.purge(),
            }
        }
    }

    /// The userdata of zero-copy sends that have completed since the last call.
    pub(crate) fn completed(&mut self) -> Vec<usize> {
        if self.output.zero_copies.is_empty() {
            return Vec::new();
        }
        let behind = system::unacknowledged(self.fd.as_fd());
        let behind = behind.saturating_sub(u64::from(self.finished));
        self.output.complete(behind)
    }
}

#[derive(Debug)]
enum Piece {
    Copied(Vec<u8>),
    Foreign(Foreign),
}

impl Piece {
    fn place(&self) -> Foreign {
        match self {
            Self::Copied(bytes) => (bytes.as_ptr() as usize, bytes.len()),
            Self::Foreign(place) => *place,
        }
    }
}

#[derive(Debug)]
struct ZeroCopy {
    /// Total of bytes queued up to and with it.
    end: u64,
    userdata: usize,
    places: Vec<Foreign>,
    digest: u64,
}

/// What is queued. Positions count all bytes that were ever queued.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pieces: VecDeque<Piece>,
    /// Bytes of the first piece that were written.
    taken: usize,
    queued: u64,
    written: u64,
    /// Up to where it may be written.
    flushed: u64,
    purged: bool,
    zero_copies: VecDeque<ZeroCopy>,
}

/// Most pieces of one system call.
const PIECES_MAX: usize = 64;

impl Output {
    pub(crate) fn copy(&mut self, bytes: Vec<u8>) {
        self.queued += bytes.len() as u64;
        if !bytes.is_empty() {
            self.pieces.push_back(Piece::Copied(bytes));
        }
    }

    /// Queues addresses. Only with userdata, and bytes, does it complete.
    pub(crate) fn refer(&mut self, places: Vec<Foreign>, userdata: usize) {
        let places: Vec<_> = places.into_iter().filter(|it| it.1 > 0).collect();
        for place in &places {
            self.queued += place.1 as u64;
            self.pieces.push_back(Piece::Foreign(*place));
        }
        let Some(first) = places.first().map(|it| it.0) else {
            return;
        };
        let Some(digest) = system::digest(&places) else {
            crate::rule::broken(crate::rule::Rule::ZeroCopyMemory, first)
        };
        self.zero_copies.push_back(ZeroCopy {
            end: self.queued,
            userdata,
            places,
            digest,
        });
    }

    pub(crate) fn flush(&mut self) {
        self.flushed = self.queued;
    }

    pub(crate) fn has_unflushed(&self) -> bool {
        self.flushed < self.queued
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Whether anything is to be written or completed.
    pub(crate) fn is_idle(&self) -> bool {
        self.pieces.is_empty() && self.zero_copies.is_empty()
    }

    /// Whether memory of the program is in use.
    pub(crate) fn in_flight(&self) -> bool {
        !self.zero_copies.is_empty()
    }

    fn next(&self) -> Vec<Foreign> {
        let mut left = usize::try_from(self.flushed - self.written).unwrap_or(usize::MAX);
        let mut skip = self.taken;
        let mut places = Vec::new();
        for piece in self.pieces.iter().take(PIECES_MAX) {
            let (address, length) = piece.place();
            let length = (length - skip).min(left);
            if length == 0 {
                break;
            }
            places.push((address + skip, length));
            left -= length;
            skip = 0;
        }
        places
    }

    fn wrote(&mut self, bytes: usize) {
        self.written += bytes as u64;
        self.taken += bytes;
        while let Some(first) = self.pieces.front()
            && self.taken >= first.place().1
        {
            self.taken -= first.place().1;
            self.pieces.pop_front();
        }
    }

    /// Nothing will be sent any more.
    pub(crate) fn purge(&mut self) {
        self.pieces.clear();
        self.taken = 0;
        self.written = self.queued;
        self.flushed = self.queued;
        self.purged = true;
    }

    fn complete(&mut self, unacknowledged: u64) -> Vec<usize> {
        let acknowledged = if self.purged {
            self.queued
        } else {
            self.written - unacknowledged.min(self.written)
        };
        let mut done = Vec::new();
        while let Some(first) = self.zero_copies.front()
            && first.end <= acknowledged
        {
            if !self.purged && system::digest(&first.places) != Some(first.digest) {
                let address = first.places.first().map_or(0, |it| it.0);
                crate::rule::broken(crate::rule::Rule::ZeroCopyMemory, address)
            }
            if first.userdata != 0 {
                done.push(first.userdata);
            }
            self.zero_copies.pop_front();
        }
        done
    }
}
