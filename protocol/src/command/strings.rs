//! Strings.

use super::Command;
use super::argument::{KEY, Kind, block, integer, new, one_of, string, word};
use super::flags::{Categories, Flags, Group, KeyFlags};
use super::record::{KeySpec, Record};

const BASE: Record = Record::base(Group::String, Categories::STRING);

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::Set,
        name: "set",
        arity: -3,
        flags: Flags::STORES,
        keys: &[KeySpec {
            notes: Some("With GET the old value is read as well."),
            ..KeySpec::one(KeyFlags::READS_AND_UPDATES.union(KeyFlags::VARIABLE_FLAGS))
        }],
        summary: "Stores a string under a key, whatever was there before.",
        arguments: &[
            KEY,
            string("value"),
            one_of("condition", &[word("nx", "NX"), word("xx", "XX")])
                .optional()
                .since("2.6.12"),
            word("get", "GET").optional().since("6.2.0"),
            one_of(
                "expiration",
                &[
                    integer("seconds").after("EX").since("2.6.12"),
                    integer("milliseconds").after("PX").since("2.6.12"),
                    new("unix-time-seconds", Kind::UnixTime)
                        .after("EXAT")
                        .since("6.2.0"),
                    new("unix-time-milliseconds", Kind::UnixTime)
                        .after("PXAT")
                        .since("6.2.0"),
                    word("keepttl", "KEEPTTL").since("6.0.0"),
                ],
            )
            .optional(),
        ],
        ..BASE
    },
    Record {
        command: Command::Get,
        name: "get",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        summary: "Answers the string of a key.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::MGet,
        name: "mget",
        arity: -2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::all(KeyFlags::READS)],
        summary: "Answers the strings of several keys.",
        complexity: "O(N) in the number of keys.",
        arguments: &[KEY.multiple()],
        tips: &["request_policy:multi_shard"],
        ..BASE
    },
    Record {
        command: Command::MSet,
        name: "mset",
        arity: -3,
        flags: Flags::STORES,
        keys: &[KeySpec {
            step: 2,
            ..KeySpec::all(KeyFlags::REPLACES)
        }],
        since: "1.0.1",
        summary: "Stores several strings at once.",
        complexity: "O(N) in the number of keys.",
        arguments: &[block("data", &[KEY, string("value")]).multiple()],
        tips: &[
            "request_policy:multi_shard",
            "response_policy:all_succeeded",
        ],
        ..BASE
    },
    Record {
        command: Command::StrLen,
        name: "strlen",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::RO)],
        since: "2.2.0",
        summary: "Answers the length of a string.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::Append,
        name: "append",
        arity: 3,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::RW.union(KeyFlags::INSERT))],
        since: "2.0.0",
        summary: "Adds to the end of a string, creating it when there is none.",
        complexity: "O(1) amortized over the growth of the string.",
        arguments: &[KEY, string("value")],
        ..BASE
    },
    Record {
        command: Command::GetDel,
        name: "getdel",
        arity: 2,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::DELETES.union(KeyFlags::ACCESS))],
        since: "6.2.0",
        summary: "Answers the string of a key and removes the key.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::GetSet,
        name: "getset",
        arity: 3,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::READS_AND_UPDATES)],
        summary: "Stores a string and answers the one it replaces.",
        arguments: &[KEY, string("value")],
        ..BASE
    },
    Record {
        command: Command::SetNx,
        name: "setnx",
        arity: 3,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::OW.union(KeyFlags::INSERT))],
        summary: "Stores a string unless the key exists.",
        arguments: &[KEY, string("value")],
        ..BASE
    },
    Record {
        command: Command::SetEx,
        name: "setex",
        arity: 4,
        flags: Flags::STORES,
        keys: &[KeySpec::one(KeyFlags::REPLACES)],
        since: "2.0.0",
        summary: "Stores a string that expires after seconds.",
        arguments: &[KEY, integer("seconds"), string("value")],
        ..BASE
    },
    Record {
        command: Command::PSetEx,
        name: "psetex",
        arity: 4,
        flags: Flags::STORES,
        keys: &[KeySpec::one(KeyFlags::REPLACES)],
        since: "2.6.0",
        summary: "Stores a string that expires after milliseconds.",
        arguments: &[KEY, integer("milliseconds"), string("value")],
        ..BASE
    },
    Record {
        command: Command::Incr,
        name: "incr",
        arity: 2,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::READS_AND_UPDATES)],
        summary: "Adds one to the whole number in a string.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::Decr,
        name: "decr",
        arity: 2,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::READS_AND_UPDATES)],
        summary: "Subtracts one from the whole number in a string.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::IncrBy,
        name: "incrby",
        arity: 3,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::READS_AND_UPDATES)],
        summary: "Adds to the whole number in a string.",
        arguments: &[KEY, integer("increment")],
        ..BASE
    },
    Record {
        command: Command::DecrBy,
        name: "decrby",
        arity: 3,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::READS_AND_UPDATES)],
        summary: "Subtracts from the whole number in a string.",
        arguments: &[KEY, integer("decrement")],
        ..BASE
    },
    Record {
        command: Command::GetEx,
        name: "getex",
        arity: -2,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec {
            notes: Some("Only reads it when every operation is GET."),
            ..KeySpec::one(KeyFlags::READS_AND_UPDATES)
        }],
        since: "6.2.0",
        summary: "Answers the string of a key and changes when the key expires.",
        arguments: &[
            KEY,
            one_of(
                "expiration",
                &[
                    integer("seconds").after("EX"),
                    integer("milliseconds").after("PX"),
                    new("unix-time-seconds", Kind::UnixTime).after("EXAT"),
                    new("unix-time-milliseconds", Kind::UnixTime).after("PXAT"),
                    word("persist", "PERSIST"),
                ],
            )
            .optional(),
        ],
        ..BASE
    },
    Record {
        command: Command::SetRange,
        name: "setrange",
        arity: 4,
        flags: Flags::STORES,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        since: "2.2.0",
        summary: "Overwrites a part of a string, creating or lengthening it where needed.",
        complexity: "O(N) in the bytes written and in what the string grows by.",
        arguments: &[KEY, integer("offset"), string("value")],
        ..BASE
    },
    Record {
        command: Command::GetRange,
        name: "getrange",
        arity: 4,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.4.0",
        summary: "Answers a part of a string.",
        complexity: "O(N) in the bytes answered.",
        arguments: &[KEY, integer("start"), integer("end")],
        ..BASE
    },
    Record {
        command: Command::SubStr,
        name: "substr",
        arity: 4,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        summary: "Answers a part of a string.",
        complexity: "O(N) in the bytes answered.",
        arguments: &[KEY, integer("start"), integer("end")],
        ..BASE
    },
    Record {
        command: Command::IncrByFloat,
        name: "incrbyfloat",
        arity: 3,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::READS_AND_UPDATES)],
        since: "2.6.0",
        summary: "Adds to the number in a string, with fractions.",
        arguments: &[KEY, new("increment", Kind::Double)],
        ..BASE
    },
    Record {
        command: Command::Lcs,
        name: "lcs",
        arity: -3,
        flags: Flags::READONLY,
        keys: &[KeySpec {
            last: 1,
            ..KeySpec::one(KeyFlags::READS)
        }],
        since: "7.0.0",
        summary: "Answers the longest common subsequence of two strings.",
        complexity: "O(N*M) in the lengths of the strings.",
        arguments: &[
            new("key1", Kind::Key),
            new("key2", Kind::Key),
            word("len", "LEN").optional(),
            word("idx", "IDX").optional(),
            integer("len").after("MINMATCHLEN").optional(),
            word("withmatchlen", "WITHMATCHLEN").optional(),
        ],
        ..BASE
    },
    Record {
        command: Command::MSetNx,
        name: "msetnx",
        arity: -3,
        flags: Flags::STORES,
        keys: &[KeySpec {
            step: 2,
            ..KeySpec::all(KeyFlags::OW.union(KeyFlags::INSERT))
        }],
        since: "1.0.1",
        summary: "Stores several strings at once, unless one of the keys exists.",
        complexity: "O(N) in the number of keys.",
        arguments: &[block("key-value", &[KEY, string("value")]).multiple()],
        tips: &["request_policy:multi_shard", "response_policy:agg_min"],
        ..BASE
    },
];
