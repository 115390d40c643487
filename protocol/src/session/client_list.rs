//! The line of `CLIENT LIST`, and the filters of `CLIENT LIST` and `CLIENT KILL`.

use std::fmt;

use crate::resp::{Arguments, Version, Writer};
use crate::session::Session;
use crate::time::Time;

/// One client as `CLIENT LIST` shows it. Displays as the line, without its line end.
#[derive(Clone, Copy, Debug)]
pub struct ClientDescription<'a> {
    /// The connection's part.
    pub session: &'a Session,
    /// The name of its user.
    pub user: &'a [u8],
    /// Channels subscribed to.
    pub channels: usize,
    /// Patterns subscribed to.
    pub patterns: usize,
    /// Shard channels subscribed to.
    pub shards: usize,
    /// Commands queued since `MULTI`.
    pub queued: Option<usize>,
    /// For the age and the idle time.
    pub now: Time,
}

impl fmt::Display for ClientDescription<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let session = self.session;
        let output = session.waiting_output();
        write!(
            f,
            "id={} addr={} laddr={} fd={} name={} age={} idle={} flags={} db=0 sub={} psub={} \
             ssub={} multi={} qbuf={} qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl={} oll=0 \
             omem={} tot-mem={} events=r cmd={} user={} redir=-1 resp={} lib-name={} lib-ver={}",
            session.id,
            session.peer,
            session.local,
            session.connection.index,
            String::from_utf8_lossy(&session.name),
            self.now.since(session.opened).as_secs(),
            self.now.since(session.active).as_secs(),
            self.flags(),
            self.channels,
            self.patterns,
            self.shards,
            self.queued
                .map_or(-1, |queued| i64::try_from(queued).unwrap_or(i64::MAX)),
            session.inbox.len(),
            output,
            output,
            session.inbox.len() + output + size_of::<Session>(),
            session.last_command,
            String::from_utf8_lossy(self.user),
            match session.version {
                Version::Resp2 => 2,
                Version::Resp3 => 3,
            },
            String::from_utf8_lossy(&session.library_name),
            String::from_utf8_lossy(&session.library_version),
        )
    }
}

impl ClientDescription<'_> {
    /// Whether the client counts as a subscriber.
    #[must_use]
    pub fn is_subscriber(&self) -> bool {
        self.channels + self.patterns + self.shards > 0
    }

    fn flags(&self) -> &'static str {
        match (self.is_subscriber(), self.queued.is_some()) {
            (false, false) => "N",
            (true, false) => "P",
            (false, true) => "x",
            (true, true) => "Px",
        }
    }
}

/// Which clients a `CLIENT LIST` or `CLIENT KILL` means; all conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientFilter {
    ids: Option<Vec<u64>>,
    peer: Option<String>,
    local: Option<String>,
    user: Option<String>,
    subscriber: Option<bool>,
    nobody: bool,
}

impl ClientFilter {
    /// Whether the client is meant.
    #[must_use]
    pub fn matches(&self, client: &ClientDescription<'_>) -> bool {
        let session = client.session;
        !self.nobody
            && self
                .ids
                .as_ref()
                .is_none_or(|ids| ids.contains(&session.id))
            && self
                .peer
                .as_ref()
                .is_none_or(|peer| **peer == *session.peer)
            && self
                .local
                .as_ref()
                .is_none_or(|local| **local == *session.local)
            && self
                .user
                .as_ref()
                .is_none_or(|user| user.as_bytes() == client.user)
            && self
                .subscriber
                .is_none_or(|subscriber| subscriber == client.is_subscriber())
    }

    /// Whether no client is left out.
    #[must_use]
    pub fn is_everybody(&self) -> bool {
        *self == Self::default()
    }

    /// Reads what follows `CLIENT LIST`: `TYPE type` or `ID id …`.
    ///
    /// # Errors
    /// The text of the error reply.
    pub fn parse_list(options: Arguments<'_>) -> Result<Self, &'static str> {
        let mut filter = Self::default();
        match (options.get(0).map(lowercase).as_deref(), options.len()) {
            (None, _) => Ok(filter),
            (Some("type"), 2) => {
                filter.set_type(&options[1])?;
                Ok(filter)
            }
            (Some("id"), 2..) => {
                let ids: Option<Vec<u64>> = options.iter().skip(1).map(parse_id).collect();
                filter.ids = Some(ids.ok_or("ERR Invalid client ID")?);
                Ok(filter)
            }
            _ => Err("ERR syntax error"),
        }
    }

    fn set_type(&mut self, name: &[u8]) -> Result<(), &'static str> {
        match lowercase(name).as_str() {
            "normal" => self.subscriber = Some(false),
            "pubsub" => self.subscriber = Some(true),
            "master" | "slave" | "replica" => self.nobody = true,
            _ => return Err("ERR Unknown client type"),
        }
        Ok(())
    }
}

/// What a `CLIENT KILL` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KillRequest {
    /// The old form: exactly the client with this address; answered `OK` or an error.
    Address(ClientFilter),
    /// The new form: all that match, the caller itself only when `skip_caller` is false; answered
    /// with their number.
    Filter {
        /// Which.
        filter: ClientFilter,
        /// `SKIPME`.
        skip_caller: bool,
    },
}

impl KillRequest {
    /// Which clients are meant.
    #[must_use]
    pub fn filter(&self) -> &ClientFilter {
        match self {
            Self::Address(filter) | Self::Filter { filter, .. } => filter,
        }
    }

    /// Whether the caller is spared.
    #[must_use]
    pub fn skips_caller(&self) -> bool {
        matches!(
            self,
            Self::Filter {
                skip_caller: true,
                ..
            }
        )
    }

    /// Writes the reply when `killed` clients were found.
    pub fn write_reply(&self, killed: usize, reply: &mut Writer<'_>) {
        match self {
            Self::Address(_) if killed == 0 => reply.error("ERR No such client"),
            Self::Address(_) => reply.simple("OK"),
            Self::Filter { .. } => reply.integer(i64::try_from(killed).unwrap_or(i64::MAX)),
        }
    }

    /// Reads what follows `CLIENT KILL`.
    ///
    /// # Errors
    /// The text of the error reply.
    pub fn parse(options: Arguments<'_>) -> Result<Self, &'static str> {
        let mut filter = ClientFilter::default();
        if options.len() == 1 {
            filter.peer = Some(text(&options[0]));
            return Ok(Self::Address(filter));
        }
        let mut skip_caller = true;
        let mut at = 0;
        while let Some(option) = options.get(at) {
            let value = options.get(at + 1).ok_or("ERR syntax error")?;
            match lowercase(option).as_str() {
                "id" => {
                    let id = parse_id(value).ok_or("ERR client-id should be greater than 0")?;
                    filter.ids = Some(vec![id]);
                }
                "addr" => filter.peer = Some(text(value)),
                "laddr" => filter.local = Some(text(value)),
                "user" => filter.user = Some(text(value)),
                "type" => filter.set_type(value)?,
                "skipme" => {
                    skip_caller = match lowercase(value).as_str() {
                        "yes" => true,
                        "no" => false,
                        _ => return Err("ERR syntax error"),
                    };
                }
                _ => return Err("ERR syntax error"),
            }
            at += 2;
        }
        Ok(Self::Filter {
            filter,
            skip_caller,
        })
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn lowercase(bytes: &[u8]) -> String {
    text(bytes).to_ascii_lowercase()
}

fn parse_id(bytes: &[u8]) -> Option<u64> {
    let id = std::str::from_utf8(bytes).ok()?.parse().ok()?;
    (id > 0).then_some(id)
}
