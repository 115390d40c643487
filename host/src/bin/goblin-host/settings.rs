//! The flags of `goblin-host`, which are also the keys of its file.

use std::time::Duration;

use clap::Parser;
use goblin_host::Config;
use goblin_process::Failure;
use goblin_process::process::{Listener, parse_tcp};
use goblin_process::settings::{ClientSettings, LinkSettings, ProcessSettings};
use goblin_protocol::service::ListenerId;
use goblin_transport::kernel::Address;
use serde::{Deserialize, Serialize};

/// Most bytes of replies and deliveries that may wait for one connected edge behind its window. Replies
/// are as large as values are, and an edge's clients may ask for several at once; an edge that is not
/// connected gets the window alone.
const EDGE_BACKLOG_BYTES_MAX: usize = 256 * 1024 * 1024;

/// The authoritative server: data, users, and the Pub/Sub of all edges and all clients
#[derive(Parser, Clone, Debug, Serialize, Deserialize)]
#[command(name = "goblin-host", version)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Settings {
    #[command(flatten)]
    #[serde(flatten)]
    clients: ClientSettings,
    /// Password of the default user; without one clients need none
    #[arg(long, value_name = "PASSWORD")]
    #[serde(skip_serializing_if = "Option::is_none")]
    requirepass: Option<String>,
    /// Serve edges on this TCP address
    #[arg(long, value_name = "ADDRESS:PORT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    edge_listen: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    link: LinkSettings,
    #[command(flatten)]
    #[serde(flatten)]
    process: ProcessSettings,
}

impl AsMut<ProcessSettings> for Settings {
    fn as_mut(&mut self) -> &mut ProcessSettings {
        &mut self.process
    }
}

impl Settings {
    pub(crate) fn process(&self) -> &ProcessSettings {
        &self.process
    }

    pub(crate) fn keepalive_seconds(&self) -> u32 {
        self.clients.keepalive_seconds()
    }

    /// Where clients and edges are served.
    pub(crate) fn listeners(&self) -> Result<Vec<Listener>, Failure> {
        let mut listeners = self.clients.listeners()?;
        self.refuse_open_addresses(&listeners)?;
        if let Some(text) = &self.edge_listen {
            listeners.push(Listener {
                purpose: "edges",
                address: Address::Tcp(parse_tcp("edge-listen", text)?),
            });
        }
        if listeners.is_empty() {
            return Err(Failure::usage(
                "listen, unix or edge-listen is missing: nobody could connect",
            ));
        }
        Ok(listeners)
    }

    /// Without a password only this machine may connect, unless the operator says so.
    fn refuse_open_addresses(&self, listeners: &[Listener]) -> Result<(), Failure> {
        let open = self.requirepass.as_deref().is_none_or(str::is_empty);
        let exposed = listeners.iter().find(
            |listener| matches!(listener.address, Address::Tcp(at) if !at.ip().is_loopback()),
        );
        match exposed {
            Some(listener) if open && !self.clients.no_auth_tcp => {
                Err(Failure::usage(format_args!(
                    "listen {}: not loopback, and clients would need no password: set requirepass, \
                     or no-auth-tcp if that is meant",
                    listener.address
                )))
            }
            _ => Ok(()),
        }
    }

    /// The parameters of the core.
    pub(crate) fn config(&self, listeners: &[Listener]) -> Result<Config, Failure> {
        let edge_listener = listeners
            .iter()
            .position(|listener| listener.purpose == "edges")
            .and_then(|position| u16::try_from(position).ok())
            .map(ListenerId);
        let mut link = match edge_listener {
            Some(_) => self.link.parameters()?,
            None => self.link.unused()?,
        };
        link.backlog_bytes_max = EDGE_BACKLOG_BYTES_MAX;
        Ok(Config {
            clients: self.clients.limits()?,
            password: self.requirepass.clone().filter(|text| !text.is_empty()),
            tcp_keepalive: Duration::from_secs(u64::from(self.keepalive_seconds())),
            edge_listener,
            link,
            port: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_documentation_lists_these_flags() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/goblin-host.md");
        goblin_process::settings::check_reference::<Settings>(&page);
    }
}
