//! Error replies that any command can give, in Redis 7.2's words.
//!
//! `Display` gives the whole text of the reply, code included, without the `-` before it and the
//! line end behind it. Line ends inside a name become spaces, since a reply is one line.

use std::error::Error;
use std::fmt::{self, Write};

use super::Record;
use crate::resp::Arguments;

/// Most bytes of a name, and of all arguments together, that an error repeats.
const ECHO_BYTES_MAX: usize = 128;

/// Why a command is not executed, or ends without effect.
#[derive(Clone, Copy, Debug)]
pub enum CommandError<'a> {
    /// There is no such command.
    UnknownCommand(Arguments<'a>),
    /// The container has no such subcommand.
    UnknownSubcommand {
        /// The container.
        container: &'static Record,
        /// What was asked of it.
        name: &'a [u8],
    },
    /// Too few or too many words.
    WrongArity(&'static Record),
    /// The client must say who it is first.
    NotAuthenticated,
    /// As before, for a `HELLO` that does not say it.
    HelloNotAuthenticated,
    /// No such user, not this password, or a user that is off.
    WrongPassword,
    /// A password alone, while the default user needs none: most likely the server's configuration
    /// is not what the client's owner thinks.
    NoPasswordConfigured,
    /// The user may not run the command.
    CommandDenied {
        /// The user's name.
        user: &'a [u8],
        /// The command.
        record: &'static Record,
    },
    /// The user may not use one of the keys.
    KeyDenied,
    /// The user may not use one of the channels.
    ChannelDenied,
    /// RESP2 allows little while subscribed.
    Subscribed(&'static Record),
    /// Inside a transaction the command makes no sense.
    NotInTransaction,
    /// The options make no sense.
    Syntax,
    /// Not a whole number of 64 bits.
    NotAnInteger,
    /// Not a floating-point number.
    NotAFloat,
    /// The key holds another type.
    WrongType,
    /// An expiry that is zero, negative or beyond all time.
    InvalidExpiry(&'static Record),
}

impl fmt::Display for CommandError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match *self {
            Self::UnknownCommand(request) => return write_unknown_command(f, request),
            Self::UnknownSubcommand { container, name } => {
                f.write_str("ERR unknown subcommand '")?;
                write_name(f, name, ECHO_BYTES_MAX)?;
                f.write_str("'. Try ")?;
                write_upper(f, container.name)?;
                " HELP."
            }
            Self::WrongArity(record) => {
                let name = record.name;
                return write!(f, "ERR wrong number of arguments for '{name}' command");
            }
            Self::NotAuthenticated => "NOAUTH Authentication required.",
            Self::HelloNotAuthenticated => {
                "NOAUTH HELLO must be called with the client already authenticated, otherwise the \
                 HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client \
                 and select the RESP protocol version at the same time"
            }
            Self::WrongPassword => "WRONGPASS invalid username-password pair or user is disabled.",
            Self::NoPasswordConfigured => {
                "ERR AUTH <password> called without any password configured for the default user. \
                 Are you sure your configuration is correct?"
            }
            Self::CommandDenied { user, record } => {
                f.write_str("NOPERM User ")?;
                write_name(f, user, usize::MAX)?;
                let name = record.name;
                return write!(f, " has no permissions to run the '{name}' command");
            }
            Self::KeyDenied => "NOPERM No permissions to access a key",
            Self::ChannelDenied => "NOPERM No permissions to access a channel",
            Self::Subscribed(record) => {
                let name = record.name;
                return write!(
                    f,
                    "ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / \
                     QUIT / RESET are allowed in this context"
                );
            }
            Self::NotInTransaction => "ERR Command not allowed inside a transaction",
            Self::Syntax => "ERR syntax error",
            Self::NotAnInteger => "ERR value is not an integer or out of range",
            Self::NotAFloat => "ERR value is not a valid float",
            Self::WrongType => "WRONGTYPE Operation against a key holding the wrong kind of value",
            Self::InvalidExpiry(record) => {
                let name = record.name;
                return write!(f, "ERR invalid expire time in '{name}' command");
            }
        };
        f.write_str(text)
    }
}

impl Error for CommandError<'_> {}

fn write_unknown_command(f: &mut fmt::Formatter<'_>, request: Arguments<'_>) -> fmt::Result {
    let mut words = request.iter();
    f.write_str("ERR unknown command '")?;
    write_name(f, words.next().unwrap_or_default(), ECHO_BYTES_MAX)?;
    f.write_str("', with args beginning with: ")?;
    let mut written = 0;
    for word in words {
        if written >= ECHO_BYTES_MAX {
            break;
        }
        f.write_char('\'')?;
        written += write_name(f, word, ECHO_BYTES_MAX - written)? + "'' ".len();
        f.write_str("' ")?;
    }
    Ok(())
}

/// Writes a name as Redis prints it, up to a NUL and to `bytes_max`. Returns the bytes of the name
/// that were written. What is no UTF-8 becomes replacement characters.
fn write_name(
    f: &mut fmt::Formatter<'_>,
    name: &[u8],
    bytes_max: usize,
) -> Result<usize, fmt::Error> {
    let shown = name.split(|&byte| byte == 0).next().unwrap_or_default();
    let shown = shown.get(..bytes_max).unwrap_or(shown);
    for chunk in shown.utf8_chunks() {
        for character in chunk.valid().chars() {
            let is_line_end = matches!(character, '\r' | '\n');
            f.write_char(if is_line_end { ' ' } else { character })?;
        }
        if !chunk.invalid().is_empty() {
            f.write_char(char::REPLACEMENT_CHARACTER)?;
        }
    }
    Ok(shown.len())
}

fn write_upper(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    name.chars()
        .try_for_each(|character| f.write_char(character.to_ascii_uppercase()))
}
