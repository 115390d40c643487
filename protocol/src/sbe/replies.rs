//! Replies and pushes of RESP3, as our `Writer` writes them, to frames.
//!
//! What RESP nests is a list here, each aggregate before what it holds. The format of a verbatim text
//! is left out. Nothing is allocated, and depth costs nothing.

use std::fmt;

use memchr::memchr;

use super::messages::{
    BooleanReply, BytesReply, CompositePush, CompositeReply, CompositeReplyValues, DoubleReply,
    ErrorReply, IntegerReply, MessagePush, NullReply, OkReply, PatternMessagePush, SCHEMA_ID,
    SCHEMA_VERSION, ShardMessagePush, SimpleReply, SubscriptionAction, SubscriptionPush,
    ValueKind as Kind,
};
use super::wire::{Entry, Message, put_group_header, put_header};
use super::{Encode, begin_frame, end_frame, put_framed};
use crate::resp::parse_integer;

/// Why bytes did not become a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyError {
    /// They end before the reply does.
    Incomplete,
    /// They are no reply that we write.
    Malformed,
    /// The reply has 4 GiB or more, which no frame can carry.
    TooLong,
}

impl fmt::Display for ReplyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Incomplete => "a reply is not complete",
            Self::Malformed => "a reply is not as we write it",
            Self::TooLong => "a reply of 4 GiB or more does not fit into a frame",
        })
    }
}

impl std::error::Error for ReplyError {}

/// Appends the frame of the reply or push that `resp3` begins with, and returns how many bytes of
/// `resp3` that was.
///
/// # Errors
/// [`ReplyError`]; `out` is as it was.
pub fn put_reply(resp3: &[u8], out: &mut Vec<u8>) -> Result<usize, ReplyError> {
    let mut reader = Reader(resp3);
    let Token { kind, number, data } = reader.token()?;
    match kind {
        Kind::Array | Kind::Set | Kind::Map => {
            put_composite::<CompositeReply<'_>>(&mut Reader(resp3), out)
        }
        Kind::Push => put_push(resp3, number, out),
        Kind::Simple if data == b"OK" => framed(&OkReply {}, &reader, resp3, out),
        Kind::Simple => framed(&SimpleReply { text: data }, &reader, resp3, out),
        Kind::Error => framed(&ErrorReply { text: data }, &reader, resp3, out),
        Kind::Integer => framed(&IntegerReply { value: number }, &reader, resp3, out),
        Kind::Double => framed(
            &DoubleReply {
                value: double(data)?,
            },
            &reader,
            resp3,
            out,
        ),
        Kind::Boolean => framed(&BooleanReply { value: number == 1 }, &reader, resp3, out),
        Kind::Bytes => framed(&BytesReply { value: data }, &reader, resp3, out),
        Kind::Null => framed(&NullReply {}, &reader, resp3, out),
    }
}

fn framed(
    message: &impl Encode,
    reader: &Reader<'_>,
    resp3: &[u8],
    out: &mut Vec<u8>,
) -> Result<usize, ReplyError> {
    put_framed(message, out).map_err(|_| ReplyError::TooLong)?;
    Ok(resp3.len() - reader.0.len())
}

/// A push of one of the known shapes as its message, any other as a composite.
fn put_push(resp3: &[u8], elements: i64, out: &mut Vec<u8>) -> Result<usize, ReplyError> {
    let mut reader = Reader(resp3);
    reader.token()?;
    if !matches!(elements, 3 | 4) {
        return put_composite::<CompositePush<'_>>(&mut Reader(resp3), out);
    }
    let (word, first, second) = (reader.token()?, reader.token()?, reader.token()?);
    let (channel, payload) = (first.data, second.data);
    match (word.data, elements) {
        (b"message", 3) => framed(&MessagePush { channel, payload }, &reader, resp3, out),
        (b"smessage", 3) => framed(&ShardMessagePush { channel, payload }, &reader, resp3, out),
        (b"pmessage", 4) => {
            let message = PatternMessagePush {
                pattern: first.data,
                channel: second.data,
                payload: reader.token()?.data,
            };
            framed(&message, &reader, resp3, out)
        }
        (word, 3) => match action(word) {
            Some(action) => {
                let message = SubscriptionPush {
                    subscriptions: second.number,
                    action,
                    named: first.kind != Kind::Null,
                    name: first.data,
                };
                framed(&message, &reader, resp3, out)
            }
            None => put_composite::<CompositePush<'_>>(&mut Reader(resp3), out),
        },
        _ => put_composite::<CompositePush<'_>>(&mut Reader(resp3), out),
    }
}

fn action(word: &[u8]) -> Option<SubscriptionAction> {
    Some(match word {
        b"subscribe" => SubscriptionAction::Subscribe,
        b"unsubscribe" => SubscriptionAction::Unsubscribe,
        b"psubscribe" => SubscriptionAction::PatternSubscribe,
        b"punsubscribe" => SubscriptionAction::PatternUnsubscribe,
        b"ssubscribe" => SubscriptionAction::ShardSubscribe,
        b"sunsubscribe" => SubscriptionAction::ShardUnsubscribe,
        _ => return None,
    })
}

/// The reply at the front of `reader` as the message `M`: a group of values and nothing else.
fn put_composite<'a, M: Message<'a>>(
    reader: &mut Reader<'_>,
    out: &mut Vec<u8>,
) -> Result<usize, ReplyError> {
    let before = reader.0.len();
    let start = begin_frame(out);
    put_header(out, 0, M::TEMPLATE, SCHEMA_ID, SCHEMA_VERSION);
    let group = out.len();
    put_group_header(out, CompositeReplyValues::BLOCK_BYTES, 0);
    match put_values(reader, out) {
        Ok(count) => {
            if let Some(place) = out.get_mut(group + 2..group + 6) {
                place.copy_from_slice(&count.to_le_bytes());
            }
            end_frame(start, out).map_err(|_| ReplyError::TooLong)?;
            Ok(before - reader.0.len())
        }
        Err(error) => {
            out.truncate(start);
            Err(error)
        }
    }
}

/// Writes a value and all that it holds, and returns how many that was.
fn put_values(reader: &mut Reader<'_>, out: &mut Vec<u8>) -> Result<u32, ReplyError> {
    let (mut open, mut count) = (1_u64, 0_u32);
    while open > 0 {
        let Token { kind, number, data } = reader.token()?;
        let held = match kind {
            Kind::Array | Kind::Set | Kind::Push => number.unsigned_abs(),
            Kind::Map => number.unsigned_abs().saturating_mul(2),
            _ => 0,
        };
        open = (open - 1).saturating_add(held);
        count = count.checked_add(1).ok_or(ReplyError::TooLong)?;
        let is_double = kind == Kind::Double;
        CompositeReplyValues {
            integer: number,
            double: if is_double { double(data)? } else { 0.0 },
            kind,
            data: if is_double { &[] } else { data },
        }
        .write(out);
    }
    Ok(count)
}

/// A value without what it holds.
struct Token<'a> {
    kind: Kind,
    /// An integer, a boolean, or how many values or pairs follow.
    number: i64,
    data: &'a [u8],
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn token(&mut self) -> Result<Token<'a>, ReplyError> {
        let (&marker, rest) = self.0.split_first().ok_or(ReplyError::Incomplete)?;
        let end = memchr(b'\n', rest).ok_or(ReplyError::Incomplete)?;
        let line = rest.get(..end).and_then(|line| line.strip_suffix(b"\r"));
        let line = line.ok_or(ReplyError::Malformed)?;
        self.0 = rest.get(end + 1..).unwrap_or_default();
        let plain = |kind, data| {
            Ok(Token {
                kind,
                number: 0,
                data,
            })
        };
        let counted = |kind| match parse_integer(line) {
            Some(number) if number >= 0 => Ok(Token {
                kind,
                number,
                data: &[],
            }),
            _ => Err(ReplyError::Malformed),
        };
        match marker {
            b'+' => plain(Kind::Simple, line),
            b'-' => plain(Kind::Error, line),
            b'_' => plain(Kind::Null, &[]),
            b'$' | b'*' if line == b"-1" => plain(Kind::Null, &[]),
            b',' => plain(Kind::Double, line),
            b':' => {
                let number = parse_integer(line).ok_or(ReplyError::Malformed)?;
                Ok(Token {
                    kind: Kind::Integer,
                    number,
                    data: &[],
                })
            }
            b'#' => {
                let number = i64::from(line == b"t");
                Ok(Token {
                    kind: Kind::Boolean,
                    number,
                    data: &[],
                })
            }
            b'*' => counted(Kind::Array),
            b'~' => counted(Kind::Set),
            b'%' => counted(Kind::Map),
            b'>' => counted(Kind::Push),
            b'$' => plain(Kind::Bytes, self.bulk(line)?),
            b'=' => plain(
                Kind::Bytes,
                self.bulk(line)?.get(4..).ok_or(ReplyError::Malformed)?,
            ),
            _ => Err(ReplyError::Malformed),
        }
    }

    /// Bytes of the length in `line`, and the line end behind them.
    fn bulk(&mut self, line: &[u8]) -> Result<&'a [u8], ReplyError> {
        let length = parse_integer(line).and_then(|length| usize::try_from(length).ok());
        let length = length.ok_or(ReplyError::Malformed)?;
        let taken = self.0.split_at_checked(length);
        let (bytes, rest) = taken.ok_or(ReplyError::Incomplete)?;
        let (line_end, rest) = rest.split_at_checked(2).ok_or(ReplyError::Incomplete)?;
        if line_end != b"\r\n" {
            return Err(ReplyError::Malformed);
        }
        self.0 = rest;
        Ok(bytes)
    }
}

fn double(text: &[u8]) -> Result<f64, ReplyError> {
    let text = std::str::from_utf8(text).map_err(|_| ReplyError::Malformed)?;
    text.parse().map_err(|_| ReplyError::Malformed)
}
