//! Lists.

use ahash::RandomState;
use goblin_protocol::command::CommandError;
use goblin_protocol::resp::parse_integer;

use super::error::DataError;
use super::{Call, Outcome, parse};
use crate::store::{Changed, End, List};

fn changed<R>(answer: R) -> Changed<R> {
    Changed {
        answer,
        is_changed: true,
    }
}

/// `LPUSH key element [element …]` and `RPUSH`
pub(super) fn push<'a>(call: &mut Call<'a, '_>, end: End) -> Outcome<'a> {
    let elements = call.arguments.skip(2);
    let change = |list: &mut List, _: &RandomState| {
        elements.iter().for_each(|element| list.push(end, element));
        changed(list.len())
    };
    let length = call.store.update_or_create(call.key(), call.now, change)?;
    call.count(length);
    Ok(())
}

/// `LPUSHX key element [element …]` and `RPUSHX`
pub(super) fn pushx<'a>(call: &mut Call<'a, '_>, end: End) -> Outcome<'a> {
    let exists = call
        .store
        .collection::<List>(call.key(), call.now)?
        .is_some();
    if exists {
        return push(call, end);
    }
    call.reply.integer(0);
    Ok(())
}

/// `LPOP key [count]` and `RPOP`
pub(super) fn pop<'a>(call: &mut Call<'a, '_>, end: End) -> Outcome<'a> {
    if call.arguments.len() > 3 {
        return Err(DataError::wrong_arity(call.command));
    }
    let count = match call.arguments.get(2) {
        None => None,
        Some(count) => {
            let count = parse_integer(count).and_then(|count| usize::try_from(count).ok());
            Some(count.ok_or(DataError::NotPositive)?)
        }
    };
    let popped = call
        .store
        .update(call.key(), call.now, |list: &mut List, _| {
            take(list, end, count.unwrap_or(1))
        })?;
    match (count, popped) {
        (None, Some(popped)) => {
            popped.iter().for_each(|element| call.reply.bulk(element));
        }
        (None, None) => call.reply.null(),
        (Some(_), None) => call.reply.null_array(),
        (Some(_), Some(popped)) => write_all(call, &popped),
    }
    Ok(())
}

fn take(list: &mut List, end: End, count: usize) -> Changed<Vec<Vec<u8>>> {
    let popped: Vec<_> = (0..count.min(list.len()))
        .map_while(|_| list.pop(end))
        .collect();
    Changed {
        is_changed: !popped.is_empty(),
        answer: popped,
    }
}

fn write_all(call: &mut Call<'_, '_>, elements: &[Vec<u8>]) {
    call.reply.array(elements.len());
    elements.iter().for_each(|element| call.reply.bulk(element));
}

/// `LLEN key`
pub(super) fn llen<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let list = call.store.collection::<List>(call.key(), call.now)?;
    let count = list.map_or(0, List::len);
    call.count(count);
    Ok(())
}

/// `LRANGE key start stop`
pub(super) fn lrange<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let first = parse::integer(call.argument(2))?;
    let last = parse::integer(call.argument(3))?;
    let list = call.store.collection::<List>(call.key(), call.now)?;
    let found = list.and_then(|list| Some((list, parse::span(first, last, list.len())?)));
    let Some((list, span)) = found else {
        call.reply.array(0);
        return Ok(());
    };
    call.reply.array(span.len());
    list.range(span)
        .for_each(|element| call.reply.bulk(element));
    Ok(())
}

/// `LTRIM key start stop`
pub(super) fn ltrim<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let first = parse::integer(call.argument(2))?;
    let last = parse::integer(call.argument(3))?;
    call.store
        .update(call.key(), call.now, |list: &mut List, _| {
            let span = parse::span(first, last, list.len()).unwrap_or(0..0);
            list.remove(span.end..list.len());
            list.remove(0..span.start);
            changed(())
        })?;
    call.ok();
    Ok(())
}

/// The position that a number means, negative ones counting from the end.
fn position(index: i64, length: usize) -> Option<usize> {
    let length = i64::try_from(length).ok()?;
    let index = if index < 0 { index + length } else { index };
    (index < length).then(|| usize::try_from(index).ok())?
}

/// `LINDEX key index`
pub(super) fn lindex<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let list = call.store.view::<List>(call.key(), call.now)?;
    let Some(list) = list else {
        call.reply.null();
        return Ok(());
    };
    let index = parse::integer(call.argument(2))?;
    match position(index, list.len()).and_then(|at| list.get(at)) {
        Some(element) => call.reply.bulk(element),
        None => call.reply.null(),
    }
    Ok(())
}

/// `LSET key index element`
pub(super) fn lset<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let list = call.store.view::<List>(call.key(), call.now)?;
    let length = list.ok_or(DataError::NoSuchKey)?.len();
    let index = parse::integer(call.argument(2))?;
    let at = position(index, length).ok_or(DataError::IndexOutOfRange)?;
    let element = call.argument(3);
    call.store
        .update(call.key(), call.now, |list: &mut List, _| {
            list.set(at, element);
            changed(())
        })?;
    call.ok();
    Ok(())
}

/// `LINSERT key <BEFORE | AFTER> pivot element`
pub(super) fn linsert<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let place = call.argument(2);
    let is_after = place.eq_ignore_ascii_case(b"after");
    if !is_after && !place.eq_ignore_ascii_case(b"before") {
        return Err(CommandError::Syntax.into());
    }
    let (pivot, element) = (call.argument(3), call.argument(4));
    let change = |list: &mut List, _: &RandomState| {
        let found = list.iter().position(|it| it == pivot);
        if let Some(at) = found {
            list.insert(at + usize::from(is_after), element);
        }
        Changed {
            answer: found.map(|_| list.len()),
            is_changed: found.is_some(),
        }
    };
    match call.store.update(call.key(), call.now, change)? {
        None => call.reply.integer(0),
        Some(None) => call.reply.integer(-1),
        Some(Some(length)) => call.count(length),
    }
    Ok(())
}

/// `LREM key count element`: from the end when `count` is negative, all when it is 0
pub(super) fn lrem<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let count = parse::integer(call.argument(2))?;
    let element = call.argument(3);
    let most = match usize::try_from(count.unsigned_abs()) {
        Ok(0) | Err(_) => usize::MAX,
        Ok(most) => most,
    };
    let change = |list: &mut List, _: &RandomState| {
        let is_it = |it: &&[u8]| *it == element;
        // From the last on, so that the positions before stay what they are.
        let found: Vec<usize> = if count < 0 {
            let last = list.len();
            let found = list.iter().rev().zip((0..last).rev());
            found
                .filter(|(it, _)| is_it(it))
                .map(|(_, at)| at)
                .take(most)
                .collect()
        } else {
            let found = list.iter().zip(0..).filter(|(it, _)| is_it(it));
            let mut found: Vec<usize> = found.map(|(_, at)| at).take(most).collect();
            found.reverse();
            found
        };
        found.iter().for_each(|&at| list.remove(at..at + 1));
        Changed {
            answer: found.len(),
            is_changed: !found.is_empty(),
        }
    };
    let removed = call.store.update(call.key(), call.now, change)?;
    call.count(removed.unwrap_or(0));
    Ok(())
}

fn end(word: &[u8]) -> Result<End, DataError<'static>> {
    if word.eq_ignore_ascii_case(b"left") {
        Ok(End::Left)
    } else if word.eq_ignore_ascii_case(b"right") {
        Ok(End::Right)
    } else {
        Err(CommandError::Syntax.into())
    }
}

/// `LMOVE source destination <LEFT | RIGHT> <LEFT | RIGHT>`
pub(super) fn lmove<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let (from, to) = (end(call.argument(3))?, end(call.argument(4))?);
    move_between(call, from, to)
}

/// `RPOPLPUSH source destination`
pub(super) fn rpoplpush<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    move_between(call, End::Right, End::Left)
}

fn move_between<'a>(call: &mut Call<'a, '_>, from: End, to: End) -> Outcome<'a> {
    let (source, destination) = (call.key(), call.argument(2));
    if call.store.view::<List>(source, call.now)?.is_none() {
        call.reply.null();
        return Ok(());
    }
    call.store.view::<List>(destination, call.now)?;
    if source == destination {
        // The list must not cease to exist in between.
        call.store.update(source, call.now, |list: &mut List, _| {
            let element = list.pop(from).unwrap_or_default();
            list.push(to, &element);
            call.reply.bulk(&element);
            changed(())
        })?;
        return Ok(());
    }
    let popped = call.store.update(source, call.now, |list: &mut List, _| {
        changed(list.pop(from))
    })?;
    let element = popped.flatten().unwrap_or_default();
    call.store
        .update_or_create(destination, call.now, |list: &mut List, _| {
            list.push(to, &element);
            changed(())
        })?;
    call.reply.bulk(&element);
    Ok(())
}

/// `LMPOP numkeys key [key …] <LEFT | RIGHT> [COUNT count]`
pub(super) fn lmpop<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let count = parse_integer(call.argument(1)).filter(|&count| count > 0);
    let keys = usize::try_from(count.ok_or(DataError::KeyCount)?).unwrap_or(usize::MAX);
    if keys.saturating_add(2) >= call.arguments.len() {
        return Err(CommandError::Syntax.into());
    }
    let end = end(call.argument(keys + 2))?;
    let words = call.arguments.skip(keys + 3);
    let count = match (words.get(0), words.get(1)) {
        (None, _) => 1,
        (Some(word), Some(count)) if word.eq_ignore_ascii_case(b"count") && words.len() == 2 => {
            let count = parse_integer(count).filter(|&count| count > 0);
            usize::try_from(count.ok_or(DataError::CountNotPositive)?).unwrap_or(usize::MAX)
        }
        _ => return Err(CommandError::Syntax.into()),
    };
    for key in call.arguments.skip(2).iter().take(keys) {
        let change = |list: &mut List, _: &RandomState| take(list, end, count);
        if let Some(popped) = call.store.update(key, call.now, change)? {
            call.reply.array(2);
            call.reply.bulk(key);
            write_all(call, &popped);
            return Ok(());
        }
    }
    call.reply.null_array();
    Ok(())
}

struct PositionOptions {
    rank: i64,
    count: Option<usize>,
    length_max: usize,
}

impl PositionOptions {
    fn parse<'a>(call: &Call<'a, '_>) -> Result<Self, DataError<'a>> {
        let mut options = Self {
            rank: 1,
            count: None,
            length_max: 0,
        };
        let mut words = call.arguments.skip(3).iter();
        while let Some(word) = words.next() {
            let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
            let value = words.next().ok_or(CommandError::Syntax)?;
            let natural = || parse_integer(value).and_then(|value| usize::try_from(value).ok());
            if is("rank") {
                options.rank = parse::integer(value)?;
                if options.rank == 0 {
                    return Err(DataError::RankIsZero);
                }
            } else if is("count") {
                options.count = Some(natural().ok_or(DataError::NegativeCount)?);
            } else if is("maxlen") {
                options.length_max = natural().ok_or(DataError::NegativeMaxLen)?;
            } else {
                return Err(CommandError::Syntax.into());
            }
        }
        Ok(options)
    }
}

/// `LPOS key element [RANK rank] [COUNT count] [MAXLEN length]`
pub(super) fn lpos<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let options = PositionOptions::parse(call)?;
    let element = call.argument(2);
    let list = call.store.collection::<List>(call.key(), call.now)?;
    let or_all = |number: usize| if number == 0 { usize::MAX } else { number };
    let skipped = usize::try_from(options.rank.unsigned_abs() - 1).unwrap_or(usize::MAX);
    let count = or_all(options.count.unwrap_or(1));
    let found: Vec<usize> = list.map_or_else(Vec::new, |list| {
        let all: Box<dyn Iterator<Item = (usize, &[u8])>> = if options.rank < 0 {
            Box::new((0..list.len()).rev().zip(list.iter().rev()))
        } else {
            Box::new(list.iter().enumerate())
        };
        all.take(or_all(options.length_max))
            .filter(|(_, it)| *it == element)
            .map(|(at, _)| at)
            .skip(skipped)
            .take(count)
            .collect()
    });
    match (options.count, found.first()) {
        (Some(_), _) => {
            call.reply.array(found.len());
            found.iter().for_each(|&at| call.count(at));
        }
        (None, Some(&at)) => call.count(at),
        (None, None) => call.reply.null(),
    }
    Ok(())
}
