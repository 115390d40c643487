//! Bytes to messages.

use crate::link::codec::{FormatError, Parts, Reader};
use crate::link::template;
use crate::resp::Version;
use crate::table::Kind;

use super::{
    Arguments, ClientCommand, ClientOpen, ClientReply, Delivery, DeliveryBy, Interest, Message,
    Publication, Statistics,
};

impl<'a> Message<'a> {
    /// Decodes one message, which must be all of `bytes` and is borrowed from them.
    ///
    /// # Errors
    /// [`FormatError`] if the bytes are not exactly one message.
    #[inline]
    pub fn decode(bytes: &'a [u8]) -> Result<Self, FormatError> {
        let mut parts = Parts::new(bytes)?;
        let least = block_bytes(parts.template).ok_or(FormatError::Template {
            template: parts.template,
        })?;
        parts.expect_block(least)?;
        let message = decode_body(parts.template, parts.block, &mut parts.rest)?;
        parts.finish()?;
        Ok(message)
    }
}

/// The length that a template's block had in its first version; `None` if it is not a message's.
const fn block_bytes(template: u16) -> Option<usize> {
    Some(match template {
        template::INTEREST => 13,
        template::INTEREST_BEGIN
        | template::CLIENT_OPEN
        | template::CLIENT_CLOSE
        | template::INTEREST_CONFIRMED
        | template::CLIENT_CLOSED => 8,
        template::INTEREST_END | template::PUBLICATION_RESULT => 16,
        template::PUBLICATION => 22,
        template::CLIENT_COMMAND | template::CLIENT_REPLY => 9,
        template::DELIVERY => 13,
        template::STATISTICS
        | template::RIGHTS
        | template::RIGHTS_BEGIN
        | template::RIGHTS_END
        | template::RIGHTS_GONE => 0,
        _ => return None,
    })
}

#[inline]
fn decode_body<'a>(
    template: u16,
    mut block: Reader<'a>,
    rest: &mut Reader<'a>,
) -> Result<Message<'a>, FormatError> {
    Ok(match template {
        template::INTEREST => interest(block, rest)?,
        template::INTEREST_BEGIN => Message::InterestBegin {
            epoch: block.u64()?,
        },
        template::INTEREST_END => Message::InterestEnd {
            epoch: block.u64()?,
            token: block.u64()?,
        },
        template::PUBLICATION => publication(block, rest)?,
        template::CLIENT_OPEN => client_open(block, rest)?,
        template::CLIENT_COMMAND => Message::ClientCommand(ClientCommand {
            client: block.u64()?,
            version: version(block.u8()?)?,
            arguments: Arguments::decode(rest)?,
        }),
        template::CLIENT_CLOSE => Message::ClientClose {
            client: block.u64()?,
        },
        template::STATISTICS => Message::Statistics(Statistics::decode(rest)?),
        template::INTEREST_CONFIRMED => Message::InterestConfirmed {
            token: block.u64()?,
        },
        template::PUBLICATION_RESULT => Message::PublicationResult {
            id: block.u64()?,
            deliveries: block.u64()?,
            refused: rest.text("refused")?,
        },
        template::DELIVERY => delivery(block, rest)?,
        template::CLIENT_REPLY => client_reply(block, rest)?,
        template::CLIENT_CLOSED => Message::ClientClosed {
            client: block.u64()?,
            reason: rest.text("reason")?,
        },
        template::RIGHTS => Message::Rights {
            user: rest.variable()?,
            rules: rest.variable()?,
        },
        template::RIGHTS_BEGIN => Message::RightsBegin,
        template::RIGHTS_END => Message::RightsEnd,
        template::RIGHTS_GONE => Message::RightsGone {
            user: rest.variable()?,
        },
        template => return Err(FormatError::Template { template }),
    })
}

fn interest<'a>(mut block: Reader<'a>, rest: &mut Reader<'a>) -> Result<Message<'a>, FormatError> {
    Ok(Message::Interest(Interest {
        token: block.u64()?,
        count: block.u32()?,
        kind: kind(block.u8()?)?,
        name: rest.variable()?,
    }))
}

#[inline]
fn publication<'a>(
    mut block: Reader<'a>,
    rest: &mut Reader<'a>,
) -> Result<Message<'a>, FormatError> {
    Ok(Message::Publication(Publication {
        id: block.u64()?,
        client: block.u64()?,
        delivered_here: block.u32()?,
        kind: kind(block.u8()?)?,
        delivery: delivery_by(block.u8()?)?,
        channel: rest.variable()?,
        payload: rest.variable()?,
    }))
}

fn client_open<'a>(
    mut block: Reader<'a>,
    rest: &mut Reader<'a>,
) -> Result<Message<'a>, FormatError> {
    Ok(Message::ClientOpen(ClientOpen {
        client: block.u64()?,
        user: rest.variable()?,
        address: rest.text("address")?,
        local_address: rest.text("local address")?,
        name: rest.variable()?,
    }))
}

#[inline]
fn delivery<'a>(mut block: Reader<'a>, rest: &mut Reader<'a>) -> Result<Message<'a>, FormatError> {
    Ok(Message::Delivery(Delivery {
        sequence: block.u64()?,
        origin: block.u32()?,
        kind: kind(block.u8()?)?,
        channel: rest.variable()?,
        payload: rest.variable()?,
    }))
}

#[inline]
fn client_reply<'a>(
    mut block: Reader<'a>,
    rest: &mut Reader<'a>,
) -> Result<Message<'a>, FormatError> {
    let client = block.u64()?;
    let flags = block.u8()?;
    Ok(Message::ClientReply(ClientReply {
        client,
        last: flags & 1 != 0,
        close: flags & 2 != 0,
        bytes: rest.variable()?,
    }))
}

#[inline]
const fn kind(code: u8) -> Result<Kind, FormatError> {
    match code {
        0 => Ok(Kind::Channel),
        1 => Ok(Kind::Pattern),
        2 => Ok(Kind::Shard),
        code => Err(FormatError::Code {
            field: "kind",
            code,
        }),
    }
}

const fn version(code: u8) -> Result<Version, FormatError> {
    match code {
        2 => Ok(Version::Resp2),
        3 => Ok(Version::Resp3),
        code => Err(FormatError::Code {
            field: "version",
            code,
        }),
    }
}

#[inline]
const fn delivery_by(code: u8) -> Result<DeliveryBy, FormatError> {
    match code {
        0 => Ok(DeliveryBy::Edge),
        1 => Ok(DeliveryBy::Host),
        code => Err(FormatError::Code {
            field: "delivery",
            code,
        }),
    }
}
