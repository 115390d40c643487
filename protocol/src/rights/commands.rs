//! Which commands a user may run, and the rules that say so.

use crate::command::{self, Categories, Command, Flags, Record};

const WORDS: usize = Command::COUNT.div_ceil(64);

/// One bit per command, and the rules that set them.
///
/// The bits answer; the rules are kept to be printed. Applying the rules in their order to all
/// commands (`future`) or none gives the bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandRights {
    allowed: [u64; WORDS],
    /// Commands that are yet to be invented are allowed: the rules begin with `+@all`.
    future: bool,
    rules: Vec<CommandRule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CommandRule {
    target: Target,
    allow: bool,
}

/// What a rule about commands speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A command, with its subcommands, or a subcommand.
    Command(Command),
    /// All commands and subcommands of a category.
    Category(Categories),
}

impl CommandRights {
    pub(super) const fn none() -> Self {
        Self {
            allowed: [0; WORDS],
            future: false,
            rules: Vec::new(),
        }
    }

    pub(super) fn all() -> Self {
        let mut rights = Self {
            future: true,
            ..Self::none()
        };
        for record in command::all() {
            rights.set_bits(record, true);
        }
        rights
    }

    pub(super) fn is_all(&self) -> bool {
        self.allowed
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum::<usize>()
            == Command::COUNT
    }

    #[inline]
    pub(super) fn allow(&self, command: Command) -> bool {
        let (word, bit) = position(command);
        self.allowed.get(word).is_some_and(|word| word & bit != 0)
            || command::record(command).flags.contains(Flags::NO_AUTH)
    }

    /// Applies a rule and forgets the rules that it overrules entirely.
    pub(super) fn set(&mut self, target: Target, allow: bool) {
        match target {
            Target::Command(command) => self.set_bits(command::record(command), allow),
            Target::Category(category) => {
                for record in command::all_with_subcommands() {
                    if record.categories().contains(category) {
                        self.set_bits(record, allow);
                    }
                }
            }
        }
        self.rules.retain(|rule| !target.includes(rule.target));
        self.rules.push(CommandRule { target, allow });
    }

    /// What holds for a container holds for its subcommands.
    fn set_bits(&mut self, record: &Record, allow: bool) {
        for record in std::iter::once(record).chain(record.subcommands) {
            let (word, bit) = position(record.command);
            if let Some(word) = self.allowed.get_mut(word) {
                *word = if allow { *word | bit } else { *word & !bit };
            }
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.future { b"+@all" } else { b"-@all" });
        for rule in &self.rules {
            out.extend_from_slice(if rule.allow { b" +" } else { b" -" });
            match rule.target {
                Target::Command(command) => {
                    out.extend_from_slice(command::record(command).name.as_bytes());
                }
                Target::Category(category) => {
                    out.push(b'@');
                    for (name, _) in category.iter_names() {
                        out.extend(name.bytes().map(|byte| byte.to_ascii_lowercase()));
                    }
                }
            }
        }
    }
}

impl Target {
    /// Whether everything that `other` names directly is named by this directly.
    fn includes(self, other: Self) -> bool {
        match (self, other) {
            (Self::Command(this), Self::Command(other)) => {
                let record = command::record(this);
                this == other || record.subcommands.iter().any(|sub| sub.command == other)
            }
            _ => self == other,
        }
    }
}

#[inline]
const fn position(command: Command) -> (usize, u64) {
    let index = command as usize;
    (index / 64, 1 << (index % 64))
}
