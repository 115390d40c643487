//! Why a command on data has no effect, in Redis's words.

use std::error::Error;
use std::fmt;

use goblin_protocol::command::{Command, CommandError, record};

use crate::store::WrongType;

/// `Display` gives the whole text of the reply, its code included.
#[derive(Clone, Copy, Debug)]
pub(super) enum DataError<'a> {
    /// What any command can answer.
    Common(CommandError<'a>),
    /// Incrementing would leave the range of 64-bit integers.
    Overflow,
    /// The lowest integer cannot be subtracted.
    DecrementOverflow,
    /// The string would become too long.
    StringTooLong,
    /// The value of a field is not a whole number.
    HashValueNotAnInteger,
    /// Infinity minus infinity.
    ScoreNotANumber,
    /// `ZADD` with `NX` and `XX`.
    MemberConditions,
    /// `ZADD` with options that exclude each other.
    ScoreConditions,
    /// `ZADD INCR` with several members.
    SingleIncrement,
    /// The bound of a range of scores.
    BoundNotAFloat,
    /// The bound of a range of members.
    InvalidMemberBound,
    /// `LIMIT` with a range of ranks.
    LimitOfRanks,
    /// `WITHSCORES` with a range of members.
    ScoresOfMemberRange,
    /// `EXPIRE` with `NX` and something else.
    ExpiryConditions,
    /// `EXPIRE` with `GT` and `LT`.
    ExpiryComparisons,
    /// `EXPIRE` with something else.
    UnsupportedOption(&'a [u8]),
}

impl DataError<'_> {
    /// The expiry given to `command` is zero, negative or beyond all time.
    pub(super) fn invalid_expiry(command: Command) -> Self {
        Self::Common(CommandError::InvalidExpiry(record(command)))
    }

    /// `command` was given an odd number of arguments that go in pairs.
    pub(super) fn wrong_arity(command: Command) -> Self {
        Self::Common(CommandError::WrongArity(record(command)))
    }
}

impl<'a> From<CommandError<'a>> for DataError<'a> {
    fn from(error: CommandError<'a>) -> Self {
        Self::Common(error)
    }
}

impl From<WrongType> for DataError<'_> {
    fn from(_: WrongType) -> Self {
        Self::Common(CommandError::WrongType)
    }
}

impl fmt::Display for DataError<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match *self {
            Self::Common(error) => return error.fmt(f),
            Self::UnsupportedOption(option) => {
                return write!(
                    f,
                    "ERR Unsupported option {}",
                    String::from_utf8_lossy(option)
                );
            }
            Self::Overflow => "ERR increment or decrement would overflow",
            Self::DecrementOverflow => "ERR decrement would overflow",
            Self::StringTooLong => "ERR string exceeds maximum allowed size (proto-max-bulk-len)",
            Self::HashValueNotAnInteger => "ERR hash value is not an integer",
            Self::ScoreNotANumber => "ERR resulting score is not a number (NaN)",
            Self::MemberConditions => "ERR XX and NX options at the same time are not compatible",
            Self::ScoreConditions => {
                "ERR GT, LT, and/or NX options at the same time are not compatible"
            }
            Self::SingleIncrement => "ERR INCR option supports a single increment-element pair",
            Self::BoundNotAFloat => "ERR min or max is not a float",
            Self::InvalidMemberBound => "ERR min or max not valid string range item",
            Self::LimitOfRanks => {
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or \
                 BYLEX"
            }
            Self::ScoresOfMemberRange => {
                "ERR syntax error, WITHSCORES not supported in combination with BYLEX"
            }
            Self::ExpiryConditions => {
                "ERR NX and XX, GT or LT options at the same time are not compatible"
            }
            Self::ExpiryComparisons => "ERR GT and LT options at the same time are not compatible",
        })
    }
}

impl Error for DataError<'_> {}
