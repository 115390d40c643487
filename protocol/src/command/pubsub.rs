//! Channels.

use super::Command;
use super::argument::{Kind, block, new, string};
use super::flags::{Categories, Flags, Group, KeyFlags};
use super::record::{ChannelSpec, KeySpec, Record};

const BASE: Record = Record::base(Group::PubSub, Categories::empty());

pub(super) const RECORDS: &[Record] = &[
    Record {
        command: Command::Subscribe,
        name: "subscribe",
        arity: -2,
        flags: Flags::SESSION.union(Flags::PUBSUB),
        channels: Some(ChannelSpec::CHANNELS),
        since: "2.0.0",
        summary: "Subscribes to channels.",
        complexity: "O(N) in the number of channels given.",
        arguments: &[string("channel").multiple()],
        ..BASE
    },
    Record {
        command: Command::PSubscribe,
        name: "psubscribe",
        arity: -2,
        flags: Flags::SESSION.union(Flags::PUBSUB),
        channels: Some(ChannelSpec::PATTERNS),
        since: "2.0.0",
        summary: "Subscribes to patterns of channel names.",
        complexity: "O(N) in the number of patterns given.",
        arguments: &[block("pattern", &[new("pattern", Kind::Pattern)]).multiple()],
        ..BASE
    },
    Record {
        command: Command::SSubscribe,
        name: "ssubscribe",
        arity: -2,
        flags: Flags::SESSION.union(Flags::PUBSUB),
        keys: &[KeySpec::all(KeyFlags::NOT_KEY)],
        channels: Some(ChannelSpec::CHANNELS),
        since: "7.0.0",
        summary: "Subscribes to shard channels.",
        complexity: "O(N) in the number of channels given.",
        arguments: &[string("shardchannel").multiple()],
        ..BASE
    },
    Record {
        command: Command::Unsubscribe,
        name: "unsubscribe",
        arity: -1,
        flags: Flags::SESSION.union(Flags::PUBSUB),
        since: "2.0.0",
        summary: "Ends subscriptions to channels, or all of them.",
        complexity: "O(N) in the number of subscriptions that end.",
        arguments: &[string("channel").multiple().optional()],
        ..BASE
    },
    Record {
        command: Command::PUnsubscribe,
        name: "punsubscribe",
        arity: -1,
        flags: Flags::SESSION.union(Flags::PUBSUB),
        since: "2.0.0",
        summary: "Ends subscriptions to patterns, or all of them.",
        complexity: "O(N) in the number of subscriptions that end.",
        arguments: &[new("pattern", Kind::Pattern).multiple().optional()],
        ..BASE
    },
    Record {
        command: Command::SUnsubscribe,
        name: "sunsubscribe",
        arity: -1,
        flags: Flags::SESSION.union(Flags::PUBSUB),
        keys: &[KeySpec::all(KeyFlags::NOT_KEY)],
        since: "7.0.0",
        summary: "Ends subscriptions to shard channels, or all of them.",
        complexity: "O(N) in the number of subscriptions that end.",
        arguments: &[string("shardchannel").multiple().optional()],
        ..BASE
    },
    Record {
        command: Command::Publish,
        name: "publish",
        arity: 3,
        flags: Flags::ANYTIME.union(Flags::PUBSUB).union(Flags::FAST),
        channels: Some(ChannelSpec::CHANNEL),
        since: "2.0.0",
        summary: "Sends a message to all subscribers of a channel and of matching patterns.",
        complexity: "O(N+M) for N subscribers and M patterns that can match.",
        arguments: &[string("channel"), string("message")],
        ..BASE
    },
    Record {
        command: Command::SPublish,
        name: "spublish",
        arity: 3,
        flags: Flags::ANYTIME.union(Flags::PUBSUB).union(Flags::FAST),
        keys: &[KeySpec::one(KeyFlags::NOT_KEY)],
        channels: Some(ChannelSpec::CHANNEL),
        since: "7.0.0",
        summary: "Sends a message to all subscribers of a shard channel.",
        complexity: "O(N) in the number of subscribers.",
        arguments: &[string("shardchannel"), string("message")],
        ..BASE
    },
    Record {
        command: Command::PubSub,
        name: "pubsub",
        arity: -2,
        since: "2.8.0",
        summary: "Holds the subcommands about channels in use.",
        complexity: "Depends on the subcommand.",
        subcommands: &[
            Record {
                command: Command::PubSubChannels,
                name: "pubsub|channels",
                arity: -2,
                flags: Flags::ANYTIME.union(Flags::PUBSUB),
                since: "2.8.0",
                summary: "Lists the channels with subscribers.",
                complexity: "O(N) in the number of channels.",
                arguments: &[new("pattern", Kind::Pattern).optional()],
                ..BASE
            },
            Record {
                command: Command::PubSubNumSub,
                name: "pubsub|numsub",
                arity: -2,
                flags: Flags::ANYTIME.union(Flags::PUBSUB),
                since: "2.8.0",
                summary: "Counts the subscribers of the given channels.",
                complexity: "O(N) in the number of channels given.",
                arguments: &[string("channel").multiple().optional()],
                ..BASE
            },
            Record {
                command: Command::PubSubNumPat,
                name: "pubsub|numpat",
                arity: 2,
                flags: Flags::ANYTIME.union(Flags::PUBSUB),
                since: "2.8.0",
                summary: "Counts the distinct patterns subscribed to.",
                ..BASE
            },
            Record {
                command: Command::PubSubShardChannels,
                name: "pubsub|shardchannels",
                arity: -2,
                flags: Flags::ANYTIME.union(Flags::PUBSUB),
                since: "7.0.0",
                summary: "Lists the shard channels with subscribers.",
                complexity: "O(N) in the number of shard channels.",
                arguments: &[new("pattern", Kind::Pattern).optional()],
                ..BASE
            },
            Record {
                command: Command::PubSubShardNumSub,
                name: "pubsub|shardnumsub",
                arity: -2,
                flags: Flags::ANYTIME.union(Flags::PUBSUB),
                since: "7.0.0",
                summary: "Counts the subscribers of the given shard channels.",
                complexity: "O(N) in the number of channels given.",
                arguments: &[string("shardchannel").multiple().optional()],
                ..BASE
            },
            Record {
                command: Command::PubSubHelp,
                name: "pubsub|help",
                arity: 2,
                flags: Flags::ANYTIME,
                since: "6.2.0",
                summary: "Explains the subcommands.",
                ..BASE
            },
        ],
        ..BASE
    },
];
