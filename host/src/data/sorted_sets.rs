//! Sorted sets, one member at a time.

use ahash::RandomState;
use goblin_protocol::command::CommandError;
use goblin_protocol::resp::Arguments;

use super::error::DataError;
use super::{Call, Outcome, parse, write_score};
use crate::store::{Changed, SortedSet};

/// What `ZADD` does with its pairs.
#[derive(Clone, Copy, Default)]
struct AddOptions {
    if_absent: bool,
    if_present: bool,
    if_greater: bool,
    if_less: bool,
    counts_changes: bool,
    increments: bool,
}

/// What became of a member.
#[derive(Clone, Copy)]
enum Added {
    /// The options forbade it.
    Skipped,
    /// It had that score already.
    Same(f64),
    /// It has another score.
    Changed(f64),
    /// It was not there.
    New(f64),
}

#[derive(Default)]
struct AddedCounts {
    new: usize,
    changed: usize,
    /// The score of the last member that was not skipped.
    score: Option<f64>,
}

/// `ZADD key [NX | XX] [GT | LT] [CH] [INCR] score member [score member …]`
pub(super) fn zadd<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let (options, pairs) = AddOptions::parse(call.arguments.skip(2));
    if pairs.is_empty() || !pairs.len().is_multiple_of(2) {
        return Err(CommandError::Syntax.into());
    }
    options.check(pairs.len() / 2)?;
    add(call, options, pairs)
}

/// `ZINCRBY key increment member`
pub(super) fn zincrby<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let options = AddOptions {
        increments: true,
        ..AddOptions::default()
    };
    add(call, options, call.arguments.skip(2))
}

fn add<'a>(call: &mut Call<'a, '_>, options: AddOptions, pairs: Arguments<'a>) -> Outcome<'a> {
    // All must be numbers before anything changes.
    for score in pairs.iter().step_by(2) {
        parse::score(score)?;
    }
    let change = |set: &mut SortedSet, seeds: &RandomState| {
        let answer = add_pairs(set, options, pairs, seeds);
        let is_changed = answer
            .as_ref()
            .is_ok_and(|counts| counts.new + counts.changed > 0);
        Changed { answer, is_changed }
    };
    let counts = if options.if_present {
        call.store
            .update(call.key(), call.now, change)?
            .unwrap_or(Ok(AddedCounts::default()))?
    } else {
        call.store
            .update_or_create(call.key(), call.now, change)??
    };
    if options.increments {
        write_score(call.reply, counts.score);
    } else {
        call.count(
            counts.new
                + if options.counts_changes {
                    counts.changed
                } else {
                    0
                },
        );
    }
    Ok(())
}

fn add_pairs(
    set: &mut SortedSet,
    options: AddOptions,
    pairs: Arguments<'_>,
    seeds: &RandomState,
) -> Result<AddedCounts, DataError<'static>> {
    let (mut words, mut counts) = (pairs.iter(), AddedCounts::default());
    while let (Some(score), Some(member)) = (words.next(), words.next()) {
        let score = parse::score(score)?;
        let mut added = Ok(Added::Skipped);
        set.update(member, seeds, |present| {
            added = options.apply(present, score);
            match added {
                Ok(Added::Changed(score) | Added::New(score)) => Some(score),
                _ => None,
            }
        });
        match added? {
            Added::Skipped => {}
            Added::Same(score) => counts.score = Some(score),
            Added::Changed(score) => {
                counts.changed += 1;
                counts.score = Some(score);
            }
            Added::New(score) => {
                counts.new += 1;
                counts.score = Some(score);
            }
        }
    }
    Ok(counts)
}

impl AddOptions {
    /// The options at the front, and what follows them.
    fn parse(words: Arguments<'_>) -> (Self, Arguments<'_>) {
        let (mut options, mut count) = (Self::default(), 0);
        for word in words.iter() {
            let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
            let option = if is("nx") {
                &mut options.if_absent
            } else if is("xx") {
                &mut options.if_present
            } else if is("gt") {
                &mut options.if_greater
            } else if is("lt") {
                &mut options.if_less
            } else if is("ch") {
                &mut options.counts_changes
            } else if is("incr") {
                &mut options.increments
            } else {
                break;
            };
            *option = true;
            count += 1;
        }
        (options, words.skip(count))
    }

    fn check(&self, pairs: usize) -> Result<(), DataError<'static>> {
        if self.if_absent && self.if_present {
            return Err(DataError::MemberConditions);
        }
        let comparisons = [self.if_absent, self.if_greater, self.if_less];
        if comparisons.iter().filter(|&&given| given).count() > 1 {
            return Err(DataError::ScoreConditions);
        }
        if self.increments && pairs > 1 {
            return Err(DataError::SingleIncrement);
        }
        Ok(())
    }

    fn apply(&self, present: Option<f64>, score: f64) -> Result<Added, DataError<'static>> {
        let Some(present) = present else {
            let is_added = !self.if_present;
            return Ok(if is_added {
                Added::New(score)
            } else {
                Added::Skipped
            });
        };
        if self.if_absent {
            return Ok(Added::Skipped);
        }
        let score = if self.increments {
            present + score
        } else {
            score
        };
        if score.is_nan() {
            return Err(DataError::ScoreNotANumber);
        }
        Ok(
            if self.if_greater && score <= present || self.if_less && score >= present {
                Added::Skipped
            } else if score == present {
                Added::Same(score)
            } else {
                Added::Changed(score)
            },
        )
    }
}

/// `ZSCORE key member`
pub(super) fn zscore<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let set = call.store.collection::<SortedSet>(call.key(), call.now)?;
    let score = set.and_then(|set| set.score(call.arguments.get(2)?));
    write_score(call.reply, score);
    Ok(())
}

/// `ZMSCORE key member [member …]`
pub(super) fn zmscore<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let members = call.arguments.skip(2);
    let set = call.store.collection::<SortedSet>(call.key(), call.now)?;
    call.reply.array(members.len());
    for member in members.iter() {
        write_score(call.reply, set.and_then(|set| set.score(member)));
    }
    Ok(())
}

/// `ZREM key member [member …]`
pub(super) fn zrem<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let members = call.arguments.skip(2);
    let removed = call
        .store
        .update(call.key(), call.now, |set: &mut SortedSet, _| {
            let removed = members.iter().filter(|member| set.remove(member)).count();
            Changed {
                answer: removed,
                is_changed: removed > 0,
            }
        })?;
    call.count(removed.unwrap_or(0));
    Ok(())
}

/// `ZCARD key`
pub(super) fn zcard<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let set = call.store.collection::<SortedSet>(call.key(), call.now)?;
    let count = set.map_or(0, SortedSet::len);
    call.count(count);
    Ok(())
}

/// `ZRANK key member [WITHSCORE]`
pub(super) fn zrank<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    answer_rank(call, |rank, _| rank)
}

/// `ZREVRANK key member [WITHSCORE]`
pub(super) fn zrevrank<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    answer_rank(call, |rank, count| count - 1 - rank)
}

fn answer_rank<'a>(
    call: &mut Call<'a, '_>,
    shown: impl FnOnce(usize, usize) -> usize,
) -> Outcome<'a> {
    let with_score = call.arguments.get(3);
    if call.arguments.len() > 4 {
        return Err(DataError::wrong_arity(call.command));
    }
    if with_score.is_some_and(|word| !word.eq_ignore_ascii_case(b"withscore")) {
        return Err(CommandError::Syntax.into());
    }
    let set = call.store.collection::<SortedSet>(call.key(), call.now)?;
    let found = set.and_then(|set| {
        let (rank, score) = set.rank(call.arguments.get(2)?)?;
        Some((shown(rank, set.len()), score))
    });
    match (found, with_score) {
        (None, None) => call.reply.null(),
        (None, Some(_)) => call.reply.null_array(),
        (Some((rank, _)), None) => call.count(rank),
        (Some((rank, score)), Some(_)) => {
            call.reply.array(2);
            call.count(rank);
            call.reply.double(score);
        }
    }
    Ok(())
}
