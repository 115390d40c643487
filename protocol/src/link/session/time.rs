//! What a session does because time passes.

use std::time::Duration;

use crate::link::error::{LinkError, Loss};
use crate::time::{Now, Time};

use super::Session;
use super::lifetime::State;

/// Points in time that matter.
#[derive(Debug, Default)]
pub(super) struct Timing {
    /// When something was last heard from the peer.
    heard: Time,
    /// When a frame was last made for the peer.
    spoke: Time,
    /// When what was received must be acknowledged; `None` when it is.
    acknowledge_due: Option<Time>,
    /// Bytes received and not acknowledged.
    unacknowledged_bytes: usize,
    /// Since when an accepted session has had no accepted connection.
    down_since: Option<Time>,
}

impl Timing {
    /// The connection was accepted.
    pub(super) fn note_up(&mut self, now: Time) {
        *self = Self {
            heard: now,
            spoke: now,
            ..Self::default()
        };
    }

    /// It is gone. An attempt that failed does not make the session younger.
    pub(super) fn note_down(&mut self, now: Time) {
        self.down_since.get_or_insert(now);
    }

    pub(super) fn forget_down(&mut self) {
        self.down_since = None;
    }

    #[inline]
    pub(super) fn note_heard(&mut self, now: Time) {
        self.heard = now;
    }

    #[inline]
    pub(super) fn note_sent(&mut self, now: Time) {
        self.spoke = now;
        self.acknowledge_due = None;
        self.unacknowledged_bytes = 0;
    }

    /// A numbered frame of `bytes` bytes was received.
    #[inline]
    pub(super) fn note_received(
        &mut self,
        now: Time,
        bytes: usize,
        bytes_max: usize,
        delay: Duration,
    ) {
        self.unacknowledged_bytes += bytes;
        if self.unacknowledged_bytes >= bytes_max {
            self.acknowledge_due = Some(now);
        } else if self.acknowledge_due.is_none() {
            self.acknowledge_due = Some(now + delay);
        }
    }

    pub(super) fn acknowledge_now(&mut self, now: Time) {
        self.acknowledge_due = Some(now);
    }
}

impl Session {
    /// Time has passed: sends a heartbeat or an acknowledgement that is due, notices what took too
    /// long. Cheap enough for every turn; needed at [`next_deadline`](Self::next_deadline).
    ///
    /// # Errors
    /// [`LinkError`]; see the module for what to do then.
    pub fn handle_time(&mut self, now: Now) -> Result<(), LinkError> {
        if let Some(error) = self.overdue(now.monotonic) {
            self.fail(&error);
            return Err(error);
        }
        if matches!(self.state, State::Connected) {
            let due = self.heartbeat_due().is_some_and(|due| due <= now.monotonic);
            if due && !self.sending.has_unsent_heartbeat() {
                self.put_heartbeat(now);
            }
            self.acknowledge_if_due(now);
        }
        Ok(())
    }

    /// What has taken too long.
    fn overdue(&self, now: Time) -> Option<LinkError> {
        if self.patience_ends().is_none_or(|end| now < end) {
            return None;
        }
        match &self.state {
            State::Handshaking(_) => Some(LinkError::HandshakeTimeout {
                after: self.config.handshake_timeout,
            }),
            State::Connected => Some(LinkError::Silence {
                after: self.config.heartbeat_timeout,
            }),
            State::Disconnected => Some(LinkError::Lost(Loss::ResumeTimeout {
                after: self.config.resume_timeout,
            })),
            State::Breaking { .. } | State::Lost(_) | State::Closed => None,
        }
    }

    /// When the session does not wait any longer for what it waits for.
    fn patience_ends(&self) -> Option<Time> {
        let timeout = self.config.heartbeat_timeout;
        match &self.state {
            State::Handshaking(handshaking) => Some(handshaking.deadline),
            State::Connected if timeout.is_zero() => None,
            State::Connected => Some(self.timing.heard + timeout),
            State::Disconnected => Some(self.timing.down_since? + self.config.resume_timeout),
            State::Breaking { .. } | State::Lost(_) | State::Closed => None,
        }
    }

    /// When the peer must hear something: a third of its timeout after it last did.
    fn heartbeat_due(&self) -> Option<Time> {
        let every = self.peer.heartbeat_interval;
        (!every.is_zero()).then(|| self.timing.spoke + every)
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        let mut deadline = self.patience_ends();
        // With a heartbeat on its way there is nothing to add until it is out.
        if matches!(self.state, State::Connected) && !self.sending.has_unsent_heartbeat() {
            for due in [self.heartbeat_due(), self.timing.acknowledge_due] {
                deadline = match (deadline, due) {
                    (Some(one), Some(other)) => Some(one.min(other)),
                    (one, other) => one.or(other),
                };
            }
        }
        deadline
    }

    /// Acknowledges what was received if that cannot wait for a frame that is sent anyway.
    #[inline]
    pub(super) fn acknowledge_if_due(&mut self, now: Now) {
        let due = self.timing.acknowledge_due;
        if due.is_some_and(|due| due <= now.monotonic)
            && matches!(self.state, State::Connected)
            && !self.sending.has_unsent_heartbeat()
        {
            self.put_heartbeat(now);
        }
    }

    fn put_heartbeat(&mut self, now: Now) {
        self.sending.put_heartbeat(self.receiving.last);
        self.timing.note_sent(now.monotonic);
    }
}
