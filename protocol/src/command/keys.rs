//! Keys, whatever their type.

use super::Command;
use super::argument::{KEY, Kind, integer, new, one_of, string, word};
use super::flags::{Categories, Flags, Group, KeyFlags};
use super::record::{KeySpec, Record};

const BASE: Record = Record::base(Group::Generic, Categories::KEYSPACE);

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::Del,
        name: "del",
        arity: -2,
        flags: Flags::WRITE,
        keys: &[KeySpec::all(KeyFlags::RM.union(KeyFlags::DELETE))],
        summary: "Removes keys.",
        complexity: "O(N) in the number of keys, and for each key that is not a string in its elements.",
        arguments: &[KEY.multiple()],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        ..BASE
    },
    Record {
        command: Command::Exists,
        name: "exists",
        arity: -2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::all(KeyFlags::RO)],
        summary: "Counts how many of the given keys exist.",
        complexity: "O(N) in the number of keys.",
        arguments: &[KEY.multiple()],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        ..BASE
    },
    Record {
        command: Command::Type,
        name: "type",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::RO)],
        summary: "Answers the type of the value of a key.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::Expire,
        name: "expire",
        arity: -3,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        summary: "Lets a key expire after seconds.",
        arguments: &[
            KEY,
            integer("seconds"),
            one_of(
                "condition",
                &[
                    word("nx", "NX"),
                    word("xx", "XX"),
                    word("gt", "GT"),
                    word("lt", "LT"),
                ],
            )
            .optional()
            .since("7.0.0"),
        ],
        ..BASE
    },
    Record {
        command: Command::PExpire,
        name: "pexpire",
        arity: -3,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        since: "2.6.0",
        summary: "Lets a key expire after milliseconds.",
        arguments: &[
            KEY,
            integer("milliseconds"),
            one_of(
                "condition",
                &[
                    word("nx", "NX"),
                    word("xx", "XX"),
                    word("gt", "GT"),
                    word("lt", "LT"),
                ],
            )
            .optional()
            .since("7.0.0"),
        ],
        ..BASE
    },
    Record {
        command: Command::ExpireAt,
        name: "expireat",
        arity: -3,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        since: "1.2.0",
        summary: "Lets a key expire at a time given in seconds.",
        arguments: &[
            KEY,
            new("unix-time-seconds", Kind::UnixTime),
            one_of(
                "condition",
                &[
                    word("nx", "NX"),
                    word("xx", "XX"),
                    word("gt", "GT"),
                    word("lt", "LT"),
                ],
            )
            .optional()
            .since("7.0.0"),
        ],
        ..BASE
    },
    Record {
        command: Command::PExpireAt,
        name: "pexpireat",
        arity: -3,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        since: "2.6.0",
        summary: "Lets a key expire at a time given in milliseconds.",
        arguments: &[
            KEY,
            new("unix-time-milliseconds", Kind::UnixTime),
            one_of(
                "condition",
                &[
                    word("nx", "NX"),
                    word("xx", "XX"),
                    word("gt", "GT"),
                    word("lt", "LT"),
                ],
            )
            .optional()
            .since("7.0.0"),
        ],
        ..BASE
    },
    Record {
        command: Command::Ttl,
        name: "ttl",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        summary: "Answers for how many seconds a key still lives.",
        arguments: &[KEY],
        tips: &["nondeterministic_output"],
        ..BASE
    },
    Record {
        command: Command::PTtl,
        name: "pttl",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.6.0",
        summary: "Answers for how many milliseconds a key still lives.",
        arguments: &[KEY],
        tips: &["nondeterministic_output"],
        ..BASE
    },
    Record {
        command: Command::ExpireTime,
        name: "expiretime",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "7.0.0",
        summary: "Answers when a key expires, in seconds.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::PExpireTime,
        name: "pexpiretime",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "7.0.0",
        summary: "Answers when a key expires, in milliseconds.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::Persist,
        name: "persist",
        arity: 2,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        since: "2.2.0",
        summary: "Takes the expiry off a key.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::Keys,
        name: "keys",
        arity: 2,
        flags: Flags::READONLY,
        extra_categories: Categories::KEYSPACE.union(Categories::DANGEROUS),
        summary: "Lists the keys whose names match a pattern.",
        complexity: "O(N) in the number of keys in the database.",
        arguments: &[new("pattern", Kind::Pattern)],
        tips: &["request_policy:all_shards", "nondeterministic_output_order"],
        ..BASE
    },
    Record {
        command: Command::Unlink,
        name: "unlink",
        arity: -2,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::all(KeyFlags::RM.union(KeyFlags::DELETE))],
        since: "4.0.0",
        summary: "Removes keys; what takes long to free is freed later.",
        complexity: "O(N) in the number of keys.",
        arguments: &[KEY.multiple()],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        ..BASE
    },
    Record {
        command: Command::Touch,
        name: "touch",
        arity: -2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::all(KeyFlags::RO)],
        since: "3.2.1",
        summary: "Counts how many of the given keys exist, as if they were read.",
        complexity: "O(N) in the number of keys.",
        arguments: &[KEY.multiple()],
        tips: &["request_policy:multi_shard", "response_policy:agg_sum"],
        ..BASE
    },
    Record {
        command: Command::Rename,
        name: "rename",
        arity: 3,
        flags: Flags::WRITE,
        keys: &[
            KeySpec::one(KeyFlags::DELETES.union(KeyFlags::ACCESS)),
            KeySpec {
                first: 2,
                ..KeySpec::one(KeyFlags::REPLACES)
            },
        ],
        summary: "Gives a key another name, whatever was there before.",
        arguments: &[KEY, new("newkey", Kind::Key)],
        ..BASE
    },
    Record {
        command: Command::RenameNx,
        name: "renamenx",
        arity: 3,
        flags: Flags::WRITES_FAST,
        keys: &[
            KeySpec::one(KeyFlags::DELETES.union(KeyFlags::ACCESS)),
            KeySpec {
                first: 2,
                ..KeySpec::one(KeyFlags::OW.union(KeyFlags::INSERT))
            },
        ],
        summary: "Gives a key another name unless a key of that name exists.",
        arguments: &[KEY, new("newkey", Kind::Key)],
        ..BASE
    },
    Record {
        command: Command::Copy,
        name: "copy",
        arity: -3,
        flags: Flags::STORES,
        keys: &[
            KeySpec::one(KeyFlags::READS),
            KeySpec {
                first: 2,
                ..KeySpec::one(KeyFlags::REPLACES)
            },
        ],
        since: "6.2.0",
        summary: "Copies the value and the expiry of a key to another key.",
        complexity: "O(N) in the size of a collection.",
        arguments: &[
            new("source", Kind::Key),
            new("destination", Kind::Key),
            integer("destination-db").after("DB").optional(),
            word("replace", "REPLACE").optional(),
        ],
        ..BASE
    },
    Record {
        command: Command::RandomKey,
        name: "randomkey",
        arity: 1,
        flags: Flags::READONLY,
        summary: "Answers the name of any key.",
        tips: &["request_policy:all_shards", "nondeterministic_output"],
        ..BASE
    },
    Record {
        command: Command::Scan,
        name: "scan",
        arity: -2,
        flags: Flags::READONLY,
        since: "2.8.0",
        summary: "Lists the keys bit by bit: each call answers some, and where the next one goes on.",
        complexity: "O(1) per call, O(N) for all N keys.",
        arguments: &[
            integer("cursor"),
            new("pattern", Kind::Pattern).after("MATCH").optional(),
            integer("count").after("COUNT").optional(),
            string("type").after("TYPE").optional().since("6.0.0"),
        ],
        tips: &["nondeterministic_output", "request_policy:special"],
        ..BASE
    },
    Record {
        command: Command::Object,
        name: "object",
        arity: -2,
        extra_categories: Categories::empty(),
        since: "2.2.3",
        summary: "Holds the subcommands about the inner form of values.",
        complexity: "Depends on the subcommand.",
        subcommands: &[
            Record {
                command: Command::ObjectEncoding,
                name: "object|encoding",
                arity: 3,
                flags: Flags::READONLY,
                keys: &[KeySpec {
                    first: 2,
                    ..KeySpec::one(KeyFlags::RO)
                }],
                since: "2.2.3",
                summary: "Answers how the value of a key is represented.",
                arguments: &[KEY],
                tips: &["nondeterministic_output"],
                ..BASE
            },
            Record {
                command: Command::ObjectFreq,
                name: "object|freq",
                arity: 3,
                flags: Flags::READONLY,
                keys: &[KeySpec {
                    first: 2,
                    ..KeySpec::one(KeyFlags::RO)
                }],
                since: "4.0.0",
                summary: "Answers how often a key is used, where that is counted.",
                arguments: &[KEY],
                tips: &["nondeterministic_output"],
                ..BASE
            },
            Record {
                command: Command::ObjectHelp,
                name: "object|help",
                arity: 2,
                flags: Flags::ANYTIME,
                since: "6.2.0",
                summary: "Explains the subcommands.",
                ..BASE
            },
            Record {
                command: Command::ObjectIdleTime,
                name: "object|idletime",
                arity: 3,
                flags: Flags::READONLY,
                keys: &[KeySpec {
                    first: 2,
                    ..KeySpec::one(KeyFlags::RO)
                }],
                since: "2.2.3",
                summary: "Answers for how many seconds a key was not used.",
                arguments: &[KEY],
                tips: &["nondeterministic_output"],
                ..BASE
            },
            Record {
                command: Command::ObjectRefCount,
                name: "object|refcount",
                arity: 3,
                flags: Flags::READONLY,
                keys: &[KeySpec {
                    first: 2,
                    ..KeySpec::one(KeyFlags::RO)
                }],
                since: "2.2.3",
                summary: "Answers how often the value of a key is referred to.",
                arguments: &[KEY],
                tips: &["nondeterministic_output"],
                ..BASE
            },
        ],
        ..BASE
    },
];
