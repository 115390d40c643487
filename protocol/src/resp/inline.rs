//! Requests as a line of words, as typed into a terminal: `SET name "two words\n"`.

use memchr::memchr2;

use super::ProtocolError;
use super::arguments::{Span, Spans};
use super::multibulk::Progress;
use crate::limits::INLINE_BYTES_MAX;

/// Reads the line at the front of `bytes` into `spans`, its words into `spans.words`.
///
/// `Some` is the length of the line with its end; `None` means that it goes on beyond `bytes`, and
/// `progress` says how far there is none. A NUL before the end hides it, as in
/// [`multibulk`](super::multibulk).
pub(super) fn read(
    bytes: &[u8],
    progress: &mut Progress,
    spans: &mut Spans,
) -> Result<Option<usize>, ProtocolError> {
    let from = progress.scanned as usize;
    let limit = INLINE_BYTES_MAX + 1;
    let window = bytes.get(from..bytes.len().min(limit)).unwrap_or_default();
    let stop = memchr2(b'\n', 0, window).map_or(from + window.len(), |offset| from + offset);
    if bytes.get(stop) != Some(&b'\n') || stop >= limit {
        progress.scanned = stop as u32;
        return if bytes.len() >= limit {
            Err(ProtocolError::InlineTooLong)
        } else {
            Ok(None)
        };
    }
    let line = bytes.get(..stop).unwrap_or_default();
    split(line.strip_suffix(b"\r").unwrap_or(line), spans)?;
    Ok(Some(stop + 1))
}

/// Splits `line` into words, resolving quotes and escapes.
fn split(line: &[u8], spans: &mut Spans) -> Result<(), ProtocolError> {
    spans.positions.clear();
    spans.words.clear();
    let mut rest = skip_blanks(line);
    while !rest.is_empty() {
        let start = spans.words.len() as u32;
        rest = skip_blanks(read_word(rest, &mut spans.words)?);
        spans.positions.push(Span {
            start,
            end: spans.words.len() as u32,
        });
    }
    Ok(())
}

/// Appends the word at the front of `line` to `words` and returns what follows it.
///
/// A quote may open within a word and ends it where it closes. Vertical tab and form feed are
/// blanks between words but part of a word that they follow.
fn read_word<'a>(line: &'a [u8], words: &mut Vec<u8>) -> Result<&'a [u8], ProtocolError> {
    let mut rest = line;
    loop {
        rest = match *rest {
            [] => return Ok(rest),
            [b' ' | b'\r' | b'\t', ref after @ ..] => return Ok(after),
            [b'"', ref quoted @ ..] => return read_double_quoted(quoted, words),
            [b'\'', ref quoted @ ..] => return read_single_quoted(quoted, words),
            [byte, ref after @ ..] => {
                words.push(byte);
                after
            }
        };
    }
}

/// Reads up to the closing `"`, where `\xHH`, `\n`, `\r`, `\t`, `\b`, `\a` are single bytes and a
/// backslash before anything else is dropped.
fn read_double_quoted<'a>(
    quoted: &'a [u8],
    words: &mut Vec<u8>,
) -> Result<&'a [u8], ProtocolError> {
    let mut rest = quoted;
    loop {
        let (byte, after) = match *rest {
            [] => return Err(ProtocolError::UnbalancedQuotes),
            [b'"', ref after @ ..] => return closed(after),
            [b'\\', b'x', high, low, ref after @ ..]
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                (hex_digit(high) << 4 | hex_digit(low), after)
            }
            [b'\\', escaped, ref after @ ..] => (unescape(escaped), after),
            [byte, ref after @ ..] => (byte, after),
        };
        words.push(byte);
        rest = after;
    }
}

/// Reads up to the closing `'`, which a backslash makes part of the word.
fn read_single_quoted<'a>(
    quoted: &'a [u8],
    words: &mut Vec<u8>,
) -> Result<&'a [u8], ProtocolError> {
    let mut rest = quoted;
    loop {
        let (byte, after) = match *rest {
            [] => return Err(ProtocolError::UnbalancedQuotes),
            [b'\'', ref after @ ..] => return closed(after),
            [b'\\', b'\'', ref after @ ..] => (b'\'', after),
            [byte, ref after @ ..] => (byte, after),
        };
        words.push(byte);
        rest = after;
    }
}

/// What follows a closing quote, which must be a blank or nothing.
fn closed(after: &[u8]) -> Result<&[u8], ProtocolError> {
    match after.first() {
        Some(&byte) if !is_blank(byte) => Err(ProtocolError::UnbalancedQuotes),
        _ => Ok(after),
    }
}

const fn unescape(escaped: u8) -> u8 {
    match escaped {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'a' => 0x07,
        other => other,
    }
}

const fn hex_digit(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|&&byte| is_blank(byte)).count();
    text.get(blanks..).unwrap_or_default()
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
