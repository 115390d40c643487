//! Hashes.

use goblin_protocol::command::CommandError;
use goblin_protocol::resp::{Version, Writer};

use super::error::DataError;
use super::extended::Extended;
use super::{Call, Outcome, parse, write_text};
use crate::store::{Changed, Digits, Hash, Text};

/// `HSET key field value [field value …]`
pub(super) fn hset<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let added = set_fields(call)?;
    call.count(added);
    Ok(())
}

/// `HMSET key field value [field value …]`
pub(super) fn hmset<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    set_fields(call)?;
    call.ok();
    Ok(())
}

/// Sets fields and returns how many of them are new.
fn set_fields<'a>(call: &mut Call<'a, '_>) -> Result<usize, DataError<'a>> {
    let pairs = call.arguments.skip(2);
    if !pairs.len().is_multiple_of(2) {
        return Err(DataError::wrong_arity(call.command));
    }
    let added = call
        .store
        .update_or_create(call.key(), call.now, |hash: &mut Hash, seeds| {
            let (mut words, mut added) = (pairs.iter(), 0);
            while let (Some(field), Some(value)) = (words.next(), words.next()) {
                added += usize::from(hash.set(field, value, seeds));
            }
            Changed {
                answer: added,
                is_changed: true,
            }
        })?;
    Ok(added)
}

/// `HGET key field`
pub(super) fn hget<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let hash = call.store.collection::<Hash>(call.key(), call.now)?;
    let value = hash.and_then(|hash| hash.get(call.arguments.get(2)?));
    write_text(call.reply, value);
    Ok(())
}

/// `HMGET key field [field …]`
pub(super) fn hmget<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let fields = call.arguments.skip(2);
    let hash = call.store.collection::<Hash>(call.key(), call.now)?;
    call.reply.array(fields.len());
    for field in fields.iter() {
        write_text(call.reply, hash.and_then(|hash| hash.get(field)));
    }
    Ok(())
}

/// `HDEL key field [field …]`
pub(super) fn hdel<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let fields = call.arguments.skip(2);
    let removed = call
        .store
        .update(call.key(), call.now, |hash: &mut Hash, _| {
            let removed = fields.iter().filter(|field| hash.remove(field)).count();
            Changed {
                answer: removed,
                is_changed: removed > 0,
            }
        })?;
    call.count(removed.unwrap_or(0));
    Ok(())
}

/// `HGETALL key`
pub(super) fn hgetall<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    answer_all(call, Writer::map, |reply, field, value| {
        reply.bulk(field);
        reply.bulk(value);
    })
}

/// `HKEYS key`
pub(super) fn hkeys<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    answer_all(call, Writer::array, |reply, field, _| reply.bulk(field))
}

/// `HVALS key`
pub(super) fn hvals<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    answer_all(call, Writer::array, |reply, _, value| reply.bulk(value))
}

fn answer_all<'a, 'w>(
    call: &mut Call<'a, 'w>,
    begin: impl FnOnce(&mut Writer<'w>, usize),
    answer: impl Fn(&mut Writer<'w>, &[u8], &[u8]),
) -> Outcome<'a> {
    let hash = call.store.collection::<Hash>(call.key(), call.now)?;
    begin(call.reply, hash.map_or(0, Hash::len));
    for (field, value) in hash.into_iter().flat_map(Hash::iter) {
        answer(call.reply, field, value.bytes(&mut Digits::default()));
    }
    Ok(())
}

/// `HLEN key`
pub(super) fn hlen<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let hash = call.store.collection::<Hash>(call.key(), call.now)?;
    let count = hash.map_or(0, Hash::len);
    call.count(count);
    Ok(())
}

/// `HEXISTS key field`
pub(super) fn hexists<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let hash = call.store.collection::<Hash>(call.key(), call.now)?;
    let exists = hash
        .and_then(|hash| hash.get(call.arguments.get(2)?))
        .is_some();
    call.reply.integer(i64::from(exists));
    Ok(())
}

/// `HINCRBY key field increment`
pub(super) fn hincrby<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let (field, by) = (call.argument(2), parse::integer(call.argument(3))?);
    let sum = call
        .store
        .update_or_create(call.key(), call.now, |hash: &mut Hash, seeds| {
            let answer = add(hash.get(field), by);
            if let Ok(sum) = answer {
                let text = Text::Integer(sum);
                hash.set(field, text.bytes(&mut Digits::default()), seeds);
            }
            Changed {
                answer,
                is_changed: answer.is_ok(),
            }
        })?;
    call.reply.integer(sum?);
    Ok(())
}

fn add(present: Option<Text<'_>>, by: i64) -> Result<i64, DataError<'static>> {
    let present = match present {
        Some(text) => text.integer().ok_or(DataError::HashValueNotAnInteger)?,
        None => 0,
    };
    present.checked_add(by).ok_or(DataError::Overflow)
}

/// `HSETNX key field value`
pub(super) fn hsetnx<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let (field, value) = (call.argument(2), call.argument(3));
    let is_new = call
        .store
        .update_or_create(call.key(), call.now, |hash: &mut Hash, seeds| {
            let is_new = hash.get(field).is_none() && hash.set(field, value, seeds);
            Changed {
                answer: is_new,
                is_changed: is_new,
            }
        })?;
    call.reply.integer(i64::from(is_new));
    Ok(())
}

/// `HSTRLEN key field`
pub(super) fn hstrlen<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let hash = call.store.collection::<Hash>(call.key(), call.now)?;
    let value = hash.and_then(|hash| hash.get(call.arguments.get(2)?));
    let length = value.map_or(0, Text::len);
    call.count(length);
    Ok(())
}

/// `HINCRBYFLOAT key field increment`
pub(super) fn hincrbyfloat<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let by = Extended::parse(call.argument(3)).ok_or(CommandError::NotAFloat)?;
    if by == Extended::Infinite {
        return Err(DataError::InfiniteValue);
    }
    let field = call.argument(2);
    let sum = call
        .store
        .update_or_create(call.key(), call.now, |hash: &mut Hash, seeds| {
            let answer = add_fraction(hash.get(field), by);
            if let Ok(sum) = &answer {
                hash.set(field, sum.as_bytes(), seeds);
            }
            Changed {
                is_changed: answer.is_ok(),
                answer,
            }
        })?;
    call.reply.bulk(sum?.as_bytes());
    Ok(())
}

fn add_fraction(present: Option<Text<'_>>, by: Extended) -> Result<String, DataError<'static>> {
    let present = match present {
        Some(text) => Extended::parse(text.bytes(&mut Digits::default())),
        None => Some(Extended::ZERO),
    };
    let present = present.ok_or(DataError::HashValueNotAFloat)?;
    let sum = present.sum(by).ok_or(DataError::NotFinite)?;
    Ok(sum.to_string())
}

/// `HRANDFIELD key [count [WITHVALUES]]`
pub(super) fn hrandfield<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let Some(count) = call.arguments.get(2) else {
        let mut random = call.store.random();
        let hash = call.store.collection::<Hash>(call.key(), call.now)?;
        match hash.and_then(|hash| hash.at_random(&mut random)) {
            Some((field, _)) => call.reply.bulk(field),
            None => call.reply.null(),
        }
        return Ok(());
    };
    let count = parse::choices(count)?;
    let with_values = match call.arguments.get(3) {
        None => false,
        Some(word) if call.arguments.len() == 4 && word.eq_ignore_ascii_case(b"withvalues") => true,
        Some(_) => return Err(CommandError::Syntax.into()),
    };
    count.check_doubled(with_values)?;
    let mut random = call.store.random();
    let hash = call.store.collection::<Hash>(call.key(), call.now)?;
    let chosen = hash.map_or_else(Vec::new, |hash| {
        count.choose(&mut random, hash.iter(), |random| hash.at_random(random))
    });
    let is_paired = with_values && call.reply.version() == Version::Resp3;
    let elements = if with_values && !is_paired { 2 } else { 1 };
    call.reply.array(chosen.len() * elements);
    for (field, value) in chosen {
        if is_paired {
            call.reply.array(2);
        }
        call.reply.bulk(field);
        if with_values {
            call.reply.bulk(value.bytes(&mut Digits::default()));
        }
    }
    Ok(())
}
