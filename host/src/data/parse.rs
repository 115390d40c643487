//! Numbers and bounds as arguments give them.

use std::ops::Range;

use goblin_protocol::command::{Command, CommandError};
use goblin_protocol::resp::parse_integer;
use goblin_protocol::time::Now;

use super::error::DataError;
use crate::store::{Entry, Random};

/// A whole number.
pub(super) fn integer(text: &[u8]) -> Result<i64, DataError<'static>> {
    parse_integer(text).ok_or(DataError::Common(CommandError::NotAnInteger))
}

/// Whether both count from the end, and the second is before the first.
pub(super) const fn is_backwards(first: i64, last: i64) -> bool {
    first < 0 && last < 0 && first > last
}

/// As [`span`], but the first element belongs to it where `last` is before the beginning.
pub(super) fn text_span(first: i64, last: i64, length: usize) -> Option<Range<usize>> {
    let length_before = 0_i64.saturating_sub_unsigned(length as u64);
    span(first, last.max(length_before), length)
}

/// The elements from `first` to `last`, of which negative ones count from the end of `length`; none
/// when there are none.
pub(super) fn span(first: i64, last: i64, length: usize) -> Option<Range<usize>> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let from_end = |position: i64| {
        if position < 0 {
            position + length
        } else {
            position
        }
    };
    let (start, end) = (from_end(first).max(0), from_end(last).min(length - 1) + 1);
    if start >= end {
        return None;
    }
    Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
}

/// A score, or what is added to one: any number but NaN.
pub(super) fn score(text: &[u8]) -> Result<f64, DataError<'static>> {
    let number = match text {
        [b'\t'..=b'\r' | b' ', ..] => None,
        _ => float(text).filter(|&number| !is_out_of_range(number, text)),
    };
    number.ok_or(DataError::Common(CommandError::NotAFloat))
}

fn float(text: &[u8]) -> Option<f64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (!number.is_nan()).then_some(number)
}

/// Whether the number's text is a number too large or too small to be told from infinity or zero.
fn is_out_of_range(number: f64, text: &[u8]) -> bool {
    let digits = text
        .iter()
        .take_while(|byte| !byte.eq_ignore_ascii_case(&b'e'));
    if number.is_infinite() {
        text.iter().any(u8::is_ascii_digit)
    } else {
        number == 0.0 && digits.copied().any(|byte| matches!(byte, b'1'..=b'9'))
    }
}

/// How many elements chance chooses.
#[derive(Clone, Copy, Debug)]
pub(super) enum Choices {
    /// Different ones.
    Distinct(usize),
    /// Any, the same one several times perhaps.
    Repeated(usize),
}

/// A number of choices: a negative one allows repetitions.
pub(super) fn choices(text: &[u8]) -> Result<Choices, DataError<'static>> {
    let count = integer(text)?;
    if count < -i64::MAX {
        return Err(DataError::CountOutOfRange);
    }
    let magnitude = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    Ok(if count < 0 {
        Choices::Repeated(magnitude)
    } else {
        Choices::Distinct(magnitude)
    })
}

impl Choices {
    /// Refuses a number that cannot be answered with twice as many elements.
    pub(super) fn check_doubled(self, is_doubled: bool) -> Result<(), DataError<'static>> {
        let (Self::Distinct(count) | Self::Repeated(count)) = self;
        if is_doubled && count > i64::MAX as usize / 2 {
            return Err(DataError::ValueOutOfRange);
        }
        Ok(())
    }

    /// Chooses among all elements, or one after the other where repetitions are allowed.
    pub(super) fn choose<T>(
        self,
        random: &mut Random,
        all: impl Iterator<Item = T>,
        mut choose_one: impl FnMut(&mut Random) -> Option<T>,
    ) -> Vec<T> {
        match self {
            Self::Repeated(count) => (0..count).map_while(|_| choose_one(random)).collect(),
            Self::Distinct(0) => Vec::new(),
            Self::Distinct(count) => {
                let mut chosen = Vec::new();
                // Each element that comes replaces one with the chance that it belongs to the choice.
                for (seen, element) in all.enumerate() {
                    if chosen.len() < count {
                        chosen.push(element);
                    } else if let Some(place) = chosen.get_mut(random.below(seen + 1)) {
                        *place = element;
                    }
                }
                chosen
            }
        }
    }
}

/// When what expires after `amount` expires, in milliseconds since 1970.
pub(super) fn lifetime(
    amount: &[u8],
    unit: Unit,
    start: Start,
    command: Command,
    now: Now,
) -> Result<u64, DataError<'static>> {
    let amount = integer(amount)?;
    if amount <= 0 {
        return Err(DataError::invalid_expiry(command));
    }
    let moment = moment(amount, unit, start, now).and_then(|moment| u64::try_from(moment).ok());
    moment.ok_or(DataError::invalid_expiry(command))
}

/// The unit of an expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Milliseconds,
}

/// What an expiry counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    Now,
    Epoch,
}

/// The moment in milliseconds since 1970, if 64 bits hold it.
pub(super) fn moment(amount: i64, unit: Unit, start: Start, now: Now) -> Option<i64> {
    let amount = match unit {
        Unit::Seconds => amount.checked_mul(1_000)?,
        Unit::Milliseconds => amount,
    };
    match start {
        Start::Now => i64::try_from(now.unix_ms()).ok()?.checked_add(amount),
        Start::Epoch => Some(amount),
    }
}

/// One end of a range of scores.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoreBound {
    value: f64,
    excludes: bool,
}

impl ScoreBound {
    /// `1.5`, `(1.5`, `-inf`, …
    pub(super) fn parse(text: &[u8]) -> Result<Self, DataError<'static>> {
        let (number, excludes) = match text {
            [b'(', number @ ..] => (number, true),
            number => (number, false),
        };
        let is_blank = |byte: &u8| matches!(byte, b'\t'..=b'\r' | b' ');
        let digits = number.iter().position(|byte| !is_blank(byte)).unwrap_or(0);
        let value = match number {
            [] => Some(0.0),
            _ => number.get(digits..).and_then(float),
        };
        let value = value.ok_or(DataError::BoundNotAFloat)?;
        Ok(Self { value, excludes })
    }

    /// Whether an entry lies before the range that begins here.
    pub(super) fn begins_after(&self, entry: &Entry<'_>) -> bool {
        let score = entry.score();
        score < self.value || self.excludes && score == self.value
    }

    /// Whether an entry lies before the end of the range that ends here.
    pub(super) fn ends_after(&self, entry: &Entry<'_>) -> bool {
        let score = entry.score();
        score < self.value || !self.excludes && score == self.value
    }
}

/// One end of a range of members.
#[derive(Clone, Copy, Debug)]
pub(super) enum MemberBound<'a> {
    /// Before all.
    Lowest,
    /// Behind all.
    Highest,
    /// This member, which belongs to the range.
    Including(&'a [u8]),
    /// This member, which does not.
    Excluding(&'a [u8]),
}

impl<'a> MemberBound<'a> {
    /// `-`, `+`, `[member` or `(member`.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, DataError<'static>> {
        match text {
            b"-" => Ok(Self::Lowest),
            b"+" => Ok(Self::Highest),
            [b'[', member @ ..] => Ok(Self::Including(member)),
            [b'(', member @ ..] => Ok(Self::Excluding(member)),
            _ => Err(DataError::InvalidMemberBound),
        }
    }

    /// Whether an entry lies before the range that begins here.
    pub(super) fn begins_after(&self, entry: &Entry<'_>) -> bool {
        match *self {
            Self::Lowest => false,
            Self::Highest => true,
            Self::Including(member) => entry.member() < member,
            Self::Excluding(member) => entry.member() <= member,
        }
    }

    /// Whether an entry lies before the end of the range that ends here.
    pub(super) fn ends_after(&self, entry: &Entry<'_>) -> bool {
        match *self {
            Self::Lowest => false,
            Self::Highest => true,
            Self::Including(member) => entry.member() <= member,
            Self::Excluding(member) => entry.member() < member,
        }
    }
}
