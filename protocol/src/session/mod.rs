//! One client's conversation, as the edge and the host both hold it.
//!
//! A [`Session`] owns what belongs to the connection: identity, wire format, waiting input, waiting
//! output and the order of replies. It decides nothing about data, subscriptions or rights; the core
//! that owns it does, request by request, through [`run_requests`].
//!
//! Input is parsed where the transport received it; what is incomplete, or may not run yet, is kept
//! in the inbox. Output is appended to the outbox, replies through the [`ReplyQueue`], pushed messages
//! directly: a push may stand between two replies, never inside one.

mod client_command;
mod client_limits;
mod client_list;
mod clients;
mod confirmation;
mod fanout;
mod hello;
mod info;
mod output_limit;
mod replies;
mod requests;

pub use client_command::{ClientCommandError, client_command};
pub use client_limits::{ClientLimits, parse_bytes};
pub use client_list::{ClientDescription, ClientFilter, KillRequest};
pub use clients::{Clients, HasSession};
pub use confirmation::{subscription_words, write_confirmation};
pub use fanout::{Fanout, Publication};
pub use hello::{Hello, HelloError, is_valid_client_name, write_hello, write_pong};
pub use info::{Environment, Info, Surroundings, resident_bytes};
pub use output_limit::OutputLimit;
pub use replies::{Awaited, ReplyQueue};
pub use requests::{Flow, Requests, run_requests};

use crate::outbox::Outbox;
use crate::resp::{Inbox, Version, Writer};
use crate::service::ConnectionId;
use crate::time::Time;

/// What `CLIENT REPLY` set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplyMode {
    /// Every command is answered.
    #[default]
    On,
    /// None is.
    Off,
    /// The command after this one is not.
    SkipNext,
    /// This one is not.
    Skip,
}

/// What is the same for every client connection of the edge and of the host.
#[derive(Debug)]
pub struct Session {
    /// What `CLIENT ID` answers; unique among the clients of one process.
    pub id: u64,
    /// The connection that carries the session.
    pub connection: ConnectionId,
    /// The peer's address, as text.
    pub peer: Box<str>,
    /// Our address, as text.
    pub local: Box<str>,
    /// What `CLIENT SETNAME` set; empty when nothing did.
    pub name: Box<[u8]>,
    /// What `CLIENT SETINFO LIB-NAME` set.
    pub library_name: Box<[u8]>,
    /// What `CLIENT SETINFO LIB-VER` set.
    pub library_version: Box<[u8]>,
    /// The wire format.
    pub version: Version,
    /// How many subscriptions of any kind it has; its owner keeps the number beside the table.
    pub subscriptions: usize,
    /// What `CLIENT REPLY` set.
    pub reply_mode: ReplyMode,
    /// Received and not yet executed.
    pub inbox: Inbox,
    /// Encoded and not yet sent.
    pub outbox: Outbox,
    /// Replies that are still to come, and those behind them.
    pub replies: ReplyQueue,
    /// When the connection was accepted.
    pub opened: Time,
    /// When it last sent a command.
    pub active: Time,
    /// The command it sent last, for `CLIENT LIST`.
    pub last_command: &'static str,
    /// When its output went over the soft limit.
    pub over_soft_limit_since: Option<Time>,
    /// No more requests are read; the connection closes when all replies are out.
    pub closing: bool,
    /// Reading from the connection is paused.
    pub paused: bool,
    /// The driver has been asked, or is about to be asked, to write the outbox.
    pub flush_pending: bool,
}

impl Session {
    /// A session for a connection that was just accepted.
    #[must_use]
    pub fn new(id: u64, connection: ConnectionId, peer: &str, local: &str, now: Time) -> Self {
        Self {
            id,
            connection,
            peer: peer.into(),
            local: local.into(),
            name: Box::default(),
            library_name: Box::default(),
            library_version: Box::default(),
            version: Version::Resp2,
            subscriptions: 0,
            reply_mode: ReplyMode::On,
            inbox: Inbox::new(),
            outbox: Outbox::new(),
            replies: ReplyQueue::default(),
            opened: now,
            active: now,
            last_command: "NULL",
            over_soft_limit_since: None,
            closing: false,
            paused: false,
            flush_pending: false,
        }
    }

    /// Whether the reply to the command being executed is suppressed.
    #[must_use]
    pub fn is_muted(&self) -> bool {
        matches!(self.reply_mode, ReplyMode::Off | ReplyMode::Skip)
    }

    /// Ends the command being executed: `CLIENT REPLY SKIP` covers exactly the next one.
    pub fn finish_command(&mut self) {
        self.reply_mode = match self.reply_mode {
            ReplyMode::SkipNext => ReplyMode::Skip,
            ReplyMode::Skip => ReplyMode::On,
            mode => mode,
        };
    }

    /// Answers the command being executed, in its turn.
    #[inline]
    pub fn reply(&mut self, write: impl FnOnce(&mut Writer<'_>)) {
        if self.is_muted() {
            return;
        }
        let version = self.version;
        self.replies.write(&mut self.outbox, |out| {
            write(&mut Writer::new(out, version));
        });
    }

    /// Whether everything owed to a closing client has been handed to the transport.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.closing && self.replies.is_empty() && self.outbox.is_empty()
    }

    /// Back to what a fresh connection is, but for its identity and what is still to be sent
    /// (`RESET`).
    pub fn reset(&mut self) {
        self.version = Version::Resp2;
        self.reply_mode = ReplyMode::On;
        self.name = Box::default();
    }

    /// Bytes that wait to be sent or to take their turn.
    #[must_use]
    pub fn waiting_output(&self) -> usize {
        self.outbox.len() + self.replies.held_bytes()
    }
}
