//! Strings.

use goblin_protocol::command::CommandError;
use goblin_protocol::limits::BULK_BYTES_MAX;

use super::error::DataError;
use super::extended::Extended;
use super::parse::{self, Start, Unit};
use super::{Call, Outcome, write_text};
use crate::store::{Digits, Lifetime, Text};

/// `GET key`
#[inline]
pub(super) fn get<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let text = call.store.string(call.key(), call.now)?;
    write_text(call.reply, text);
    Ok(())
}

/// `SET key value [NX | XX] [GET] [EX s | PX ms | EXAT s | PXAT ms | KEEPTTL]`
#[inline]
pub(super) fn set<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    if call.arguments.len() > 3 {
        return set_with_options(call);
    }
    let value = Text::of(call.argument(2));
    call.store
        .set_string(call.key(), value, Lifetime::Forever, call.now);
    call.ok();
    Ok(())
}

/// When `SET` does nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    IfAbsent,
    IfPresent,
}

struct SetOptions {
    condition: Option<Condition>,
    answers_old: bool,
    lifetime: Option<Lifetime>,
}

fn set_with_options<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let options = set_options(call)?;
    let (key, value) = (call.key(), Text::of(call.argument(2)));
    if options.answers_old {
        let old = call.store.string(key, call.now)?;
        write_text(call.reply, old);
    }
    let is_met = options.condition.is_none_or(|condition| {
        let exists = call.store.type_of(key, call.now).is_some();
        exists == (condition == Condition::IfPresent)
    });
    if is_met {
        let lifetime = options.lifetime.unwrap_or(Lifetime::Forever);
        call.store.set_string(key, value, lifetime, call.now);
    }
    match (options.answers_old, is_met) {
        (true, _) => {}
        (false, true) => call.ok(),
        (false, false) => call.reply.null(),
    }
    Ok(())
}

fn set_options<'a>(call: &Call<'a, '_>) -> Result<SetOptions, DataError<'a>> {
    let mut options = SetOptions {
        condition: None,
        answers_old: false,
        lifetime: None,
    };
    let mut expiry = None;
    let mut words = call.arguments.skip(3).iter();
    while let Some(word) = words.next() {
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        let condition = options.condition;
        if is("nx") && condition != Some(Condition::IfPresent) {
            options.condition = Some(Condition::IfAbsent);
        } else if is("xx") && condition != Some(Condition::IfAbsent) {
            options.condition = Some(Condition::IfPresent);
        } else if is("get") {
            options.answers_old = true;
        } else if is("keepttl") && expiry.is_none() {
            options.lifetime = Some(Lifetime::Kept);
        } else if let (None, Some(kind), Some(amount)) =
            (options.lifetime, expiry_kind(word), words.next())
            // The same option may be repeated, and the last one counts.
            && expiry.is_none_or(|(_, known)| known == kind)
        {
            expiry = Some((amount, kind));
        } else {
            return Err(CommandError::Syntax.into());
        }
    }
    if let Some((amount, (unit, start))) = expiry {
        let moment = parse::lifetime(amount, unit, start, call.command, call.now)?;
        options.lifetime = Some(Lifetime::Until(moment));
    }
    Ok(options)
}

fn expiry_kind(word: &[u8]) -> Option<(Unit, Start)> {
    let options = [
        ("ex", Unit::Seconds, Start::Now),
        ("px", Unit::Milliseconds, Start::Now),
        ("exat", Unit::Seconds, Start::Epoch),
        ("pxat", Unit::Milliseconds, Start::Epoch),
    ];
    options
        .into_iter()
        .find(|(name, ..)| word.eq_ignore_ascii_case(name.as_bytes()))
        .map(|(_, unit, start)| (unit, start))
}

/// `SETEX key seconds value`
pub(super) fn setex<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    set_for(call, Unit::Seconds)
}

/// `PSETEX key milliseconds value`
pub(super) fn psetex<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    set_for(call, Unit::Milliseconds)
}

fn set_for<'a>(call: &mut Call<'a, '_>, unit: Unit) -> Outcome<'a> {
    let moment = parse::lifetime(call.argument(2), unit, Start::Now, call.command, call.now)?;
    let value = Text::of(call.argument(3));
    call.store
        .set_string(call.key(), value, Lifetime::Until(moment), call.now);
    call.ok();
    Ok(())
}

/// `SETNX key value`
pub(super) fn setnx<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let is_absent = call.store.type_of(call.key(), call.now).is_none();
    if is_absent {
        let value = Text::of(call.argument(2));
        call.store
            .set_string(call.key(), value, Lifetime::Forever, call.now);
    }
    call.reply.integer(i64::from(is_absent));
    Ok(())
}

/// `GETSET key value`
pub(super) fn getset<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    get(call)?;
    let value = Text::of(call.argument(2));
    call.store
        .set_string(call.key(), value, Lifetime::Forever, call.now);
    Ok(())
}

/// `GETDEL key`
pub(super) fn getdel<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    get(call)?;
    call.store.remove(call.key(), call.now);
    Ok(())
}

/// `MGET key [key …]`
pub(super) fn mget<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let keys = call.arguments.skip(1);
    call.reply.array(keys.len());
    for key in keys.iter() {
        let text = call.store.string(key, call.now).unwrap_or(None);
        write_text(call.reply, text);
    }
    Ok(())
}

/// `MSET key value [key value …]`
pub(super) fn mset<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let pairs = call.arguments.skip(1);
    if !pairs.len().is_multiple_of(2) {
        return Err(DataError::wrong_arity(call.command));
    }
    let mut words = pairs.iter();
    while let (Some(key), Some(value)) = (words.next(), words.next()) {
        call.store
            .set_string(key, Text::of(value), Lifetime::Forever, call.now);
    }
    call.ok();
    Ok(())
}

/// `STRLEN key`
pub(super) fn strlen<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let text = call.store.string(call.key(), call.now)?;
    let length = text.map_or(0, Text::len);
    call.count(length);
    Ok(())
}

/// `APPEND key value`
pub(super) fn append<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let suffix = call.argument(2);
    let present = call
        .store
        .string(call.key(), call.now)?
        .map_or(0, Text::len);
    if present > 0 && present.saturating_add(suffix.len()) > BULK_BYTES_MAX {
        return Err(DataError::StringTooLong);
    }
    let length = call.store.append(call.key(), suffix, call.now)?;
    call.count(length);
    Ok(())
}

/// `INCR key`
pub(super) fn incr<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    add(call, 1)
}

/// `DECR key`
pub(super) fn decr<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    add(call, -1)
}

/// `INCRBY key increment`
pub(super) fn incrby<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let by = parse::integer(call.argument(2))?;
    add(call, by)
}

/// `DECRBY key decrement`
pub(super) fn decrby<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let by = parse::integer(call.argument(2))?;
    add(call, by.checked_neg().ok_or(DataError::DecrementOverflow)?)
}

fn add<'a>(call: &mut Call<'a, '_>, by: i64) -> Outcome<'a> {
    let present = match call.store.string(call.key(), call.now)? {
        Some(text) => text.integer().ok_or(CommandError::NotAnInteger)?,
        None => 0,
    };
    let sum = present.checked_add(by).ok_or(DataError::Overflow)?;
    call.store
        .set_string(call.key(), Text::Integer(sum), Lifetime::Kept, call.now);
    call.reply.integer(sum);
    Ok(())
}

/// What `GETEX` does with the expiry.
#[derive(Clone, Copy)]
enum ExpiryChange<'a> {
    None,
    Persist,
    Set(&'a [u8], (Unit, Start)),
}

/// `GETEX key [EX s | PX ms | EXAT s | PXAT ms | PERSIST]`
pub(super) fn getex<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let mut change = ExpiryChange::None;
    let mut words = call.arguments.skip(2).iter();
    while let Some(word) = words.next() {
        let is_persist = word.eq_ignore_ascii_case(b"persist");
        change = match (change, expiry_kind(word)) {
            (ExpiryChange::None | ExpiryChange::Persist, _) if is_persist => ExpiryChange::Persist,
            (ExpiryChange::None, Some(kind)) => {
                ExpiryChange::Set(words.next().ok_or(CommandError::Syntax)?, kind)
            }
            (ExpiryChange::Set(_, known), Some(kind)) if known == kind => {
                ExpiryChange::Set(words.next().ok_or(CommandError::Syntax)?, kind)
            }
            _ => return Err(CommandError::Syntax.into()),
        };
    }
    let (key, now) = (call.key(), call.now);
    let Some(text) = call.store.string(key, now)? else {
        call.reply.null();
        return Ok(());
    };
    let expiry = match change {
        ExpiryChange::Set(amount, (unit, start)) => {
            Some(parse::lifetime(amount, unit, start, call.command, now)?)
        }
        _ => None,
    };
    write_text(call.reply, Some(text));
    match (change, expiry) {
        (_, Some(moment)) if moment <= now.unix_ms() => {
            call.store.remove(key, now);
        }
        (_, Some(moment)) => {
            call.store.set_expiry(key, Some(moment), now);
        }
        (ExpiryChange::Persist, None) if call.store.expiry(key, now).flatten().is_some() => {
            call.store.set_expiry(key, None, now);
        }
        _ => {}
    }
    Ok(())
}

/// `SETRANGE key offset value`
pub(super) fn setrange<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let (key, value) = (call.key(), call.argument(3));
    let offset = parse::integer(call.argument(2))?;
    let offset = usize::try_from(offset).map_err(|_| DataError::OffsetOutOfRange)?;
    let length = call.store.string(key, call.now)?.map_or(0, Text::len);
    if value.is_empty() {
        call.count(length);
        return Ok(());
    }
    let end = offset.saturating_add(value.len());
    if end > BULK_BYTES_MAX {
        return Err(DataError::StringTooLong);
    }
    let ((), length) = call.store.edit(key, end, call.now, |bytes| {
        if let Some(part) = bytes.get_mut(offset..end) {
            part.copy_from_slice(value);
        }
    })?;
    call.count(length);
    Ok(())
}

/// `GETRANGE key start end`, and `SUBSTR`, its old name
pub(super) fn getrange<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let first = parse::integer(call.argument(2))?;
    let last = parse::integer(call.argument(3))?;
    let mut digits = Default::default();
    let text = call.store.string(call.key(), call.now)?;
    let bytes = text.map_or(&b""[..], |text| text.bytes(&mut digits));
    let span = parse::text_span(first, last, bytes.len());
    let part = span
        .filter(|_| !parse::is_backwards(first, last))
        .and_then(|span| bytes.get(span));
    call.reply.bulk(part.unwrap_or_default());
    Ok(())
}

/// `MSETNX key value [key value …]`
pub(super) fn msetnx<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let pairs = call.arguments.skip(1);
    if !pairs.len().is_multiple_of(2) {
        return Err(DataError::wrong_arity(call.command));
    }
    let mut keys = pairs.iter().step_by(2);
    if keys.any(|key| call.store.type_of(key, call.now).is_some()) {
        call.reply.integer(0);
        return Ok(());
    }
    let mut words = pairs.iter();
    while let (Some(key), Some(value)) = (words.next(), words.next()) {
        call.store
            .set_string(key, Text::of(value), Lifetime::Forever, call.now);
    }
    call.reply.integer(1);
    Ok(())
}

/// `INCRBYFLOAT key increment`
pub(super) fn incrbyfloat<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let present = call.store.string(call.key(), call.now)?;
    let present = match present {
        Some(text) => Extended::parse(text.bytes(&mut Digits::default())),
        None => Some(Extended::ZERO),
    };
    let present = present.ok_or(CommandError::NotAFloat)?;
    let by = Extended::parse(call.argument(2)).ok_or(CommandError::NotAFloat)?;
    let sum = present.sum(by).ok_or(DataError::NotFinite)?.to_string();
    call.store.set_string(
        call.key(),
        Text::Bytes(sum.as_bytes()),
        Lifetime::Kept,
        call.now,
    );
    call.reply.bulk(sum.as_bytes());
    Ok(())
}
