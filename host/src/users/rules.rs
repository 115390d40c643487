//! The rules of `ACL SETUSER` that are about logging in; all others are about rights.

use std::error::Error;
use std::fmt;

use goblin_protocol::rights::{RuleError, RuleProblem};

use super::User;
use super::password::Digest;

/// A rule that does not hold. `Display` gives Redis's sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRuleError {
    rule: Box<[u8]>,
    problem: UserRuleProblem,
}

/// What is wrong with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UserRuleProblem {
    /// As a rule about rights, which all are that are not about logging in.
    Rights(RuleProblem),
    /// The user has no such password to take away.
    NoSuchPassword,
    /// Not 64 lower-case hexadecimal digits.
    MalformedHash,
}

impl UserRuleError {
    fn new(rule: &[u8], problem: UserRuleProblem) -> Self {
        Self {
            rule: rule.into(),
            problem,
        }
    }

    /// What is wrong with the rule.
    #[must_use]
    pub const fn problem(&self) -> UserRuleProblem {
        self.problem
    }
}

impl From<RuleError> for UserRuleError {
    fn from(error: RuleError) -> Self {
        Self::new(error.rule(), UserRuleProblem::Rights(error.problem()))
    }
}

impl fmt::Display for UserRuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = String::from_utf8_lossy(&self.rule);
        write!(f, "Error in ACL SETUSER modifier '{rule}': ")?;
        match self.problem {
            UserRuleProblem::Rights(problem) => problem.fmt(f),
            UserRuleProblem::NoSuchPassword => {
                f.write_str("The password you are trying to remove from the user does not exist")
            }
            UserRuleProblem::MalformedHash => f.write_str(
                "The password hash must be exactly 64 characters and contain only lowercase \
                 hexadecimal characters",
            ),
        }
    }
}

impl Error for UserRuleError {}

impl User {
    /// Applies one rule; an empty one says nothing.
    pub(super) fn apply(&mut self, rule: &[u8]) -> Result<(), UserRuleError> {
        match rule.to_ascii_lowercase().as_slice() {
            b"" => {}
            b"on" => self.account.enabled = true,
            b"off" => self.account.enabled = false,
            b"nopass" => self.set_only_password(b""),
            b"resetpass" => self.reset_passwords(),
            b"reset" => *self = Self::new(&self.name),
            b"sanitize-payload" => self.sanitizes_payload = true,
            b"skip-sanitize-payload" => self.sanitizes_payload = false,
            _ => return self.apply_prefixed(rule),
        }
        Ok(())
    }

    fn apply_prefixed(&mut self, rule: &[u8]) -> Result<(), UserRuleError> {
        let problem = match rule {
            [b'>', password @ ..] => self.add_password(Digest::of(password)),
            [b'<', password @ ..] => self.remove_password(Digest::of(password)),
            [b'#', hash @ ..] => parse(hash).and_then(|digest| self.add_password(digest)),
            [b'!', hash @ ..] => parse(hash).and_then(|digest| self.remove_password(digest)),
            _ => return Ok(self.account.rights.apply(rule)?),
        };
        problem.map_err(|problem| UserRuleError::new(rule, problem))
    }

    /// This password alone; no password is needed when it is empty.
    pub(super) fn set_only_password(&mut self, password: &[u8]) {
        self.reset_passwords();
        if password.is_empty() {
            self.account.passwordless = true;
        } else {
            self.passwords.push(Digest::of(password));
        }
    }

    /// No password, and none that would be right.
    fn reset_passwords(&mut self) {
        self.passwords.clear();
        self.account.passwordless = false;
    }

    fn add_password(&mut self, digest: Digest) -> Result<(), UserRuleProblem> {
        if !self.passwords.contains(&digest) {
            self.passwords.push(digest);
        }
        self.account.passwordless = false;
        Ok(())
    }

    fn remove_password(&mut self, digest: Digest) -> Result<(), UserRuleProblem> {
        let position = self.passwords.iter().position(|known| *known == digest);
        self.passwords
            .remove(position.ok_or(UserRuleProblem::NoSuchPassword)?);
        Ok(())
    }
}

fn parse(hash: &[u8]) -> Result<Digest, UserRuleProblem> {
    Digest::parse(hash).ok_or(UserRuleProblem::MalformedHash)
}
