//! Sets, one at a time or two.

use ahash::RandomState;
use goblin_protocol::command::CommandError;
use goblin_protocol::resp::parse_integer;

use super::error::DataError;
use super::{Call, Outcome, parse, write_text};
use crate::store::{Changed, Digits, Random, Set};

/// `SADD key member [member …]`
pub(super) fn sadd<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let members = call.arguments.skip(2);
    let change = |set: &mut Set, seeds: &RandomState| {
        counted(
            members
                .iter()
                .filter(|member| set.add(member, seeds))
                .count(),
        )
    };
    let added = call.store.update_or_create(call.key(), call.now, change)?;
    call.count(added);
    Ok(())
}

/// `SREM key member [member …]`
pub(super) fn srem<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let members = call.arguments.skip(2);
    let change = |set: &mut Set, _: &RandomState| {
        counted(members.iter().filter(|it| set.remove(it)).count())
    };
    let removed = call.store.update(call.key(), call.now, change)?;
    call.count(removed.unwrap_or(0));
    Ok(())
}

fn counted(count: usize) -> Changed<usize> {
    Changed {
        answer: count,
        is_changed: count > 0,
    }
}

/// `SISMEMBER key member`
pub(super) fn sismember<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let set = call.store.collection::<Set>(call.key(), call.now)?;
    let is_member = set.is_some_and(|set| set.contains(call.arguments.get(2).unwrap_or_default()));
    call.reply.integer(i64::from(is_member));
    Ok(())
}

/// `SMISMEMBER key member [member …]`
pub(super) fn smismember<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let members = call.arguments.skip(2);
    let set = call.store.collection::<Set>(call.key(), call.now)?;
    call.reply.array(members.len());
    for member in members.iter() {
        let is_member = set.is_some_and(|set| set.contains(member));
        call.reply.integer(i64::from(is_member));
    }
    Ok(())
}

/// `SCARD key`
pub(super) fn scard<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let set = call.store.collection::<Set>(call.key(), call.now)?;
    let count = set.map_or(0, Set::len);
    call.count(count);
    Ok(())
}

/// `SMOVE source destination member`
pub(super) fn smove<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let (from, to, member) = (call.key(), call.argument(2), call.argument(3));
    let source = call.store.view::<Set>(from, call.now);
    if matches!(source, Ok(None)) {
        call.reply.integer(0);
        return Ok(());
    }
    let is_member = source?.is_some_and(|set| set.contains(member));
    call.store.view::<Set>(to, call.now)?;
    if is_member && from != to {
        call.store.update(from, call.now, |set: &mut Set, _| {
            counted(usize::from(set.remove(member)))
        })?;
        call.store
            .update_or_create(to, call.now, |set: &mut Set, seeds| {
                counted(usize::from(set.add(member, seeds)))
            })?;
    }
    call.reply.integer(i64::from(is_member));
    Ok(())
}

/// `SRANDMEMBER key [count]`
pub(super) fn srandmember<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    if call.arguments.len() > 3 {
        return Err(CommandError::Syntax.into());
    }
    let count = call.arguments.get(2).map(parse::choices).transpose()?;
    let mut random = call.store.random();
    let set = call.store.collection::<Set>(call.key(), call.now)?;
    let Some(count) = count else {
        write_text(call.reply, set.and_then(|set| set.at_random(&mut random)));
        return Ok(());
    };
    let chosen = set.map_or_else(Vec::new, |set| {
        count.choose(&mut random, set.iter(), |random| set.at_random(random))
    });
    call.reply.array(chosen.len());
    for member in chosen {
        write_text(call.reply, Some(member));
    }
    Ok(())
}

/// `SPOP key [count]`
pub(super) fn spop<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    if call.arguments.len() > 3 {
        return Err(CommandError::Syntax.into());
    }
    let count = call.arguments.get(2).map(count_of).transpose()?;
    let mut random = call.store.random();
    let change = |set: &mut Set, _: &RandomState| {
        let popped = pop(set, count.unwrap_or(1), &mut random);
        Changed {
            is_changed: !popped.is_empty(),
            answer: popped,
        }
    };
    let popped = call.store.update(call.key(), call.now, change)?;
    let popped = popped.unwrap_or_default();
    match (count, popped.first()) {
        (None, Some(member)) => call.reply.bulk(member),
        (None, None) => call.reply.null(),
        (Some(_), _) => {
            call.reply.set(popped.len());
            popped.iter().for_each(|member| call.reply.bulk(member));
        }
    }
    Ok(())
}

fn count_of(text: &[u8]) -> Result<usize, DataError<'static>> {
    let count = parse_integer(text).and_then(|count| usize::try_from(count).ok());
    count.ok_or(DataError::NotPositive)
}

fn pop(set: &mut Set, count: usize, random: &mut Random) -> Vec<Vec<u8>> {
    if count >= set.len() {
        let members = set.iter();
        let popped = members.map(|member| member.bytes(&mut Digits::default()).to_vec());
        let popped = popped.collect();
        *set = Set::new();
        return popped;
    }
    let mut popped = Vec::with_capacity(count);
    while popped.len() < count {
        let Some(member) = set.at_random(random) else {
            break;
        };
        let member = member.bytes(&mut Digits::default()).to_vec();
        set.remove(&member);
        popped.push(member);
    }
    popped
}
