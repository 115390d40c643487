//! `ACL`: users and their rights.

use super::Command;
use super::argument::string;
use super::flags::{Categories, Flags, Group};
use super::record::Record;

const BASE: Record = Record::base(Group::Server, Categories::empty());

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::AclCat,
        name: "acl|cat",
        arity: -2,
        flags: Flags::SESSION,
        since: "6.0.0",
        summary: "Lists the categories of commands, or the commands of one.",
        complexity: "O(N) in the number of commands.",
        arguments: &[string("categoryname").optional()],
        ..BASE
    },
    Record {
        command: Command::AclDelUser,
        name: "acl|deluser",
        arity: -3,
        flags: Flags::OPERATOR,
        since: "6.0.0",
        summary: "Removes users and closes their connections.",
        complexity: "O(N) in the number of users given and of connections.",
        arguments: &[string("username").multiple()],
        ..BASE
    },
    Record {
        command: Command::AclGetUser,
        name: "acl|getuser",
        arity: 3,
        flags: Flags::OPERATOR,
        since: "6.0.0",
        summary: "Describes a user.",
        complexity: "O(N) in the number of the user's rules.",
        arguments: &[string("username")],
        ..BASE
    },
    Record {
        command: Command::AclHelp,
        name: "acl|help",
        arity: 2,
        flags: Flags::ANYTIME,
        since: "6.0.0",
        summary: "Explains the subcommands.",
        ..BASE
    },
    Record {
        command: Command::AclList,
        name: "acl|list",
        arity: 2,
        flags: Flags::OPERATOR,
        since: "6.0.0",
        summary: "Lists the users with their rules.",
        complexity: "O(N) in the number of users.",
        ..BASE
    },
    Record {
        command: Command::AclSetUser,
        name: "acl|setuser",
        arity: -3,
        flags: Flags::OPERATOR,
        since: "6.0.0",
        summary: "Creates a user or changes one.",
        complexity: "O(N) in the number of rules given.",
        arguments: &[string("username"), string("rule").multiple().optional()],
        ..BASE
    },
    Record {
        command: Command::AclUsers,
        name: "acl|users",
        arity: 2,
        flags: Flags::OPERATOR,
        since: "6.0.0",
        summary: "Lists the names of the users.",
        complexity: "O(N) in the number of users.",
        ..BASE
    },
    Record {
        command: Command::AclWhoAmI,
        name: "acl|whoami",
        arity: 2,
        flags: Flags::SESSION,
        since: "6.0.0",
        summary: "Answers the name of the user that this connection authenticated as.",
        ..BASE
    },
];
