//! Listing bit by bit: `SCAN` and its like. What was there all the time is answered at least once,
//! at whatever size; a small collection is answered whole.

use goblin_protocol::command::CommandError;
use goblin_protocol::glob;
use goblin_protocol::resp::{Arguments, Writer};

use super::error::DataError;
use super::{Call, Outcome, keys, parse, write_text};
use crate::store::{Digits, Hash, Set};

/// How many elements a call looks at when it does not say.
const COUNT_DEFAULT: usize = 10;
/// How many parts of a table a call looks at, most of which may be empty, for each element.
const PARTS_PER_ELEMENT: usize = 10;

struct ScanOptions<'a> {
    pattern: Option<&'a [u8]>,
    count: usize,
    type_name: Option<&'a [u8]>,
}

impl<'a> ScanOptions<'a> {
    fn parse(words: Arguments<'a>, takes_type: bool) -> Result<Self, DataError<'static>> {
        let mut options = Self {
            pattern: None,
            count: COUNT_DEFAULT,
            type_name: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
            let value = words.next().ok_or(CommandError::Syntax)?;
            if is("count") {
                let count = parse::integer(value)?;
                options.count = usize::try_from(count).unwrap_or(0);
                if options.count == 0 {
                    return Err(CommandError::Syntax.into());
                }
            } else if is("match") {
                options.pattern = Some(value);
            } else if is("type") && takes_type {
                options.type_name = Some(value);
            } else {
                return Err(CommandError::Syntax.into());
            }
        }
        Ok(options)
    }

    fn admits(&self, name: &[u8]) -> bool {
        match self.pattern {
            None | Some(b"*") => true,
            Some(pattern) => glob::matches(pattern, name),
        }
    }

    /// Goes on from `cursor` until `scan`, which returns the next cursor and how many elements have
    /// been found, has found enough or comes to the end.
    fn repeat(&self, mut cursor: u64, mut scan: impl FnMut(u64) -> (u64, usize)) -> u64 {
        for _ in 0..self.count.saturating_mul(PARTS_PER_ELEMENT) {
            let (next, found) = scan(cursor);
            cursor = next;
            if cursor == 0 || found >= self.count {
                break;
            }
        }
        cursor
    }
}

/// A cursor as the C library's `strtoul` reads it, which is what Redis does.
fn cursor(text: &[u8]) -> Result<u64, DataError<'static>> {
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        [] => return Ok(0),
        digits => (false, digits),
    };
    let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(digits).ok().filter(|_| is_number);
    let number: Option<u64> = number.and_then(|digits| digits.parse().ok());
    let number = number.ok_or(DataError::InvalidCursor)?;
    Ok(if is_negative {
        number.wrapping_neg()
    } else {
        number
    })
}

fn write_head(reply: &mut Writer<'_>, cursor: u64, elements: usize) {
    reply.array(2);
    reply.bulk(cursor.to_string().as_bytes());
    reply.array(elements);
}

/// `SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]`
pub(super) fn scan<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let start = cursor(call.argument(1))?;
    let options = ScanOptions::parse(call.arguments.skip(2), true)?;
    let (store, now) = (&*call.store, call.now);
    let (mut names, mut looked_at) = (Vec::new(), 0);
    let next = options.repeat(start, |cursor| {
        let next = store.scan(cursor, now, |name, kind| {
            looked_at += 1;
            let has_type =
                |name: &[u8]| name.eq_ignore_ascii_case(keys::type_name(kind).as_bytes());
            if options.admits(name) && options.type_name.is_none_or(has_type) {
                names.push(name);
            }
        });
        (next, looked_at)
    });
    write_head(call.reply, next, names.len());
    names.iter().for_each(|name| call.reply.bulk(name));
    Ok(())
}

/// `HSCAN key cursor [MATCH pattern] [COUNT count]`
pub(super) fn hscan<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let start = cursor(call.argument(2))?;
    let Some(hash) = call.store.collection::<Hash>(call.key(), call.now)? else {
        write_head(call.reply, 0, 0);
        return Ok(());
    };
    let options = ScanOptions::parse(call.arguments.skip(3), false)?;
    let (mut pairs, mut looked_at) = (Vec::new(), 0);
    let next = options.repeat(start, |cursor| {
        let next = hash.scan(cursor, |field, value| {
            looked_at += 1;
            if options.admits(field) {
                pairs.push((field, value));
            }
        });
        (next, looked_at)
    });
    write_head(call.reply, next, pairs.len() * 2);
    for (field, value) in pairs {
        call.reply.bulk(field);
        call.reply.bulk(value.bytes(&mut Digits::default()));
    }
    Ok(())
}

/// `SSCAN key cursor [MATCH pattern] [COUNT count]`
pub(super) fn sscan<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let start = cursor(call.argument(2))?;
    let Some(set) = call.store.collection::<Set>(call.key(), call.now)? else {
        write_head(call.reply, 0, 0);
        return Ok(());
    };
    let options = ScanOptions::parse(call.arguments.skip(3), false)?;
    let (mut members, mut looked_at) = (Vec::new(), 0);
    let next = options.repeat(start, |cursor| {
        let next = set.scan(cursor, |member| {
            looked_at += 1;
            if options.admits(member.bytes(&mut Digits::default())) {
                members.push(member);
            }
        });
        (next, looked_at)
    });
    write_head(call.reply, next, members.len());
    for member in members {
        write_text(call.reply, Some(member));
    }
    Ok(())
}
