//! `COMMAND`: the commands themselves.

use super::Command;
use super::argument::{Kind, new, one_of, string};
use super::flags::{Categories, Flags, Group};
use super::record::Record;

const BASE: Record = Record::base(Group::Server, Categories::CONNECTION);

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::CommandCount,
        name: "command|count",
        arity: 2,
        flags: Flags::ANYTIME,
        since: "2.8.13",
        summary: "Answers the number of commands.",
        ..BASE
    },
    Record {
        command: Command::CommandDocs,
        name: "command|docs",
        arity: -2,
        flags: Flags::ANYTIME,
        since: "7.0.0",
        summary: "Answers the documentation of commands.",
        complexity: "O(N) in the number of commands asked for.",
        arguments: &[string("command-name").multiple().optional()],
        tips: &["nondeterministic_output_order"],
        ..BASE
    },
    Record {
        command: Command::CommandGetKeys,
        name: "command|getkeys",
        arity: -4,
        flags: Flags::ANYTIME,
        since: "2.8.13",
        summary: "Tells which words of a command are keys.",
        complexity: "O(N) in the number of words.",
        arguments: &[string("command"), string("arg").multiple().optional()],
        ..BASE
    },
    Record {
        command: Command::CommandGetKeysAndFlags,
        name: "command|getkeysandflags",
        arity: -4,
        flags: Flags::ANYTIME,
        since: "7.0.0",
        summary: "Tells which words of a command are keys and what is done with them.",
        complexity: "O(N) in the number of words.",
        arguments: &[string("command"), string("arg").multiple().optional()],
        ..BASE
    },
    Record {
        command: Command::CommandHelp,
        name: "command|help",
        arity: 2,
        flags: Flags::ANYTIME,
        since: "5.0.0",
        summary: "Explains the subcommands.",
        ..BASE
    },
    Record {
        command: Command::CommandInfo,
        name: "command|info",
        arity: -2,
        flags: Flags::ANYTIME,
        since: "2.8.13",
        summary: "Describes the given commands, or all.",
        complexity: "O(N) in the number of commands asked for.",
        arguments: &[string("command-name").multiple().optional()],
        tips: &["nondeterministic_output_order"],
        ..BASE
    },
    Record {
        command: Command::CommandList,
        name: "command|list",
        arity: -2,
        flags: Flags::ANYTIME,
        since: "7.0.0",
        summary: "Lists the names of commands.",
        complexity: "O(N) in the number of commands.",
        arguments: &[one_of(
            "filterby",
            &[
                string("module-name").after("MODULE"),
                string("category").after("ACLCAT"),
                new("pattern", Kind::Pattern).after("PATTERN"),
            ],
        )
        .after("FILTERBY")
        .optional()],
        tips: &["nondeterministic_output_order"],
        ..BASE
    },
];
