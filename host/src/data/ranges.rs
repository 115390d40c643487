//! Ranges of sorted sets: by rank, by score, by member. Whatever they are given by becomes a range
//! of ranks first, which costs one or two paths through the tree.

use std::ops::Range;

use goblin_protocol::command::CommandError;
use goblin_protocol::resp::{Arguments, Version, Writer};

use super::error::DataError;
use super::parse::{self, MemberBound, ScoreBound};
use super::{Call, Outcome};
use crate::store::{Entry, SortedSet};

/// `ZCOUNT key min max`
pub(super) fn zcount<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let min = ScoreBound::parse(call.argument(2))?;
    let max = ScoreBound::parse(call.argument(3))?;
    let set = call.store.collection::<SortedSet>(call.key(), call.now)?;
    let count = set.map_or(0, |set| Bounds::Scores(min, max).ranks(set).len());
    call.count(count);
    Ok(())
}

/// `ZRANGE key start stop [BYSCORE | BYLEX] [REV] [LIMIT offset count] [WITHSCORES]`
pub(super) fn zrange<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let options = RangeOptions::parse(call.arguments.skip(4))?;
    let (start, stop) = (call.argument(2), call.argument(3));
    // By score or member the higher bound comes first in reverse; ranks just count from the end.
    let (min, max) = if options.reversed {
        (stop, start)
    } else {
        (start, stop)
    };
    let bounds = match options.by {
        By::Rank => Bounds::Ranks(parse::integer(start)?, parse::integer(stop)?),
        By::Score => Bounds::Scores(ScoreBound::parse(min)?, ScoreBound::parse(max)?),
        By::Member => Bounds::Members(MemberBound::parse(min)?, MemberBound::parse(max)?),
    };
    let set = call.store.collection::<SortedSet>(call.key(), call.now)?;
    let Some(set) = set else {
        call.reply.array(0);
        return Ok(());
    };
    let ranks = options.limit(match (bounds, options.reversed) {
        (Bounds::Ranks(..), true) => mirror(bounds.ranks(set), set.len()),
        _ => bounds.ranks(set),
    });
    call.reply
        .array(options.elements(ranks.len(), call.reply.version()));
    if options.reversed {
        set.range_reversed(ranks)
            .for_each(|entry| options.write(call.reply, entry));
    } else {
        set.range(ranks)
            .for_each(|entry| options.write(call.reply, entry));
    }
    Ok(())
}

/// What a range is given by.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Rank,
    Score,
    Member,
}

#[derive(Clone, Copy)]
enum Bounds<'a> {
    /// First and last; negative ones count from the end.
    Ranks(i64, i64),
    Scores(ScoreBound, ScoreBound),
    Members(MemberBound<'a>, MemberBound<'a>),
}

impl Bounds<'_> {
    /// The ranks of the members within the bounds.
    fn ranks(self, set: &SortedSet) -> Range<usize> {
        let (start, end) = match self {
            Self::Ranks(first, last) => {
                let end = last.saturating_add(1);
                let end = if last == -1 {
                    set.len()
                } else {
                    from_either_end(end, set.len())
                };
                (from_either_end(first, set.len()), end)
            }
            Self::Scores(min, max) => (
                set.count_before(|entry| min.begins_after(&entry)),
                set.count_before(|entry| max.ends_after(&entry)),
            ),
            Self::Members(min, max) => (
                set.count_before(|entry| min.begins_after(&entry)),
                set.count_before(|entry| max.ends_after(&entry)),
            ),
        };
        start..end.max(start)
    }
}

/// A rank that counts from the end when negative, brought within `0..=count`.
fn from_either_end(rank: i64, count: usize) -> usize {
    let distance = usize::try_from(rank.unsigned_abs()).unwrap_or(usize::MAX);
    if rank < 0 {
        count.saturating_sub(distance)
    } else {
        distance.min(count)
    }
}

/// The same ranks counted from the other end.
fn mirror(ranks: Range<usize>, count: usize) -> Range<usize> {
    count - ranks.end..count - ranks.start
}

struct RangeOptions {
    by: By,
    reversed: bool,
    with_scores: bool,
    offset: i64,
    /// All when negative.
    count: i64,
}

impl RangeOptions {
    fn parse(words: Arguments<'_>) -> Result<Self, DataError<'static>> {
        let mut options = Self {
            by: By::Rank,
            reversed: false,
            with_scores: false,
            offset: 0,
            count: -1,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
            if is("withscores") {
                options.with_scores = true;
            } else if is("limit") && words.len() >= 2 {
                options.offset = parse::integer(words.next().unwrap_or_default())?;
                options.count = parse::integer(words.next().unwrap_or_default())?;
            } else if is("rev") && !options.reversed {
                options.reversed = true;
            } else if is("bylex") && options.by == By::Rank {
                options.by = By::Member;
            } else if is("byscore") && options.by == By::Rank {
                options.by = By::Score;
            } else {
                return Err(CommandError::Syntax.into());
            }
        }
        match options.by {
            By::Rank if options.count != -1 => Err(DataError::LimitOfRanks),
            By::Member if options.with_scores => Err(DataError::ScoresOfMemberRange),
            _ => Ok(options),
        }
    }

    /// What `LIMIT` leaves of a range, whose beginning is its end in reverse.
    fn limit(&self, ranks: Range<usize>) -> Range<usize> {
        if self.by == By::Rank {
            return ranks;
        }
        // A negative offset skips everything.
        let offset = usize::try_from(self.offset)
            .unwrap_or(usize::MAX)
            .min(ranks.len());
        let count = usize::try_from(self.count)
            .unwrap_or(usize::MAX)
            .min(ranks.len() - offset);
        if self.reversed {
            let end = ranks.end - offset;
            end - count..end
        } else {
            let start = ranks.start + offset;
            start..start + count
        }
    }

    /// How many elements the reply has: in RESP2 scores stand beside their members, in RESP3 each
    /// member is in a pair with its score.
    fn elements(&self, members: usize, version: Version) -> usize {
        match version {
            Version::Resp2 if self.with_scores => members * 2,
            _ => members,
        }
    }

    fn write(&self, reply: &mut Writer<'_>, entry: Entry<'_>) {
        if self.with_scores && reply.version() == Version::Resp3 {
            reply.array(2);
        }
        reply.bulk(entry.member());
        if self.with_scores {
            reply.double(entry.score());
        }
    }
}
