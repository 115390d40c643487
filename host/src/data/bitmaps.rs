//! Strings as runs of bits. Bit 0 is the highest of the first byte.

use std::ops::Range;

use goblin_protocol::command::{Command, CommandError};
use goblin_protocol::limits::BULK_BYTES_MAX;

use super::error::DataError;
use super::{Call, Outcome, parse};
use crate::store::{Digits, Text};

/// Where a bit is that a string may have.
pub(super) fn bit_offset(offset: Option<i64>) -> Result<usize, DataError<'static>> {
    offset
        .and_then(|offset| usize::try_from(offset).ok())
        .filter(|offset| offset / 8 < BULK_BYTES_MAX)
        .ok_or(DataError::BitOffset)
}

fn bit_at(bytes: &[u8], offset: usize) -> bool {
    let byte = bytes.get(offset / 8).copied().unwrap_or_default();
    byte >> (7 - offset % 8) & 1 == 1
}

/// `SETBIT key offset value`
pub(super) fn setbit<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let offset = bit_offset(parse::integer(call.argument(2)).ok())?;
    let is_set = match call.argument(3) {
        b"0" => false,
        b"1" => true,
        _ => return Err(DataError::BitNotAnInteger),
    };
    let text = call.store.string(call.key(), call.now)?;
    let (mut digits, length) = (Digits::default(), offset / 8 + 1);
    let bytes = text.map_or(&b""[..], |text| text.bytes(&mut digits));
    let was_set = bit_at(bytes, offset);
    if bytes.len() < length || was_set != is_set {
        call.store.edit(call.key(), length, call.now, |bytes| {
            if let Some(byte) = bytes.get_mut(offset / 8) {
                *byte ^= u8::from(was_set != is_set) << (7 - offset % 8);
            }
        })?;
    }
    call.reply.integer(i64::from(was_set));
    Ok(())
}

/// `GETBIT key offset`
pub(super) fn getbit<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let offset = bit_offset(parse::integer(call.argument(2)).ok())?;
    let text = call.store.string(call.key(), call.now)?;
    let is_set = text.is_some_and(|text| bit_at(text.bytes(&mut Digits::default()), offset));
    call.reply.integer(i64::from(is_set));
    Ok(())
}

/// A range of bits that was asked for, and whether its end was.
struct Bits {
    range: Range<usize>,
    has_end: bool,
}

/// The bits that `[start [end [BYTE | BIT]]]`, from the word `at` on, means; none when it is empty.
fn bits<'a>(call: &Call<'a, '_>, at: usize, length: usize) -> Result<Option<Bits>, DataError<'a>> {
    let words = call.arguments.skip(at);
    let Some(start) = words.get(0) else {
        return Ok((length > 0).then_some(Bits {
            range: 0..length * 8,
            has_end: false,
        }));
    };
    if words.len() > 3 {
        return Err(CommandError::Syntax.into());
    }
    let start = parse::integer(start)?;
    if call.command == Command::BitCount {
        // Here the end is looked at before the unit.
        let end = parse::integer(words.get(1).unwrap_or_default())?;
        if parse::is_backwards(start, end) {
            return Ok(None);
        }
    }
    let counts_bits = match words.get(2) {
        Some(unit) if unit.eq_ignore_ascii_case(b"bit") => true,
        Some(unit) if unit.eq_ignore_ascii_case(b"byte") => false,
        Some(_) => return Err(CommandError::Syntax.into()),
        None => false,
    };
    let end = words.get(1).map(parse::integer).transpose()?;
    let unit = if counts_bits { 1 } else { 8 };
    let end_or_last = end.unwrap_or(-1);
    let range = parse::text_span(start, end_or_last, length * 8 / unit);
    Ok(range.map(|range| Bits {
        range: range.start * unit..range.end * unit,
        has_end: end.is_some(),
    }))
}

/// The bytes that have bits of a range, those outside it set to `outside`.
fn bytes_of(bytes: &[u8], range: &Range<usize>, outside: bool) -> impl Iterator<Item = u8> {
    let (first, last) = (range.start / 8, (range.end - 1) / 8);
    let before = 0xff_u8.checked_shr((range.start % 8) as u32).unwrap_or(0);
    let behind = 0xff_u8 << (7 - (range.end - 1) % 8);
    let part = bytes.get(first..=last).unwrap_or_default();
    part.iter().enumerate().map(move |(at, &byte)| {
        let mut mask = 0xff;
        if at == 0 {
            mask &= before;
        }
        if at == last - first {
            mask &= behind;
        }
        if outside { byte | !mask } else { byte & mask }
    })
}

/// `BITCOUNT key [start end [BYTE | BIT]]`
pub(super) fn bitcount<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let Some(text) = call.store.string(call.key(), call.now)? else {
        call.reply.integer(0);
        return Ok(());
    };
    let mut digits = Digits::default();
    // What the text is of must outlive the look at the options.
    let length = text.len();
    if call.arguments.len() == 3 {
        return Err(CommandError::Syntax.into());
    }
    let Some(Bits { range, .. }) = bits(call, 2, length)? else {
        call.reply.integer(0);
        return Ok(());
    };
    let text = call.store.string(call.key(), call.now)?;
    let bytes = text.map_or(&b""[..], |text| text.bytes(&mut digits));
    let count: usize = bytes_of(bytes, &range, false)
        .map(|byte| byte.count_ones() as usize)
        .sum();
    call.count(count);
    Ok(())
}

/// `BITPOS key bit [start [end [BYTE | BIT]]]`
pub(super) fn bitpos<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let bit = match parse::integer(call.argument(2))? {
        0 => false,
        1 => true,
        _ => return Err(DataError::BitNotABit),
    };
    let Some(text) = call.store.string(call.key(), call.now)? else {
        call.reply.integer(if bit { -1 } else { 0 });
        return Ok(());
    };
    let length = text.len();
    let Some(Bits { range, has_end }) = bits(call, 3, length)? else {
        call.reply.integer(-1);
        return Ok(());
    };
    let mut digits = Digits::default();
    let text = call.store.string(call.key(), call.now)?;
    let bytes = text.map_or(&b""[..], |text| text.bytes(&mut digits));
    let start = range.start / 8 * 8;
    let found = bytes_of(bytes, &range, !bit)
        .map(|byte| if bit { byte } else { !byte })
        .enumerate()
        .find(|&(_, byte)| byte != 0)
        .map(|(at, byte)| start + at * 8 + byte.leading_zeros() as usize);
    match found {
        Some(found) => call.count(found),
        // Behind the end of the string there are zeros.
        None if !bit && !has_end => call.count(length * 8),
        None => call.reply.integer(-1),
    }
    Ok(())
}

/// How `BITOP` combines two bytes.
type Combination = fn(u8, u8) -> u8;

/// `BITOP <AND | OR | XOR | NOT> destkey key [key …]`
pub(super) fn bitop<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let operation = call.argument(1);
    let is = |name: &str| operation.eq_ignore_ascii_case(name.as_bytes());
    let inverts = is("not");
    let combine: Combination = if is("and") {
        |a, b| a & b
    } else if is("or") || inverts {
        |a, b| a | b
    } else if is("xor") {
        |a, b| a ^ b
    } else {
        return Err(CommandError::Syntax.into());
    };
    let keys = call.arguments.skip(3);
    if inverts && keys.len() > 1 {
        return Err(DataError::SingleSource);
    }
    let mut length = 0;
    for key in keys.iter() {
        let text = call.store.string(key, call.now)?;
        length = length.max(text.map_or(0, Text::len));
    }
    let mut result = Vec::new();
    for (at, key) in keys.iter().enumerate() {
        let mut digits = Digits::default();
        let text = call.store.string(key, call.now)?;
        let bytes = text.map_or(&b""[..], |text| text.bytes(&mut digits));
        if at == 0 {
            result.extend_from_slice(bytes);
            result.resize(length, 0);
            continue;
        }
        let padded = bytes.iter().copied().chain(std::iter::repeat(0));
        for (byte, other) in result.iter_mut().zip(padded) {
            *byte = combine(*byte, other);
        }
    }
    if inverts {
        result.iter_mut().for_each(|byte| *byte = !*byte);
    }
    let target = call.argument(2);
    if result.is_empty() {
        call.store.remove(target, call.now);
    } else {
        call.store.remove(target, call.now);
        call.store.edit(target, length, call.now, |bytes| {
            bytes.copy_from_slice(&result);
        })?;
    }
    call.count(length);
    Ok(())
}
