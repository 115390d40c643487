//! Strings.

use goblin_protocol::command::CommandError;
use goblin_protocol::limits::BULK_BYTES_MAX;

use super::error::DataError;
use super::parse::{self, Start, Unit};
use super::{Call, Outcome, write_text};
use crate::store::{Lifetime, Text};

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
