//! What holds for any bytes that a client sends.
//!
//! The input's first byte chooses the limits, the second how the rest is cut into pieces. Read as
//! one piece, in these pieces, and with pauses in between, the rest gives the same requests and the
//! same error as a reader that is as plain as possible.

use goblin_protocol::limits::{ARGUMENTS_MAX, BULK_BYTES_MAX, INLINE_BYTES_MAX};
use goblin_protocol::resp::{Inbox, ProtocolError, RequestLimits, Spans};

/// Panics when the rule above does not hold for `input`.
pub(crate) fn check(input: &[u8]) {
    let [choice, seed, stream @ ..] = input else {
        return;
    };
    let limits = limits(*choice);
    let expected = read_plainly(stream, &limits);
    assert_eq!(read(&[stream], &limits, |_| false), expected);
    let pieces = cut(stream, *seed);
    assert_eq!(read(&pieces, &limits, |_| false), expected);
    let mut turn = u32::from(*seed);
    let mut pause = |_| {
        turn = turn.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        turn >> 16 & 3 == 0
    };
    assert_eq!(read(&pieces, &limits, &mut pause), expected);
}

/// The requests of a stream, and the error that ended it.
type Outcome = (Vec<Vec<Vec<u8>>>, Option<ProtocolError>);

fn limits(choice: u8) -> RequestLimits {
    match choice % 4 {
        0 => RequestLimits::default(),
        1 => RequestLimits::UNAUTHENTICATED,
        2 => RequestLimits {
            query_bytes_max: 40,
            ..RequestLimits::default()
        },
        _ => RequestLimits {
            bulk_bytes_max: 5,
            ..RequestLimits::default()
        },
    }
}

/// Pieces of 1 to 16 bytes, or for large streams of up to 64 KiB.
fn cut(stream: &[u8], seed: u8) -> Vec<&[u8]> {
    let unit = if stream.len() > 4096 { 4096 } else { 1 };
    let mut state = u32::from(seed);
    let mut rest = stream;
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let length = unit * (1 + (state >> 16 & 15) as usize);
        let (piece, after) = rest.split_at(length.min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Reads `pieces` one after the other. When `pause` says so, a request is put back and the feed
/// closed, to be opened again without new bytes.
fn read(pieces: &[&[u8]], limits: &RequestLimits, mut pause: impl FnMut(usize) -> bool) -> Outcome {
    let mut inbox = Inbox::new();
    let mut spans = Spans::default();
    let mut requests = Vec::new();
    for piece in pieces {
        let mut received = *piece;
        'open: loop {
            let mut feed = inbox.open(received, &mut spans);
            received = &[];
            loop {
                let request: Vec<Vec<u8>> = match feed.next(limits) {
                    Err(error) => {
                        assert!(matches!(feed.next(limits), Ok(None)));
                        drop(feed);
                        assert!(inbox.is_empty());
                        return (requests, Some(error));
                    }
                    Ok(None) => break 'open,
                    Ok(Some(arguments)) => arguments.iter().map(<[u8]>::to_vec).collect(),
                };
                assert!(!request.is_empty());
                if pause(requests.len()) {
                    feed.unread();
                    break;
                }
                requests.push(request);
            }
        }
    }
    (requests, None)
}

/// Reads `stream` the plain way: as Redis would if it came byte by byte.
fn read_plainly(stream: &[u8], limits: &RequestLimits) -> Outcome {
    let mut requests = Vec::new();
    let mut rest = stream;
    loop {
        let shown = &rest[..rest.len().min(limits.query_bytes_max)];
        let read = match shown.first() {
            None => return (requests, None),
            Some(b'*') => read_array(shown, limits),
            Some(_) => read_words(shown),
        };
        match read {
            Err(error) => return (requests, Some(error)),
            Ok(None) if shown.len() < rest.len() => {
                return (requests, Some(ProtocolError::QueryTooLong));
            }
            Ok(None) => return (requests, None),
            Ok(Some((arguments, after))) => {
                rest = &rest[shown.len() - after.len()..];
                match arguments.first().map(|name| name.to_ascii_lowercase()) {
                    None => {}
                    Some(name) if name == b"post" || name == b"host:" => {
                        return (requests, Some(ProtocolError::CrossProtocol));
                    }
                    Some(_) => requests.push(arguments),
                }
            }
        }
    }
}

type Read<'a, T> = Result<Option<(T, &'a [u8])>, ProtocolError>;

fn read_array<'a>(bytes: &'a [u8], limits: &RequestLimits) -> Read<'a, Vec<Vec<u8>>> {
    let Some((line, mut rest)) = read_line(bytes, b'\r', ProtocolError::CountLineTooLong)? else {
        return Ok(None);
    };
    let unauthenticated = *limits == RequestLimits::UNAUTHENTICATED;
    let count = parse(&line[1..]).ok_or(ProtocolError::InvalidCount)?;
    if count > ARGUMENTS_MAX as i64 {
        return Err(ProtocolError::InvalidCount);
    } else if unauthenticated && count > 10 {
        return Err(ProtocolError::UnauthenticatedCount);
    }
    let mut arguments = Vec::new();
    for _ in 0..count {
        let line = read_line(rest, b'\r', ProtocolError::LengthLineTooLong)?;
        let Some((line, after)) = line else {
            return Ok(None);
        };
        if rest[0] != b'$' {
            return Err(ProtocolError::ExpectedDollar(rest[0]));
        }
        let length = parse(&line[1..]).ok_or(ProtocolError::InvalidLength)?;
        let bulk_bytes_max = if unauthenticated {
            BULK_BYTES_MAX
        } else {
            limits.bulk_bytes_max
        };
        if length < 0 || length > bulk_bytes_max as i64 {
            return Err(ProtocolError::InvalidLength);
        } else if unauthenticated && length > 16_384 {
            return Err(ProtocolError::UnauthenticatedLength);
        }
        let length = length as usize;
        if after.len() < length + 2 {
            return Ok(None);
        }
        arguments.push(after[..length].to_vec());
        rest = &after[length + 2..];
    }
    Ok(Some((arguments, rest)))
}

/// The line up to `end`, and what follows the byte after a carriage return, or the line feed.
fn read_line(bytes: &[u8], end: u8, too_long: ProtocolError) -> Read<'_, &[u8]> {
    let skipped = if end == b'\r' { 2 } else { 1 };
    for (at, &byte) in bytes.iter().enumerate().take(INLINE_BYTES_MAX + 1) {
        if byte == end {
            return Ok(bytes.get(at + skipped..).map(|after| (&bytes[..at], after)));
        } else if byte == 0 {
            break;
        }
    }
    if bytes.len() > INLINE_BYTES_MAX {
        Err(too_long)
    } else {
        Ok(None)
    }
}

fn parse(text: &[u8]) -> Option<i64> {
    let number: i64 = str::from_utf8(text).ok()?.parse().ok()?;
    (number.to_string().as_bytes() == text).then_some(number)
}

fn read_words(bytes: &[u8]) -> Read<'_, Vec<Vec<u8>>> {
    let Some((line, rest)) = read_line(bytes, b'\n', ProtocolError::InlineTooLong)? else {
        return Ok(None);
    };
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let is_blank = |byte: u8| b" \t\n\x0b\x0c\r".contains(&byte);
    let mut words = Vec::new();
    let mut at = 0;
    while at < line.len() {
        if is_blank(line[at]) {
            at += 1;
            continue;
        }
        let mut word = Vec::new();
        let mut quote = None;
        loop {
            let byte = line.get(at).copied();
            at += 1;
            match (quote, byte) {
                (Some(_), None) => return Err(ProtocolError::UnbalancedQuotes),
                (None, None | Some(b' ' | b'\t' | b'\r')) => break,
                (None, Some(b'"' | b'\'')) => quote = byte,
                (Some(open), Some(close)) if open == close => {
                    if line.get(at).is_some_and(|&next| !is_blank(next)) {
                        return Err(ProtocolError::UnbalancedQuotes);
                    }
                    break;
                }
                (Some(b'"'), Some(b'\\')) if at < line.len() => {
                    let hex = line
                        .get(at + 1..at + 3)
                        .and_then(|hex| str::from_utf8(hex).ok());
                    let hex = hex.filter(|hex| !hex.starts_with('+'));
                    let hex = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
                    match (line[at], hex) {
                        (b'x', Some(byte)) => {
                            word.push(byte);
                            at += 2;
                        }
                        (b'n', _) => word.push(b'\n'),
                        (b'r', _) => word.push(b'\r'),
                        (b't', _) => word.push(b'\t'),
                        (b'b', _) => word.push(8),
                        (b'a', _) => word.push(7),
                        (other, _) => word.push(other),
                    }
                    at += 1;
                }
                (Some(b'\''), Some(b'\\')) if line.get(at) == Some(&b'\'') => {
                    word.push(b'\'');
                    at += 1;
                }
                (_, Some(byte)) => word.push(byte),
            }
        }
        words.push(word);
    }
    Ok(Some((words, rest)))
}
