//! What happens to one core, as data.

use goblin_protocol::service::{ConnectionId, ListenerId, Opened, Service};
use goblin_protocol::time::{Now, Time};

use super::driver::turn;

/// How far time moves with each event, in nanoseconds: a core with something to do now and then. What
/// is due after some milliseconds, such as acknowledging what was not answered, comes around in a
/// thousand rounds.
const EVENT_NS: u64 = 5_000;

/// One thing that happens to a core.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// Somebody connects from loopback.
    Accepted {
        /// The connection.
        id: ConnectionId,
        /// Where.
        listener: ListenerId,
    },
    /// The connection upstream is there.
    Dialed {
        /// The connection.
        id: ConnectionId,
    },
    /// Bytes arrive.
    Received {
        /// On this connection.
        id: ConnectionId,
        /// Where they begin among all bytes of the script.
        start: usize,
        /// How many there are.
        length: usize,
    },
    /// The core takes a turn.
    Turn,
}

/// Everything that happens to a core, in order.
#[derive(Debug, Default)]
pub struct Script {
    pub(super) events: Vec<Event>,
    bytes: Vec<u8>,
}

impl Script {
    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether nothing has happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn keep(&mut self, id: ConnectionId, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.events.push(Event::Received {
            id,
            start,
            length: bytes.len(),
        });
    }

    fn bytes_of(&self, event: &Event) -> &[u8] {
        match *event {
            Event::Received { start, length, .. } => &self.bytes[start..start + length],
            Event::Accepted { .. } | Event::Dialed { .. } | Event::Turn => &[],
        }
    }
}

/// Plays the first `events` events of a script to a core that has seen none, and returns how many
/// bytes it wrote.
pub fn play<S: Service>(core: &mut S, script: &Script, events: usize) -> usize {
    let mut steps = Steps::default();
    let mut written = 0;
    for event in &script.events[..events] {
        written += apply(core, steps.next(), event, script.bytes_of(event));
    }
    written
}

/// Lets one event happen. How many bytes the core wrote.
pub(super) fn apply<S: Service>(core: &mut S, now: Now, event: &Event, bytes: &[u8]) -> usize {
    match *event {
        Event::Accepted { id, listener } => {
            let how = Opened::Accepted {
                listener,
                peer: "127.0.0.1:50000",
                local: "127.0.0.1:6379",
            };
            core.handle_opened(now, id, how);
        }
        Event::Dialed { id } => core.handle_opened(now, id, Opened::Dialed),
        Event::Received { id, .. } if id.index == 0 => receive_from_link(core, now, id, bytes),
        Event::Received { id, .. } => receive_from_client(core, now, id, bytes),
        Event::Turn => {
            let mut written = 0;
            turn(core, now, |_, slices| {
                written += slices.iter().map(|slice| slice.len()).sum::<usize>();
            });
            return written;
        }
    }
    0
}

/// A client's bytes arrive: a function of its own, by whose name a profile tells what is done for them.
#[inline(never)]
fn receive_from_client<S: Service>(core: &mut S, now: Now, id: ConnectionId, bytes: &[u8]) {
    core.handle_received(now, id, bytes);
}

/// The same for what comes over the first link. It must not be the same code, or the linker keeps one.
#[inline(never)]
fn receive_from_link<S: Service>(core: &mut S, now: Now, id: ConnectionId, bytes: &[u8]) {
    core.handle_received(now, std::hint::black_box(id), bytes);
}

/// Time that moves with the events and not by itself.
#[derive(Debug, Default)]
pub(super) struct Steps {
    events: u64,
}

impl Steps {
    pub(super) fn next(&mut self) -> Now {
        self.events += 1;
        let nanoseconds = self.events * EVENT_NS;
        Now {
            monotonic: Time::from_nanos(nanoseconds),
            unix_us: 1_800_000_000_000_000 + nanoseconds / 1_000,
        }
    }
}
