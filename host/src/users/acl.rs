//! What the subcommands of `ACL` answer.

use goblin_protocol::command::{self, Categories, Command};
use goblin_protocol::resp::{Arguments, Writer};

use super::{DEFAULT_USER, User, Users};

impl Users {
    /// Answers a subcommand of `ACL` that the user `me` sent and whose number of words has been
    /// checked. `SETUSER` and `DELUSER` leave their [`Change`](super::Change)s behind.
    pub fn answer(
        &mut self,
        command: Command,
        request: Arguments<'_>,
        me: &User,
        reply: &mut Writer<'_>,
    ) {
        let arguments = request.skip(2);
        let first = arguments.get(0).unwrap_or_default();
        match command {
            Command::AclCat => categories(request, reply),
            Command::AclDelUser => self.answer_delete(arguments, reply),
            Command::AclGetUser => self.answer_get(first, reply),
            Command::AclList => self.answer_list(reply),
            Command::AclSetUser => self.answer_set(first, arguments.skip(1), reply),
            Command::AclUsers => self.answer_names(reply),
            Command::AclWhoAmI => reply.bulk(&me.name),
            _ => command::reply::help(Command::AclHelp, reply),
        }
    }

    fn answer_set(&mut self, name: &[u8], rules: Arguments<'_>, reply: &mut Writer<'_>) {
        // C's `isspace`, and NUL.
        let separates = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r' | 0);
        if name.iter().any(separates) {
            return reply.error("ERR Usernames can't contain spaces or null characters");
        }
        match self.set_user(name, rules.iter()) {
            Ok(()) => reply.simple("OK"),
            Err(error) => reply.error(format_args!("ERR {error}")),
        }
    }

    fn answer_delete(&mut self, names: Arguments<'_>, reply: &mut Writer<'_>) {
        if names.iter().any(|name| name == DEFAULT_USER) {
            return reply.error("ERR The 'default' user cannot be removed");
        }
        let removed = names.iter().filter(|name| self.remove_user(name)).count();
        reply.integer(i64::try_from(removed).unwrap_or(i64::MAX));
    }

    fn answer_get(&self, name: &[u8], reply: &mut Writer<'_>) {
        let Some(user) = self.get(name) else {
            return reply.null();
        };
        reply.map(6);
        reply.bulk(b"flags");
        reply.set(user.flags().count());
        user.flags().for_each(|flag| reply.bulk(flag.as_bytes()));
        reply.bulk(b"passwords");
        reply.array(user.passwords.len());
        for password in &user.passwords {
            reply.bulk(&password.to_hex());
        }
        let rights = &user.account.rights;
        write_rules("commands", |out| rights.write_command_rules(out), reply);
        write_rules("keys", |out| rights.write_key_rules(out), reply);
        write_rules("channels", |out| rights.write_channel_rules(out), reply);
        reply.bulk(b"selectors");
        reply.array(0);
    }

    fn answer_list(&self, reply: &mut Writer<'_>) {
        reply.array(self.users.len());
        for user in self.iter() {
            reply.bulk(&user.line());
        }
    }

    fn answer_names(&self, reply: &mut Writer<'_>) {
        reply.array(self.users.len());
        self.iter().for_each(|user| reply.bulk(&user.name));
    }
}

impl User {
    fn flags(&self) -> impl Iterator<Item = &'static str> {
        let switch = if self.account.enabled { "on" } else { "off" };
        let sanitizing = if self.sanitizes_payload {
            "sanitize-payload"
        } else {
            "skip-sanitize-payload"
        };
        [
            Some(switch),
            self.account.passwordless.then_some("nopass"),
            Some(sanitizing),
        ]
        .into_iter()
        .flatten()
    }

    /// The user as one line of `ACL LIST`.
    fn line(&self) -> Vec<u8> {
        let mut line = b"user ".to_vec();
        line.extend_from_slice(&self.name);
        line.push(b' ');
        for flag in self.flags() {
            line.extend_from_slice(flag.as_bytes());
            line.push(b' ');
        }
        for password in &self.passwords {
            line.push(b'#');
            line.extend_from_slice(&password.to_hex());
            line.push(b' ');
        }
        self.account.rights.write_rules(&mut line);
        line
    }
}

fn write_rules(name: &str, write: impl FnOnce(&mut Vec<u8>), reply: &mut Writer<'_>) {
    let mut rules = Vec::new();
    write(&mut rules);
    reply.bulk(name.as_bytes());
    reply.bulk(&rules);
}

/// Lists the categories, or the commands of one.
fn categories(request: Arguments<'_>, reply: &mut Writer<'_>) {
    match (request.get(2), request.len()) {
        (None, _) => {
            reply.array(Categories::all().iter().count());
            for (name, _) in Categories::all().iter_names() {
                reply.bulk(name.to_ascii_lowercase().as_bytes());
            }
        }
        (Some(name), 3) => match Categories::named(name) {
            Some(category) => members(category, reply),
            None => {
                let name = String::from_utf8_lossy(name);
                reply.error(format_args!("ERR Unknown category '{name}'"));
            }
        },
        _ => {
            let given = String::from_utf8_lossy(request.get(1).unwrap_or_default());
            reply.error(format_args!(
                "ERR unknown subcommand or wrong number of arguments for '{given}'. Try ACL HELP."
            ));
        }
    }
}

fn members(category: Categories, reply: &mut Writer<'_>) {
    let of_category =
        || command::all_with_subcommands().filter(|record| record.categories().contains(category));
    reply.array(of_category().count());
    of_category().for_each(|record| reply.bulk(record.name.as_bytes()));
}
