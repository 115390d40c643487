//! The `CLIENT` subcommands that concern nothing but the connection itself.

use crate::command::Command;
use crate::resp::{Arguments, Writer};
use crate::session::{ReplyMode, Session, is_valid_client_name};

/// Executes `CLIENT ID|SETNAME|GETNAME|SETINFO|REPLY` and writes the answer.
///
/// # Errors
/// The text of the error reply.
pub fn client_command(
    session: &mut Session,
    command: Command,
    request: Arguments<'_>,
    reply: &mut Writer<'_>,
) -> Result<(), &'static str> {
    match command {
        Command::ClientId => {
            reply.integer(i64::try_from(session.id).unwrap_or(i64::MAX));
        }
        Command::ClientGetName if session.name.is_empty() => reply.null(),
        Command::ClientGetName => reply.bulk(&session.name),
        Command::ClientSetName => {
            if !is_valid_client_name(&request[2]) {
                return Err(
                    "ERR Client names cannot contain spaces, newlines or special characters.",
                );
            }
            session.name = request[2].into();
            reply.simple("OK");
        }
        Command::ClientSetInfo => {
            set_info(session, &request[2], &request[3])?;
            reply.simple("OK");
        }
        Command::ClientReply => {
            session.reply_mode = reply_mode(session.reply_mode, &request[2])?;
            if session.reply_mode == ReplyMode::On {
                reply.simple("OK");
            }
        }
        _ => return Err("ERR syntax error"),
    }
    Ok(())
}

fn set_info(session: &mut Session, attribute: &[u8], value: &[u8]) -> Result<(), &'static str> {
    let (slot, refused) = if attribute.eq_ignore_ascii_case(b"lib-name") {
        (
            &mut session.library_name,
            "ERR lib-name cannot contain spaces, newlines or special characters.",
        )
    } else if attribute.eq_ignore_ascii_case(b"lib-ver") {
        (
            &mut session.library_version,
            "ERR lib-ver cannot contain spaces, newlines or special characters.",
        )
    } else {
        return Err("ERR Unrecognized option or bad number of args for: 'CLIENT SETINFO'");
    };
    if !is_valid_client_name(value) {
        return Err(refused);
    }
    *slot = value.into();
    Ok(())
}

fn reply_mode(before: ReplyMode, word: &[u8]) -> Result<ReplyMode, &'static str> {
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
        Err("ERR syntax error")
    }
}
