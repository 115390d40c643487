//! Requests as arrays of bulk strings: `*3\r\n$7\r\nPUBLISH\r\n$1\r\na\r\n$2\r\nhi\r\n`.
//!
//! [`read`] goes as far as the bytes reach and notes in [`Progress`] where it stopped, so that it
//! looks at each byte once however the request arrives. All offsets count from the request's first
//! byte and fit 32 bits: the caller never shows more than 4 GiB.

use memchr::memchr2;

use super::arguments::Span;
use super::number::parse_integer;
use super::{ProtocolError, RequestLimits};
use crate::limits::INLINE_BYTES_MAX;

/// How far the first unread request is understood.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// Where the line to read next begins.
    position: u32,
    /// Up to here that line has no end.
    pub(super) scanned: u32,
    /// Arguments still to come; 0 while their number is not known.
    arguments_left: u32,
    /// With fewer bytes than this another look is useless.
    needed: u32,
}

impl Default for Progress {
    fn default() -> Self {
        Self::START
    }
}

impl Progress {
    /// Nothing is understood yet.
    pub(super) const START: Self = Self {
        position: 0,
        scanned: 0,
        arguments_left: 0,
        needed: 0,
    };

    /// Whether the number of arguments is known, so that reading goes on behind it.
    pub(super) const fn is_among_arguments(&self) -> bool {
        self.arguments_left > 0
    }

    /// The least length of the request that its bytes so far announce; 0 when they say nothing.
    pub(super) const fn needed(&self) -> usize {
        self.needed as usize
    }
}

/// Reads on from `progress`, handing each complete argument to `argument`.
///
/// `Some` is the length of the request; one without arguments (`*0`, `*-1`) is complete too. `None`
/// means that it goes on beyond `bytes`, and `progress` says where.
#[inline]
pub(super) fn read(
    bytes: &[u8],
    progress: &mut Progress,
    limits: &RequestLimits,
    mut argument: impl FnMut(Span),
) -> Result<Option<usize>, ProtocolError> {
    let (mut position, mut left) = (progress.position as usize, progress.arguments_left);
    if left == 0 {
        match read_count(bytes, progress.scanned, limits)? {
            Line::Whole { value, next } => (position, left) = (next, value as u32),
            Line::Cut { scanned } => {
                progress.scanned = scanned;
                return Ok(None);
            }
        }
    }
    while left > 0 {
        let (start, end) = match read_length(bytes, position, progress.scanned, limits)? {
            Line::Whole { value, next } => (next, next.saturating_add(value)),
            Line::Cut { scanned } => {
                *progress = stopped(position, scanned, left, 0);
                return Ok(None);
            }
        };
        let next = end.saturating_add(2);
        if next > bytes.len() {
            *progress = stopped(position, 0, left, next);
            return Ok(None);
        }
        argument(Span {
            start: start as u32,
            end: end as u32,
        });
        position = next;
        left -= 1;
    }
    Ok(Some(position))
}

#[cold]
fn stopped(position: usize, scanned: u32, arguments_left: u32, needed: usize) -> Progress {
    let needed = u32::try_from(needed).unwrap_or(u32::MAX);
    Progress {
        position: position as u32,
        scanned,
        arguments_left,
        needed,
    }
}

/// A line that announces a number.
enum Line {
    /// The number, and where the line's successor begins.
    Whole { value: usize, next: usize },
    /// The line has no end before `scanned`.
    Cut { scanned: u32 },
}

/// Reads the line `*N`; a negative number counts as none.
#[inline]
fn read_count(bytes: &[u8], scanned: u32, limits: &RequestLimits) -> Result<Line, ProtocolError> {
    if let [b'*', digit @ b'1'..=b'9', b'\r', _, ..] = *bytes {
        let value = usize::from(digit - b'0');
        if value <= limits.arguments_max {
            return Ok(Line::Whole { value, next: 4 });
        }
    }
    let (text, next) = match find_line(bytes, 0, scanned) {
        Found::Line { text, next } => (text, next),
        Found::Cut { scanned } => return Ok(Line::Cut { scanned }),
        Found::TooLong => return Err(ProtocolError::CountLineTooLong),
    };
    let announced = text
        .get(1..)
        .and_then(parse_integer)
        .ok_or(ProtocolError::InvalidCount)?;
    let value = usize::try_from(announced).unwrap_or(0);
    if value > limits.arguments_max.min(u32::MAX as usize) {
        return Err(limits.count_error(value));
    }
    Ok(Line::Whole { value, next })
}

/// Reads the line `$N` at `position`.
#[inline]
fn read_length(
    bytes: &[u8],
    position: usize,
    scanned: u32,
    limits: &RequestLimits,
) -> Result<Line, ProtocolError> {
    let short = match *bytes.get(position..).unwrap_or_default() {
        [b'$', ones @ b'0'..=b'9', b'\r', _, ..] => Some((usize::from(ones - b'0'), 4)),
        [b'$', tens @ b'1'..=b'9', ones @ b'0'..=b'9', b'\r', _, ..] => {
            Some((usize::from(tens - b'0') * 10 + usize::from(ones - b'0'), 5))
        }
        _ => None,
    };
    match short {
        Some((value, line)) if value <= limits.bulk_bytes_max => Ok(Line::Whole {
            value,
            next: position + line,
        }),
        _ => read_any_length(bytes, position, scanned, limits),
    }
}

#[inline(never)]
fn read_any_length(
    bytes: &[u8],
    position: usize,
    scanned: u32,
    limits: &RequestLimits,
) -> Result<Line, ProtocolError> {
    let (text, next) = match find_line(bytes, position, scanned) {
        Found::Line { text, next } => (text, next),
        Found::Cut { scanned } => return Ok(Line::Cut { scanned }),
        Found::TooLong => return Err(ProtocolError::LengthLineTooLong),
    };
    let digits = match *text {
        [b'$', ref digits @ ..] => digits,
        // An empty line shows the carriage return that ends it.
        [] => return Err(ProtocolError::ExpectedDollar(b'\r')),
        [other, ..] => return Err(ProtocolError::ExpectedDollar(other)),
    };
    let announced = parse_integer(digits).ok_or(ProtocolError::InvalidLength)?;
    let value = usize::try_from(announced).map_err(|_| ProtocolError::InvalidLength)?;
    if value > limits.bulk_bytes_max {
        return Err(limits.length_error(value));
    }
    Ok(Line::Whole { value, next })
}

enum Found<'a> {
    /// The line without its end, and where the next begins.
    Line {
        text: &'a [u8],
        next: usize,
    },
    Cut {
        scanned: u32,
    },
    TooLong,
}

/// The line at `position`, known to have no end before `scanned`.
///
/// Its end is a carriage return and one byte more, whichever. A NUL ends the search without a line:
/// more bytes then only make it too long.
fn find_line(bytes: &[u8], position: usize, scanned: u32) -> Found<'_> {
    let from = position.max(scanned as usize);
    let limit = position.saturating_add(INLINE_BYTES_MAX + 1);
    let window = bytes.get(from..bytes.len().min(limit)).unwrap_or_default();
    let stop = memchr2(b'\r', 0, window).map_or(from + window.len(), |offset| from + offset);
    if bytes.get(stop) == Some(&b'\r') && stop < limit {
        let next = stop + 2;
        return match bytes.get(position..stop) {
            Some(text) if next <= bytes.len() => Found::Line { text, next },
            _ => Found::Cut {
                scanned: stop as u32,
            },
        };
    }
    if bytes.len() >= limit {
        Found::TooLong
    } else {
        Found::Cut {
            scanned: stop as u32,
        }
    }
}
