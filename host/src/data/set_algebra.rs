//! Sets combined: intersection, union, difference.

use goblin_protocol::command::CommandError;
use goblin_protocol::resp::parse_integer;
use goblin_protocol::time::Now;

use super::error::DataError;
use super::{Call, Outcome, write_text};
use crate::store::{Digits, Set, Store, Text};

#[derive(Clone, Copy)]
enum Combination {
    Intersection,
    Union,
    Difference,
}

/// `SMEMBERS key`, and `SINTER key [key …]`, of which it is the simplest case
pub(super) fn sinter<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    answer(call, Combination::Intersection)
}

/// `SUNION key [key …]`
pub(super) fn sunion<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    answer(call, Combination::Union)
}

/// `SDIFF key [key …]`
pub(super) fn sdiff<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    answer(call, Combination::Difference)
}

/// `SINTERSTORE destination key [key …]`
pub(super) fn sinterstore<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    store(call, Combination::Intersection)
}

/// `SUNIONSTORE destination key [key …]`
pub(super) fn sunionstore<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    store(call, Combination::Union)
}

/// `SDIFFSTORE destination key [key …]`
pub(super) fn sdiffstore<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    store(call, Combination::Difference)
}

/// `SINTERCARD numkeys key [key …] [LIMIT limit]`
pub(super) fn sintercard<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let (keys, limit) = counted_keys(call)?;
    let sets = views(call.store, keys, call.now)?;
    let count = intersection(&sets).take(limit).count();
    call.count(count);
    Ok(())
}

/// The keys of `numkeys key [key …] [LIMIT limit]`, and the limit.
fn counted_keys<'a>(
    call: &Call<'a, '_>,
) -> Result<(impl Iterator<Item = &'a [u8]> + use<'a>, usize), DataError<'a>> {
    let count = parse_integer(call.argument(1)).filter(|&count| count > 0);
    let count = usize::try_from(count.ok_or(DataError::KeyCount)?).unwrap_or(usize::MAX);
    if count > call.arguments.len() - 2 {
        return Err(DataError::KeyCountBeyondArguments);
    }
    let mut limit = usize::MAX;
    let mut words = call.arguments.skip(count + 2).iter();
    while let Some(word) = words.next() {
        let value = words.next();
        let (true, Some(value)) = (word.eq_ignore_ascii_case(b"limit"), value) else {
            return Err(CommandError::Syntax.into());
        };
        let value = parse_integer(value).and_then(|value| usize::try_from(value).ok());
        limit = match value.ok_or(DataError::NegativeLimit)? {
            0 => usize::MAX,
            limit => limit,
        };
    }
    Ok((call.arguments.skip(2).iter().take(count), limit))
}

fn answer<'a>(call: &mut Call<'a, '_>, combination: Combination) -> Outcome<'a> {
    let sets = views(call.store, call.arguments.skip(1).iter(), call.now)?;
    let union;
    let members = match combination {
        Combination::Intersection => intersection(&sets).collect::<Vec<_>>(),
        Combination::Difference => difference(&sets).collect(),
        Combination::Union => {
            union = union_of(&sets, call.store);
            union.iter().collect()
        }
    };
    call.reply.set(members.len());
    for member in members {
        write_text(call.reply, Some(member));
    }
    Ok(())
}

fn store<'a>(call: &mut Call<'a, '_>, combination: Combination) -> Outcome<'a> {
    let sets = views(call.store, call.arguments.skip(2).iter(), call.now)?;
    let result = match combination {
        Combination::Intersection => collected(intersection(&sets), call.store),
        Combination::Difference => collected(difference(&sets), call.store),
        Combination::Union => union_of(&sets, call.store),
    };
    let count = result.len();
    call.store.put(call.key(), result, call.now);
    call.count(count);
    Ok(())
}

/// The sets that keys hold, `None` where there is none.
fn views<'s, 'k>(
    store: &'s Store,
    keys: impl Iterator<Item = &'k [u8]>,
    now: Now,
) -> Result<Vec<Option<&'s Set>>, DataError<'static>> {
    keys.map(|key| Ok(store.view::<Set>(key, now)?)).collect()
}

/// Walks the smallest set and looks into the others.
fn intersection<'s>(sets: &[Option<&'s Set>]) -> impl Iterator<Item = Text<'s>> {
    let has_all = sets.iter().all(Option::is_some);
    let mut sets: Vec<&'s Set> = sets.iter().copied().flatten().filter(|_| has_all).collect();
    sets.sort_by_key(|set| set.len());
    let smallest = sets.first().copied();
    let members = smallest.into_iter().flat_map(Set::iter);
    members.filter(move |member| sets.iter().skip(1).all(|set| has(set, *member)))
}

fn difference<'s>(sets: &[Option<&'s Set>]) -> impl Iterator<Item = Text<'s>> {
    let first = sets.first().copied().flatten();
    let others: Vec<&'s Set> = sets.iter().skip(1).copied().flatten().collect();
    let members = first.into_iter().flat_map(Set::iter);
    members.filter(move |member| !others.iter().any(|set| has(set, *member)))
}

fn union_of(sets: &[Option<&Set>], store: &Store) -> Set {
    collected(sets.iter().copied().flatten().flat_map(Set::iter), store)
}

fn collected<'s>(members: impl Iterator<Item = Text<'s>>, store: &Store) -> Set {
    let mut set = Set::new();
    for member in members {
        set.add(member.bytes(&mut Digits::default()), store.seeds());
    }
    set
}

fn has(set: &Set, member: Text<'_>) -> bool {
    set.contains(member.bytes(&mut Digits::default()))
}
