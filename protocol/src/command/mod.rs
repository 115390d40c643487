//! The commands: one declarative [`Record`] each, from which lookup, `COMMAND`, arity errors, checks
//! of rights and the documentation follow.
//!
//! A record lives in the file of its group, a subcommand's inside its container's. Adding a command
//! is adding its record, and its name to [`Command`]; the compiler refuses one without the other, and
//! whoever executes commands is told by the exhaustiveness of `match` what is not executed yet.
//!
//! Subcommands are commands of their own: `CLIENT ID` is [`Command::ClientId`], found by
//! [`subcommand`] once [`find`] has found the container.

mod acl;
mod argument;
mod bitmaps;
mod client;
mod connection;
mod errors;
mod flags;
mod hashes;
mod index;
mod introspection;
mod keys;
mod lists;
mod pubsub;
mod record;
pub mod reply;
mod server;
mod sets;
mod sorted_sets;
mod strings;
#[cfg(test)]
mod tests;
mod transactions;

pub use argument::{Argument, Kind};
pub use errors::CommandError;
pub use flags::{Categories, Flags, Group, KeyFlags};
pub use record::{ChannelSpec, KeySpec, Record};

use crate::resp::Arguments;
use index::Index;

/// The version of Redis whose commands, replies and texts these are.
pub const REDIS_VERSION: &str = "7.2.4";

/// Declares [`Command`] from a list of names.
macro_rules! names {
    ($($name:ident)*) => {
        /// A command, or a subcommand of a container.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u16)]
        pub enum Command {
            $(
                #[doc = concat!("See the record of `", stringify!($name), "`.")]
                $name,
            )*
        }

        impl Command {
            /// How many commands there are, subcommands included.
            pub const COUNT: usize = [$(stringify!($name)),*].len();
        }
    };
}

names! {
    Ping Echo Hello Auth Select Quit Reset
    Client ClientId ClientSetName ClientGetName ClientSetInfo ClientList ClientInfo ClientKill
    ClientReply ClientHelp

    Subscribe PSubscribe SSubscribe Unsubscribe PUnsubscribe SUnsubscribe Publish SPublish
    PubSub PubSubChannels PubSubNumSub PubSubNumPat PubSubShardChannels PubSubShardNumSub PubSubHelp

    Del Exists Type Expire PExpire ExpireAt PExpireAt Ttl PTtl ExpireTime PExpireTime Persist Keys
    Unlink Touch Rename RenameNx Copy RandomKey Scan
    Object ObjectEncoding ObjectFreq ObjectHelp ObjectIdleTime ObjectRefCount

    Set Get MGet MSet StrLen Append GetDel GetSet SetNx SetEx PSetEx Incr Decr IncrBy DecrBy
    GetEx SetRange GetRange SubStr IncrByFloat Lcs MSetNx

    SetBit GetBit BitCount BitPos BitOp BitField BitFieldRo

    HSet HGet HDel HGetAll HLen HMGet HMSet HExists HKeys HVals HIncrBy HIncrByFloat
    HRandField HScan HSetNx HStrLen

    LPush RPush LPushX RPushX LPop RPop LLen LRange LIndex LSet LInsert LRem LTrim LPos LMove
    RPopLPush LMPop

    SAdd SRem SIsMember SMIsMember SCard SMembers SPop SRandMember SMove
    SInter SInterCard SInterStore SUnion SUnionStore SDiff SDiffStore SScan

    ZAdd ZScore ZMScore ZRem ZCard ZRange ZRank ZRevRank ZIncrBy ZCount

    Multi Exec Discard

    Time Info DbSize FlushAll FlushDb
    Config ConfigGet ConfigSet ConfigHelp
    Acl AclCat AclDelUser AclGetUser AclHelp AclList AclSetUser AclUsers AclWhoAmI
    Command CommandCount CommandDocs CommandGetKeys CommandGetKeysAndFlags CommandHelp CommandInfo
    CommandList
}

impl Command {
    /// Whether a RESP2 client that has subscriptions may send it.
    #[must_use]
    pub const fn is_allowed_while_subscribed(self) -> bool {
        matches!(
            self,
            Self::Subscribe
                | Self::PSubscribe
                | Self::SSubscribe
                | Self::Unsubscribe
                | Self::PUnsubscribe
                | Self::SUnsubscribe
                | Self::Ping
                | Self::Quit
                | Self::Reset
        )
    }
}

/// The records of all groups. A container's subcommands are inside its record.
const GROUPS: [&[Record]; 11] = [
    connection::RECORDS,
    pubsub::RECORDS,
    keys::RECORDS,
    strings::RECORDS,
    bitmaps::RECORDS,
    hashes::RECORDS,
    lists::RECORDS,
    sets::RECORDS,
    sorted_sets::RECORDS,
    transactions::RECORDS,
    server::RECORDS,
];

/// How many commands there are that are not subcommands: what `COMMAND COUNT` answers.
pub const TOP_LEVEL_COUNT: usize = {
    let mut count = 0;
    let mut group = 0;
    while group < GROUPS.len() {
        count += GROUPS[group].len();
        group += 1;
    }
    count
};

/// All records that are not of subcommands, in the order of their groups.
static TOP_LEVEL: [&Record; TOP_LEVEL_COUNT] = {
    let mut records = [&GROUPS[0][0]; TOP_LEVEL_COUNT];
    let mut next = 0;
    let mut group = 0;
    while group < GROUPS.len() {
        let mut at = 0;
        while at < GROUPS[group].len() {
            records[next] = &GROUPS[group][at];
            next += 1;
            at += 1;
        }
        group += 1;
    }
    records
};

/// Every record at the position of its command. Does not compile unless each command has exactly
/// one.
static BY_COMMAND: [&Record; Command::COUNT] = {
    let mut slots: [Option<&Record>; Command::COUNT] = [None; Command::COUNT];
    let mut at = 0;
    while at < TOP_LEVEL_COUNT {
        let top = TOP_LEVEL[at];
        assert!(
            slots[top.command as usize].replace(top).is_none(),
            "two records of one command"
        );
        let mut sub = 0;
        while sub < top.subcommands.len() {
            let record = &top.subcommands[sub];
            assert!(
                slots[record.command as usize].replace(record).is_none(),
                "two records of one command"
            );
            sub += 1;
        }
        at += 1;
    }
    let mut records = [TOP_LEVEL[0]; Command::COUNT];
    let mut at = 0;
    while at < Command::COUNT {
        records[at] = slots[at].expect("a command without a record");
        at += 1;
    }
    records
};

static INDEX: Index<TOP_LEVEL_COUNT, 512> = {
    let mut names = [""; TOP_LEVEL_COUNT];
    let mut at = 0;
    while at < TOP_LEVEL_COUNT {
        names[at] = TOP_LEVEL[at].name;
        at += 1;
    }
    Index::new(&names)
};

/// The command of that name, in any case. Subcommands are not found by it.
#[inline]
#[must_use]
pub fn find(name: &[u8]) -> Option<(Command, &'static Record)> {
    let record = *TOP_LEVEL.get(INDEX.find(name)?)?;
    if record.command == Command::BitFieldRo && name.contains(&0x7f) {
        return None;
    }
    Some((record.command, record))
}

/// The subcommand of that name, in any case, of a container.
#[must_use]
pub fn subcommand(container: Command, name: &[u8]) -> Option<(Command, &'static Record)> {
    let container = record(container);
    let short_at = container.name.len() + 1;
    let has_name = |known: &&Record| {
        let short = known.name.as_bytes().get(short_at..);
        short.is_some_and(|short| short.eq_ignore_ascii_case(name))
    };
    let found = container.subcommands.iter().find(has_name)?;
    Some((found.command, found))
}

/// The container of a subcommand.
#[must_use]
pub fn container(subcommand: Command) -> Option<&'static Record> {
    let (name, _) = record(subcommand).name.split_once('|')?;
    find(name.as_bytes()).map(|(_, record)| record)
}

/// The command or subcommand that is written `name` or `container|name`, in any case.
#[must_use]
pub fn find_full(name: &[u8]) -> Option<(Command, &'static Record)> {
    match name.iter().position(|&byte| byte == b'|') {
        None => find(name),
        Some(bar) => {
            let (container, _) = find(&name[..bar])?;
            subcommand(container, &name[bar + 1..])
        }
    }
}

/// The command that a request is for. A container alone stands for itself.
///
/// # Errors
///
/// There is no such command or subcommand.
pub fn lookup(request: Arguments<'_>) -> Result<(Command, &'static Record), CommandError<'_>> {
    let name = request.get(0).unwrap_or_default();
    let Some((command, record)) = find(name) else {
        return Err(CommandError::UnknownCommand(request));
    };
    match request.get(1) {
        Some(name) if record.is_container() => {
            subcommand(command, name).ok_or(CommandError::UnknownSubcommand {
                container: record,
                name,
            })
        }
        _ => Ok((command, record)),
    }
}

/// The command that a request is for, once the number of its words is right.
///
/// # Errors
///
/// The error reply that the request gets otherwise.
#[inline]
pub fn resolve(request: Arguments<'_>) -> Result<(Command, &'static Record), CommandError<'_>> {
    match find(request.get(0).unwrap_or_default()) {
        Some((command, record)) if record.accepts(request.len()) && !record.is_container() => {
            Ok((command, record))
        }
        _ => resolve_uncommon(request),
    }
}

/// As [`resolve`], for subcommands and for what is refused: kept out of the way of the others.
#[inline(never)]
fn resolve_uncommon(
    request: Arguments<'_>,
) -> Result<(Command, &'static Record), CommandError<'_>> {
    let (command, record) = lookup(request)?;
    if record.accepts(request.len()) {
        Ok((command, record))
    } else {
        Err(CommandError::WrongArity(record))
    }
}

/// The record of a command.
#[inline]
#[must_use]
pub fn record(command: Command) -> &'static Record {
    BY_COMMAND[command as usize]
}

/// All records that are not of subcommands.
pub fn all() -> impl Iterator<Item = &'static Record> {
    TOP_LEVEL.iter().copied()
}

/// All records, each container followed by its subcommands.
pub fn all_with_subcommands() -> impl Iterator<Item = &'static Record> {
    all().flat_map(|record| std::iter::once(record).chain(record.subcommands))
}
