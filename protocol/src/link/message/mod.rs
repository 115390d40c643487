//! What the edge and the host say to each other in data frames.
//!
//! A message borrows what it says: from the owner's data when it is sent, from the received bytes
//! when it arrives. Each is one SBE message of its own; `encode.rs` and `decode.rs` have the order
//! of the fields, `docs/wire.md` the diagrams.

mod decode;
mod encode;
mod list;
#[cfg(test)]
mod tests;

pub use encode::{CommandOf, Encode, StatisticsOf};
pub use list::{Arguments, ArgumentsIter, Statistics, StatisticsIter};

use crate::limits;
use crate::resp::Version;
use crate::table::Kind;

use super::Role;

/// Most arguments of a passed-through command.
pub const ARGUMENTS_MAX: usize = limits::ARGUMENTS_MAX;
/// Most figures of one statistics message.
pub const STATISTICS_MAX: usize = 1024;

/// Which end fans a publication out to the subscribers of the edge it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryBy {
    /// The edge has done it: the host skips that edge.
    Edge,
    /// The host does it, in its order: that edge gets the publication like every other.
    Host,
}

/// Edge to host: how many subscriptions a name has on the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest<'a> {
    /// Named again by [`Message::InterestConfirmed`]; the edge's tokens grow.
    pub token: u64,
    /// What the name is.
    pub kind: Kind,
    /// Subscriptions on the edge; 0 when the name has none any more.
    pub count: u32,
    /// The channel, pattern or shard channel.
    pub name: &'a [u8],
}

/// Edge to host: one `PUBLISH` or `SPUBLISH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Publication<'a> {
    /// Named again by [`Message::PublicationResult`].
    pub id: u64,
    /// Channel or shard channel.
    pub kind: Kind,
    /// Who fans it out to the edge's own subscribers.
    pub delivery: DeliveryBy,
    /// Deliveries that the edge has made.
    pub delivered_here: u32,
    /// The publishing client, by the edge's number.
    pub client: u64,
    /// Where it was published.
    pub channel: &'a [u8],
    /// What was published.
    pub payload: &'a [u8],
}

/// Edge to host: a client whose commands will be passed through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientOpen<'a> {
    /// The edge's number of the client, not used for another one in the same session.
    pub client: u64,
    /// The user that it is authenticated as.
    pub user: &'a [u8],
    /// The client's address.
    pub address: &'a str,
    /// The edge's address that it connected to.
    pub local_address: &'a str,
    /// What `CLIENT SETNAME` set; empty when nothing did.
    pub name: &'a [u8],
}

/// Edge to host: one command of a client. [`CommandOf`] encodes the same from any iterator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientCommand<'a> {
    /// The client.
    pub client: u64,
    /// The version in which the reply must be written.
    pub version: Version,
    /// The command's name and arguments.
    pub arguments: Arguments<'a>,
}

/// Host to edge: a publication for the edge's subscribers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<'a> {
    /// Channel or shard channel.
    pub kind: Kind,
    /// The number of the edge where it was published; 0 for the host.
    pub origin: u32,
    /// The host's number of the publication; grows.
    pub sequence: u64,
    /// Where it was published.
    pub channel: &'a [u8],
    /// What was published.
    pub payload: &'a [u8],
}

/// Host to edge: bytes for a client, in the version that its command asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientReply<'a> {
    /// The client.
    pub client: u64,
    /// The reply to the command is complete with these bytes.
    pub last: bool,
    /// The client must be closed behind these bytes.
    pub close: bool,
    /// To be written as they are.
    pub bytes: &'a [u8],
}

/// A message of either end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Edge to host: how many subscriptions a name has on the edge.
    Interest(Interest<'a>),
    /// Edge to host: a statement of the whole interest begins. The interest that stands between this
    /// and the end of the same epoch replaces what the host had of this edge.
    InterestBegin {
        /// Grows with every statement of the edge.
        epoch: u64,
    },
    /// Edge to host: the statement is complete.
    InterestEnd {
        /// That of the beginning.
        epoch: u64,
        /// To be confirmed like an interest.
        token: u64,
    },
    /// Edge to host: a publication.
    Publication(Publication<'a>),
    /// Edge to host: a client whose commands will be passed through.
    ClientOpen(ClientOpen<'a>),
    /// Edge to host: a command that is passed through.
    ClientCommand(ClientCommand<'a>),
    /// Edge to host: the client is gone.
    ClientClose {
        /// The client.
        client: u64,
    },
    /// Edge to host: figures about the edge.
    Statistics(Statistics<'a>),
    /// Host to edge: the interest with this token, and all before it, counts from now on.
    InterestConfirmed {
        /// The interest's token.
        token: u64,
    },
    /// Host to edge: the outcome of a publication.
    PublicationResult {
        /// The publication's id.
        id: u64,
        /// Deliveries everywhere, those of the edge itself included.
        deliveries: u64,
        /// Why the host refused it, as an error reply without the leading `-`; empty if it did not.
        refused: &'a str,
    },
    /// Host to edge: a publication for the edge's subscribers.
    Delivery(Delivery<'a>),
    /// Host to edge: bytes for a client.
    ClientReply(ClientReply<'a>),
    /// Host to edge: the host has closed a client; nothing more comes for it.
    ClientClosed {
        /// The client.
        client: u64,
        /// Why.
        reason: &'a str,
    },
    /// Host to edge: what a user may do.
    Rights {
        /// The user.
        user: &'a [u8],
        /// The text of its account; patterns in it may be any bytes.
        rules: &'a [u8],
    },
    /// Host to edge: a statement of all users' rights begins.
    RightsBegin,
    /// Host to edge: the statement is complete; users that it did not name are gone.
    RightsEnd,
    /// Host to edge: a user is gone.
    RightsGone {
        /// The user.
        user: &'a [u8],
    },
}

impl Message<'_> {
    /// Which end sends it.
    #[must_use]
    pub const fn sender(&self) -> Role {
        match self {
            Self::Interest(_)
            | Self::InterestBegin { .. }
            | Self::InterestEnd { .. }
            | Self::Publication(_)
            | Self::ClientOpen(_)
            | Self::ClientCommand(_)
            | Self::ClientClose { .. }
            | Self::Statistics(_) => Role::Edge,
            Self::InterestConfirmed { .. }
            | Self::PublicationResult { .. }
            | Self::Delivery(_)
            | Self::ClientReply(_)
            | Self::ClientClosed { .. }
            | Self::Rights { .. }
            | Self::RightsBegin
            | Self::RightsEnd
            | Self::RightsGone { .. } => Role::Host,
        }
    }
}
