//! The session between one edge and the host, which outlives the connections that carry it.
//!
//! Both ends hold a [`Session`]. It does no I/O: the owner tells it what happened and drains its
//! output.
//!
//! ```text
//! edge:  Session::new(..)
//!        handle_connected(now, nonce)      a dialed connection is there
//! host:  HostHandshake::new(..) … authenticated
//!        Session::accept_fresh(..)         or accept_resumed on the session it names
//! both:  open(bytes) and next, until it yields nothing     bytes arrived
//!        send(now, &message)               at any time
//!        fill_slices, handle_written       what goes out
//!        handle_time(now), next_deadline   time
//!        handle_disconnected(now)          the connection is gone
//! ```
//!
//! Received bytes are opened as an [`Input`], which takes the inbox out of the session for as long as
//! it lasts. Messages borrow from the input, hence neither the session nor its owner:
//!
//! ```text
//! let mut input = session.open(bytes);
//! while let Some(event) = input.next(&mut session, now)? {
//!     match event {
//!         Event::Message(message) => session.send(now, &answer_to(message))?,
//!         ..
//!     }
//! }
//! ```
//!
//! An owner that keeps sessions in a table looks its session up again for each `next`. `next` must be
//! called until it yields `None` or an error: with that the inbox goes back.
//!
//! # States
//!
//! ```text
//!                  handle_connected            hello-ack
//!  Disconnected ───────────────────► Handshaking ────────► Connected     (edge)
//!  Disconnected ──────────────────── accept_resumed ─────► Connected     (host; accept_fresh starts here)
//!  Handshaking, Connected ── error ► Breaking ── handle_disconnected ► Disconnected, or Lost
//!  Handshaking, Connected ── handle_disconnected ► Disconnected, or Closed after a goodbye
//!  Disconnected ── resume timeout, full backlog, abandon ► Lost ── restart (edge) ► Disconnected
//! ```
//!
//! Every call that yields a [`LinkError`] has put the session into Breaking, or Lost if there was no
//! connection. The owner then flushes once (the peer is told why, as far as the transport takes it),
//! closes the connection, and calls `handle_disconnected`. After [`LinkError::Lost`] the edge calls
//! [`restart`](Session::restart) with a new id before it dials again; the host drops the session.
//!
//! # Invariants
//!
//! * Every message sent is yielded once, in order, at the other end, however often connections break
//!   at any byte, or the session is lost and both ends say so.
//! * What waits for the peer is at most the window, the backlog's bound and one message; a message
//!   beyond that ends the session. An owner that looks at [`is_full`](Session::is_full) and pauses its
//!   clients does not get there.
//! * A received message is acknowledged by the next frame sent, or by a heartbeat when a quarter of the
//!   peer's window came or the acknowledgement delay is over.
//! * Output is append-only on one connection: reporting `handle_written` late is harmless.
//!
//! Gotcha: silence is measured against the `now` of `handle_time`. After a long pause of the process
//! let the received bytes in first.

mod accept;
mod backlog;
mod backoff;
mod config;
mod counters;
mod input;
mod lifetime;
mod receive;
mod sending;
#[cfg(test)]
mod tests;
mod time;
mod window;

use std::io::IoSlice;
use std::time::Duration;

pub use backoff::Backoff;
pub use config::{Config, HostIdentity, WINDOW_BYTES_MIN};
pub use counters::Counters;
pub use input::Input;

use input::Inbox;
use lifetime::{Control, State};
use sending::Sending;
use time::Timing;

use super::error::{LinkError, Loss, SendError};
use super::message::{Encode, Message};
use super::{ProtocolVersion, Role};
use crate::time::{Now, Time};

/// What an [`Input`] yields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// At the edge: the host has accepted the connection.
    Connected(Connected),
    /// A message of the peer.
    Message(Message<'a>),
    /// The peer sends nothing more. Its session ends with this connection; what it still has to be
    /// told can be sent until then.
    Goodbye,
}

/// What the edge learns when the host accepts its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connected {
    /// The session goes on: nothing was lost. Otherwise it begins, and the edge announces itself.
    pub resumed: bool,
    /// The host process and the edge's number there.
    pub host: HostIdentity,
    /// The host's version.
    pub version: ProtocolVersion,
    /// The host's features.
    pub features: u64,
}

/// What the peer said about itself when the connection was accepted.
#[derive(Clone, Copy, Debug)]
struct Peer {
    window_bytes: u64,
    /// How often it must hear something: a third of its timeout; zero for never.
    heartbeat_interval: Duration,
}

/// What was received of the session.
#[derive(Debug, Default)]
struct Receiving {
    /// The highest contiguous number.
    last: u64,
    /// What is incomplete; taken out while an [`Input`] lasts.
    inbox: Inbox,
    /// The peer has said goodbye.
    goodbye: bool,
}

/// One end of the session; see the module for how it is used.
#[derive(Debug)]
pub struct Session {
    role: Role,
    config: Config,
    id: u64,
    previous: u64,
    name: Box<str>,
    state: State,
    /// Whether the session was ever accepted.
    established: bool,
    /// Counts connections, so that an input of an earlier one is recognized.
    connection: u64,
    /// Counts connections that were accepted.
    accepted: u64,
    /// Frames of the handshake, sent before anything from the window.
    control: Control,
    sending: Sending,
    receiving: Receiving,
    timing: Timing,
    peer: Peer,
    counters: Counters,
}

impl Session {
    /// The edge's end of a new session. `id` must be random and not 0; `name` is for people and cut
    /// to 255 bytes.
    #[must_use]
    pub fn new(config: Config, id: u64, name: &str) -> Self {
        Self::with_role(Role::Edge, config, id, name)
    }

    fn with_role(role: Role, config: Config, id: u64, name: &str) -> Self {
        Self {
            role,
            id,
            previous: 0,
            name: name.into(),
            state: State::Disconnected,
            established: false,
            connection: 0,
            accepted: 0,
            control: Control::default(),
            sending: Sending::new(&config, id),
            receiving: Receiving::default(),
            timing: Timing::default(),
            peer: Peer {
                window_bytes: config.window_bytes as u64,
                heartbeat_interval: Duration::ZERO,
            },
            counters: Counters::default(),
            config,
        }
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The edge's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the connection is accepted and working: messages sent now go out now.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        matches!(self.state, State::Connected)
    }

    /// Whether there is a connection that has not been reported as gone.
    #[must_use]
    pub fn has_connection(&self) -> bool {
        matches!(
            self.state,
            State::Handshaking(_) | State::Connected | State::Breaking { .. }
        )
    }

    /// Whether received frames mean something.
    fn is_listening(&self) -> bool {
        matches!(self.state, State::Handshaking(_) | State::Connected)
    }

    /// Why the session is lost, if it is.
    #[must_use]
    pub fn loss(&self) -> Option<&Loss> {
        match &self.state {
            State::Lost(loss) => Some(loss),
            State::Breaking { loss, .. } => loss.as_ref(),
            _ => None,
        }
    }

    /// Whether the session has ended with a goodbye.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    /// Sends a message, now or when there is a connection and room. Messages arrive in the order of
    /// these calls. An edge's session that was never accepted takes messages too.
    ///
    /// # Errors
    /// [`SendError`]; the message was not taken. [`SendError::Lost`] is also how an owner that ignored
    /// [`is_full`](Self::is_full) learns that the session has just ended.
    #[inline]
    pub fn send(&mut self, now: Now, message: &impl Encode) -> Result<(), SendError> {
        debug_assert_eq!(message.sender(), self.role);
        if self.sending.is_closing() || self.is_closed() {
            return Err(SendError::Closing);
        }
        if let Some(loss) = self.loss() {
            return Err(SendError::Lost(loss.clone()));
        }
        let length = message.encoded_len();
        let bytes_max = self.config.message_bytes_max.min(u32::MAX as usize);
        if length > bytes_max {
            return Err(SendError::TooLong { bytes_max });
        }
        match self.sending.send(message, length, self.receiving.last) {
            Ok(wrote) => {
                self.note_frames(now, wrote);
                Ok(())
            }
            Err(loss) => {
                self.counters.overflow += 1;
                self.fail(&LinkError::Lost(loss.clone()));
                Err(SendError::Lost(loss))
            }
        }
    }

    /// Says goodbye behind everything that was sent; nothing can be sent after it. When
    /// [`is_drained`](Self::is_drained) the connection can be closed.
    pub fn say_goodbye(&mut self, now: Now) {
        let wrote = self.sending.say_goodbye(self.receiving.last);
        self.note_frames(now, wrote);
    }

    /// Whether the peer has received everything, the goodbye included.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.sending.is_drained()
    }

    /// Whether messages wait behind a full window: time to stop reading from whoever causes them.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.sending.is_full()
    }

    /// Bytes of the messages that wait behind the window.
    #[must_use]
    pub fn backlog_bytes(&self) -> usize {
        self.sending.backlog_bytes()
    }

    /// The counters as of now.
    #[must_use]
    pub fn counters(&self) -> Counters {
        Counters {
            pending_frames: self.sending.pending_frames(),
            pending_bytes: (self.sending.window.len() + self.sending.backlog_bytes()) as u64,
            frames_sent: self.sending.frames,
            reconnects: self.accepted.saturating_sub(1),
            ..self.counters
        }
    }

    /// Opens received bytes; see the module.
    #[must_use]
    pub fn open<'a>(&mut self, bytes: &'a [u8]) -> Input<'a> {
        self.counters.bytes_received += bytes.len() as u64;
        Input::new(
            bytes,
            std::mem::take(&mut self.receiving.inbox),
            self.id,
            self.connection,
        )
    }

    /// Whether something waits to be written to the connection.
    #[must_use]
    pub fn has_output(&self) -> bool {
        self.control.has_output() || self.window_output() > 0 || self.parting().has_output()
    }

    /// Fills `slices` (three are enough) with what waits to be written, in order; returns how many it
    /// filled.
    pub fn fill_slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut filled = self.control.fill_slices(slices);
        if let Some(rest) = slices.get_mut(filled..) {
            filled += self.sending.window.fill_slices(self.window_output(), rest);
        }
        if let Some(rest) = slices.get_mut(filled..) {
            filled += self.parting().fill_slices(rest);
        }
        filled
    }

    /// The first `bytes` bytes of the output were handed to the transport.
    pub fn handle_written(&mut self, now: Now, bytes: usize) {
        self.counters.bytes_sent += bytes as u64;
        let bytes = self.control.consume(bytes);
        let from_window = bytes.min(self.window_output());
        if from_window > 0 {
            let wrote = self.sending.consume(from_window, self.receiving.last);
            self.note_frames(now, wrote);
        }
        if let State::Breaking {
            window_bytes,
            parting,
            ..
        } = &mut self.state
        {
            *window_bytes -= from_window;
            parting.consume(bytes - from_window);
        }
        self.acknowledge_if_due(now);
    }

    /// Bytes of the window that the connection may have.
    fn window_output(&self) -> usize {
        match &self.state {
            State::Connected => self.sending.window.unsent(),
            State::Breaking { window_bytes, .. } => *window_bytes,
            _ => 0,
        }
    }

    fn parting(&self) -> &Control {
        const NOTHING: &Control = &Control::new();
        match &self.state {
            State::Breaking { parting, .. } => parting,
            _ => NOTHING,
        }
    }

    /// Frames made now carry the acknowledgement and count as a heartbeat.
    #[inline]
    fn note_frames(&mut self, now: Now, wrote: bool) {
        if wrote {
            self.timing.note_sent(now.monotonic);
        }
    }

    /// The earliest point at which [`handle_time`](Self::handle_time) has something to do.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Time> {
        self.deadline()
    }
}
