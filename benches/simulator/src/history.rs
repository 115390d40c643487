//! What happened, as the clients saw it: all that the checkers know.
//!
//! The history holds what scripted clients sent and received, what was done to the world, and the two
//! things that only counters can tell: when an edge's link was up, and when an edge counted a gap.

use goblin_protocol::resp::reply::Value;
use goblin_protocol::service::Closed;
use goblin_protocol::table::Kind;
use goblin_protocol::time::Time;

use crate::digest::Digest;
use crate::names::Name;

/// Where a client is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// At the host.
    Host,
    /// At the edge with this index.
    Edge(usize),
}

/// Everything that happened.
#[derive(Debug, Default)]
pub struct History {
    /// By the number of the connection.
    pub connections: Vec<Connection>,
    /// By number; one publisher's numbers grow in the order in which it sent them.
    pub publications: Vec<Publication>,
    /// By the index of the edge.
    pub edges: Vec<EdgeHistory>,
    /// When the host was restarted.
    pub host_restarts: Vec<Time>,
    /// Times without trouble and without changes of subscriptions, from and until.
    pub calms: Vec<(Time, Time)>,
    /// What no client should ever see, and cores that never come to rest.
    pub oddities: Vec<Oddity>,
    /// The run as told to a reader.
    pub story: Vec<(Time, String)>,
    /// Of all bytes that clients received, and when.
    pub digest: Digest,
    /// When the run ended.
    pub end: Time,
}

/// One connection of a client, from its dial to its end.
#[derive(Debug)]
pub struct Connection {
    /// Where.
    pub place: Place,
    /// The life of the process there, from 0.
    pub life: u32,
    /// Whether it speaks RESP3.
    pub resp3: bool,
    /// When it was dialed.
    pub opened: Time,
    /// When the client left of its own accord.
    pub left: Option<Time>,
    /// When the client was told of the end, and why it came.
    pub closed: Option<(Time, Closed)>,
    /// When its connection was cut on purpose.
    pub cut: Option<Time>,
    /// From when until when it did not read.
    pub slow: Option<(Time, Time)>,
    /// In the order sent.
    pub commands: Vec<Command>,
    /// In the order of the commands, a name at a time.
    pub subscriptions: Vec<Subscription>,
    /// In the order received.
    pub deliveries: Vec<Delivery>,
}

/// A command and what came of it.
#[derive(Debug)]
pub struct Command {
    /// When.
    pub sent: Time,
    /// What.
    pub ask: Ask,
    /// What the server said: one reply, or one for each name.
    pub replies: Vec<Value>,
    /// When the last of the replies came.
    pub answered: Option<Time>,
}

/// What a command asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// `HELLO 3`.
    Hello,
    /// `PING`.
    Ping,
    /// `ECHO`: answered where the client is connected.
    Echo(u64),
    /// `COMMAND GETKEYS GET token`: a kind of echo that the host answers.
    Token(u64),
    /// `SET` of the connection's own key.
    Set {
        /// The value: grows.
        version: u64,
    },
    /// `GET` of another connection's key.
    Get {
        /// Whose.
        owner: usize,
        /// The publication that told of the value.
        told_by: usize,
    },
    /// `PUBLISH` or `SPUBLISH`, by the number of the publication.
    Publish(usize),
    /// `SUBSCRIBE`, `PSUBSCRIBE` or `SSUBSCRIBE`, by the first of the subscriptions and their number.
    Subscribe {
        /// Index into the connection's subscriptions.
        first: usize,
        /// Names.
        count: usize,
    },
    /// `UNSUBSCRIBE`, `PUNSUBSCRIBE` or `SUNSUBSCRIBE` of one name.
    Unsubscribe(Name),
    /// The same command without a name: all of a kind, this many.
    UnsubscribeAll {
        /// Which.
        kind: Kind,
        /// How many names the connection holds.
        held: usize,
    },
    /// `RESET`.
    Reset,
    /// `QUIT`.
    Quit,
    /// `MULTI`.
    Multi,
    /// `EXEC` of the publications with these numbers.
    Exec(Vec<usize>),
    /// `DISCARD` of them.
    Discard(Vec<usize>),
    /// `PUBSUB NUMSUB` or `PUBSUB SHARDNUMSUB` of a name.
    NumSub(Name),
    /// `ACL SETUSER` of a user whom nobody uses.
    SetUser(u64),
}

/// A name that a connection asked to be subscribed to.
#[derive(Debug)]
pub struct Subscription {
    /// To what.
    pub name: Name,
    /// When the command was sent.
    pub sent: Time,
    /// When the confirmation came.
    pub confirmed: Option<Time>,
    /// When the command was refused.
    pub refused: Option<Time>,
    /// When the command that ends it was sent.
    pub leaving: Option<Time>,
    /// When that was confirmed.
    pub ended: Option<Time>,
}

/// A publication, once per subscription that got it.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// When.
    pub at: Time,
    /// The subscription's name.
    pub via: Name,
    /// Which publication.
    pub publication: usize,
}

/// A publication and what its publisher knows of it.
#[derive(Debug)]
pub struct Publication {
    /// The connection that sent it.
    pub publisher: usize,
    /// To where.
    pub name: Name,
    /// When the command was sent that makes it happen.
    pub sent: Time,
    /// Inside `MULTI`: the host executes it, unless the `MULTI` itself was refused.
    pub in_transaction: bool,
    /// Nothing of the publisher was unanswered when it was sent.
    pub undelayed: bool,
    /// The bytes of its payload.
    pub payload_bytes: usize,
    /// The version of the publisher's key that it tells of.
    pub tells: Option<u64>,
    /// What the reply said.
    pub outcome: Outcome,
    /// When.
    pub answered: Option<Time>,
}

/// What a publisher was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing.
    Unknown,
    /// The number of deliveries.
    Delivered(i64),
    /// It was not delivered at all.
    Refused,
    /// It was delivered so often on the edge, and elsewhere perhaps.
    Lost(i64),
}

/// What became of an edge.
#[derive(Debug, Default)]
pub struct EdgeHistory {
    /// The life of its process, from 0.
    pub life: u32,
    /// When its link came and went.
    pub link: Vec<(Time, bool)>,
    /// When it counted a lost session.
    pub gaps: Vec<Time>,
    /// When something was wrong with its link, with it or with the host: from, and until all is well
    /// again.
    pub troubles: Vec<Trouble>,
    /// When it was restarted.
    pub restarts: Vec<Time>,
}

/// A time during which an edge's link was not as it should be.
#[derive(Clone, Copy, Debug)]
pub struct Trouble {
    /// From.
    pub from: Time,
    /// Until; the end of time while it lasts.
    pub until: Time,
    /// An end of the link was restarted, or nothing arrived for longer than sessions live.
    pub is_fatal: bool,
}

/// What no client should ever see.
#[derive(Debug)]
pub struct Oddity {
    /// When.
    pub at: Time,
    /// The promise that it breaks.
    pub promise: &'static str,
    /// What.
    pub text: String,
}

impl History {
    /// Adds a sentence to the story.
    pub fn tell(&mut self, at: Time, text: impl Into<String>) {
        self.story.push((at, text.into()));
    }

    /// The connection that sent a publication.
    #[must_use]
    pub fn publisher(&self, publication: usize) -> &Connection {
        &self.connections[self.publications[publication].publisher]
    }

    /// Whether a publication was made by a client of the same process as a connection.
    #[must_use]
    pub fn is_neighbour(&self, publication: usize, connection: &Connection) -> bool {
        let publisher = self.publisher(publication);
        publisher.place == connection.place && publisher.life == connection.life
    }
}

impl Connection {
    /// Whether it is still there.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.left.is_none() && self.closed.is_none()
    }

    /// When it ended, for whatever reason.
    #[must_use]
    pub fn ended(&self) -> Option<Time> {
        let closed = self.closed.map(|closed| closed.0);
        [self.left, closed, self.cut].into_iter().flatten().min()
    }
}

impl Subscription {
    /// Whether it is confirmed, and nothing was done to end it.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.confirmed.is_some() && self.leaving.is_none()
    }
}

impl EdgeHistory {
    /// Whether the link was up during all of a time.
    #[must_use]
    pub fn is_up_during(&self, from: Time, until: Time) -> bool {
        let before = self.link.iter().rev().find(|change| change.0 <= from);
        before.is_some_and(|change| change.1)
            && !self
                .link
                .iter()
                .any(|change| from < change.0 && change.0 <= until)
    }

    /// The trouble that a moment is part of.
    #[must_use]
    pub fn trouble_at(&self, at: Time) -> Option<&Trouble> {
        self.troubles
            .iter()
            .find(|trouble| trouble.from <= at && at <= trouble.until)
    }

    /// Whether something was wrong at some moment of a time.
    #[must_use]
    pub fn is_troubled_during(&self, from: Time, until: Time) -> bool {
        self.troubles
            .iter()
            .any(|trouble| trouble.from <= until && from <= trouble.until)
    }
}
