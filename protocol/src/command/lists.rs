//! Lists.

use super::Command;
use super::argument::{KEY, Kind, integer, new, one_of, string, word};
use super::flags::{Categories, Flags, Group, KeyFlags};
use super::record::{KeySpec, Record};

const BASE: Record = Record::base(Group::List, Categories::LIST);

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::LPush,
        name: "lpush",
        arity: -3,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::RW.union(KeyFlags::INSERT))],
        summary: "Adds elements in front of a list, which is created when there is none.",
        complexity: "O(N) in the number of elements given.",
        arguments: &[KEY, string("element").multiple()],
        ..BASE
    },
    Record {
        command: Command::RPush,
        name: "rpush",
        arity: -3,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::RW.union(KeyFlags::INSERT))],
        summary: "Adds elements behind a list, which is created when there is none.",
        complexity: "O(N) in the number of elements given.",
        arguments: &[KEY, string("element").multiple()],
        ..BASE
    },
    Record {
        command: Command::LPushX,
        name: "lpushx",
        arity: -3,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::RW.union(KeyFlags::INSERT))],
        since: "2.2.0",
        summary: "Adds elements in front of a list if there is one.",
        complexity: "O(N) in the number of elements given.",
        arguments: &[KEY, string("element").multiple()],
        ..BASE
    },
    Record {
        command: Command::RPushX,
        name: "rpushx",
        arity: -3,
        flags: Flags::STORES_FAST,
        keys: &[KeySpec::one(KeyFlags::RW.union(KeyFlags::INSERT))],
        since: "2.2.0",
        summary: "Adds elements behind a list if there is one.",
        complexity: "O(N) in the number of elements given.",
        arguments: &[KEY, string("element").multiple()],
        ..BASE
    },
    Record {
        command: Command::LPop,
        name: "lpop",
        arity: -2,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::DELETES.union(KeyFlags::ACCESS))],
        summary: "Takes the first elements off a list.",
        complexity: "O(N) in the number of elements taken.",
        arguments: &[KEY, integer("count").optional().since("6.2.0")],
        ..BASE
    },
    Record {
        command: Command::RPop,
        name: "rpop",
        arity: -2,
        flags: Flags::WRITES_FAST,
        keys: &[KeySpec::one(KeyFlags::DELETES.union(KeyFlags::ACCESS))],
        summary: "Takes the last elements off a list.",
        complexity: "O(N) in the number of elements taken.",
        arguments: &[KEY, integer("count").optional().since("6.2.0")],
        ..BASE
    },
    Record {
        command: Command::LLen,
        name: "llen",
        arity: 2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::RO)],
        summary: "Answers the number of elements of a list.",
        arguments: &[KEY],
        ..BASE
    },
    Record {
        command: Command::LRange,
        name: "lrange",
        arity: 4,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        summary: "Answers the elements of a list within a range of positions.",
        complexity: "O(S+N) for a range of N that begins S elements from the nearer end.",
        arguments: &[KEY, integer("start"), integer("stop")],
        ..BASE
    },
    Record {
        command: Command::LIndex,
        name: "lindex",
        arity: 3,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        summary: "Answers the element at a position of a list.",
        complexity: "O(N) in the distance from the nearer end.",
        arguments: &[KEY, integer("index")],
        ..BASE
    },
    Record {
        command: Command::LSet,
        name: "lset",
        arity: 4,
        flags: Flags::STORES,
        keys: &[KeySpec::one(KeyFlags::UPDATES)],
        summary: "Replaces the element at a position of a list.",
        complexity: "O(N) in the distance from the nearer end.",
        arguments: &[KEY, integer("index"), string("element")],
        ..BASE
    },
    Record {
        command: Command::LInsert,
        name: "linsert",
        arity: 5,
        flags: Flags::STORES,
        keys: &[KeySpec::one(KeyFlags::RW.union(KeyFlags::INSERT))],
        since: "2.2.0",
        summary: "Adds an element before or after another one of a list.",
        complexity: "O(N) in the elements before it.",
        arguments: &[
            KEY,
            one_of("where", &[word("before", "BEFORE"), word("after", "AFTER")]),
            string("pivot"),
            string("element"),
        ],
        ..BASE
    },
    Record {
        command: Command::LRem,
        name: "lrem",
        arity: 4,
        flags: Flags::WRITE,
        keys: &[KeySpec::one(KeyFlags::DELETES)],
        summary: "Removes elements of a list that equal the given one.",
        complexity: "O(N) in the length of the list.",
        arguments: &[KEY, integer("count"), string("element")],
        ..BASE
    },
    Record {
        command: Command::LTrim,
        name: "ltrim",
        arity: 4,
        flags: Flags::WRITE,
        keys: &[KeySpec::one(KeyFlags::DELETES)],
        summary: "Removes all elements of a list outside a range of positions.",
        complexity: "O(N) in the number of elements removed.",
        arguments: &[KEY, integer("start"), integer("stop")],
        ..BASE
    },
    Record {
        command: Command::LPos,
        name: "lpos",
        arity: -3,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "6.0.6",
        summary: "Finds the positions of an element in a list.",
        complexity: "O(N) in the length of the list.",
        arguments: &[
            KEY,
            string("element"),
            integer("rank").after("RANK").optional(),
            integer("num-matches").after("COUNT").optional(),
            integer("len").after("MAXLEN").optional(),
        ],
        ..BASE
    },
    Record {
        command: Command::LMove,
        name: "lmove",
        arity: 5,
        flags: Flags::STORES,
        keys: &[
            KeySpec::one(KeyFlags::DELETES.union(KeyFlags::ACCESS)),
            KeySpec {
                first: 2,
                ..KeySpec::one(KeyFlags::RW.union(KeyFlags::INSERT))
            },
        ],
        since: "6.2.0",
        summary: "Moves an element from an end of a list to an end of another.",
        arguments: &[
            new("source", Kind::Key),
            new("destination", Kind::Key),
            one_of("wherefrom", &[word("left", "LEFT"), word("right", "RIGHT")]),
            one_of("whereto", &[word("left", "LEFT"), word("right", "RIGHT")]),
        ],
        ..BASE
    },
    Record {
        command: Command::RPopLPush,
        name: "rpoplpush",
        arity: 3,
        flags: Flags::STORES,
        keys: &[
            KeySpec::one(KeyFlags::DELETES.union(KeyFlags::ACCESS)),
            KeySpec {
                first: 2,
                ..KeySpec::one(KeyFlags::RW.union(KeyFlags::INSERT))
            },
        ],
        since: "1.2.0",
        summary: "Moves the last element of a list to the front of another.",
        arguments: &[new("source", Kind::Key), new("destination", Kind::Key)],
        ..BASE
    },
    Record {
        command: Command::LMPop,
        name: "lmpop",
        arity: -4,
        flags: Flags::WRITE.union(Flags::MOVABLEKEYS),
        keys: &[KeySpec::counted(
            1,
            KeyFlags::DELETES.union(KeyFlags::ACCESS),
        )],
        since: "7.0.0",
        summary: "Takes elements off the first list of several that has any.",
        complexity: "O(N+M) for N keys and M elements taken.",
        arguments: &[
            integer("numkeys"),
            KEY.multiple(),
            one_of("where", &[word("left", "LEFT"), word("right", "RIGHT")]),
            integer("count").after("COUNT").optional(),
        ],
        ..BASE
    },
];
