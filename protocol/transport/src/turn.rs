//! One turn: poll the transport, feed the core, let it do what is due, write what it has to say.
//!
//! ```text
//! transport.poll ──► handle_opened / handle_received / handle_closed      a bounded batch
//!                    handle_turn                                          once
//! transport.write ◄─ output, for connections that became writable or that the last turn left
//!                    poll_action until it yields nothing: Flush, Close, Pause, Resume, Dial
//! ```
//!
//! * Time is read once per turn, at its start; the reading that ends a turn starts the next.
//! * A connection that took less than was offered is left alone until the transport says that it
//!   is writable. One that has more to say than [`WRITES_PER_FLUSH`] writes goes on in the next
//!   turn, after everybody else had theirs.
//! * [`PollMode::Busy`] never sleeps. [`PollMode::Adaptive`] sleeps after [`SPIN`] without an event,
//!   until the transport has one or the core's next deadline.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::time::Duration;

use goblin_protocol::service::{Action, Closed, ConnectionId, OUTPUT_SLICES_MAX, Opened, Service};
use goblin_protocol::time::{Now, Time};

use crate::clock::Clock;
use crate::counters::Counters;
use crate::transport::{Events, Transport};

/// How long adaptive polling spins after the last event before it sleeps: a few round trips of a
/// local network, so that a conversation is not slowed by waking up, and less than 1 % of a core
/// at the hundred wake-ups a second that an idle process has at most.
const SPIN: Duration = Duration::from_micros(50);

/// Most writes to one connection in one flush. One is the rule (16 slices hold a burst); more
/// happen only to a connection with a backlog.
const WRITES_PER_FLUSH: usize = 4;

/// What a turn without events does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PollMode {
    /// Takes the next turn at once. For production, on a core of its own.
    Busy,
    /// Spins for a short while, then sleeps in the kernel.
    #[default]
    Adaptive,
}

/// A core, the transport under it, and what the two are driven by.
#[derive(Debug)]
pub struct Turn<S, T> {
    service: S,
    transport: T,
    backlog: Backlog,
    counters: Counters,
}

impl<S: Service, T: Transport> Turn<S, T> {
    /// Nothing happens until a turn is taken.
    pub fn new(service: S, transport: T) -> Self {
        Self {
            service,
            transport,
            backlog: Backlog::default(),
            counters: Counters::default(),
        }
    }

    /// The core.
    pub fn service(&self) -> &S {
        &self.service
    }

    /// The core, to be changed between turns. What it wants done then is done by the next turn.
    pub fn service_mut(&mut self) -> &mut S {
        &mut self.service
    }

    /// The transport.
    pub fn transport(&self) -> &T {
        &self.transport
    }

    /// The transport, to be changed between turns.
    pub fn transport_mut(&mut self) -> &mut T {
        &mut self.transport
    }

    /// What has been counted so far.
    pub fn counters(&self) -> Counters {
        Counters {
            transport: *self.transport.counters(),
            ..self.counters
        }
    }

    /// Takes turns until `done`, which is asked before each of them, says so. `done` may change the
    /// core: that is where a control plane hands in its questions. To end a sleep from another
    /// thread or a signal handler, set what `done` reads and wake the transport.
    pub fn run_until(&mut self, mode: PollMode, mut done: impl FnMut(&mut S) -> bool) {
        let mut clock = Clock::new();
        let mut now = clock.now();
        let mut last_event = now.monotonic;
        while !done(&mut self.service) {
            let happened = self.turn(now);
            let ended = clock.now();
            self.note_turn(now.monotonic, ended.monotonic);
            now = ended;
            if happened {
                last_event = ended.monotonic;
            } else if mode == PollMode::Adaptive && ended.monotonic.since(last_event) >= SPIN {
                now = self.sleep(ended, &mut clock);
            } else {
                std::hint::spin_loop();
            }
        }
    }

    /// Takes one turn at the time `now`. Returns whether anything happened or is still to be done
    /// at once; if not, nothing will until the transport has an event or the core's deadline is
    /// due.
    pub fn turn(&mut self, now: Now) -> bool {
        self.counters.turns += 1;
        let mut feed = Feed {
            now,
            service: &mut self.service,
            backlog: &mut self.backlog,
        };
        let mut happened = self.transport.poll(now, &mut feed);
        self.service.handle_turn(now);
        happened |= self.flush_backlog(now);
        while let Some(action) = self.service.poll_action() {
            happened |= self.perform(now, action);
        }
        self.counters.turns_busy += u64::from(happened);
        happened
    }

    /// Writes what waits on the connections noted so far; those that stop in the middle again are
    /// noted for the next turn. Returns whether any was noted.
    fn flush_backlog(&mut self, now: Now) -> bool {
        let noted = self.backlog.queue.len();
        for _ in 0..noted {
            if let Some(id) = self.backlog.pop() {
                self.flush(now, id);
            }
        }
        noted > 0
    }

    /// Returns whether that changed anything. A flush that the transport takes nothing of does not: a
    /// core may ask again every turn, and a connection that is blocked must not keep us awake.
    fn perform(&mut self, now: Now, action: Action) -> bool {
        match action {
            Action::Dial => self.transport.dial(),
            Action::Flush(id) => return self.flush(now, id),
            Action::Close(id) => self.transport.close(id),
            Action::Pause(id) => self.transport.pause(id),
            Action::Resume(id) => self.transport.resume(id),
        }
        true
    }

    /// Writes the connection's output until there is none, the transport takes no more, or it has
    /// had its share. Returns whether anything was written.
    fn flush(&mut self, now: Now, id: ConnectionId) -> bool {
        let mut wrote = false;
        for _ in 0..WRITES_PER_FLUSH {
            let mut slices = [IoSlice::new(&[]); OUTPUT_SLICES_MAX];
            let filled = self.service.output(id, &mut slices);
            let slices = slices.get(..filled).unwrap_or(&slices);
            let offered: usize = slices.iter().map(|slice| slice.len()).sum();
            if offered == 0 {
                return wrote;
            }
            let taken = self.transport.write(id, slices);
            if taken > 0 {
                self.service.handle_written(now, id, taken);
                wrote = true;
            }
            if taken < offered || filled < OUTPUT_SLICES_MAX {
                return wrote;
            }
        }
        self.backlog.push(id);
        true
    }

    /// Sleeps until the transport has something or the core's deadline is due, and returns the time
    /// after that.
    fn sleep(&mut self, now: Now, clock: &mut Clock) -> Now {
        let deadline = self.service.next_deadline();
        if deadline.is_some_and(|deadline| deadline <= now.monotonic) {
            return now;
        }
        self.transport
            .wait(deadline.map(|deadline| deadline.since(now.monotonic)));
        let woken = clock.now();
        if let Some(deadline) = deadline {
            let late = woken.monotonic.since(deadline.max(now.monotonic));
            self.note_gap(late);
        }
        woken
    }

    fn note_turn(&mut self, started: Time, ended: Time) {
        let length = ended.since(started);
        let nanoseconds = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
        self.counters.longest_turn_ns = self.counters.longest_turn_ns.max(nanoseconds);
        self.note_gap(length);
    }

    fn note_gap(&mut self, gap: Duration) {
        let nanoseconds = u64::try_from(gap.as_nanos()).unwrap_or(u64::MAX);
        self.counters.longest_gap_ns = self.counters.longest_gap_ns.max(nanoseconds);
    }
}

/// Connections to flush without being asked, each once: they became writable, or had their share
/// before they were done.
#[derive(Debug, Default)]
struct Backlog {
    queue: VecDeque<ConnectionId>,
    /// By index, the generation of the connection that is in the queue.
    noted: Vec<Option<u32>>,
}

impl Backlog {
    fn push(&mut self, id: ConnectionId) {
        let index = id.index as usize;
        if self.noted.len() <= index {
            self.noted.resize(index + 1, None);
        }
        if let Some(noted) = self.noted.get_mut(index)
            && *noted != Some(id.generation)
        {
            *noted = Some(id.generation);
            self.queue.push_back(id);
        }
    }

    fn pop(&mut self) -> Option<ConnectionId> {
        let id = self.queue.pop_front()?;
        if let Some(noted) = self.noted.get_mut(id.index as usize) {
            *noted = None;
        }
        Some(id)
    }
}

/// Hands a transport's events to the core.
struct Feed<'a, S> {
    now: Now,
    service: &'a mut S,
    backlog: &'a mut Backlog,
}

impl<S: Service> Events for Feed<'_, S> {
    fn opened(&mut self, id: ConnectionId, how: Opened<'_>) {
        self.service.handle_opened(self.now, id, how);
    }

    fn received(&mut self, id: ConnectionId, bytes: &[u8]) {
        self.service.handle_received(self.now, id, bytes);
    }

    fn writable(&mut self, id: ConnectionId) {
        self.backlog.push(id);
    }

    fn closed(&mut self, id: ConnectionId, why: Closed) {
        self.service.handle_closed(self.now, id, why);
    }
}

#[cfg(test)]
mod tests;
