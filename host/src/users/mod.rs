//! The users: the authority on who may log in, and on what each may do.
//!
//! A [`User`] is immutable and shared: a client that has authenticated holds the user as it was then.
//! Every change makes a new one and notes a [`Change`]; whoever owns the [`Users`] takes the changes
//! after each command and
//!
//! * gives every client of a changed user the new one, closing those that hold a subscription which
//!   is not allowed any more,
//! * closes every client of a removed user,
//! * tells the edges, which do the same, [`Account::write`] being what they are told.
//!
//! The user `default` always exists: clients are this user until they authenticate. Passwords are
//! kept as SHA-256 digests, compared in constant time, and never leave the host.

mod acl;
mod password;
mod rules;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use goblin_protocol::rights::{Account, Rights};
use password::Digest;
pub use rules::{UserRuleError, UserRuleProblem};

/// The user that clients are before they authenticate.
pub const DEFAULT_USER: &[u8] = b"default";

/// One user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The user's name.
    pub name: Box<[u8]>,
    /// Whether the user may log in, and what it may do.
    pub account: Account,
    passwords: Vec<Digest>,
    /// Says whether serialized values of this user would be checked in depth. Nothing here reads
    /// serialized values; the flag is kept to be printed.
    sanitizes_payload: bool,
}

impl User {
    fn new(name: &[u8]) -> Self {
        Self {
            name: name.into(),
            account: Account::new(),
            passwords: Vec::new(),
            sanitizes_payload: true,
        }
    }

    fn admits(&self, password: &[u8]) -> bool {
        self.account.enabled
            && (self.account.passwordless || Digest::of(password).is_among(&self.passwords))
    }
}

/// What happened to a user.
#[derive(Clone, Debug)]
pub enum Change {
    /// It is new, or has other rules.
    Changed {
        /// As it is now.
        user: Arc<User>,
        /// It may have lost the right to channels, so its clients' subscriptions must be checked.
        loses_channels: bool,
    },
    /// It is gone.
    Removed(Box<[u8]>),
}

/// All users.
#[derive(Debug)]
pub struct Users {
    users: BTreeMap<Box<[u8]>, Arc<User>>,
    default: Arc<User>,
    changes: Vec<Change>,
}

impl Default for Users {
    fn default() -> Self {
        Self::new()
    }
}

impl Users {
    /// The default user alone, with all rights and without a password.
    #[must_use]
    pub fn new() -> Self {
        let default = Arc::new(User {
            account: Account {
                enabled: true,
                passwordless: true,
                rights: Rights::all(),
            },
            ..User::new(DEFAULT_USER)
        });
        Self {
            users: BTreeMap::from([(DEFAULT_USER.into(), Arc::clone(&default))]),
            default,
            changes: Vec::new(),
        }
    }

    /// The user that a new client is.
    #[must_use]
    pub fn default_user(&self) -> Arc<User> {
        Arc::clone(&self.default)
    }

    /// Whether any password is right for the default user. Clients need not authenticate then,
    /// unless the user is off.
    #[must_use]
    pub fn default_needs_no_password(&self) -> bool {
        self.default.account.passwordless
    }

    /// The user of that name.
    #[must_use]
    pub fn get(&self, name: &[u8]) -> Option<&Arc<User>> {
        self.users.get(name)
    }

    /// Who a client becomes that gives these credentials. `None` when there is no such user, it is
    /// off, or has another password: the client is not to be told which.
    #[must_use]
    pub fn authenticate(&self, name: &[u8], password: &[u8]) -> Option<Arc<User>> {
        self.get(name).filter(|user| user.admits(password)).cloned()
    }

    /// Gives the default user this password in place of all it had; an empty one means none is
    /// needed (`requirepass`).
    pub fn require_password(&mut self, password: &[u8]) {
        let mut user = User::clone(&self.default);
        user.set_only_password(password);
        self.put(user);
    }

    /// Creates or changes a user by rules, all or none of which are applied. Changing the rules of a
    /// user and back counts as a change.
    ///
    /// # Errors
    ///
    /// The first rule that does not hold.
    pub fn set_user<'a>(
        &mut self,
        name: &[u8],
        rules: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), UserRuleError> {
        let known = self.get(name).map(|user| User::clone(user));
        let mut user = known.unwrap_or_else(|| User::new(name));
        for rule in rules {
            user.apply(rule)?;
        }
        self.put(user);
        Ok(())
    }

    /// Removes a user. The default user stays, and nobody by an unknown name is removed either.
    /// Returns whether there was one to remove.
    pub fn remove_user(&mut self, name: &[u8]) -> bool {
        if name == DEFAULT_USER {
            return false;
        }
        let removed = self.users.remove_entry(name);
        let found = removed.is_some();
        self.changes
            .extend(removed.map(|(name, _)| Change::Removed(name)));
        found
    }

    /// All users, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<User>> {
        self.users.values()
    }

    /// What edges are told when they connect: every user's name and the text of its account.
    pub fn snapshot(&self) -> impl Iterator<Item = (&[u8], Vec<u8>)> {
        self.iter().map(|user| {
            let mut text = Vec::new();
            user.account.write(&mut text);
            (&*user.name, text)
        })
    }

    /// What has happened since the last call, in order.
    #[must_use]
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    fn put(&mut self, user: User) {
        let user = Arc::new(user);
        if *user.name == *DEFAULT_USER {
            self.default = Arc::clone(&user);
        }
        let old = self.users.insert(user.name.clone(), Arc::clone(&user));
        let loses_channels =
            old.is_some_and(|old| !user.account.rights.keeps_channels_of(&old.account.rights));
        self.changes.push(Change::Changed {
            user,
            loses_channels,
        });
    }
}
