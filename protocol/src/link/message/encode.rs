//! Messages to bytes.

use crate::link::codec::{Head, Length, Sink, put_variable};
use crate::link::{Role, template};
use crate::resp::Version;
use crate::table::Kind;

use super::list::{put_arguments, put_statistics};
use super::{ClientOpen, ClientReply, Delivery, DeliveryBy, Interest, Message, Publication};

/// What can be sent in data frames.
pub trait Encode {
    /// Which end sends it.
    fn sender(&self) -> Role;

    /// Appends the encoded message; the same bytes whenever it is called.
    fn encode_into(&self, sink: &mut impl Sink);

    /// How many bytes `encode_into` appends.
    #[inline]
    fn encoded_len(&self) -> usize {
        let mut length = Length::default();
        self.encode_into(&mut length);
        length.0
    }
}

/// A [`ClientCommand`](super::ClientCommand) whose arguments come from an iterator, for encoding.
#[derive(Clone, Copy, Debug)]
pub struct CommandOf<I> {
    /// The client.
    pub client: u64,
    /// The version in which the reply must be written.
    pub version: Version,
    /// The command's name and arguments; at most [`ARGUMENTS_MAX`](super::ARGUMENTS_MAX).
    pub arguments: I,
}

impl<'a, I: Iterator<Item = &'a [u8]> + Clone> Encode for CommandOf<I> {
    fn sender(&self) -> Role {
        Role::Edge
    }

    #[inline]
    fn encode_into(&self, sink: &mut impl Sink) {
        Head::new(template::CLIENT_COMMAND)
            .u64(self.client)
            .u8(version_code(self.version))
            .put(sink);
        put_arguments(sink, self.arguments.clone());
    }
}

/// [`Statistics`](super::Statistics) that come from an iterator, for encoding; at most
/// [`STATISTICS_MAX`](super::STATISTICS_MAX).
#[derive(Clone, Copy, Debug)]
pub struct StatisticsOf<I>(pub I);

impl<'a, I: Iterator<Item = (&'a str, u64)> + Clone> Encode for StatisticsOf<I> {
    fn sender(&self) -> Role {
        Role::Edge
    }

    fn encode_into(&self, sink: &mut impl Sink) {
        Head::new(template::STATISTICS).put(sink);
        put_statistics(sink, self.0.clone());
    }
}

impl Message<'_> {
    /// Appends the encoded message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.encode_into(out);
    }
}

impl Encode for Message<'_> {
    #[inline]
    fn sender(&self) -> Role {
        Message::sender(self)
    }

    #[inline]
    fn encode_into(&self, sink: &mut impl Sink) {
        match *self {
            Self::Interest(ref message) => put_interest(message, sink),
            Self::InterestBegin { epoch } => {
                Head::new(template::INTEREST_BEGIN).u64(epoch).put(sink);
            }
            Self::InterestEnd { epoch, token } => Head::new(template::INTEREST_END)
                .u64(epoch)
                .u64(token)
                .put(sink),
            Self::Publication(ref message) => put_publication(message, sink),
            Self::ClientOpen(ref message) => put_client_open(message, sink),
            Self::ClientCommand(ref message) => CommandOf {
                client: message.client,
                version: message.version,
                arguments: message.arguments.iter(),
            }
            .encode_into(sink),
            Self::ClientClose { client } => Head::new(template::CLIENT_CLOSE).u64(client).put(sink),
            Self::Statistics(statistics) => StatisticsOf(statistics.iter()).encode_into(sink),
            Self::InterestConfirmed { token } => {
                Head::new(template::INTEREST_CONFIRMED).u64(token).put(sink);
            }
            Self::PublicationResult {
                id,
                deliveries,
                refused,
            } => {
                let head = Head::new(template::PUBLICATION_RESULT);
                head.u64(id).u64(deliveries).put(sink);
                put_variable(sink, refused.as_bytes());
            }
            Self::Delivery(ref message) => put_delivery(message, sink),
            Self::ClientReply(ref message) => put_client_reply(message, sink),
            Self::ClientClosed { client, reason } => {
                Head::new(template::CLIENT_CLOSED).u64(client).put(sink);
                put_variable(sink, reason.as_bytes());
            }
            Self::Rights { user, rules } => {
                Head::new(template::RIGHTS).put(sink);
                put_variable(sink, user);
                put_variable(sink, rules);
            }
            Self::RightsBegin => Head::new(template::RIGHTS_BEGIN).put(sink),
            Self::RightsEnd => Head::new(template::RIGHTS_END).put(sink),
            Self::RightsGone { user } => {
                Head::new(template::RIGHTS_GONE).put(sink);
                put_variable(sink, user);
            }
        }
    }
}

fn put_interest(message: &Interest<'_>, sink: &mut impl Sink) {
    Head::new(template::INTEREST)
        .u64(message.token)
        .u32(message.count)
        .u8(kind_code(message.kind))
        .put(sink);
    put_variable(sink, message.name);
}

#[inline]
fn put_publication(message: &Publication<'_>, sink: &mut impl Sink) {
    Head::new(template::PUBLICATION)
        .u64(message.id)
        .u64(message.client)
        .u32(message.delivered_here)
        .u8(kind_code(message.kind))
        .u8(delivery_code(message.delivery))
        .put(sink);
    put_variable(sink, message.channel);
    put_variable(sink, message.payload);
}

fn put_client_open(message: &ClientOpen<'_>, sink: &mut impl Sink) {
    Head::new(template::CLIENT_OPEN)
        .u64(message.client)
        .put(sink);
    put_variable(sink, message.user);
    put_variable(sink, message.address.as_bytes());
    put_variable(sink, message.local_address.as_bytes());
    put_variable(sink, message.name);
}

#[inline]
fn put_delivery(message: &Delivery<'_>, sink: &mut impl Sink) {
    Head::new(template::DELIVERY)
        .u64(message.sequence)
        .u32(message.origin)
        .u8(kind_code(message.kind))
        .put(sink);
    put_variable(sink, message.channel);
    put_variable(sink, message.payload);
}

#[inline]
fn put_client_reply(message: &ClientReply<'_>, sink: &mut impl Sink) {
    let flags = u8::from(message.last) | u8::from(message.close) << 1;
    Head::new(template::CLIENT_REPLY)
        .u64(message.client)
        .u8(flags)
        .put(sink);
    put_variable(sink, message.bytes);
}

const fn kind_code(kind: Kind) -> u8 {
    match kind {
        Kind::Channel => 0,
        Kind::Pattern => 1,
        Kind::Shard => 2,
    }
}

const fn version_code(version: Version) -> u8 {
    match version {
        Version::Resp2 => 2,
        Version::Resp3 => 3,
    }
}

const fn delivery_code(delivery: DeliveryBy) -> u8 {
    match delivery {
        DeliveryBy::Edge => 0,
        DeliveryBy::Host => 1,
    }
}
