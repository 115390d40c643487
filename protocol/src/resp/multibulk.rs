//! Requests as arrays of bulk strings: `*3\r\n$7\r\nPUBLISH\r\n$1\r\na\r\n$2\r\nhi\r\n`.
//!
//! [`read`] goes as far as the bytes reach and notes in [`Progress`] where it stopped, so that it
//! looks at each byte once however the request arrives. All offsets count from the request's first
//! byte and fit 32 bits: the caller never shows more than 4 GiB.

use memchr::memchr2;

use super::arguments::Span;
use super::number::parse_integer;
use super::{ProtocolError, RequestLimits, is_cross_protocol};
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

/// Reads a request of up to nine short arguments that is complete and no error, or nothing: the
/// quick way, whose result is that of [`read`].
///
/// The number of arguments, which are the first of `spans`, and the request's length; no arguments
/// say that nothing was read.
#[inline(always)]
pub(super) fn read_short(
    bytes: &[u8],
    limits: &RequestLimits,
    spans: &mut [Span; SHORT_COUNT_MAX],
) -> (usize, usize) {
    const NOTHING: (usize, usize) = (0, 0);
    let [b'*', count @ b'1'..=b'9', b'\r', _, ..] = *bytes else {
        return NOTHING;
    };
    let count = usize::from(count - b'0');
    let mut position = 4;
    for span in spans.iter_mut().take(count) {
        let Some((length, line)) = bytes.get(position..).and_then(short_length) else {
            return NOTHING;
        };
        let start = position + line;
        let end = start + length;
        position = end + 2;
        *span = Span {
            start: start as u32,
            end: end as u32,
        };
    }
    let is_within = position <= bytes.len().min(limits.query_bytes_max)
        && limits.arguments_max >= SHORT_COUNT_MAX
        && limits.bulk_bytes_max >= SHORT_LENGTH_MAX;
    let name = spans[0];
    let may_be_cross_protocol = matches!(name.end - name.start, 4 | 5);
    if !is_within || may_be_cross_protocol && is_cross_protocol(name.of(bytes)) {
        return NOTHING;
    }
    (count, position)
}

/// Most arguments that [`read_short`] reads.
pub(super) const SHORT_COUNT_MAX: usize = 9;
/// Longest argument that [`read_short`] reads.
const SHORT_LENGTH_MAX: usize = 999;

/// The number of up to three digits in the line `$N` at the front, and the line's length.
#[inline]
fn short_length(rest: &[u8]) -> Option<(usize, usize)> {
    // No complete argument is shorter: `$0`, the end of this line, and that of the argument.
    let [b'$', first, second, third, fourth, _] = *rest.first_chunk()? else {
        return None;
    };
    let digit = |byte: u8| usize::from(byte.wrapping_sub(b'0'));
    let first = digit(first);
    if second == b'\r' {
        return (first <= 9).then_some((first, 4));
    }
    let second = digit(second);
    if !(1..=9).contains(&first) || second > 9 {
        return None;
    }
    let tens = first * 10 + second;
    if third == b'\r' {
        return Some((tens, 5));
    }
    let third = digit(third);
    (fourth == b'\r' && third <= 9).then_some((tens * 10 + third, 6))
}

/// Reads on from `progress`, handing each complete argument to `argument`.
///
/// `Some` is the length of the request; one without arguments (`*0`, `*-1`) is complete too. `None`
/// means that it goes on beyond `bytes`, and `progress` says where.
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
fn read_count(bytes: &[u8], scanned: u32, limits: &RequestLimits) -> Result<Line, ProtocolError> {
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
fn read_length(
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_length_is_a_canonical_number() {
        // The bytes around the digits, and what a number may be mistaken for.
        let bytes = b"/0123456789:-\r";
        let any = || bytes.iter().copied();
        for (first, second, third) in any().flat_map(|first| {
            any().flat_map(move |second| any().map(move |third| (first, second, third)))
        }) {
            let line = [b'$', first, second, third, b'\r', b'\n'];
            let end = line.iter().position(|&byte| byte == b'\r').unwrap();
            let number =
                parse_integer(&line[1..end]).and_then(|number| usize::try_from(number).ok());
            let expected = number.map(|number| (number, end + 2));
            assert_eq!(short_length(&line), expected, "{}", line.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn the_quick_way_reads_what_the_general_one_reads(
            lengths in prop::collection::vec(
                prop_oneof![0_usize..12, 90_usize..110, 990_usize..1010], 0..11,
            ),
            change in prop::option::of((1_usize..40, prop::sample::select(b"\r\n$*-/:09".to_vec()))),
        ) {
            let mut bytes = format!("*{}\r\n", lengths.len()).into_bytes();
            for length in lengths {
                bytes.extend_from_slice(format!("${length}\r\n").as_bytes());
                bytes.resize(bytes.len() + length, b'x');
                bytes.extend_from_slice(b"\r\n");
            }
            if let Some((at, byte)) = change {
                let at = at.min(bytes.len() - 1);
                bytes[at] = byte;
            }
            let limits = RequestLimits::default();
            let (mut progress, mut general) = (Progress::START, Vec::new());
            let length = read(&bytes, &mut progress, &limits, |span| general.push(span));
            let mut quick = [Span::default(); SHORT_COUNT_MAX];
            let (count, quick_length) = read_short(&bytes, &limits, &mut quick);
            let is_short = matches!(length, Ok(Some(_)))
                && (1..=SHORT_COUNT_MAX).contains(&general.len())
                && general.iter().all(|span| span.of(&bytes).len() <= SHORT_LENGTH_MAX);
            prop_assert_eq!(count > 0, is_short);
            if is_short {
                prop_assert_eq!(length, Ok(Some(quick_length)));
                prop_assert_eq!(&quick[..count], &general[..]);
            }
        }
    }
}
