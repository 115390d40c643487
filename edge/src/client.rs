//! One client of the edge.

use std::collections::VecDeque;
use std::rc::Rc;

use goblin_protocol::resp::{OwnedRequest, Version, Writer};
use goblin_protocol::session::{Awaited, HasSession, Info, Session};
use goblin_protocol::table::Kind;
use goblin_protocol::time::Time;

use crate::users::User;

/// Why a client's next request has to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stall {
    /// The request changes the conversation; what came before it must be answered first.
    Replies,
    /// A publication must not overtake the client's own subscription.
    Confirmation,
    /// The host's part of an [`Exchange`] is missing.
    Exchange,
    /// `INFO` waits until the process has told about itself.
    Surroundings,
    /// The link is down or its window is full; `since` is when the client began to wait.
    Link { since: Time },
}

/// A name whose subscription the host has not confirmed.
#[derive(Debug)]
pub(crate) struct PendingSubscription {
    pub(crate) kind: Kind,
    pub(crate) name: Box<[u8]>,
    /// The confirmation that must have come; 0 when none is needed.
    pub(crate) token: u64,
}

/// A command that the edge and the host answer together. Nothing else of the client is executed
/// meanwhile.
#[derive(Debug)]
pub(crate) enum Exchange {
    /// The host checks a password.
    Authentication(Authentication),
    /// The host adds its sections to the edge's.
    Info(Info),
    /// The host executes a transaction, and the edge its own part of it.
    Execution(Execution),
    /// The host discards a transaction that failed here.
    Abortion,
}

/// The commands since `MULTI`.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    /// How many the host has been sent to queue.
    pub(crate) queued: usize,
    /// Those that the edge must execute itself, by their place among the queued.
    pub(crate) own: Vec<(usize, OwnedRequest)>,
    /// It publishes: what the client publishes after it must not overtake it.
    pub(crate) publishes: bool,
    /// A command was answered with an error here, so the host must not execute the others.
    pub(crate) failed: bool,
}

/// A transaction that executes.
#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) transaction: Transaction,
    /// The host's reply, once it is here, and the confirmation that must come before it is complete.
    pub(crate) executed: Option<(Vec<u8>, u64)>,
}

/// What becomes of an `AUTH` when the host has answered.
#[derive(Debug)]
pub(crate) struct Authentication {
    pub(crate) user: Box<[u8]>,
    /// The rest of a `HELLO … AUTH …`.
    pub(crate) hello: Option<(Version, Option<Box<[u8]>>)>,
}

#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) session: Session,
    pub(crate) user: Rc<User>,
    pub(crate) authenticated: bool,
    pub(crate) stall: Option<Stall>,
    /// Requests that need the host are answered with an error until the inbox is empty: the client
    /// has waited for the link as long as it may.
    pub(crate) gave_up: bool,
    pub(crate) subscribing: VecDeque<PendingSubscription>,
    pub(crate) exchange: Option<Box<Exchange>>,
    /// The host holds the other end of this client's pass-through.
    pub(crate) open_upstream: bool,
    /// Between `MULTI` and `EXEC`: the host queues and executes everything but what concerns this
    /// connection itself.
    pub(crate) transaction: Option<Transaction>,
    /// Replies that the host still owes and that were answered with an error here.
    pub(crate) abandoned_replies: usize,
}

impl HasSession for Client {
    fn session(&self) -> &Session {
        &self.session
    }

    fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

impl Client {
    pub(crate) fn new(session: Session, user: Rc<User>, authenticated: bool) -> Self {
        Self {
            session,
            user,
            authenticated,
            stall: None,
            gave_up: false,
            subscribing: VecDeque::new(),
            exchange: None,
            open_upstream: false,
            transaction: None,
            abandoned_replies: 0,
        }
    }

    /// How many subscriptions of any kind it has, those that wait for confirmation included.
    pub(crate) fn subscription_count(&self) -> usize {
        self.session.subscriptions + self.subscribing.len()
    }

    /// Whether a RESP2 client may only subscribe and unsubscribe.
    pub(crate) fn is_in_subscribed_mode(&self) -> bool {
        self.session.version == Version::Resp2 && self.subscription_count() > 0
    }

    /// Whether nothing but its output needs to be looked after.
    pub(crate) fn is_quiet(&self) -> bool {
        self.stall.is_none()
            && self.exchange.is_none()
            && self.session.replies.is_empty()
            && !self.session.closing
            && !self.session.paused
    }

    /// What is queued since `MULTI`, if anything, will not be executed.
    pub(crate) fn fail_transaction(&mut self) {
        if let Some(transaction) = &mut self.transaction {
            transaction.failed = true;
        }
    }

    /// Writes the oldest reply that is awaited, when it is of this kind.
    pub(crate) fn fulfil(&mut self, what: Awaited, write: impl FnOnce(&mut Writer<'_>)) {
        let session = &mut self.session;
        if session.replies.front() == Some(what) {
            let version = session.version;
            session.replies.fulfil(&mut session.outbox, |out| {
                write(&mut Writer::new(out, version));
            });
        }
    }
}
