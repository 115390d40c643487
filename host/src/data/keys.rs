//! Keys, whatever their type.

use goblin_protocol::command::CommandError;
use goblin_protocol::glob;

use super::error::DataError;
use super::parse::{self, Start, Unit};
use super::{Call, Outcome};
use crate::store::Type;

/// What `TTL` and its like answer for a key that does not exist.
const NO_KEY: i64 = -2;
/// What they answer for a key that does not expire.
const NO_EXPIRY: i64 = -1;

/// `DEL key [key …]` and `UNLINK`, which are the same: what takes long to free is freed later.
pub(super) fn del<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let keys = call.arguments.skip(1);
    let removed = keys
        .iter()
        .filter(|key| call.store.remove(key, call.now))
        .count();
    call.count(removed);
    Ok(())
}

/// `EXISTS key [key …]` and `TOUCH`: nobody notes when a key was read.
pub(super) fn exists<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let keys = call.arguments.skip(1);
    let found = keys
        .iter()
        .filter(|key| call.store.type_of(key, call.now).is_some())
        .count();
    call.count(found);
    Ok(())
}

/// `TYPE key`
pub(super) fn type_of<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let kind = call.store.type_of(call.key(), call.now);
    call.reply.simple(kind.map_or("none", type_name));
    Ok(())
}

/// The name that `TYPE` answers.
pub(super) const fn type_name(kind: Type) -> &'static str {
    match kind {
        Type::String => "string",
        Type::Hash => "hash",
        Type::List => "list",
        Type::Set => "set",
        Type::SortedSet => "zset",
    }
}

/// `EXPIRE key seconds [NX | XX | GT | LT]`
pub(super) fn expire<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    set_expiry(call, Unit::Seconds, Start::Now)
}

/// `PEXPIRE key milliseconds [NX | XX | GT | LT]`
pub(super) fn pexpire<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    set_expiry(call, Unit::Milliseconds, Start::Now)
}

/// `EXPIREAT key unix-time-seconds [NX | XX | GT | LT]`
pub(super) fn expireat<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    set_expiry(call, Unit::Seconds, Start::Epoch)
}

/// `PEXPIREAT key unix-time-milliseconds [NX | XX | GT | LT]`
pub(super) fn pexpireat<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    set_expiry(call, Unit::Milliseconds, Start::Epoch)
}

fn set_expiry<'a>(call: &mut Call<'a, '_>, unit: Unit, start: Start) -> Outcome<'a> {
    let conditions = ExpiryConditions::parse(call)?;
    let amount = parse::integer(call.argument(2))?;
    let moment = parse::moment(amount, unit, start, call.now)
        .ok_or(DataError::invalid_expiry(call.command))?;
    let Some(present) = call.store.expiry(call.key(), call.now) else {
        call.reply.integer(0);
        return Ok(());
    };
    // A moment before 1970 is as much in the past as 1970.
    let moment = u64::try_from(moment).unwrap_or(0);
    let is_met = conditions.are_met(present, moment);
    if is_met && moment <= call.now.unix_ms() {
        call.store.remove(call.key(), call.now);
    } else if is_met {
        call.store.set_expiry(call.key(), Some(moment), call.now);
    }
    call.reply.integer(i64::from(is_met));
    Ok(())
}

/// When an expiry may be set.
#[derive(Default)]
struct ExpiryConditions {
    if_none: bool,
    if_some: bool,
    if_later: bool,
    if_earlier: bool,
}

impl ExpiryConditions {
    fn parse<'a>(call: &Call<'a, '_>) -> Result<Self, DataError<'a>> {
        let mut found = Self::default();
        for word in call.arguments.skip(3).iter() {
            let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
            if is("nx") {
                found.if_none = true;
            } else if is("xx") {
                found.if_some = true;
            } else if is("gt") {
                found.if_later = true;
            } else if is("lt") {
                found.if_earlier = true;
            } else {
                return Err(DataError::UnsupportedOption(word));
            }
        }
        if found.if_none && (found.if_some || found.if_later || found.if_earlier) {
            return Err(DataError::ExpiryConditions);
        }
        if found.if_later && found.if_earlier {
            return Err(DataError::ExpiryComparisons);
        }
        Ok(found)
    }

    /// A key that does not expire counts as expiring at the end of time.
    fn are_met(&self, present: Option<u64>, moment: u64) -> bool {
        let later = present.is_some_and(|present| moment > present);
        let earlier = present.is_none_or(|present| moment < present);
        !(self.if_none && present.is_some()
            || self.if_some && present.is_none()
            || self.if_later && !later
            || self.if_earlier && !earlier)
    }
}

/// `TTL key`
pub(super) fn ttl<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let now_ms = call.now.unix_ms();
    answer_expiry(call, |moment| {
        (moment.saturating_sub(now_ms).saturating_add(500)) / 1_000
    })
}

/// `PTTL key`
pub(super) fn pttl<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let now_ms = call.now.unix_ms();
    answer_expiry(call, |moment| moment.saturating_sub(now_ms))
}

/// `EXPIRETIME key`
pub(super) fn expiretime<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    answer_expiry(call, |moment| moment.saturating_add(500) / 1_000)
}

/// `PEXPIRETIME key`
pub(super) fn pexpiretime<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    answer_expiry(call, |moment| moment)
}

fn answer_expiry<'a>(call: &mut Call<'a, '_>, shown: impl Fn(u64) -> u64) -> Outcome<'a> {
    let answer = match call.store.expiry(call.key(), call.now) {
        None => NO_KEY,
        Some(None) => NO_EXPIRY,
        Some(Some(moment)) => i64::try_from(shown(moment)).unwrap_or(i64::MAX),
    };
    call.reply.integer(answer);
    Ok(())
}

/// `PERSIST key`
pub(super) fn persist<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let expires = matches!(call.store.expiry(call.key(), call.now), Some(Some(_)));
    if expires {
        call.store.set_expiry(call.key(), None, call.now);
    }
    call.reply.integer(i64::from(expires));
    Ok(())
}

/// `RENAME key newkey`
pub(super) fn rename<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    if !call.store.rename(call.key(), call.argument(2), call.now) {
        return Err(DataError::NoSuchKey);
    }
    call.ok();
    Ok(())
}

/// `RENAMENX key newkey`
pub(super) fn renamenx<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let (from, to) = (call.key(), call.argument(2));
    if call.store.type_of(from, call.now).is_none() {
        return Err(DataError::NoSuchKey);
    }
    let is_free = call.store.type_of(to, call.now).is_none();
    if is_free {
        call.store.rename(from, to, call.now);
    }
    call.reply.integer(i64::from(is_free));
    Ok(())
}

/// `COPY source destination [DB destination-db] [REPLACE]`
pub(super) fn copy<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let (from, to) = (call.key(), call.argument(2));
    let (mut replaces, mut words) = (false, call.arguments.skip(3).iter());
    while let Some(word) = words.next() {
        if word.eq_ignore_ascii_case(b"replace") {
            replaces = true;
        } else if let (true, Some(database)) = (word.eq_ignore_ascii_case(b"db"), words.next()) {
            if parse::integer(database)? != 0 {
                return Err(DataError::DatabaseOutOfRange);
            }
        } else {
            return Err(CommandError::Syntax.into());
        }
    }
    if from == to {
        return Err(DataError::SameObjects);
    }
    let is_free = replaces || call.store.type_of(to, call.now).is_none();
    let is_copied = is_free && call.store.copy(from, to, call.now);
    call.reply.integer(i64::from(is_copied));
    Ok(())
}

/// `RANDOMKEY`
pub(super) fn randomkey<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    match call.store.random_key(call.now) {
        Some(name) => call.reply.bulk(name),
        None => call.reply.null(),
    }
    Ok(())
}

/// `KEYS pattern`
pub(super) fn keys<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let pattern = call.argument(1);
    // A star alone means every key; elsewhere it does not match the empty name.
    let matches = |name: &&[u8]| pattern == b"*" || glob::matches(pattern, name);
    let count = call.store.keys(call.now).filter(matches).count();
    call.reply.array(count);
    for name in call.store.keys(call.now).filter(matches) {
        call.reply.bulk(name);
    }
    Ok(())
}

/// `DBSIZE`
pub(super) fn dbsize<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let count = call.store.len();
    call.count(count);
    Ok(())
}

/// `FLUSHALL [ASYNC | SYNC]` and `FLUSHDB`, which are the same as there is one database. The keys
/// are gone at once and their memory by and by, whatever is asked for.
pub(super) fn flush<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let option = call.argument(1);
    let is_known = [&b"async"[..], b"sync"]
        .iter()
        .any(|known| option.eq_ignore_ascii_case(known));
    match call.arguments.len() {
        1 => {}
        2 if is_known => {}
        _ => return Err(CommandError::Syntax.into()),
    }
    call.store.clear();
    call.ok();
    Ok(())
}
