//! Replies as clients read them, in RESP2 and RESP3.
//!
//! [`complete_len`] finds where the first reply ends without copying it, for a client that counts
//! or forwards replies; [`Value::parse`] takes it apart. Both start at the reply's first byte each
//! time: they are for tools, whose replies are short or arrive in few pieces.

use std::error::Error;
use std::fmt;

use memchr::memchr;

use super::number::parse_integer;

/// How deep aggregates and attributes may be nested.
const DEPTH_MAX: usize = 32;
/// Longest line of a type that has no announced length, in bytes.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// Why bytes are no reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyError {
    /// No type begins with this byte.
    UnknownType(u8),
    /// A line does not end within 64 KiB, or holds a line break.
    BadLine,
    /// A length or count that is not an integer, negative, or too large to address.
    BadLength,
    /// An integer, double or boolean that is none.
    BadScalar,
    /// Data of an announced length that no line end follows.
    MissingLineEnd,
    /// Aggregates nested deeper than 32 levels.
    TooDeep,
}

impl fmt::Display for ReplyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Self::UnknownType(byte) => {
                return write!(formatter, "no reply type begins with byte 0x{byte:02x}");
            }
            Self::BadLine => "a line of a reply is longer than 64 KiB or broken",
            Self::BadLength => "a length in a reply is not a number in range",
            Self::BadScalar => "a number or boolean in a reply is malformed",
            Self::MissingLineEnd => "no line end follows data in a reply",
            Self::TooDeep => "a reply is nested deeper than 32 levels",
        };
        formatter.write_str(text)
    }
}

impl Error for ReplyError {}

/// The length in bytes of the first complete reply in `bytes`, attributes before it included;
/// `None` when it goes on beyond them.
///
/// # Errors
///
/// What shows that `bytes` are no reply.
pub fn complete_len(bytes: &[u8]) -> Result<Option<usize>, ReplyError> {
    // Elements that are still to come, from the outermost aggregate to the innermost.
    let mut open = [0_usize; DEPTH_MAX + 1];
    let mut depth = 0;
    open[0] = 1;
    let mut position = 0;
    loop {
        while open[depth] == 0 {
            if depth == 0 {
                return Ok(Some(position));
            }
            depth -= 1;
        }
        let rest = bytes.get(position..).unwrap_or_default();
        let Some(token) = Token::read(rest)? else {
            return Ok(None);
        };
        position += token.length;
        let elements = match token.kind {
            TokenKind::Aggregate { count, .. } => {
                open[depth] -= 1;
                count
            }
            // What an attribute belongs to is still to come.
            TokenKind::Attribute { pairs } => pairs * 2,
            _ => {
                open[depth] -= 1;
                continue;
            }
        };
        depth += 1;
        *open.get_mut(depth).ok_or(ReplyError::TooDeep)? = elements;
    }
}

/// A reply taken apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A status.
    Simple(Vec<u8>),
    /// An error, its code first; RESP3's errors of announced length too.
    Error(Vec<u8>),
    /// An integer.
    Integer(i64),
    /// A string of any bytes.
    Bulk(Vec<u8>),
    /// No value, or in RESP2 no array.
    Null,
    /// A double.
    Double(f64),
    /// A boolean.
    Boolean(bool),
    /// An integer of any size, in decimal.
    BigNumber(Vec<u8>),
    /// A text and its format, such as `txt`.
    Verbatim {
        /// The three bytes that name the format.
        format: [u8; 3],
        /// The text.
        text: Vec<u8>,
    },
    /// An array.
    Array(Vec<Value>),
    /// A set, in the order received.
    Set(Vec<Value>),
    /// A push: not the answer to a command.
    Push(Vec<Value>),
    /// A map, in the order received.
    Map(Vec<(Value, Value)>),
    /// A reply and what the server says about it.
    Attributed {
        /// The attributes, in the order received.
        attributes: Vec<(Value, Value)>,
        /// The reply itself.
        value: Box<Value>,
    },
}

impl Value {
    /// The first complete reply in `bytes` and its length; `None` when it goes on beyond them.
    ///
    /// # Errors
    ///
    /// What shows that `bytes` are no reply.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, ReplyError> {
        let mut reader = Reader { rest: bytes };
        let value = reader.value(0)?;
        Ok(value.map(|value| (value, bytes.len() - reader.rest.len())))
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Option<Value>, ReplyError> {
        let Some(token) = Token::read(self.rest)? else {
            return Ok(None);
        };
        self.rest = self.rest.get(token.length..).unwrap_or_default();
        match token.kind {
            TokenKind::Scalar(value) => Ok(Some(value)),
            TokenKind::Text { bytes, wrap } => Ok(Some(wrap(bytes.to_vec()))),
            TokenKind::Verbatim { format, text } => Ok(Some(Value::Verbatim {
                format,
                text: text.to_vec(),
            })),
            TokenKind::Aggregate { .. } | TokenKind::Attribute { .. } if depth == DEPTH_MAX => {
                Err(ReplyError::TooDeep)
            }
            TokenKind::Aggregate {
                count,
                marker: b'%',
            } => Ok(self.pairs(count / 2, depth + 1)?.map(Value::Map)),
            TokenKind::Aggregate { count, marker } => {
                let wrap = match marker {
                    b'~' => Value::Set,
                    b'>' => Value::Push,
                    _ => Value::Array,
                };
                Ok(self.values(count, depth + 1)?.map(wrap))
            }
            TokenKind::Attribute { pairs } => {
                let Some(attributes) = self.pairs(pairs, depth + 1)? else {
                    return Ok(None);
                };
                let value = self.value(depth + 1)?;
                Ok(value.map(|value| Value::Attributed {
                    attributes,
                    value: Box::new(value),
                }))
            }
        }
    }

    fn values(&mut self, count: usize, depth: usize) -> Result<Option<Vec<Value>>, ReplyError> {
        // Not reserved by `count`, which is only announced.
        let mut values = Vec::new();
        for _ in 0..count {
            let Some(value) = self.value(depth)? else {
                return Ok(None);
            };
            values.push(value);
        }
        Ok(Some(values))
    }

    fn pairs(
        &mut self,
        count: usize,
        depth: usize,
    ) -> Result<Option<Vec<(Value, Value)>>, ReplyError> {
        let mut pairs = Vec::new();
        for _ in 0..count {
            let Some(key) = self.value(depth)? else {
                return Ok(None);
            };
            let Some(value) = self.value(depth)? else {
                return Ok(None);
            };
            pairs.push((key, value));
        }
        Ok(Some(pairs))
    }
}

/// The beginning of a reply: all of it, or an announcement of elements.
struct Token<'a> {
    kind: TokenKind<'a>,
    /// Bytes it takes.
    length: usize,
}

enum TokenKind<'a> {
    Scalar(Value),
    Text {
        bytes: &'a [u8],
        wrap: fn(Vec<u8>) -> Value,
    },
    Verbatim {
        format: [u8; 3],
        text: &'a [u8],
    },
    /// `count` values follow, keys and values each counted.
    Aggregate {
        marker: u8,
        count: usize,
    },
    /// `pairs` of values follow, then what they belong to.
    Attribute {
        pairs: usize,
    },
}

impl<'a> Token<'a> {
    fn read(bytes: &'a [u8]) -> Result<Option<Self>, ReplyError> {
        let Some(&marker) = bytes.first() else {
            return Ok(None);
        };
        if !b"+-:$*_#,(!=%~>|".contains(&marker) {
            return Err(ReplyError::UnknownType(marker));
        }
        let Some(line) = read_line(bytes)? else {
            return Ok(None);
        };
        let length = line.len() + 3;
        let kind = match marker {
            b'+' => TokenKind::Text {
                bytes: line,
                wrap: Value::Simple,
            },
            b'-' => TokenKind::Text {
                bytes: line,
                wrap: Value::Error,
            },
            b'$' | b'!' | b'=' => return Self::read_announced(bytes, marker, line, length),
            b'*' if line == b"-1" => TokenKind::Scalar(Value::Null),
            b'*' | b'~' | b'>' => TokenKind::Aggregate {
                marker,
                count: parse_length(line)?,
            },
            b'%' => TokenKind::Aggregate {
                marker,
                count: parse_length(line)? * 2,
            },
            b'|' => TokenKind::Attribute {
                pairs: parse_length(line)?,
            },
            b'(' if is_big_number(line) => TokenKind::Text {
                bytes: line,
                wrap: Value::BigNumber,
            },
            _ => TokenKind::Scalar(parse_scalar(marker, line).ok_or(ReplyError::BadScalar)?),
        };
        Ok(Some(Self { kind, length }))
    }

    /// Reads a type whose line announces the length of what follows.
    fn read_announced(
        bytes: &'a [u8],
        marker: u8,
        line: &[u8],
        start: usize,
    ) -> Result<Option<Self>, ReplyError> {
        if marker == b'$' && line == b"-1" {
            return Ok(Some(Self {
                kind: TokenKind::Scalar(Value::Null),
                length: start,
            }));
        }
        let end = start + parse_length(line)?;
        let Some(line_end) = bytes.get(end..end + 2) else {
            return Ok(None);
        };
        if line_end != b"\r\n" {
            return Err(ReplyError::MissingLineEnd);
        }
        let text = bytes.get(start..end).unwrap_or_default();
        let kind = match (marker, text) {
            (b'=', [a, b, c, b':', text @ ..]) => TokenKind::Verbatim {
                format: [*a, *b, *c],
                text,
            },
            (b'=', _) => return Err(ReplyError::BadLength),
            (b'!', _) => TokenKind::Text {
                bytes: text,
                wrap: Value::Error,
            },
            _ => TokenKind::Text {
                bytes: text,
                wrap: Value::Bulk,
            },
        };
        Ok(Some(Self {
            kind,
            length: end + 2,
        }))
    }
}

/// What stands between the type's byte and the line's end.
fn read_line(bytes: &[u8]) -> Result<Option<&[u8]>, ReplyError> {
    let window = bytes
        .get(1..bytes.len().min(LINE_BYTES_MAX))
        .unwrap_or_default();
    match memchr(b'\n', window) {
        Some(feed) => match window.get(..feed).and_then(|line| line.strip_suffix(b"\r")) {
            Some(line) if !line.contains(&b'\r') => Ok(Some(line)),
            _ => Err(ReplyError::BadLine),
        },
        None if bytes.len() >= LINE_BYTES_MAX => Err(ReplyError::BadLine),
        None => Ok(None),
    }
}

/// A length or count; at most a quarter of what can be addressed, so that neither its double nor its
/// sum with a position overflows.
fn parse_length(line: &[u8]) -> Result<usize, ReplyError> {
    let length = parse_integer(line).and_then(|length| usize::try_from(length).ok());
    length
        .filter(|&length| length <= usize::MAX / 4)
        .ok_or(ReplyError::BadLength)
}

fn parse_scalar(marker: u8, line: &[u8]) -> Option<Value> {
    match (marker, line) {
        (b':', _) => parse_integer(line.strip_prefix(b"+").unwrap_or(line)).map(Value::Integer),
        (b'_', b"") => Some(Value::Null),
        (b'#', b"t") => Some(Value::Boolean(true)),
        (b'#', b"f") => Some(Value::Boolean(false)),
        (b',', _) => str::from_utf8(line).ok()?.parse().ok().map(Value::Double),
        _ => None,
    }
}

fn is_big_number(line: &[u8]) -> bool {
    let digits = line
        .strip_prefix(b"-")
        .or(line.strip_prefix(b"+"))
        .unwrap_or(line);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Version, Writer};
    use super::*;

    fn text(text: &str) -> Vec<u8> {
        text.as_bytes().to_vec()
    }

    #[test]
    fn every_type_is_taken_apart() {
        let one = || Value::Integer(1);
        let cases = [
            ("+OK\r\n", Value::Simple(text("OK"))),
            ("-ERR no\r\n", Value::Error(text("ERR no"))),
            (":-42\r\n", Value::Integer(-42)),
            (":+7\r\n", Value::Integer(7)),
            ("$0\r\n\r\n", Value::Bulk(text(""))),
            ("$4\r\na\r\nb\r\n", Value::Bulk(text("a\r\nb"))),
            ("$-1\r\n", Value::Null),
            ("*-1\r\n", Value::Null),
            ("_\r\n", Value::Null),
            (",1.5\r\n", Value::Double(1.5)),
            (",-inf\r\n", Value::Double(f64::NEG_INFINITY)),
            ("#t\r\n", Value::Boolean(true)),
            ("(-349\r\n", Value::BigNumber(text("-349"))),
            ("!6\r\nERR no\r\n", Value::Error(text("ERR no"))),
            (
                "=6\r\ntxt:hi\r\n",
                Value::Verbatim {
                    format: *b"txt",
                    text: text("hi"),
                },
            ),
            ("*0\r\n", Value::Array(vec![])),
            (
                "*2\r\n:1\r\n*1\r\n:1\r\n",
                Value::Array(vec![one(), Value::Array(vec![one()])]),
            ),
            ("~1\r\n:1\r\n", Value::Set(vec![one()])),
            (">1\r\n:1\r\n", Value::Push(vec![one()])),
            ("%1\r\n:1\r\n_\r\n", Value::Map(vec![(one(), Value::Null)])),
            (
                "|1\r\n:1\r\n:1\r\n*1\r\n:1\r\n",
                Value::Attributed {
                    attributes: vec![(one(), one())],
                    value: Box::new(Value::Array(vec![one()])),
                },
            ),
        ];
        for (encoded, value) in cases {
            let mut bytes = text(encoded);
            for cut in 0..bytes.len() {
                assert_eq!(
                    complete_len(&bytes[..cut]),
                    Ok(None),
                    "{encoded:?} cut at {cut}"
                );
                assert_eq!(
                    Value::parse(&bytes[..cut]),
                    Ok(None),
                    "{encoded:?} cut at {cut}"
                );
            }
            bytes.extend_from_slice(b"+next");
            assert_eq!(complete_len(&bytes), Ok(Some(encoded.len())));
            assert_eq!(Value::parse(&bytes), Ok(Some((value, encoded.len()))));
        }
    }

    #[test]
    fn what_is_no_reply_is_named() {
        let cases = [
            ("PING\r\n", ReplyError::UnknownType(b'P')),
            ("\r\n", ReplyError::UnknownType(b'\r')),
            ("+O\nK\r\n", ReplyError::BadLine),
            ("+O\rK\r\n", ReplyError::BadLine),
            ("$x\r\n", ReplyError::BadLength),
            ("$-2\r\n", ReplyError::BadLength),
            ("*-2\r\n", ReplyError::BadLength),
            ("%-1\r\n", ReplyError::BadLength),
            ("$9223372036854775807\r\n", ReplyError::BadLength),
            ("=2\r\nab\r\n", ReplyError::BadLength),
            ("$1\r\nabc\r\n", ReplyError::MissingLineEnd),
            (":1x\r\n", ReplyError::BadScalar),
            ("#x\r\n", ReplyError::BadScalar),
            (",\r\n", ReplyError::BadScalar),
            ("(1.5\r\n", ReplyError::BadScalar),
            ("_x\r\n", ReplyError::BadScalar),
            ("*2\r\n:1\r\n?\r\n", ReplyError::UnknownType(b'?')),
        ];
        for (encoded, error) in cases {
            assert_eq!(complete_len(encoded.as_bytes()), Err(error), "{encoded:?}");
            assert_eq!(Value::parse(encoded.as_bytes()), Err(error), "{encoded:?}");
        }
        let endless = vec![b'+'; LINE_BYTES_MAX];
        assert_eq!(complete_len(&endless[1..]), Ok(None));
        assert_eq!(complete_len(&endless), Err(ReplyError::BadLine));
    }

    #[test]
    fn nesting_is_bounded_and_announced_counts_reserve_nothing() {
        for opening in ["*1\r\n", "%1\r\n", "|1\r\n", "*4611686018427387903\r\n"] {
            let deep = |levels: usize| opening.repeat(levels).into_bytes();
            assert_eq!(complete_len(&deep(DEPTH_MAX)), Ok(None));
            assert_eq!(Value::parse(&deep(DEPTH_MAX)), Ok(None));
            assert_eq!(complete_len(&deep(DEPTH_MAX + 1)), Err(ReplyError::TooDeep));
            assert_eq!(Value::parse(&deep(DEPTH_MAX + 1)), Err(ReplyError::TooDeep));
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..20);
        let leaf = prop_oneof![
            "[ -~]{0,10}".prop_map(|line| Value::Simple(line.into_bytes())),
            any::<i64>().prop_map(Value::Integer),
            bytes().prop_map(Value::Bulk),
            Just(Value::Null),
            any::<bool>().prop_map(Value::Boolean),
            prop::num::f64::NORMAL.prop_map(Value::Double),
            bytes().prop_map(|text| Value::Verbatim {
                format: *b"txt",
                text
            }),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            let values = prop::collection::vec(inner.clone(), 0..4);
            prop_oneof![
                values.clone().prop_map(Value::Array),
                values.clone().prop_map(Value::Set),
                values.prop_map(Value::Push),
                prop::collection::vec((inner.clone(), inner), 0..3).prop_map(Value::Map),
            ]
        })
    }

    fn write(value: &Value, writer: &mut Writer<'_>) {
        match value {
            Value::Simple(text) => writer.simple(str::from_utf8(text).unwrap()),
            Value::Integer(value) => writer.integer(*value),
            Value::Bulk(bytes) => writer.bulk(bytes),
            Value::Null => writer.null(),
            Value::Boolean(value) => writer.boolean(*value),
            Value::Double(value) => writer.double(*value),
            Value::Verbatim { format, text } => writer.verbatim(format, text),
            Value::Array(values) | Value::Set(values) | Value::Push(values) => {
                match value {
                    Value::Set(_) => writer.set(values.len()),
                    Value::Push(_) => writer.push(values.len()),
                    _ => writer.array(values.len()),
                }
                values.iter().for_each(|value| write(value, writer));
            }
            Value::Map(pairs) => {
                writer.map(pairs.len());
                for (key, value) in pairs {
                    write(key, writer);
                    write(value, writer);
                }
            }
            Value::Error(_) | Value::BigNumber(_) | Value::Attributed { .. } => unreachable!(),
        }
    }

    proptest! {
        #[test]
        fn what_the_writer_writes_reads_back(value in any_value()) {
            let mut bytes = Vec::new();
            write(&value, &mut Writer::new(&mut bytes, Version::Resp3));
            prop_assert_eq!(complete_len(&bytes), Ok(Some(bytes.len())));
            prop_assert_eq!(Value::parse(&bytes), Ok(Some((value, bytes.len()))));
        }

        #[test]
        fn both_readers_agree_on_any_bytes(
            parts in prop::collection::vec(
                prop_oneof![
                    prop::sample::select(vec![
                        "*2\r\n", "%1\r\n", "|1\r\n", "~0\r\n", ">1\r\n", ":1\r\n", "$-1\r\n",
                        "$3\r\nabc\r\n", "=5\r\ntxt:a\r\n", "!1\r\nE\r\n", ",1\r\n", "#t\r\n", "(1\r\n",
                        "_\r\n", "+OK\r\n", "*-1\r\n", "\r\n", "*", "1",
                    ]).prop_map(text),
                    prop::collection::vec(any::<u8>(), 1..3),
                ],
                0..12,
            )
        ) {
            let bytes = parts.concat();
            let parsed = Value::parse(&bytes).map(|parsed| parsed.map(|(_, length)| length));
            prop_assert_eq!(complete_len(&bytes), parsed);
        }
    }
}
