//! The `CLIENT` subcommands that concern nothing but the connection itself.

use std::fmt;

use crate::command::Command;
use crate::resp::{Arguments, Writer};
use crate::session::{ReplyMode, Session, is_valid_client_name};

/// Why such a subcommand is refused. Displays as Redis's error reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientCommandError<'a> {
    /// What is being set has characters that would break `CLIENT LIST`.
    InvalidCharacters(&'static str),
    /// `CLIENT SETINFO` has no such attribute.
    UnrecognizedOption(&'a [u8]),
    /// A word that is none of those allowed.
    Syntax,
}

impl fmt::Display for ClientCommandError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidCharacters(what) => write!(
                f,
                "ERR {what} cannot contain spaces, newlines or special characters."
            ),
            Self::UnrecognizedOption(name) => write!(
                f,
                "ERR Unrecognized option '{}'",
                String::from_utf8_lossy(name)
            ),
            Self::Syntax => f.write_str("ERR syntax error"),
        }
    }
}

/// Executes `CLIENT ID|SETNAME|GETNAME|SETINFO|REPLY` and writes the answer.
///
/// # Errors
/// The error reply.
pub fn client_command<'a>(
    session: &mut Session,
    command: Command,
    request: Arguments<'a>,
    reply: &mut Writer<'_>,
) -> Result<(), ClientCommandError<'a>> {
    let word = |at: usize| request.get(at).unwrap_or_default();
    match command {
        Command::ClientId => {
            reply.integer(i64::try_from(session.id).unwrap_or(i64::MAX));
        }
        Command::ClientGetName if session.name.is_empty() => reply.null(),
        Command::ClientGetName => reply.bulk(&session.name),
        Command::ClientSetName => {
            if !is_valid_client_name(word(2)) {
                return Err(ClientCommandError::InvalidCharacters("Client names"));
            }
            session.name = word(2).into();
            reply.simple("OK");
        }
        Command::ClientSetInfo => {
            set_info(session, word(2), word(3))?;
            reply.simple("OK");
        }
        Command::ClientReply => {
            session.reply_mode = reply_mode(session.reply_mode, word(2))?;
            if session.reply_mode == ReplyMode::On {
                reply.simple("OK");
            }
        }
        _ => return Err(ClientCommandError::Syntax),
    }
    Ok(())
}

fn set_info<'a>(
    session: &mut Session,
    attribute: &'a [u8],
    value: &[u8],
) -> Result<(), ClientCommandError<'a>> {
    let (slot, name) = if attribute.eq_ignore_ascii_case(b"lib-name") {
        (&mut session.library_name, "lib-name")
    } else if attribute.eq_ignore_ascii_case(b"lib-ver") {
        (&mut session.library_version, "lib-ver")
    } else {
        return Err(ClientCommandError::UnrecognizedOption(attribute));
    };
    if !is_valid_client_name(value) {
        return Err(ClientCommandError::InvalidCharacters(name));
    }
    *slot = value.into();
    Ok(())
}

fn reply_mode(before: ReplyMode, word: &[u8]) -> Result<ReplyMode, ClientCommandError<'static>> {
    if word.eq_ignore_ascii_case(b"on") {
        Ok(ReplyMode::On)
    } else if word.eq_ignore_ascii_case(b"off") {
        Ok(ReplyMode::Off)
    } else if word.eq_ignore_ascii_case(b"skip") {
        Ok(match before {
            ReplyMode::Off => ReplyMode::Off,
            _ => ReplyMode::SkipNext,
        })
    } else {
        Err(ClientCommandError::Syntax)
    }
}
