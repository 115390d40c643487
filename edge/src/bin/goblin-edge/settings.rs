//! The flags of `goblin-edge`, which are also the keys of its file.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use clap::{Parser, ValueEnum};
use goblin_edge::{Config, Delivery, OnGap, OnUpstreamLoss};
use goblin_process::Failure;
use goblin_process::process::{Listener, parse_tcp};
use goblin_process::settings::{ClientSettings, LinkSettings, ProcessSettings};
use goblin_transport::kernel::Address;
use serde::{Deserialize, Serialize};

/// Pub/Sub matched and delivered on the network card; everything else answered by the host behind it
#[derive(Parser, Clone, Debug, Serialize, Deserialize)]
#[command(name = "goblin-edge", version)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Settings {
    #[command(flatten)]
    #[serde(flatten)]
    clients: ClientSettings,
    /// Where the host listens for edges
    #[arg(long, value_name = "tcp://HOST:PORT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    upstream: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    link: LinkSettings,
    /// The name of this edge in the host's logs [default: the machine's name]
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// How long a command waits for the link before it fails [default: 1000]
    #[arg(long, value_name = "MILLISECONDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    upstream_timeout_ms: Option<u64>,
    /// Publications and subscriptions while the host cannot be reached [default: reject]
    #[arg(long, value_name = "WHAT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    on_upstream_loss: Option<OnUpstreamLossName>,
    /// Subscribers when publications may have been missed [default: close]
    #[arg(long, value_name = "WHAT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    on_gap: Option<OnGapName>,
    /// Who delivers to the clients of this edge [default: local]
    #[arg(long, value_name = "WHO")]
    #[serde(skip_serializing_if = "Option::is_none")]
    delivery: Option<DeliveryName>,
    /// Channels that the host delivers, in one order everywhere; may be repeated
    #[arg(long, value_name = "PATTERN")]
    #[serde(default)]
    host_ordered: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    process: ProcessSettings,
}

#[derive(Clone, Copy, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OnUpstreamLossName {
    /// They fail.
    Reject,
    /// They work among the clients of this edge.
    Local,
}

#[derive(Clone, Copy, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OnGapName {
    /// They are closed.
    Close,
    /// They stay, and the gap is counted.
    Keep,
}

#[derive(Clone, Copy, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum DeliveryName {
    /// This edge, at once.
    Local,
    /// The host, in its order.
    Host,
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

    /// Where clients are served.
    pub(crate) fn listeners(&self) -> Result<Vec<Listener>, Failure> {
        let listeners = self.clients.listeners()?;
        if listeners.is_empty() {
            return Err(Failure::usage(
                "listen or unix is missing: nobody could connect",
            ));
        }
        Ok(listeners)
    }

    /// Where the host is: every address that its name has.
    pub(crate) fn upstream(&self) -> Result<Vec<Address>, Failure> {
        let text = self
            .upstream
            .as_deref()
            .ok_or_else(|| Failure::usage("upstream is missing: where is the host?"))?;
        let Some(place) = text.strip_prefix("tcp://") else {
            return Err(Failure::usage(format_args!(
                "upstream {text}: not of the form tcp://HOST:PORT"
            )));
        };
        let addresses: Vec<SocketAddr> = match parse_tcp("upstream", place) {
            Ok(address) => vec![address],
            Err(_) => place
                .to_socket_addrs()
                .map_err(|error| Failure::usage(format_args!("upstream {text}: {error}")))?
                .collect(),
        };
        Ok(addresses.into_iter().map(Address::Tcp).collect())
    }

    /// The parameters of the core.
    pub(crate) fn config(&self) -> Result<Config, Failure> {
        Ok(Config {
            name: self.name.clone().unwrap_or_else(machine_name),
            upstream: self.upstream.clone().unwrap_or_default(),
            clients: self.clients.limits()?,
            allow_unauthenticated: self.clients.no_auth_tcp,
            delivery: match self.delivery {
                Some(DeliveryName::Host) => Delivery::Host,
                Some(DeliveryName::Local) | None => Delivery::Local,
            },
            host_ordered: self
                .host_ordered
                .iter()
                .map(|pattern| pattern.as_bytes().into())
                .collect(),
            on_upstream_loss: match self.on_upstream_loss {
                Some(OnUpstreamLossName::Local) => OnUpstreamLoss::Local,
                Some(OnUpstreamLossName::Reject) | None => OnUpstreamLoss::Reject,
            },
            on_gap: match self.on_gap {
                Some(OnGapName::Keep) => OnGap::Keep,
                Some(OnGapName::Close) | None => OnGap::Close,
            },
            upstream_timeout: Duration::from_millis(self.upstream_timeout_ms.unwrap_or(1_000)),
            link: self.link.parameters()?,
        })
    }
}

fn machine_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_documentation_lists_these_flags() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/goblin-edge.md");
        goblin_process::settings::check_reference::<Settings>(&page);
    }
}
