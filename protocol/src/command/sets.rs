//! Sets.

use super::Command;
use super::argument::{KEY, Kind, integer, new, string};
use super::flags::{Categories, Flags, Group, KeyFlags};
use super::record::{KeySpec, Record};

const BASE: Record = Record::base(Group::Set, Categories::SET);

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::SAdd,
        name: "sadd",
        arity: -3,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::RW.union(KeyFlags::INSERT))],
        summary: "Adds members to a set.",
        complexity: "O(1) per member given.",
        arguments: &[KEY, string("member").multiple()],
        ..BASE
    },
    Record {
        command: Command::SRem,
        name: "srem",
        arity: -3,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::DELETES)],
        summary: "Removes members of a set, and the set when none is left.",
        complexity: "O(N) in the number of members given.",
        arguments: &[KEY, string("member").multiple()],
        ..BASE
    },
    Record {
        command: Command::SIsMember,
        name: "sismember",
        arity: 3,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::RO)],
        summary: "Tells whether a set has a member.",
        arguments: &[KEY, string("member")],
        ..BASE
    },
    Record {
        command: Command::SMIsMember,
        name: "smismember",
        arity: -3,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "6.2.0",
        summary: "Tells of each given member whether a set has it.",
        complexity: "O(N) in the number of members given.",
        arguments: &[KEY, string("member").multiple()],
        ..BASE
    },
    Record {
        command: Command::SCard,
        name: "scard",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::RO)],
        summary: "Answers the number of members of a set.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::SMembers,
        name: "smembers",
        arity: 2,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        summary: "Answers all members of a set.",
        complexity: "O(N) in the size of the set.",
        arguments: &[KEY],
        tips: &["nondeterministic_output_order"],
        ..BASE
    },
    Record {
        command: Command::SPop,
        name: "spop",
        arity: -2,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::DELETES.union(KeyFlags::ACCESS))],
        summary: "Removes any members of a set and answers them.",
        complexity: "O(N) in the number of members removed.",
        arguments: &[KEY, integer("count").optional().since("3.2.0")],
        tips: &["nondeterministic_output"],
        ..BASE
    },
    Record {
        command: Command::SRandMember,
        name: "srandmember",
        arity: -2,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        summary: "Answers any members of a set.",
        complexity: "O(N) in the number of members answered.",
        arguments: &[KEY, integer("count").optional().since("2.6.0")],
        tips: &["nondeterministic_output"],
        ..BASE
    },
    Record {
        command: Command::SMove,
        name: "smove",
        arity: 4,
        flags: Flags::WRITES_FAST,
        keys: &[
            KeySpec::one(KeyFlags::DELETES.union(KeyFlags::ACCESS)),
            KeySpec {
                first: 2,
                ..KeySpec::one(KeyFlags::RW.union(KeyFlags::INSERT))
            },
        ],
        summary: "Moves a member from one set to another.",
        arguments: &[
            new("source", Kind::Key),
            new("destination", Kind::Key),
            string("member"),
        ],
        ..BASE
    },
    Record {
        command: Command::SInter,
        name: "sinter",
        arity: -2,
        flags: Flags::READONLY,
        keys: &[KeySpec::all(KeyFlags::READS)],
        summary: "Answers the members that all sets have.",
        complexity: "O(N*M) for the smallest set of N and M sets.",
        arguments: &[KEY.multiple()],
        tips: &["nondeterministic_output_order"],
        ..BASE
    },
    Record {
        command: Command::SInterCard,
        name: "sintercard",
        arity: -3,
        flags: Flags::READONLY.union(Flags::MOVABLEKEYS),
        keys: &[KeySpec::counted(1, KeyFlags::READS)],
        since: "7.0.0",
        summary: "Counts the members that all sets have.",
        complexity: "O(N*M) for the smallest set of N and M sets.",
        arguments: &[
            integer("numkeys"),
            KEY.multiple(),
            integer("limit").after("LIMIT").optional(),
        ],
        ..BASE
    },
    Record {
        command: Command::SInterStore,
        name: "sinterstore",
        arity: -3,
        flags: Flags::STORES,
        keys: &[
            KeySpec::one(KeyFlags::UPDATES),
            KeySpec {
                first: 2,
                ..KeySpec::all(KeyFlags::READS)
            },
        ],
        summary: "Stores the members that all sets have.",
        complexity: "O(N*M) for the smallest set of N and M sets.",
        arguments: &[new("destination", Kind::Key), KEY.multiple()],
        ..BASE
    },
    Record {
        command: Command::SUnion,
        name: "sunion",
        arity: -2,
        flags: Flags::READONLY,
        keys: &[KeySpec::all(KeyFlags::READS)],
        summary: "Answers the members that any of the sets has.",
        complexity: "O(N) in the members of all sets.",
        arguments: &[KEY.multiple()],
        tips: &["nondeterministic_output_order"],
        ..BASE
    },
    Record {
        command: Command::SUnionStore,
        name: "sunionstore",
        arity: -3,
        flags: Flags::STORES,
        keys: &[
            KeySpec::one(KeyFlags::REPLACES),
            KeySpec {
                first: 2,
                ..KeySpec::all(KeyFlags::READS)
            },
        ],
        summary: "Stores the members that any of the sets has.",
        complexity: "O(N) in the members of all sets.",
        arguments: &[new("destination", Kind::Key), KEY.multiple()],
        ..BASE
    },
    Record {
        command: Command::SDiff,
        name: "sdiff",
        arity: -2,
        flags: Flags::READONLY,
        keys: &[KeySpec::all(KeyFlags::READS)],
        summary: "Answers the members of the first set that none of the others has.",
        complexity: "O(N) in the members of all sets.",
        arguments: &[KEY.multiple()],
        tips: &["nondeterministic_output_order"],
        ..BASE
    },
    Record {
        command: Command::SDiffStore,
        name: "sdiffstore",
        arity: -3,
        flags: Flags::STORES,
        keys: &[
            KeySpec::one(KeyFlags::REPLACES),
            KeySpec {
                first: 2,
                ..KeySpec::all(KeyFlags::READS)
            },
        ],
        summary: "Stores the members of the first set that none of the others has.",
        complexity: "O(N) in the members of all sets.",
        arguments: &[new("destination", Kind::Key), KEY.multiple()],
        ..BASE
    },
    Record {
        command: Command::SScan,
        name: "sscan",
        arity: -3,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.8.0",
        summary: "Lists the members of a set bit by bit.",
        complexity: "O(1) per call, O(N) for all N members.",
        arguments: &[
            KEY,
            integer("cursor"),
            new("pattern", Kind::Pattern).after("MATCH").optional(),
            integer("count").after("COUNT").optional(),
        ],
        tips: &["nondeterministic_output"],
        ..BASE
    },
];
