//! One command as data: everything that is checked, answered or documented about it without
//! executing it.

use super::Command;
use super::argument::Argument;
use super::flags::{Categories, Flags, Group, KeyFlags};
use crate::resp::{Arguments, parse_integer};

/// One command, or one subcommand of a container.
#[derive(Debug)]
pub struct Record {
    /// Which command this is.
    pub command: Command,
    /// Lower case; `container|subcommand` for a subcommand.
    pub name: &'static str,
    /// How many words a request has, the name (both names of a subcommand) counted: exactly that
    /// many, or at least `-arity` when negative.
    pub arity: i16,
    /// How it behaves.
    pub flags: Flags,
    /// The categories that its group gives it. [`Record::categories`] has all.
    pub extra_categories: Categories,
    /// Where its keys are.
    pub keys: &'static [KeySpec],
    /// Where its channels are, when it needs rights to them.
    pub channels: Option<ChannelSpec>,
    /// The chapter of the documentation.
    pub group: Group,
    /// The Redis version that brought it.
    pub since: &'static str,
    /// One sentence on what it does.
    pub summary: &'static str,
    /// What it costs.
    pub complexity: &'static str,
    /// What it takes.
    pub arguments: &'static [Argument],
    /// Hints for clients and proxies.
    pub tips: &'static [&'static str],
    /// The subcommands of a container; empty for a command.
    pub subcommands: &'static [Record],
}

/// A run of keys among the words of a request, the name being word 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeySpec {
    /// The first key.
    pub first: u16,
    /// The last key: counted from the first when not negative, from the end when negative (-1 is
    /// the last word).
    pub last: i16,
    /// From one key to the next.
    pub step: u16,
    /// What is done with these keys.
    pub flags: KeyFlags,
    /// What the flags leave unsaid.
    pub notes: Option<&'static str>,
    /// The word at `first` says how many keys follow it, and `last` says nothing.
    pub counted: bool,
}

/// A run of channels among the words of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelSpec {
    /// All words from the first on; otherwise the first alone.
    pub many: bool,
    /// They are patterns.
    pub patterns: bool,
}

impl KeySpec {
    /// The first argument.
    #[must_use]
    pub const fn one(flags: KeyFlags) -> Self {
        Self {
            first: 1,
            last: 0,
            step: 1,
            flags,
            notes: None,
            counted: false,
        }
    }

    /// As many as the word at `position` says, behind it.
    #[must_use]
    pub const fn counted(position: u16, flags: KeyFlags) -> Self {
        Self {
            first: position,
            counted: true,
            ..Self::one(flags)
        }
    }

    /// All arguments.
    #[must_use]
    pub const fn all(flags: KeyFlags) -> Self {
        Self {
            last: -1,
            ..Self::one(flags)
        }
    }

    /// First, last and step as `COMMAND` prints them, where a last that is not negative counts
    /// from the name.
    fn triple(&self) -> (i64, i64, i64) {
        let first = i64::from(self.first);
        let last = i64::from(self.last);
        let absolute = if last < 0 { last } else { first + last };
        (first, absolute, i64::from(self.step))
    }

    /// The positions of the keys in a request.
    fn positions(&self, request: Arguments<'_>) -> impl Iterator<Item = usize> + use<> {
        let (first, words) = (usize::from(self.first), request.len());
        if self.counted {
            let count = request.get(first).and_then(parse_integer).unwrap_or(0);
            let count = usize::try_from(count).unwrap_or(0);
            let end = words.min(count.saturating_add(first + 1));
            return (first + 1..end).step_by(1);
        }
        let end = match usize::try_from(self.last) {
            Ok(further) => (first + further + 1).min(words),
            Err(_) => (words + 1).saturating_sub(usize::from(self.last.unsigned_abs())),
        };
        (first..end).step_by(usize::from(self.step).max(1))
    }
}

impl ChannelSpec {
    /// All arguments are channels.
    pub const CHANNELS: Self = Self {
        many: true,
        patterns: false,
    };
    /// All arguments are patterns.
    pub const PATTERNS: Self = Self {
        many: true,
        patterns: true,
    };
    /// The first argument is a channel.
    pub const CHANNEL: Self = Self {
        many: false,
        patterns: false,
    };

    /// The channels or patterns of a request.
    pub fn names<'a>(self, request: Arguments<'a>) -> impl Iterator<Item = &'a [u8]> {
        let end = if self.many { request.len() } else { 2 };
        (1..end).map_while(move |position| request.get(position))
    }
}

impl Record {
    /// What a group's records are based on.
    pub(super) const fn base(group: Group, extra_categories: Categories) -> Self {
        Self {
            command: Command::Command,
            name: "",
            arity: 0,
            flags: Flags::empty(),
            extra_categories,
            keys: &[],
            channels: None,
            group,
            since: "1.0.0",
            summary: "",
            complexity: "O(1)",
            arguments: &[],
            tips: &[],
            subcommands: &[],
        }
    }

    /// Whether a request of `words` words, the name counted, has the right number.
    #[inline]
    #[must_use]
    pub const fn accepts(&self, words: usize) -> bool {
        let bound = self.arity.unsigned_abs() as usize;
        if self.arity >= 0 {
            words == bound
        } else {
            words >= bound
        }
    }

    /// All categories of the command.
    #[must_use]
    pub const fn categories(&self) -> Categories {
        Categories::implied_by(self.flags).union(self.extra_categories)
    }

    /// First, last and step of the keys as far as one run covers them, as `COMMAND` prints them;
    /// zeros when only a request tells.
    #[must_use]
    pub fn key_range(&self) -> (i64, i64, i64) {
        let runs = self.keys.iter().filter(|spec| !spec.counted);
        let joined = runs.map(KeySpec::triple).reduce(|whole, next| {
            if whole.1 + 1 == next.0 {
                (whole.0, next.1, whole.2)
            } else {
                whole
            }
        });
        joined.unwrap_or((0, 0, 0))
    }

    /// Whether this is a container, that is, a name that stands for nothing without a subcommand.
    #[must_use]
    pub const fn is_container(&self) -> bool {
        !self.subcommands.is_empty()
    }

    /// The name without its container.
    #[must_use]
    pub fn short_name(&self) -> &'static str {
        self.name
            .split_once('|')
            .map_or(self.name, |(_, subcommand)| subcommand)
    }

    /// The keys of a request, as position among its words (the name is word 0) and what is done
    /// with the key. Includes shard channels, which are flagged `NOT_KEY`.
    pub fn keys<'a>(
        &'static self,
        request: Arguments<'a>,
    ) -> impl Iterator<Item = (usize, KeyFlags)> + use<'a> {
        self.keys.iter().flat_map(move |spec| {
            let flags = self.key_flags(spec, request);
            spec.positions(request)
                .map(move |position| (position, flags))
        })
    }

    /// What this very request does with the keys of `spec`.
    fn key_flags(&self, spec: &KeySpec, request: Arguments<'_>) -> KeyFlags {
        if !spec.flags.contains(KeyFlags::VARIABLE_FLAGS) {
            return spec.flags;
        }
        let has_any = |names: [&[u8]; 2]| {
            let is_named = |word: &[u8]| names.iter().any(|name| word.eq_ignore_ascii_case(name));
            request.skip(2).iter().any(is_named)
        };
        if self.command == Command::BitField {
            return if has_any([b"set", b"incrby"]) {
                KeyFlags::READS_AND_UPDATES
            } else {
                KeyFlags::READS
            };
        }
        let answers_old_value = request.len() > 3 && has_any([b"get", b"get"]);
        if answers_old_value {
            KeyFlags::READS_AND_UPDATES
        } else {
            KeyFlags::REPLACES
        }
    }
}
