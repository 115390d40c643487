//! What a user may do: run commands, use keys, use channels.
//!
//! Rights are made of the rules of Redis's `ACL SETUSER`, one after the other, and are written back
//! as the canonical text that `ACL LIST` prints. The host is the authority on them; the text travels
//! to the edges, and edge and host ask the same questions of the same code. Passwords, and whether a
//! user may log in at all, are no rights; an [`Account`] has the part of that which edges need.
//!
//! * Whoever has all rights pays one branch per question.
//! * Reading the text of rights gives equal rights.
//! * Commands that need no authentication may be run by everyone.
//! * A user is allowed to subscribe to a pattern only when a rule names this very pattern: whether one
//!   pattern lies within another is not asked.

mod account;
mod commands;
mod rule;

#[cfg(test)]
mod tests;

pub use account::Account;
pub use rule::{RuleError, RuleProblem};

use crate::command::{Command, CommandError, KeyFlags, Record};
use crate::glob;
use crate::resp::Arguments;
use commands::CommandRights;
use rule::Rule;

/// What one user may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    /// Everything below allows everything.
    unrestricted: bool,
    commands: CommandRights,
    keys: KeyRights,
    channels: ChannelRights,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct KeyRights {
    all: bool,
    /// Unused when all keys are allowed.
    patterns: Vec<KeyPattern>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct KeyPattern {
    glob: Box<[u8]>,
    access: Access,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ChannelRights {
    all: bool,
    /// Unused when all channels are allowed.
    globs: Vec<Box<[u8]>>,
}

/// What may be done, or is to be done, with the data of a key. Neither is the least: to be told
/// that the key exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Data reaches the client or another key.
    pub read: bool,
    /// Data is changed.
    pub write: bool,
}

impl Access {
    /// Both.
    pub const FULL: Self = Self {
        read: true,
        write: true,
    };

    const fn includes(self, wanted: Self) -> bool {
        (self.read || !wanted.read) && (self.write || !wanted.write)
    }
}

impl From<KeyFlags> for Access {
    fn from(flags: KeyFlags) -> Self {
        Self {
            read: flags.needs_read(),
            write: flags.needs_write(),
        }
    }
}

impl Rights {
    /// The rights of a new user: none.
    #[must_use]
    pub fn none() -> Self {
        Self {
            unrestricted: false,
            commands: CommandRights::none(),
            keys: KeyRights::default(),
            channels: ChannelRights::default(),
        }
    }

    /// All rights, also to what does not exist yet.
    #[must_use]
    pub fn all() -> Self {
        let mut rights = Self::none();
        for everything in [Rule::AllCommands, Rule::AllKeys, Rule::AllChannels] {
            rights.set(&everything);
        }
        rights
    }

    /// Rights from rules that are separated by spaces, applied in their order to no rights.
    ///
    /// # Errors
    ///
    /// The first rule that does not hold.
    pub fn parse(rules: &[u8]) -> Result<Self, RuleError> {
        let mut rights = Self::none();
        for rule in words(rules) {
            rights.apply(rule)?;
        }
        Ok(rights)
    }

    /// Applies one rule.
    ///
    /// # Errors
    ///
    /// The rule is none or can have no effect; nothing has changed.
    pub fn apply(&mut self, rule: &[u8]) -> Result<(), RuleError> {
        let parsed = Rule::parse(rule)
            .and_then(|parsed| self.check_effect(&parsed).map(|()| parsed))
            .map_err(|problem| RuleError::new(rule, problem))?;
        self.set(&parsed);
        Ok(())
    }

    /// A pattern beside the right to everything would look like a restriction and be none.
    fn check_effect(&self, rule: &Rule<'_>) -> Result<(), RuleProblem> {
        match rule {
            Rule::Key { .. } if self.keys.all => Err(RuleProblem::KeyAfterAll),
            Rule::Channel(_) if self.channels.all => Err(RuleProblem::ChannelAfterAll),
            _ => Ok(()),
        }
    }

    fn set(&mut self, rule: &Rule<'_>) {
        match *rule {
            Rule::AllCommands => self.commands = CommandRights::all(),
            Rule::NoCommands => self.commands = CommandRights::none(),
            Rule::Commands { target, allow } => self.commands.set(target, allow),
            Rule::AllKeys => self.keys = KeyRights::all(),
            Rule::NoKeys => self.keys = KeyRights::default(),
            Rule::Key { glob, access } => self.keys.add(glob, access),
            Rule::AllChannels => self.channels = ChannelRights::all(),
            Rule::NoChannels => self.channels = ChannelRights::default(),
            Rule::Channel(glob) => self.channels.add(glob),
        }
        self.unrestricted = self.commands.is_all() && self.keys.all && self.channels.all;
    }

    /// Appends the canonical rules, separated by spaces: `~* &* +@all`.
    pub fn write_rules(&self, out: &mut Vec<u8>) {
        let start = out.len();
        self.write_key_rules(out);
        if out.len() > start {
            out.push(b' ');
        }
        if !self.channels.all {
            out.extend_from_slice(b"resetchannels ");
        }
        self.write_channel_rules(out);
        if out.last().is_some_and(|&last| last != b' ') {
            out.push(b' ');
        }
        self.write_command_rules(out);
    }

    /// The canonical rules, as [`write_rules`](Self::write_rules) appends them.
    #[must_use]
    pub fn to_rules(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_rules(&mut out);
        out
    }

    /// Appends the rules about commands: `-@all +get`.
    pub fn write_command_rules(&self, out: &mut Vec<u8>) {
        self.commands.write(out);
    }

    /// Appends the rules about keys: `~a* %R~b*`; nothing when no key is allowed.
    pub fn write_key_rules(&self, out: &mut Vec<u8>) {
        if self.keys.all {
            out.extend_from_slice(b"~*");
        }
        for (position, pattern) in self.keys.patterns.iter().enumerate() {
            if position > 0 {
                out.push(b' ');
            }
            out.extend_from_slice(match (pattern.access.read, pattern.access.write) {
                (true, false) => b"%R~",
                (false, true) => b"%W~",
                _ => b"~",
            });
            out.extend_from_slice(&pattern.glob);
        }
    }

    /// Appends the rules about channels: `&a* &b*`; nothing when no channel is allowed.
    pub fn write_channel_rules(&self, out: &mut Vec<u8>) {
        if self.channels.all {
            out.extend_from_slice(b"&*");
        }
        for (position, glob) in self.channels.globs.iter().enumerate() {
            if position > 0 {
                out.push(b' ');
            }
            out.push(b'&');
            out.extend_from_slice(glob);
        }
    }

    /// Whether everything is allowed.
    #[inline]
    #[must_use]
    pub const fn is_unrestricted(&self) -> bool {
        self.unrestricted
    }

    /// Whether the user may run a command or subcommand.
    #[inline]
    #[must_use]
    pub fn may_run(&self, command: Command) -> bool {
        self.unrestricted || self.commands.allow(command)
    }

    /// Whether the user may publish or subscribe to a channel or shard channel.
    #[inline]
    #[must_use]
    pub fn may_use_channel(&self, name: &[u8]) -> bool {
        self.channels.all
            || self
                .channels
                .globs
                .iter()
                .any(|glob| glob::matches(glob, name))
    }

    /// Whether the user may subscribe to a pattern.
    #[inline]
    #[must_use]
    pub fn may_use_pattern(&self, pattern: &[u8]) -> bool {
        self.channels.all || self.channels.globs.iter().any(|glob| **glob == *pattern)
    }

    /// Whether the user may do this with a key.
    #[inline]
    #[must_use]
    pub fn may_use_key(&self, name: &[u8], wanted: Access) -> bool {
        self.keys.all
            || self.keys.patterns.iter().any(|pattern| {
                pattern.access.includes(wanted) && glob::matches(&pattern.glob, name)
            })
    }

    /// Whether a user of that name may run this request: command, keys and channels.
    ///
    /// # Errors
    ///
    /// The error reply that the request gets otherwise.
    #[inline]
    pub fn check<'a>(
        &self,
        user: &'a [u8],
        record: &'static Record,
        request: Arguments<'_>,
    ) -> Result<(), CommandError<'a>> {
        if self.unrestricted {
            return Ok(());
        }
        if !self.may_run(record.command) {
            return Err(CommandError::CommandDenied { user, record });
        }
        if !self.may_use_keys_of(record, request) {
            return Err(CommandError::KeyDenied);
        }
        if !self.may_use_channels_of(record, request) {
            return Err(CommandError::ChannelDenied);
        }
        Ok(())
    }

    fn may_use_keys_of(&self, record: &'static Record, request: Arguments<'_>) -> bool {
        self.keys.all
            || record.keys.is_empty()
            || record
                .keys(request)
                .filter(|(_, flags)| !flags.contains(KeyFlags::NOT_KEY))
                .all(|(position, flags)| {
                    let name = request.get(position).unwrap_or_default();
                    self.may_use_key(name, flags.into())
                })
    }

    fn may_use_channels_of(&self, record: &Record, request: Arguments<'_>) -> bool {
        let Some(channels) = record.channels else {
            return true;
        };
        self.channels.all
            || channels.names(request).all(|name| {
                if channels.patterns {
                    self.may_use_pattern(name)
                } else {
                    self.may_use_channel(name)
                }
            })
    }

    /// Whether no subscription that `old` allowed can have lost its right. If it is false, each
    /// subscription of the user's clients must be asked about by
    /// [`may_use_channel`](Self::may_use_channel) or [`may_use_pattern`](Self::may_use_pattern), and
    /// the clients that hold one which is not allowed any more must be closed.
    #[must_use]
    pub fn keeps_channels_of(&self, old: &Self) -> bool {
        self.channels.all
            || (!old.channels.all
                && old
                    .channels
                    .globs
                    .iter()
                    .all(|glob| self.channels.globs.contains(glob)))
    }
}

impl KeyRights {
    const fn all() -> Self {
        Self {
            all: true,
            patterns: Vec::new(),
        }
    }

    fn add(&mut self, glob: &[u8], access: Access) {
        match self.patterns.iter_mut().find(|known| *known.glob == *glob) {
            Some(known) => {
                known.access.read |= access.read;
                known.access.write |= access.write;
            }
            None => self.patterns.push(KeyPattern {
                glob: glob.into(),
                access,
            }),
        }
        let everything =
            |pattern: &KeyPattern| *pattern.glob == *b"*" && pattern.access == Access::FULL;
        if self.patterns.iter().any(everything) {
            *self = Self::all();
        }
    }
}

impl ChannelRights {
    const fn all() -> Self {
        Self {
            all: true,
            globs: Vec::new(),
        }
    }

    fn add(&mut self, glob: &[u8]) {
        if !self.globs.iter().any(|known| **known == *glob) {
            self.globs.push(glob.into());
        }
    }
}

/// The words of a text of rules.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b' ')
        .filter(|word| !word.is_empty())
}
