//! Bitmaps.

use super::Command;
use super::argument::{KEY, Kind, block, integer, new, one_of, string, word};
use super::flags::{Categories, Flags, Group, KeyFlags};
use super::record::{KeySpec, Record};

const BASE: Record = Record::base(Group::Bitmap, Categories::BITMAP);

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::SetBit,
        name: "setbit",
        arity: 4,
        flags: Flags::STORES,
        keys: &[KeySpec::one(KeyFlags::READS_AND_UPDATES)],
        since: "2.2.0",
        summary: "Sets or clears a bit of a string, which grows where needed.",
        arguments: &[KEY, integer("offset"), integer("value")],
        ..BASE
    },
    Record {
        command: Command::GetBit,
        name: "getbit",
        arity: 3,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.2.0",
        summary: "Answers a bit of a string.",
        arguments: &[KEY, integer("offset")],
        ..BASE
    },
    Record {
        command: Command::BitCount,
        name: "bitcount",
        arity: -2,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.6.0",
        summary: "Counts the bits of a string that are set.",
        complexity: "O(N) in the bytes counted.",
        arguments: &[
            KEY,
            block(
                "index",
                &[
                    integer("start"),
                    integer("end"),
                    one_of("index-unit", &[word("byte", "BYTE"), word("bit", "BIT")])
                        .optional()
                        .since("7.0.0"),
                ],
            )
            .optional(),
        ],
        ..BASE
    },
    Record {
        command: Command::BitPos,
        name: "bitpos",
        arity: -3,
        flags: Flags::READONLY,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "2.8.7",
        summary: "Finds the first bit of a string that is set, or is not.",
        complexity: "O(N) in the bytes looked at.",
        arguments: &[
            KEY,
            integer("bit"),
            block(
                "index",
                &[
                    integer("start"),
                    block(
                        "end-index",
                        &[
                            integer("end"),
                            one_of("index-unit", &[word("byte", "BYTE"), word("bit", "BIT")])
                                .optional()
                                .since("7.0.0"),
                        ],
                    )
                    .optional(),
                ],
            )
            .optional(),
        ],
        ..BASE
    },
    Record {
        command: Command::BitOp,
        name: "bitop",
        arity: -4,
        flags: Flags::STORES,
        keys: &[
            KeySpec {
                first: 2,
                ..KeySpec::one(KeyFlags::REPLACES)
            },
            KeySpec {
                first: 3,
                ..KeySpec::all(KeyFlags::READS)
            },
        ],
        since: "2.6.0",
        summary: "Combines strings bit by bit and stores the result.",
        complexity: "O(N) in the length of the longest string.",
        arguments: &[
            string("operation"),
            new("destkey", Kind::Key),
            KEY.multiple(),
        ],
        ..BASE
    },
    Record {
        command: Command::BitField,
        name: "bitfield",
        arity: -2,
        flags: Flags::STORES,
        keys: &[KeySpec {
            notes: Some("Only reads it when every operation is GET."),
            ..KeySpec::one(KeyFlags::READS_AND_UPDATES.union(KeyFlags::VARIABLE_FLAGS))
        }],
        since: "3.2.0",
        summary: "Reads and changes integers of any width within a string.",
        complexity: "O(1) per operation.",
        arguments: &[
            KEY,
            one_of(
                "operation",
                &[
                    block("encoding-offset", &[string("encoding"), integer("offset")]).after("GET"),
                    block(
                        "write",
                        &[
                            one_of(
                                "wrap-sat-fail",
                                &[
                                    word("wrap", "WRAP"),
                                    word("sat", "SAT"),
                                    word("fail", "FAIL"),
                                ],
                            )
                            .after("OVERFLOW")
                            .optional(),
                            one_of(
                                "write-operation",
                                &[
                                    block(
                                        "encoding-offset-value",
                                        &[string("encoding"), integer("offset"), integer("value")],
                                    )
                                    .after("SET"),
                                    block(
                                        "encoding-offset-increment",
                                        &[
                                            string("encoding"),
                                            integer("offset"),
                                            integer("increment"),
                                        ],
                                    )
                                    .after("INCRBY"),
                                ],
                            ),
                        ],
                    ),
                ],
            )
            .multiple()
            .optional(),
        ],
        ..BASE
    },
    Record {
        command: Command::BitFieldRo,
        name: "bitfield_ro",
        arity: -2,
        flags: Flags::READS_FAST,
        keys: &[KeySpec::one(KeyFlags::READS)],
        since: "6.0.0",
        summary: "Reads integers of any width within a string.",
        complexity: "O(1) per operation.",
        arguments: &[
            KEY,
            block("encoding-offset", &[string("encoding"), integer("offset")])
                .after("GET")
                .multiple()
                .optional(),
        ],
        ..BASE
    },
];
