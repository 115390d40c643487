//! `CONFIG`: the parameters that can be read, and those that can be changed while the host runs.

use std::time::Duration;

use goblin_protocol::glob;
use goblin_protocol::resp::{Arguments, Writer};
use goblin_protocol::session::{ClientLimits, parse_bytes};

use crate::host::Host;

/// One parameter. Those without `set` can only be read.
struct Parameter {
    name: &'static str,
    get: fn(&Host) -> String,
    set: Option<Set>,
}

/// Takes a new value, or says what is wrong with it.
type Set = fn(&mut Pending, &str) -> Result<(), &'static str>;

/// The parameters as a `CONFIG SET` wants them; applied when all of it is right.
struct Pending {
    limits: ClientLimits,
    password: Option<String>,
}

/// What clients look up although this server has no such thing, and what it answers.
const FIXED: &[(&str, &str)] = &[
    ("appendonly", "no"),
    ("databases", "1"),
    ("maxmemory", "0"),
    ("maxmemory-policy", "noeviction"),
    ("save", ""),
];

const PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "client-output-buffer-limit",
        get: |host| host.clients.limits().output_limits_text(),
        set: Some(|pending, text| pending.limits.set_output_limits(text)),
    },
    Parameter {
        name: "client-query-buffer-limit",
        get: |host| host.clients.limits().query_bytes_max.to_string(),
        set: Some(|pending, text| {
            let bytes = parse_bytes(text).filter(|bytes| *bytes >= 1024 * 1024);
            pending.limits.query_bytes_max =
                bytes.ok_or("argument must be a memory value of at least 1mb")?;
            Ok(())
        }),
    },
    Parameter {
        name: "maxclients",
        get: |host| host.clients.limits().clients_max.to_string(),
        set: Some(|pending, text| {
            let count = text.parse().ok().filter(|count| *count > 0);
            pending.limits.clients_max = count.ok_or("argument must be a positive integer")?;
            Ok(())
        }),
    },
    Parameter {
        name: "port",
        get: |host| host.config.port.to_string(),
        set: None,
    },
    Parameter {
        name: "proto-max-bulk-len",
        get: |host| host.clients.limits().bulk_bytes_max.to_string(),
        set: Some(|pending, text| {
            let bytes = parse_bytes(text).filter(|bytes| *bytes >= 1024 * 1024);
            pending.limits.bulk_bytes_max =
                bytes.ok_or("argument must be a memory value of at least 1mb")?;
            Ok(())
        }),
    },
    Parameter {
        name: "requirepass",
        get: |host| host.config.password.clone().unwrap_or_default(),
        set: Some(|pending, text| {
            pending.password = Some(text.to_owned());
            Ok(())
        }),
    },
    Parameter {
        name: "tcp-keepalive",
        get: |host| host.config.tcp_keepalive.as_secs().to_string(),
        set: None,
    },
    Parameter {
        name: "timeout",
        get: |host| {
            host.clients
                .limits()
                .idle_timeout
                .map_or(0, |timeout| timeout.as_secs())
                .to_string()
        },
        set: Some(|pending, text| {
            let seconds: u64 = text
                .parse()
                .map_err(|_| "argument couldn't be parsed into an integer")?;
            pending.limits.idle_timeout = (seconds > 0).then(|| Duration::from_secs(seconds));
            Ok(())
        }),
    },
];

impl Host {
    /// `CONFIG GET pattern …`.
    pub(crate) fn config_get(&self, patterns: Arguments<'_>, reply: &mut Writer<'_>) {
        let wanted = |name: &str| {
            patterns
                .iter()
                .any(|pattern| glob::matches(&pattern.to_ascii_lowercase(), name.as_bytes()))
        };
        let fixed = FIXED
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()));
        let live = PARAMETERS
            .iter()
            .map(|parameter| (parameter.name, (parameter.get)(self)));
        let found: Vec<(&str, String)> =
            fixed.chain(live).filter(|(name, _)| wanted(name)).collect();
        reply.map(found.len());
        for (name, value) in found {
            reply.bulk(name.as_bytes());
            reply.bulk(value.as_bytes());
        }
    }

    /// `CONFIG SET name value …`: all of it or nothing.
    pub(crate) fn config_set(&mut self, pairs: Arguments<'_>, reply: &mut Writer<'_>) {
        let mut pending = Pending {
            limits: *self.clients.limits(),
            password: None,
        };
        let mut at = 0;
        while let (Some(name), Some(value)) = (pairs.get(at), pairs.get(at + 1)) {
            let name = String::from_utf8_lossy(name).to_ascii_lowercase();
            let value = String::from_utf8_lossy(value);
            let Some(parameter) = PARAMETERS.iter().find(|known| known.name == name) else {
                return reply.error(format_args!(
                    "ERR Unknown option or number of arguments for CONFIG SET - '{name}'"
                ));
            };
            let Some(set) = parameter.set else {
                return reply.error(format_args!(
                    "ERR CONFIG SET failed (possibly related to argument '{name}') - can't set \
                     immutable config"
                ));
            };
            if let Err(problem) = set(&mut pending, &value) {
                return reply.error(format_args!(
                    "ERR CONFIG SET failed (possibly related to argument '{name}') - {problem}"
                ));
            }
            at += 2;
        }
        if at != pairs.len() {
            return reply.error("ERR wrong number of arguments for 'config|set' command");
        }
        self.clients.set_limits(pending.limits);
        if let Some(password) = pending.password {
            self.users.require_password(password.as_bytes());
            self.config.password = (!password.is_empty()).then_some(password);
        }
        reply.simple("OK");
    }
}
