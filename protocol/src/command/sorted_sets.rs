//! Sorted sets.

use super::Command;
use super::argument::{KEY, Kind, block, integer, new, one_of, string, word};
use super::flags::{Categories, Flags, Group, KeyFlags};
use super::record::{KeySpec, Record};

const BASE: Record = Record::base(Group::SortedSet, Categories::SORTEDSET);

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::ZAdd,
        name: "zadd",
        arity: -4,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        since: "1.2.0",
        summary: "Adds members to a sorted set or changes their scores.",
        complexity: "O(log(N)) per member given, N being the size of the sorted set.",
        arguments: &[
            KEY,
            one_of("condition", &[word("nx", "NX"), word("xx", "XX")])
                .optional()
                .since("3.0.2"),
            one_of("comparison", &[word("gt", "GT"), word("lt", "LT")])
                .optional()
                .since("6.2.0"),
            word("change", "CH").optional().since("3.0.2"),
            word("increment", "INCR").optional().since("3.0.2"),
            block("data", &[new("score", Kind::Double), string("member")]).multiple(),
        ],
        ..BASE
    },
    Record {
        command: Command::ZScore,
        name: "zscore",
        arity: 3,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "1.2.0",
        summary: "Answers the score of a member of a sorted set.",
        arguments: &[KEY, string("member")],
        ..BASE
    },
    Record {
        command: Command::ZMScore,
        name: "zmscore",
        arity: -3,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "6.2.0",
        summary: "Answers the scores of several members of a sorted set.",
        complexity: "O(N) in the number of members given.",
        arguments: &[KEY, string("member").multiple()],
        ..BASE
    },
    Record {
        command: Command::ZRem,
        name: "zrem",
        arity: -3,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::DELETES)],
        since: "1.2.0",
        summary: "Removes members of a sorted set, and the set when none is left.",
        complexity: "O(M*log(N)) for M members given and a sorted set of N.",
        arguments: &[KEY, string("member").multiple()],
        ..BASE
    },
    Record {
        command: Command::ZCard,
        name: "zcard",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::RO)],
        since: "1.2.0",
        summary: "Answers the number of members of a sorted set.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::ZRange,
        name: "zrange",
        arity: -4,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "1.2.0",
        summary: "Answers the members of a sorted set within a range of ranks, scores or names.",
        complexity: "O(log(N)+M) for a sorted set of N and M members answered.",
        arguments: &[
            KEY,
            string("start"),
            string("stop"),
            one_of(
                "sortby",
                &[word("byscore", "BYSCORE"), word("bylex", "BYLEX")],
            )
            .optional()
            .since("6.2.0"),
            word("rev", "REV").optional().since("6.2.0"),
            block("limit", &[integer("offset"), integer("count")])
                .after("LIMIT")
                .optional()
                .since("6.2.0"),
            word("withscores", "WITHSCORES").optional(),
        ],
        ..BASE
    },
    Record {
        command: Command::ZRank,
        name: "zrank",
        arity: -3,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.0.0",
        summary: "Answers at which place a member stands, counted from the lowest score.",
        complexity: "O(log(N)) in the size of the sorted set.",
        arguments: &[
            KEY,
            string("member"),
            word("withscore", "WITHSCORE").optional().since("7.2.0"),
        ],
        ..BASE
    },
    Record {
        command: Command::ZRevRank,
        name: "zrevrank",
        arity: -3,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.0.0",
        summary: "Answers at which place a member stands, counted from the highest score.",
        complexity: "O(log(N)) in the size of the sorted set.",
        arguments: &[
            KEY,
            string("member"),
            word("withscore", "WITHSCORE").optional().since("7.2.0"),
        ],
        ..BASE
    },
    Record {
        command: Command::ZIncrBy,
        name: "zincrby",
        arity: 4,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::READS_AND_UPDATES)],
        since: "1.2.0",
        summary: "Adds to the score of a member of a sorted set.",
        complexity: "O(log(N)) in the size of the sorted set.",
        arguments: &[KEY, integer("increment"), string("member")],
        ..BASE
    },
    Record {
        command: Command::ZCount,
        name: "zcount",
        arity: 4,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.0.0",
        summary: "Counts the members of a sorted set within a range of scores.",
        complexity: "O(log(N)) in the size of the sorted set.",
        arguments: &[KEY, new("min", Kind::Double), new("max", Kind::Double)],
        ..BASE
    },
];
