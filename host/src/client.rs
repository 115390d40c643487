//! A client of the host: one that is connected here, or one behind an edge.

use std::sync::Arc;

use goblin_protocol::resp::OwnedRequest;
use goblin_protocol::service::ConnectionId;
use goblin_protocol::session::{HasSession, Session};

use crate::users::User;

/// Names a client of either sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Caller {
    /// Connected here.
    Direct(ConnectionId),
    /// Connected to the edge with this index, which knows it by this number.
    Remote { edge: usize, client: u64 },
}

/// What a client has said so far, as far as it matters for what it says next.
#[derive(Debug)]
pub(crate) struct Conversation {
    pub(crate) user: Arc<User>,
    pub(crate) authenticated: bool,
    pub(crate) transaction: Option<Transaction>,
}

/// The commands since `MULTI`.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) queued: Vec<OwnedRequest>,
    /// Memory of what is queued; bounded like a request by `client-query-buffer-limit`.
    pub(crate) bytes: usize,
    /// A command could not be queued, so nothing will be executed.
    pub(crate) failed: bool,
}

impl Conversation {
    pub(crate) fn new(user: Arc<User>) -> Self {
        Self {
            authenticated: user.account.is_open(),
            user,
            transaction: None,
        }
    }
}

/// A client that is connected here.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) session: Session,
    pub(crate) conversation: Conversation,
}

impl HasSession for Client {
    fn session(&self) -> &Session {
        &self.session
    }

    fn session_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

/// A client that is connected to an edge.
#[derive(Debug)]
pub(crate) struct RemoteClient {
    pub(crate) conversation: Conversation,
    pub(crate) address: Box<str>,
    pub(crate) name: Box<[u8]>,
}
