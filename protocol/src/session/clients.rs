//! The clients of a core, by connection, and what the driver is to do about them.
//!
//! A subscriber is its connection's index, so a delivery finds its client without a lookup. Clients
//! that exceed a limit during a fan-out are collected and closed by the owner afterwards: nothing is
//! removed while a list of subscribers is being walked.

use std::collections::VecDeque;

use crate::service::{Action, ConnectionId};
use crate::session::{ClientLimits, Fanout, OutputLimit, Publication, Session};
use crate::table::SubscriberId;
use crate::time::{Now, Time};

/// A client whose requests wait may leave this much input unread before reading pauses, in bytes.
const WAITING_INPUT_BYTES_MAX: usize = 64 * 1024;

/// A client that has a session.
pub trait HasSession {
    /// Its session.
    fn session(&self) -> &Session;
    /// Its session.
    fn session_mut(&mut self) -> &mut Session;
}

/// The clients of a core.
#[derive(Debug)]
pub struct Clients<C> {
    slots: Vec<Option<Box<C>>>,
    count: usize,
    limits: ClientLimits,
    /// Fewer waiting bytes than this need no look at the limits.
    watch_from: usize,
    actions: VecDeque<Action>,
    unflushed: Vec<ConnectionId>,
    /// How many of `unflushed` have been asked for.
    flushed: usize,
    /// Clients whose stalled requests may be able to run now.
    runnable: VecDeque<ConnectionId>,
    /// Subscribers that went over their output limit during a fan-out.
    slow: Vec<ConnectionId>,
    /// Clients over a soft limit that may act as time passes.
    over_soft_limit: Vec<ConnectionId>,
}

impl<C: HasSession> Clients<C> {
    /// No clients yet.
    #[must_use]
    pub fn new(limits: ClientLimits) -> Self {
        Self {
            slots: Vec::new(),
            count: 0,
            limits,
            watch_from: limits
                .output_normal
                .watch_from()
                .min(limits.output_subscribers.watch_from()),
            actions: VecDeque::new(),
            unflushed: Vec::new(),
            flushed: 0,
            runnable: VecDeque::new(),
            slow: Vec::new(),
            over_soft_limit: Vec::new(),
        }
    }

    /// Changes the limits, for the clients that are connected too.
    pub fn set_limits(&mut self, limits: ClientLimits) {
        self.limits = limits;
        self.watch_from = limits
            .output_normal
            .watch_from()
            .min(limits.output_subscribers.watch_from());
    }

    /// Whether nobody is connected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The limits in force.
    #[must_use]
    pub fn limits(&self) -> &ClientLimits {
        &self.limits
    }

    /// How many are connected.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no more are accepted.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.count >= self.limits.clients_max
    }

    /// Adds a client under its session's connection.
    pub fn insert(&mut self, client: C) {
        let index = client.session().connection.index as usize;
        if self.slots.len() <= index {
            self.slots.resize_with(index + 1, || None);
        }
        self.slots[index] = Some(Box::new(client));
        self.count += 1;
    }

    /// The client of a connection.
    #[must_use]
    pub fn get(&self, id: ConnectionId) -> Option<&C> {
        let client = self.slots.get(id.index as usize)?.as_deref()?;
        (client.session().connection == id).then_some(client)
    }

    /// The client of a connection.
    pub fn get_mut(&mut self, id: ConnectionId) -> Option<&mut C> {
        let client = self.slots.get_mut(id.index as usize)?.as_deref_mut()?;
        (client.session().connection == id).then_some(client)
    }

    /// All clients, in the order of their connections.
    pub fn iter(&self) -> impl Iterator<Item = &C> {
        self.slots.iter().filter_map(Option::as_deref)
    }

    /// The connections of all clients that `wanted` picks.
    pub fn ids(&self, wanted: impl Fn(&C) -> bool) -> Vec<ConnectionId> {
        self.iter()
            .filter(|client| wanted(client))
            .map(|client| client.session().connection)
            .collect()
    }

    /// Forgets a client.
    pub fn remove(&mut self, id: ConnectionId) -> Option<Box<C>> {
        self.get(id)?;
        self.count -= 1;
        self.slots[id.index as usize].take()
    }

    /// Asks the driver for something, before any output is written.
    pub fn push_action(&mut self, action: Action) {
        self.actions.push_back(action);
    }

    /// Appends one delivery to a subscriber's output.
    #[inline]
    pub fn deliver(
        &mut self,
        now: Now,
        subscriber: SubscriberId,
        fanout: &mut Fanout,
        publication: Publication<'_>,
        pattern: Option<&[u8]>,
    ) {
        let Some(client) = self
            .slots
            .get_mut(subscriber.0 as usize)
            .and_then(Option::as_deref_mut)
        else {
            return;
        };
        let session = client.session_mut();
        fanout.deliver(&mut session.outbox, session.version, publication, pattern);
        if !session.flush_pending {
            session.flush_pending = true;
            self.unflushed.push(session.connection);
        }
        if session.outbox.held_bytes() > self.watch_from {
            self.check_output(now.monotonic, subscriber.0 as usize, true);
        }
    }

    /// Asks for the client's output to be written, and looks at its limits.
    pub fn flush(&mut self, now: Now, id: ConnectionId, subscriber: bool) {
        let Some(client) = self.get_mut(id) else {
            return;
        };
        let session = client.session_mut();
        let waiting = session.waiting_output();
        if !session.outbox.is_empty() && !session.flush_pending {
            session.flush_pending = true;
            self.unflushed.push(id);
        }
        if waiting > self.watch_from {
            self.check_output(now.monotonic, id.index as usize, subscriber);
        }
    }

    #[cold]
    fn check_output(&mut self, now: Time, index: usize, subscriber: bool) {
        let Some(client) = self.slots.get_mut(index).and_then(Option::as_deref_mut) else {
            return;
        };
        let session = client.session_mut();
        let limit: &OutputLimit = self.limits.output(subscriber);
        let was_over = session.over_soft_limit_since.is_some();
        if limit.exceeded(
            now,
            session.waiting_output(),
            &mut session.over_soft_limit_since,
        ) {
            self.slow.push(session.connection);
        } else if !was_over && session.over_soft_limit_since.is_some() {
            self.over_soft_limit.push(session.connection);
        }
    }

    /// Looks again at the clients over a soft limit; bounded by their number.
    pub fn check_soft_limits(&mut self, now: Now, is_subscriber: impl Fn(&C) -> bool) {
        let mut watched = std::mem::take(&mut self.over_soft_limit);
        watched.retain(|id| {
            let Some(client) = self.get(*id) else {
                return false;
            };
            let subscriber = is_subscriber(client);
            self.check_output(now.monotonic, id.index as usize, subscriber);
            self.get(*id)
                .is_some_and(|client| client.session().over_soft_limit_since.is_some())
        });
        watched.append(&mut self.over_soft_limit);
        self.over_soft_limit = watched;
    }

    /// Whether a client is over a soft limit.
    #[must_use]
    pub fn watches_soft_limits(&self) -> bool {
        !self.over_soft_limit.is_empty()
    }

    /// A client that went over its output limit, to be closed.
    pub fn pop_slow(&mut self) -> Option<ConnectionId> {
        self.slow.pop()
    }

    /// The client's stalled requests may be able to run.
    pub fn wake(&mut self, id: ConnectionId) {
        self.runnable.push_back(id);
    }

    /// A client that was woken.
    pub fn pop_runnable(&mut self) -> Option<ConnectionId> {
        self.runnable.pop_front()
    }

    /// Stops reading from a client whose requests wait while it sends more, and reads again once they
    /// do not.
    pub fn adjust_reading(&mut self, id: ConnectionId, waiting: bool) {
        let Some(client) = self.get_mut(id) else {
            return;
        };
        let session = client.session_mut();
        let pause = waiting && session.inbox.len() > WAITING_INPUT_BYTES_MAX;
        if pause != session.paused {
            session.paused = pause;
            self.actions.push_back(if pause {
                Action::Pause(id)
            } else {
                Action::Resume(id)
            });
        }
    }

    /// The next thing for the driver to do.
    pub fn poll_action(&mut self) -> Option<Action> {
        if let Some(action) = self.actions.pop_front() {
            return Some(action);
        }
        while let Some(id) = self.unflushed.get(self.flushed).copied() {
            self.flushed += 1;
            if let Some(client) = self.get_mut(id) {
                client.session_mut().flush_pending = false;
                return Some(Action::Flush(id));
            }
        }
        self.unflushed.clear();
        self.flushed = 0;
        None
    }
}
