//! Who may do what, as the host told it last. The host is the authority; the edge enforces.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use goblin_protocol::command::{CommandError, Record};
use goblin_protocol::resp::Arguments;
use goblin_protocol::rights::{Account, Rights, RuleError};
use goblin_protocol::service::ConnectionId;
use goblin_protocol::table::{Kind, SubscriberId};
use goblin_protocol::time::Now;

use crate::edge::Edge;
use crate::upstream::Gate;

/// The user of every client that has not authenticated.
const DEFAULT_USER: &[u8] = b"default";

/// One user.
pub(crate) struct User {
    pub(crate) name: Box<[u8]>,
    pub(crate) account: Account,
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "User({})", self.name.escape_ascii())
    }
}

impl User {
    pub(crate) fn needs_no_password(&self) -> bool {
        self.account.is_open()
    }

    pub(crate) fn check<'a>(
        &'a self,
        record: &'static Record,
        request: Arguments<'a>,
    ) -> Result<(), CommandError<'a>> {
        self.account.rights.check(&self.name, record, request)
    }
}

/// Who a client is while the edge has not heard of any user, where it may serve it all the same: what
/// needs the host waits for the host, or is done alone with `--on-upstream-loss local`.
fn stand_in() -> User {
    User {
        name: DEFAULT_USER.into(),
        account: Account {
            enabled: true,
            passwordless: true,
            rights: Rights::all(),
        },
    }
}

/// All users that the host has told of.
#[derive(Debug)]
pub(crate) struct Users {
    by_name: BTreeMap<Box<[u8]>, Rc<User>>,
    default: Rc<User>,
    known: bool,
    /// The users named since the host began to tell them all.
    told: Option<BTreeSet<Box<[u8]>>>,
}

impl Default for Users {
    fn default() -> Self {
        Self {
            by_name: BTreeMap::new(),
            default: Rc::new(User {
                name: DEFAULT_USER.into(),
                account: Account::new(),
            }),
            known: false,
            told: None,
        }
    }
}

impl Users {
    /// Whether the host has told them at all. Until then nobody may do anything.
    pub(crate) fn are_known(&self) -> bool {
        self.known
    }

    pub(crate) fn default_user(&self) -> Rc<User> {
        Rc::clone(&self.default)
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<Rc<User>> {
        self.by_name.get(name).cloned()
    }
}

impl Edge {
    /// The host is about to name all users.
    pub(crate) fn handle_rights_begin(&mut self) {
        self.users.told = Some(BTreeSet::new());
    }

    /// All users are named: those that were not are gone.
    pub(crate) fn handle_rights_end(&mut self, now: Now) {
        let told = self.users.told.take().unwrap_or_default();
        let gone: Vec<Box<[u8]>> = self
            .users
            .by_name
            .keys()
            .filter(|name| !told.contains(*name))
            .cloned()
            .collect();
        for name in gone {
            self.handle_user_gone(now, &name);
        }
        let first = !self.users.known;
        self.users.known = true;
        if first {
            self.admit_early_clients(now);
        }
    }

    /// Clients that came before the users were known become the default user now.
    fn admit_early_clients(&mut self, now: Now) {
        let user = self.users.default_user();
        let authenticated = user.needs_no_password();
        for id in self.clients.ids(|_| true) {
            let Some(client) = self.clients.get_mut(id) else {
                continue;
            };
            client.user = Rc::clone(&user);
            client.authenticated = authenticated;
            if !authenticated && client.subscription_count() > 0 {
                self.close(now, id, "it must authenticate");
            } else {
                self.refuse_unless_served(now, id);
            }
        }
    }

    /// Serves a client although no users are known, where the edge may: while the host is away, and on an
    /// address where nobody needs a password unless the host says so.
    pub(crate) fn stand_in_for_host(&mut self, id: ConnectionId) -> bool {
        if self.upstream.gate() != Gate::Closed || !self.is_served_without_password(id) {
            return false;
        }
        if let Some(client) = self.clients.get_mut(id)
            && !client.authenticated
        {
            client.user = Rc::new(stand_in());
            client.authenticated = true;
        }
        true
    }

    /// The host names a user, or changes what it may do. A user whose rules are not understood may do
    /// nothing.
    pub(crate) fn handle_rights(
        &mut self,
        now: Now,
        name: &[u8],
        text: &[u8],
    ) -> Result<(), RuleError> {
        let (account, understood) = match Account::parse(text) {
            Ok(account) => (account, Ok(())),
            Err(error) => (Account::new(), Err(error)),
        };
        let user = Rc::new(User {
            name: name.into(),
            account,
        });
        if let Some(told) = &mut self.users.told {
            told.insert(name.into());
        }
        let before = self.users.by_name.insert(name.into(), Rc::clone(&user));
        if name == DEFAULT_USER {
            self.users.default = Rc::clone(&user);
        }
        let keeps_channels = before.is_some_and(|before| {
            user.account
                .rights
                .keeps_channels_of(&before.account.rights)
        });
        for id in self.clients.ids(|client| *client.user.name == *name) {
            if let Some(client) = self.clients.get_mut(id) {
                client.user = Rc::clone(&user);
            }
            if !keeps_channels && self.holds_forbidden_subscription(id, &user) {
                self.close(now, id, "rights to a channel were revoked");
            }
        }
        understood
    }

    /// The user is gone; its clients are closed.
    pub(crate) fn handle_user_gone(&mut self, now: Now, name: &[u8]) {
        self.users.by_name.remove(name);
        for id in self.clients.ids(|client| *client.user.name == *name) {
            self.close(now, id, "its user was deleted");
        }
    }

    fn holds_forbidden_subscription(&self, id: ConnectionId, user: &User) -> bool {
        let who = SubscriberId(id.index);
        let rights = &user.account.rights;
        let mut channels = self
            .table
            .names_of(who, Kind::Channel)
            .chain(self.table.names_of(who, Kind::Shard));
        let mut patterns = self.table.names_of(who, Kind::Pattern);
        let waiting = self.clients.get(id).into_iter().flat_map(|client| {
            client
                .subscribing
                .iter()
                .map(|pending| (pending.kind, &*pending.name))
        });
        channels.any(|name| !rights.may_use_channel(name))
            || patterns.any(|pattern| !rights.may_use_pattern(pattern))
            || waiting.into_iter().any(|(kind, name)| match kind {
                Kind::Pattern => !rights.may_use_pattern(name),
                Kind::Channel | Kind::Shard => !rights.may_use_channel(name),
            })
    }
}
