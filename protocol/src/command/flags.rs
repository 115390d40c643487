//! The attributes of a command as bit sets. The name of each bit, in lower case, is the word that
//! `COMMAND` prints, and the order of declaration is the order in which it prints them.

use bitflags::bitflags;

bitflags! {
    /// How a command behaves.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Flags: u32 {
        /// May change data.
        const WRITE = 1;
        /// Reads data and changes none.
        const READONLY = 1 << 1;
        /// May need more memory, so it is refused when memory is short.
        const DENYOOM = 1 << 2;
        /// For operators.
        const ADMIN = 1 << 3;
        /// Concerns channels.
        const PUBSUB = 1 << 4;
        /// Not for scripts.
        const NOSCRIPT = 1 << 5;
        /// May hold its client back.
        const BLOCKING = 1 << 6;
        /// Allowed while data is being loaded.
        const LOADING = 1 << 7;
        /// Allowed on a replica that lost its master.
        const STALE = 1 << 8;
        /// Not shown to monitors.
        const SKIP_MONITOR = 1 << 9;
        /// Not entered into the slow log.
        const SKIP_SLOWLOG = 1 << 10;
        /// Constant or logarithmic time.
        const FAST = 1 << 11;
        /// Needs no authentication and no right.
        const NO_AUTH = 1 << 12;
        /// Not inside a transaction.
        const NO_MULTI = 1 << 13;
        /// Its keys cannot be told from first, last and step.
        const MOVABLEKEYS = 1 << 14;
        /// Allowed while a script holds the server.
        const ALLOW_BUSY = 1 << 15;
    }
}

impl Flags {
    /// Reads in constant or logarithmic time.
    pub const READS_FAST: Self = Self::READONLY.union(Self::FAST);
    /// Changes data without needing memory, fast.
    pub const WRITES_FAST: Self = Self::WRITE.union(Self::FAST);
    /// Stores data.
    pub const STORES: Self = Self::WRITE.union(Self::DENYOOM);
    /// Stores data, fast.
    pub const STORES_FAST: Self = Self::STORES.union(Self::FAST);
    /// Allowed whatever state the server is in.
    pub const ANYTIME: Self = Self::LOADING.union(Self::STALE);
    /// Concerns the connection itself.
    pub const SESSION: Self = Self::ANYTIME.union(Self::NOSCRIPT);
    /// For operators, whatever state the server is in.
    pub const OPERATOR: Self = Self::SESSION.union(Self::ADMIN);
    /// What a client may do before it has said who it is.
    pub const HANDSHAKE: Self = Self::SESSION
        .union(Self::FAST)
        .union(Self::NO_AUTH)
        .union(Self::ALLOW_BUSY);
}

bitflags! {
    /// The sets of commands that rights can name together as `+@category`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Categories: u32 {
        /// Concerns keys whatever their type.
        const KEYSPACE = 1;
        /// Reads data.
        const READ = 1 << 1;
        /// Changes data.
        const WRITE = 1 << 2;
        /// Concerns sets.
        const SET = 1 << 3;
        /// Concerns sorted sets.
        const SORTEDSET = 1 << 4;
        /// Concerns lists.
        const LIST = 1 << 5;
        /// Concerns hashes.
        const HASH = 1 << 6;
        /// Concerns strings.
        const STRING = 1 << 7;
        /// Concerns bitmaps.
        const BITMAP = 1 << 8;
        /// Concerns cardinality estimators.
        const HYPERLOGLOG = 1 << 9;
        /// Concerns positions on the earth.
        const GEO = 1 << 10;
        /// Concerns streams.
        const STREAM = 1 << 11;
        /// Concerns channels.
        const PUBSUB = 1 << 12;
        /// For operators.
        const ADMIN = 1 << 13;
        /// Constant or logarithmic time.
        const FAST = 1 << 14;
        /// Everything that is not fast.
        const SLOW = 1 << 15;
        /// May hold its client back.
        const BLOCKING = 1 << 16;
        /// To be thought about before it is allowed.
        const DANGEROUS = 1 << 17;
        /// Concerns connections.
        const CONNECTION = 1 << 18;
        /// Concerns transactions.
        const TRANSACTION = 1 << 19;
        /// Concerns scripts.
        const SCRIPTING = 1 << 20;
    }
}

impl Categories {
    /// The categories that follow from how a command behaves.
    #[must_use]
    pub const fn implied_by(flags: Flags) -> Self {
        let mut implied = Self::empty();
        if flags.contains(Flags::WRITE) {
            implied = implied.union(Self::WRITE);
        }
        if flags.contains(Flags::READONLY) {
            implied = implied.union(Self::READ);
        }
        if flags.contains(Flags::ADMIN) {
            implied = implied.union(Self::ADMIN).union(Self::DANGEROUS);
        }
        if flags.contains(Flags::PUBSUB) {
            implied = implied.union(Self::PUBSUB);
        }
        if flags.contains(Flags::BLOCKING) {
            implied = implied.union(Self::BLOCKING);
        }
        implied.union(if flags.contains(Flags::FAST) {
            Self::FAST
        } else {
            Self::SLOW
        })
    }

    /// The category of that name, in any case.
    #[must_use]
    pub fn named(name: &[u8]) -> Option<Self> {
        Self::all()
            .iter_names()
            .find(|(known, _)| known.as_bytes().eq_ignore_ascii_case(name))
            .map(|(_, category)| category)
    }
}

bitflags! {
    /// What a command does with a key. One of the first four says what it does to the key as a
    /// whole, the others what it does with the user's data.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct KeyFlags: u16 {
        /// Only reads it.
        const RO = 1;
        /// Reads and writes it.
        const RW = 1 << 1;
        /// Overwrites it without looking.
        const OW = 1 << 2;
        /// Removes it.
        const RM = 1 << 3;
        /// Gives data of it to the client, or copies it.
        const ACCESS = 1 << 4;
        /// Changes data of it.
        const UPDATE = 1 << 5;
        /// Adds data to it.
        const INSERT = 1 << 6;
        /// Removes data from it.
        const DELETE = 1 << 7;
        /// Is routed like a key and is none: a shard channel.
        const NOT_KEY = 1 << 8;
        /// There may be keys that no rule here finds.
        const INCOMPLETE = 1 << 9;
        /// What is done depends on the arguments.
        const VARIABLE_FLAGS = 1 << 10;
    }
}

impl KeyFlags {
    /// Gives its data to the client.
    pub const READS: Self = Self::RO.union(Self::ACCESS);
    /// Changes its data.
    pub const UPDATES: Self = Self::RW.union(Self::UPDATE);
    /// Changes its data and answers with some.
    pub const READS_AND_UPDATES: Self = Self::UPDATES.union(Self::ACCESS);
    /// Removes some of its data.
    pub const DELETES: Self = Self::RW.union(Self::DELETE);
    /// Replaces it.
    pub const REPLACES: Self = Self::OW.union(Self::UPDATE);

    /// Whether a user must be allowed to read the key.
    #[must_use]
    pub const fn needs_read(self) -> bool {
        self.contains(Self::ACCESS)
    }

    /// Whether a user must be allowed to write the key.
    #[must_use]
    pub const fn needs_write(self) -> bool {
        self.intersects(Self::UPDATE.union(Self::INSERT).union(Self::DELETE))
    }
}

/// The chapter of the documentation that a command belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The session of one client.
    Connection,
    /// Channels.
    PubSub,
    /// Keys whatever their type.
    Generic,
    /// Strings.
    String,
    /// Strings as runs of bits.
    Bitmap,
    /// Hashes.
    Hash,
    /// Sets.
    Set,
    /// Lists.
    List,
    /// Sorted sets.
    SortedSet,
    /// Transactions.
    Transactions,
    /// The server itself.
    Server,
}

impl Group {
    /// The word that `COMMAND DOCS` prints.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::PubSub => "pubsub",
            Self::Generic => "generic",
            Self::String => "string",
            Self::Bitmap => "bitmap",
            Self::Hash => "hash",
            Self::Set => "set",
            Self::List => "list",
            Self::SortedSet => "sorted-set",
            Self::Transactions => "transactions",
            Self::Server => "server",
        }
    }
}
