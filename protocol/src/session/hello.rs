//! The commands that open and probe a conversation: `HELLO`, which chooses the wire format and names
//! and authenticates the client in one command, and `PING`.

use std::fmt;

use crate::command::{Command, CommandError, record};
use crate::resp::{Arguments, Version, Writer};

/// What a `HELLO` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hello<'a> {
    /// The wire format, when one is asked for.
    pub version: Option<Version>,
    /// User and password of `AUTH`.
    pub credentials: Option<(&'a [u8], &'a [u8])>,
    /// The name of `SETNAME`.
    pub name: Option<&'a [u8]>,
}

/// Why a `HELLO` is refused. Displays as Redis's error reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelloError<'a> {
    /// The version is not a number.
    NotAnInteger,
    /// The version is neither 2 nor 3.
    UnsupportedVersion,
    /// An option is unknown or lacks its arguments.
    Syntax(&'a [u8]),
    /// The name has characters that would break `CLIENT LIST`.
    InvalidName,
}

impl fmt::Display for HelloError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnInteger => {
                f.write_str("ERR Protocol version is not an integer or out of range")
            }
            Self::UnsupportedVersion => f.write_str("NOPROTO unsupported protocol version"),
            Self::Syntax(option) => write!(
                f,
                "ERR Syntax error in HELLO option '{}'",
                String::from_utf8_lossy(option)
            ),
            Self::InvalidName => f.write_str(
                "ERR Client names cannot contain spaces, newlines or special characters.",
            ),
        }
    }
}

impl<'a> Hello<'a> {
    /// Reads the arguments after `HELLO`.
    ///
    /// # Errors
    /// What Redis refuses, in Redis's order.
    pub fn parse(request: Arguments<'a>) -> Result<Self, HelloError<'a>> {
        let mut hello = Self::default();
        let Some(version) = request.get(1) else {
            return Ok(hello);
        };
        hello.version = Some(parse_version(version)?);
        let mut at = 2;
        while let Some(option) = request.get(at) {
            match (
                option.to_ascii_lowercase().as_slice(),
                request.get(at + 1),
                request.get(at + 2),
            ) {
                (b"auth", Some(user), Some(password)) => {
                    hello.credentials = Some((user, password));
                    at += 3;
                }
                (b"setname", Some(name), _) => {
                    if !is_valid_client_name(name) {
                        return Err(HelloError::InvalidName);
                    }
                    hello.name = Some(name);
                    at += 2;
                }
                _ => return Err(HelloError::Syntax(option)),
            }
        }
        Ok(hello)
    }
}

fn parse_version(text: &[u8]) -> Result<Version, HelloError<'static>> {
    let number: i64 = std::str::from_utf8(text)
        .ok()
        .and_then(|text| text.parse().ok())
        .ok_or(HelloError::NotAnInteger)?;
    match number {
        2 => Ok(Version::Resp2),
        3 => Ok(Version::Resp3),
        _ => Err(HelloError::UnsupportedVersion),
    }
}

/// Whether Redis would accept the name in `CLIENT SETNAME`: printable, without spaces.
#[must_use]
pub fn is_valid_client_name(name: &[u8]) -> bool {
    name.iter().all(|byte| (b'!'..=b'~').contains(byte))
}

/// Writes the reply to a successful `HELLO`. The server presents itself as the Redis whose surface
/// it has, because clients choose features by it.
pub fn write_hello(reply: &mut Writer<'_>, id: u64) {
    reply.map(7);
    reply.bulk(b"server");
    reply.bulk(b"redis");
    reply.bulk(b"version");
    reply.bulk(crate::command::REDIS_VERSION.as_bytes());
    reply.bulk(b"proto");
    reply.integer(match reply.version() {
        Version::Resp2 => 2,
        Version::Resp3 => 3,
    });
    reply.bulk(b"id");
    reply.integer(i64::try_from(id).unwrap_or(i64::MAX));
    reply.bulk(b"mode");
    reply.bulk(b"standalone");
    reply.bulk(b"role");
    reply.bulk(b"master");
    reply.bulk(b"modules");
    reply.array(0);
}

/// Writes the reply to `PING [message]`: an array for a RESP2 client in subscribed mode.
pub fn write_pong(subscribed: bool, request: Arguments<'_>, reply: &mut Writer<'_>) {
    let message = request.get(1);
    if request.len() > 2 {
        reply.error(CommandError::WrongArity(record(Command::Ping)));
    } else if subscribed {
        reply.array(2);
        reply.bulk(b"pong");
        reply.bulk(message.unwrap_or_default());
    } else if let Some(message) = message {
        reply.bulk(message);
    } else {
        reply.simple("PONG");
    }
}
