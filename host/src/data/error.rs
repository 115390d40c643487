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
    /// The value of a field is not a number.
    HashValueNotAFloat,
    /// Incrementing would make something that is no number or no finite one.
    NotFinite,
    /// A count below 0.
    NotPositive,
    /// `COUNT` below 1.
    CountNotPositive,
    /// `COUNT` below 0, for `LPOS`.
    NegativeCount,
    /// `MAXLEN` below 0.
    NegativeMaxLen,
    /// `RANK` of 0.
    RankIsZero,
    /// A position that a list does not have.
    IndexOutOfRange,
    /// A number of keys below 1.
    KeyCount,
    /// A number of keys beyond the arguments.
    KeyCountBeyondArguments,
    /// `LIMIT` below 0.
    NegativeLimit,
    /// An infinite increment of a field.
    InfiniteValue,
    /// There is no such key.
    NoSuchKey,
    /// A key given as source and destination.
    SameObjects,
    /// A database beyond the last.
    DatabaseOutOfRange,
    /// A cursor that no `SCAN` has answered.
    InvalidCursor,
    /// `OBJECT FREQ` without the policy that counts.
    FrequencyNotTracked,
    /// `SETRANGE` before the beginning.
    OffsetOutOfRange,
    /// A bit beyond the longest string.
    BitOffset,
    /// Neither 0 nor 1, for `SETBIT`.
    BitNotAnInteger,
    /// Neither 0 nor 1, for `BITPOS`.
    BitNotABit,
    /// `BITOP NOT` with several sources.
    SingleSource,
    /// A type that is no integer of a width that fits.
    InvalidBitfieldType,
    /// `OVERFLOW` with something else.
    InvalidOverflow,
    /// `BITFIELD_RO` with an operation that writes.
    BitfieldReadOnly,
    /// `LCS` of values that are no strings.
    LcsOfOtherTypes,
    /// `LCS` with `LEN` and `IDX`.
    LcsLengthAndIndexes,
    /// Two strings whose comparison would need too much memory.
    LcsTooLong,
    /// A count that cannot be answered with twice as many elements.
    ValueOutOfRange,
    /// The lowest integer as a count.
    CountOutOfRange,
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
            Self::HashValueNotAFloat => "ERR hash value is not a float",
            Self::NotFinite => "ERR increment would produce NaN or Infinity",
            Self::NotPositive => "ERR value is out of range, must be positive",
            Self::CountNotPositive => "ERR count should be greater than 0",
            Self::NegativeCount => "ERR COUNT can't be negative",
            Self::NegativeMaxLen => "ERR MAXLEN can't be negative",
            Self::RankIsZero => {
                "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second \
                 ... or use negative to start from the end of the list"
            }
            Self::IndexOutOfRange => "ERR index out of range",
            Self::KeyCount => "ERR numkeys should be greater than 0",
            Self::KeyCountBeyondArguments => {
                "ERR Number of keys can't be greater than number of args"
            }
            Self::NegativeLimit => "ERR LIMIT can't be negative",
            Self::InfiniteValue => "ERR value is NaN or Infinity",
            Self::NoSuchKey => "ERR no such key",
            Self::SameObjects => "ERR source and destination objects are the same",
            Self::DatabaseOutOfRange => "ERR DB index is out of range",
            Self::InvalidCursor => "ERR invalid cursor",
            Self::FrequencyNotTracked => {
                "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please \
                 note that when switching between policies at runtime LRU and LFU data will take \
                 some time to adjust."
            }
            Self::OffsetOutOfRange => "ERR offset is out of range",
            Self::BitOffset => "ERR bit offset is not an integer or out of range",
            Self::BitNotAnInteger => "ERR bit is not an integer or out of range",
            Self::BitNotABit => "ERR The bit argument must be 1 or 0.",
            Self::SingleSource => "ERR BITOP NOT must be called with a single source key.",
            Self::InvalidBitfieldType => {
                "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not \
                 supported but i64 is."
            }
            Self::InvalidOverflow => "ERR Invalid OVERFLOW type specified",
            Self::BitfieldReadOnly => "ERR BITFIELD_RO only supports the GET subcommand",
            Self::LcsOfOtherTypes => "ERR The specified keys must contain string values",
            Self::LcsLengthAndIndexes => {
                "ERR If you want both the length and indexes, please just use IDX."
            }
            Self::LcsTooLong => {
                "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"
            }
            Self::ValueOutOfRange => "ERR value is out of range",
            Self::CountOutOfRange => {
                "ERR value is out of range, value must between -9223372036854775807 and \
                 9223372036854775807"
            }
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
