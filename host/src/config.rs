//! The checked parameters of a host.

use std::time::Duration;

use goblin_protocol::service::ListenerId;
use goblin_protocol::session::ClientLimits;

/// The parameters of a host.
#[derive(Clone, Debug)]
pub struct Config {
    /// What clients may take.
    pub clients: ClientLimits,
    /// The password of the default user; without one it needs none.
    pub password: Option<String>,
    /// How often an idle client's connection is probed; for `CONFIG GET`, the transport does it.
    pub tcp_keepalive: Duration,
    /// The listener that edges connect to, if there is one.
    pub edge_listener: Option<ListenerId>,
    /// The links' key, windows and timeouts.
    pub link: goblin_protocol::link::session::Config,
    /// The port that `INFO` shows.
    pub port: u16,
}
