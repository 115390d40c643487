//! Hashes.

use super::Command;
use super::argument::{KEY, Kind, block, integer, new, string, word};
use super::flags::{Categories, Flags, Group, KeyFlags};
use super::record::{KeySpec, Record};

const BASE: Record = Record::base(Group::Hash, Categories::HASH);

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::HSet,
        name: "hset",
        arity: -4,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        since: "2.0.0",
        summary: "Sets fields of a hash.",
        complexity: "O(N) in the number of fields given.",
        arguments: &[
            KEY,
            block("data", &[string("field"), string("value")]).multiple(),
        ],
        ..BASE
    },
    Record {
        command: Command::HGet,
        name: "hget",
        arity: 3,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.0.0",
        summary: "Answers a field of a hash.",
        arguments: &[KEY, string("field")],
        ..BASE
    },
    Record {
        command: Command::HDel,
        name: "hdel",
        arity: -3,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::DELETES)],
        since: "2.0.0",
        summary: "Removes fields of a hash, and the hash when none is left.",
        complexity: "O(N) in the number of fields given.",
        arguments: &[KEY, string("field").multiple()],
        ..BASE
    },
    Record {
        command: Command::HGetAll,
        name: "hgetall",
        arity: 2,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.0.0",
        summary: "Answers all fields of a hash with their values.",
        complexity: "O(N) in the size of the hash.",
        arguments: &[KEY],
        tips: &["nondeterministic_output_order"],
        ..BASE
    },
    Record {
        command: Command::HLen,
        name: "hlen",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::RO)],
        since: "2.0.0",
        summary: "Answers the number of fields of a hash.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::HMGet,
        name: "hmget",
        arity: -3,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.0.0",
        summary: "Answers several fields of a hash.",
        complexity: "O(N) in the number of fields given.",
        arguments: &[KEY, string("field").multiple()],
        ..BASE
    },
    Record {
        command: Command::HMSet,
        name: "hmset",
        arity: -4,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        since: "2.0.0",
        summary: "Sets several fields of a hash.",
        complexity: "O(N) in the number of fields given.",
        arguments: &[
            KEY,
            block("data", &[string("field"), string("value")]).multiple(),
        ],
        ..BASE
    },
    Record {
        command: Command::HExists,
        name: "hexists",
        arity: 3,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::RO)],
        since: "2.0.0",
        summary: "Tells whether a hash has a field.",
        arguments: &[KEY, string("field")],
        ..BASE
    },
    Record {
        command: Command::HKeys,
        name: "hkeys",
        arity: 2,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.0.0",
        summary: "Answers all field names of a hash.",
        complexity: "O(N) in the size of the hash.",
        arguments: &[KEY],
        tips: &["nondeterministic_output_order"],
        ..BASE
    },
    Record {
        command: Command::HVals,
        name: "hvals",
        arity: 2,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.0.0",
        summary: "Answers all values of a hash.",
        complexity: "O(N) in the size of the hash.",
        arguments: &[KEY],
        tips: &["nondeterministic_output_order"],
        ..BASE
    },
    Record {
        command: Command::HIncrBy,
        name: "hincrby",
        arity: 4,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::READS_AND_UPDATES)],
        since: "2.0.0",
        summary: "Adds to the whole number in a field of a hash.",
        arguments: &[KEY, string("field"), integer("increment")],
        ..BASE
    },
    Record {
        command: Command::HIncrByFloat,
        name: "hincrbyfloat",
        arity: 4,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::READS_AND_UPDATES)],
        since: "2.6.0",
        summary: "Adds to the number in a field of a hash, with fractions.",
        arguments: &[KEY, string("field"), new("increment", Kind::Double)],
        ..BASE
    },
    Record {
        command: Command::HRandField,
        name: "hrandfield",
        arity: -2,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "6.2.0",
        summary: "Answers any fields of a hash.",
        complexity: "O(N) in the number of fields answered.",
        arguments: &[
            KEY,
            block(
                "options",
                &[
                    integer("count"),
                    word("withvalues", "WITHVALUES").optional(),
                ],
            )
            .optional(),
        ],
        tips: &["nondeterministic_output"],
        ..BASE
    },
    Record {
        command: Command::HScan,
        name: "hscan",
        arity: -3,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.8.0",
        summary: "Lists the fields of a hash bit by bit.",
        complexity: "O(1) per call, O(N) for all N fields.",
        arguments: &[
            KEY,
            integer("cursor"),
            new("pattern", Kind::Pattern).after("MATCH").optional(),
            integer("count").after("COUNT").optional(),
        ],
        tips: &["nondeterministic_output"],
        ..BASE
    },
    Record {
        command: Command::HSetNx,
        name: "hsetnx",
        arity: 4,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::RW.union(KeyFlags::INSERT))],
        since: "2.0.0",
        summary: "Sets a field of a hash unless it is there.",
        arguments: &[KEY, string("field"), string("value")],
        ..BASE
    },
    Record {
        command: Command::HStrLen,
        name: "hstrlen",
        arity: 3,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::RO)],
        since: "3.2.0",
        summary: "Answers the length of a field of a hash.",
        arguments: &[KEY, string("field")],
        ..BASE
    },
];
