//! From the kernel's reports to bytes for the core.

use std::time::Duration;

use goblin_protocol::service::{Closed, ConnectionId, ListenerId};
use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use super::connection::State;
use super::poller::{Report, Token};
use super::{CHECK_EVERY, CHECK_EVERY_IDLE, EVENTS_MAX, KernelTransport, READS_MAX, hot};
use crate::transport::Events;

impl KernelTransport {
    /// Asks which sockets are ready, unless that is known or was asked a moment ago.
    pub(super) fn check(&mut self) {
        if self.collected {
            return;
        }
        let every = if self.hot.is_crowded() {
            Duration::ZERO
        } else if self.hot.member(0).is_some() {
            CHECK_EVERY
        } else {
            CHECK_EVERY_IDLE
        };
        if self.checked_at.is_some_and(|at| self.now.since(at) < every) {
            return;
        }
        self.counters.readiness_checks += 1;
        self.poller.collect(Some(Duration::ZERO));
        self.collected = true;
    }

    /// Acts on the reports that were collected.
    pub(super) fn take_reports<E: Events>(&mut self, events: &mut E) -> bool {
        if !self.collected {
            return false;
        }
        self.collected = false;
        let reports = self.poller.reports();
        // A full buffer means that there may be more.
        self.checked_at = (reports < EVENTS_MAX).then_some(self.now);
        let mut told = false;
        for position in 0..reports {
            if let Some(report) = self.poller.report(position) {
                told |= self.take_report(report, events);
            }
        }
        told
    }

    fn take_report<E: Events>(&mut self, report: Report, events: &mut E) -> bool {
        match report.token {
            Token::Waker => {
                self.waker.take();
                false
            }
            Token::Listener(position) => {
                self.accept(ListenerId(position), events);
                // More may wait behind it.
                self.checked_at = None;
                true
            }
            Token::Connection(id) => self.note_readiness(id, report, events),
        }
    }

    fn note_readiness<E: Events>(
        &mut self,
        id: ConnectionId,
        report: Report,
        events: &mut E,
    ) -> bool {
        let Some(connection) = self.connections.get_mut(id) else {
            return false;
        };
        if connection.state == State::Dialing {
            return self.finish_dial(id, report, events);
        }
        connection.ending |= report.ending;
        connection.readable |= report.readable;
        let unblocked = report.writable && connection.blocked && connection.failed.is_none();
        if unblocked {
            connection.blocked = false;
        }
        self.queue(id);
        if unblocked {
            events.writable(id);
        }
        unblocked
    }

    /// Queues a connection for reading if there is something to read and the core wants it.
    pub(super) fn queue(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(id)
            && connection.readable
            && !connection.paused
            && !connection.queued
        {
            connection.queued = true;
            self.ready.push_back(id);
        }
    }

    /// Reads once from each connection that is known to be readable, up to the bound.
    pub(super) fn read_ready<E: Events>(&mut self, events: &mut E) -> bool {
        let mut told = false;
        for _ in 0..self.ready.len().min(READS_MAX) {
            let Some(id) = self.ready.pop_front() else {
                break;
            };
            let Some(connection) = self.connections.get_mut(id) else {
                continue;
            };
            connection.queued = false;
            if connection.paused {
                continue;
            }
            told |= self.read(id, events);
            self.queue(id);
        }
        told
    }

    /// Reads on suspicion from the connections that were active lately.
    pub(super) fn read_hot<E: Events>(&mut self, events: &mut E) -> bool {
        let mut told = false;
        for position in 0..hot::HOT_MAX {
            let Some(id) = self.hot.member(position) else {
                break;
            };
            let queued = self.connections.get_mut(id).is_none_or(|it| it.queued);
            if !queued {
                told |= self.read(id, events);
                self.queue(id);
            }
        }
        told
    }

    /// Reads once and tells what came. Returns whether anything did.
    fn read<E: Events>(&mut self, id: ConnectionId, events: &mut E) -> bool {
        let Some(connection) = self.connections.get_mut(id) else {
            return false;
        };
        match recv(&connection.socket, &mut *self.buffer, RecvFlags::empty()) {
            Ok((0, _)) => self.end_read(id, None, events),
            Ok((length, _)) => {
                connection.readable = length == self.buffer.len() || connection.ending;
                self.counters.reads += 1;
                self.counters.bytes_in += length as u64;
                self.hot.note(id, self.now);
                events.received(id, self.buffer.get(..length).unwrap_or(&[]));
                true
            }
            Err(Errno::AGAIN) if connection.failed.is_none() => {
                connection.readable = false;
                self.counters.reads_empty += 1;
                false
            }
            Err(Errno::INTR) => false,
            Err(cause) => self.end_read(id, Some(cause), events),
        }
    }

    /// A read found the end of the connection. An earlier failure of a write is the better reason.
    fn end_read<E: Events>(
        &mut self,
        id: ConnectionId,
        cause: Option<Errno>,
        events: &mut E,
    ) -> bool {
        self.counters.reads_ended += 1;
        let failed = self.connections.get_mut(id).and_then(|it| it.failed);
        let why = match failed.or(cause) {
            Some(cause) => Closed::Failed(cause.raw_os_error()),
            None => Closed::ByPeer,
        };
        self.end(id, why, events);
        true
    }
}
