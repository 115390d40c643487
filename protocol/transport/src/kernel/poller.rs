//! The kernel's readiness queue, and what its reports mean here.

use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use goblin_protocol::service::ConnectionId;
use rustix::buffer::spare_capacity;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use super::EVENTS_MAX;

/// The generation that no connection has: its indices name what is not a connection.
const NOT_A_CONNECTION: u32 = u32::MAX;
const WAKER: u32 = u32::MAX;

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Connection(ConnectionId),
    /// By position.
    Listener(u16),
    Waker,
}

impl Token {
    pub(super) fn to_u64(self) -> u64 {
        let (generation, index) = match self {
            Self::Connection(id) => (id.generation, id.index),
            Self::Listener(position) => (NOT_A_CONNECTION, u32::from(position)),
            Self::Waker => (NOT_A_CONNECTION, WAKER),
        };
        u64::from(generation) << 32 | u64::from(index)
    }

    pub(super) fn from_u64(value: u64) -> Option<Self> {
        let generation = u32::try_from(value >> 32).ok()?;
        let index = u32::try_from(value & u64::from(u32::MAX)).ok()?;
        match (generation, index) {
            (NOT_A_CONNECTION, WAKER) => Some(Self::Waker),
            (NOT_A_CONNECTION, _) => Some(Self::Listener(u16::try_from(index).ok()?)),
            _ => Some(Self::Connection(ConnectionId { index, generation })),
        }
    }
}

/// One report of readiness.
#[derive(Clone, Copy, Debug)]
pub(super) struct Report {
    pub(super) token: Token,
    /// A read will find bytes, an end or an error.
    pub(super) readable: bool,
    /// A write will take bytes, or find an error.
    pub(super) writable: bool,
    /// The peer will send no more, or the connection is broken: a short read is not the last one.
    pub(super) ending: bool,
}

/// What is asked about a connection or listener.
#[derive(Clone, Copy, Debug)]
pub(super) enum Interest {
    /// Each time bytes arrive.
    Read,
    /// Each time bytes arrive or room for output appears.
    ReadAndWrite,
    /// As long as a connection can be accepted.
    Accept,
    /// As long as there is something to read.
    Level,
    /// Nothing.
    Nothing,
}

impl Interest {
    fn flags(self) -> epoll::EventFlags {
        use epoll::EventFlags as Flags;
        match self {
            Self::Read => Flags::IN | Flags::RDHUP | Flags::ET,
            Self::ReadAndWrite => Flags::IN | Flags::OUT | Flags::RDHUP | Flags::ET,
            Self::Accept | Self::Level => Flags::IN,
            Self::Nothing => Flags::empty(),
        }
    }
}

/// The queue. A descriptor that is closed leaves it by itself.
pub(super) struct Poller {
    queue: OwnedFd,
    events: Vec<epoll::Event>,
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller")
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}

impl Poller {
    pub(super) fn new() -> Result<Self, Errno> {
        Ok(Self {
            queue: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(EVENTS_MAX),
        })
    }

    pub(super) fn add(
        &self,
        socket: impl AsFd,
        token: Token,
        interest: Interest,
    ) -> Result<(), Errno> {
        let data = epoll::EventData::new_u64(token.to_u64());
        epoll::add(&self.queue, socket, data, interest.flags())
    }

    /// Changes what is asked; what is ready now is reported again.
    pub(super) fn change(
        &self,
        socket: impl AsFd,
        token: Token,
        interest: Interest,
    ) -> Result<(), Errno> {
        let data = epoll::EventData::new_u64(token.to_u64());
        epoll::modify(&self.queue, socket, data, interest.flags())
    }

    /// Collects reports, waiting at most `timeout` for the first (`None`: without end). Collects
    /// nothing when a signal ends the wait.
    pub(super) fn collect(&mut self, timeout: Option<Duration>) {
        self.events.clear();
        let timeout = timeout.map(to_timespec);
        // The only failure that can happen to a valid queue and buffer is a signal's.
        let _ = epoll::wait(
            &self.queue,
            spare_capacity(&mut self.events),
            timeout.as_ref(),
        );
    }

    /// The report at `position` of those collected last.
    pub(super) fn report(&self, position: usize) -> Option<Report> {
        use epoll::EventFlags as Flags;
        let event = *self.events.get(position)?;
        let flags = event.flags;
        let broken = flags.intersects(Flags::ERR | Flags::HUP);
        Some(Report {
            token: Token::from_u64(event.data.u64())?,
            readable: broken || flags.intersects(Flags::IN | Flags::RDHUP),
            writable: broken || flags.intersects(Flags::OUT),
            ending: broken || flags.intersects(Flags::RDHUP),
        })
    }

    /// How many reports were collected last.
    pub(super) fn reports(&self) -> usize {
        self.events.len()
    }
}

/// Rounded up to whole milliseconds, the finest that every kernel's queue can wait: a deadline is
/// then due when the wait ends, not shortly after.
fn to_timespec(duration: Duration) -> Timespec {
    let milliseconds = duration.as_nanos().div_ceil(1_000_000);
    let seconds = i64::try_from(milliseconds / 1_000).unwrap_or(i64::MAX);
    let rest = i64::try_from(milliseconds % 1_000).unwrap_or(0);
    Timespec {
        tv_sec: seconds,
        tv_nsec: rest * 1_000_000,
    }
}
