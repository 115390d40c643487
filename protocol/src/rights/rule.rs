//! One rule as text: `+get`, `-@dangerous`, `~key*`, `&channel*`.

use std::error::Error;
use std::fmt;

use super::Access;
use super::commands::Target;
use crate::command::{self, Categories};

/// A rule, read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule<'a> {
    /// `+@all`
    AllCommands,
    /// `-@all`
    NoCommands,
    /// `+get`, `-client|kill`, `+@read`
    Commands { target: Target, allow: bool },
    /// `~*`
    AllKeys,
    /// `resetkeys`
    NoKeys,
    /// `~glob`, `%R~glob`
    Key { glob: &'a [u8], access: Access },
    /// `&*`
    AllChannels,
    /// `resetchannels`
    NoChannels,
    /// `&glob`
    Channel(&'a [u8]),
}

/// A rule that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleError {
    rule: Box<[u8]>,
    problem: RuleProblem,
}

/// What is wrong with a rule. `Display` gives Redis's sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleProblem {
    /// It is no rule.
    Syntax,
    /// There is no such command, subcommand or category.
    UnknownCommand,
    /// It names an argument of a subcommand.
    ArgumentOfSubcommand,
    /// It allows some keys to a user who may use all.
    KeyAfterAll,
    /// It allows some channels to a user who may use all.
    ChannelAfterAll,
}

impl RuleError {
    pub(super) fn new(rule: &[u8], problem: RuleProblem) -> Self {
        Self {
            rule: rule.into(),
            problem,
        }
    }

    /// The rule as it was given.
    #[must_use]
    pub const fn rule(&self) -> &[u8] {
        &self.rule
    }

    /// What is wrong with it.
    #[must_use]
    pub const fn problem(&self) -> RuleProblem {
        self.problem
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = String::from_utf8_lossy(&self.rule);
        write!(
            f,
            "Error in ACL SETUSER modifier '{rule}': {}",
            self.problem
        )
    }
}

impl Error for RuleError {}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "Syntax error",
            Self::UnknownCommand => "Unknown command or category name in ACL",
            Self::ArgumentOfSubcommand => "Allowing first-arg of a subcommand is not supported",
            Self::KeyAfterAll => {
                "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does \
                 not have any effect. Try 'resetkeys' to start with an empty list of patterns"
            }
            Self::ChannelAfterAll => {
                "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and \
                 does not have any effect. Try 'resetchannels' to start with an empty list of \
                 channels"
            }
        })
    }
}

impl Error for RuleProblem {}

impl<'a> Rule<'a> {
    /// Reads a rule.
    pub(super) fn parse(text: &'a [u8]) -> Result<Self, RuleProblem> {
        if let Some(whole) = Self::whole(text) {
            return Ok(whole);
        }
        match text {
            [b'+', rest @ ..] => commands(rest, true),
            [b'-', rest @ ..] => commands(rest, false),
            [b'~', glob @ ..] => key(glob, Access::FULL),
            [b'%', rest @ ..] => key_with_access(rest),
            [b'&', glob @ ..] => Ok(Rule::Channel(checked(glob)?)),
            _ => Err(RuleProblem::Syntax),
        }
    }

    /// The rules that consist of one fixed word.
    fn whole(text: &[u8]) -> Option<Self> {
        let words: [(&str, Self); 10] = [
            ("allcommands", Rule::AllCommands),
            ("+@all", Rule::AllCommands),
            ("nocommands", Rule::NoCommands),
            ("-@all", Rule::NoCommands),
            ("allkeys", Rule::AllKeys),
            ("~*", Rule::AllKeys),
            ("resetkeys", Rule::NoKeys),
            ("allchannels", Rule::AllChannels),
            ("&*", Rule::AllChannels),
            ("resetchannels", Rule::NoChannels),
        ];
        words
            .into_iter()
            .find(|(word, _)| word.as_bytes().eq_ignore_ascii_case(text))
            .map(|(_, rule)| rule)
    }
}

fn commands(text: &[u8], allow: bool) -> Result<Rule<'_>, RuleProblem> {
    let target = match text {
        [b'@', category @ ..] => Categories::named(category).map(Target::Category),
        name => command::find_full(name).map(|(command, _)| Target::Command(command)),
    };
    match target {
        Some(target) => Ok(Rule::Commands { target, allow }),
        None if allow => Err(unknown(text)),
        None => Err(RuleProblem::UnknownCommand),
    }
}

/// What is wrong with the name of a command that is to be allowed and does not exist.
fn unknown(name: &[u8]) -> RuleProblem {
    let Some(bar) = name.iter().rposition(|&byte| byte == b'|') else {
        return RuleProblem::UnknownCommand;
    };
    let (before, after) = name.split_at(bar);
    match command::find_full(before) {
        Some((_, record)) if record.name.contains('|') => RuleProblem::ArgumentOfSubcommand,
        Some(_) if after == b"|" => RuleProblem::Syntax,
        _ => RuleProblem::UnknownCommand,
    }
}

/// What follows the `%` of a rule such as `%RW~glob`.
fn key_with_access(text: &[u8]) -> Result<Rule<'_>, RuleProblem> {
    let tilde = text
        .iter()
        .position(|&byte| byte == b'~')
        .ok_or(RuleProblem::Syntax)?;
    let (letters, glob) = text.split_at(tilde);
    let mut access = Access::default();
    for letter in letters {
        let granted = match letter.to_ascii_uppercase() {
            b'R' => &mut access.read,
            b'W' => &mut access.write,
            _ => return Err(RuleProblem::Syntax),
        };
        if std::mem::replace(granted, true) {
            return Err(RuleProblem::Syntax);
        }
    }
    if access == Access::default() {
        return Err(RuleProblem::Syntax);
    }
    key(&glob[1..], access)
}

fn key(glob: &[u8], access: Access) -> Result<Rule<'_>, RuleProblem> {
    let glob = checked(glob)?;
    Ok(Rule::Key { glob, access })
}

/// A pattern; rules are separated by white space, so it can have none.
fn checked(glob: &[u8]) -> Result<&[u8], RuleProblem> {
    // C's `isspace`, and NUL.
    let separates = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r' | 0);
    if glob.iter().any(separates) {
        Err(RuleProblem::Syntax)
    } else {
        Ok(glob)
    }
}
