//! What an edge is told of a user.

use super::{Rights, RuleError, words};

/// A user without the passwords: whether it may log in, whether it needs a password to, and what it
/// may do then.
///
/// Its text is the words `on` or `off`, `nopass` when no password is needed, and the rights:
/// `on nopass ~* &* +@all`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// May log in.
    pub enabled: bool,
    /// Any password is right, and clients need not authenticate if this is the default user.
    pub passwordless: bool,
    /// What it may do.
    pub rights: Rights,
}

impl Account {
    /// A new user: off, and without rights.
    #[must_use]
    pub fn new() -> Self {
        Self {
            enabled: false,
            passwordless: false,
            rights: Rights::none(),
        }
    }

    /// Whether a client may use the account without having authenticated.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.enabled && self.passwordless
    }

    /// Reads the text of an account.
    ///
    /// # Errors
    ///
    /// The first word that is no rule.
    pub fn parse(text: &[u8]) -> Result<Self, RuleError> {
        let mut account = Self::new();
        for word in words(text) {
            match word {
                b"on" => account.enabled = true,
                b"off" => account.enabled = false,
                b"nopass" => account.passwordless = true,
                rule => account.rights.apply(rule)?,
            }
        }
        Ok(account)
    }

    /// Appends the text of the account.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.enabled { b"on " } else { b"off " });
        if self.passwordless {
            out.extend_from_slice(b"nopass ");
        }
        self.rights.write_rules(out);
    }
}

impl Default for Account {
    fn default() -> Self {
        Self::new()
    }
}
