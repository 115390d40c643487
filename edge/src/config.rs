//! The checked parameters of an edge.

use std::time::Duration;

use goblin_protocol::session::ClientLimits;

/// Who delivers a publication to the edge's own subscribers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Delivery {
    /// The edge, at once.
    #[default]
    Local,
    /// The host, in its own order; for comparison and for those who need one order everywhere.
    Host,
}

/// What happens to publications and subscriptions while the host cannot be reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnUpstreamLoss {
    /// They are answered with an error and nothing is delivered.
    #[default]
    Reject,
    /// They work among the clients of this edge and are not forwarded later.
    Local,
}

/// What happens to subscribers when the link's session is lost, so that nobody can know what they
/// missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnGap {
    /// They are closed, as by a restarted Redis, and will subscribe again.
    #[default]
    Close,
    /// They stay connected, and the gap is counted.
    Keep,
}

/// The parameters of an edge.
#[derive(Clone, Debug)]
pub struct Config {
    /// How the edge is called in the host's logs and tables.
    pub name: String,
    /// Where the host is, for logs; the transport knows how to get there.
    pub upstream: String,
    /// What clients may take.
    pub clients: ClientLimits,
    /// Whether clients on addresses that are not loopback are served without a password.
    pub allow_unauthenticated: bool,
    /// Who delivers.
    pub delivery: Delivery,
    /// Channels that match one of these are delivered by the host even with `Delivery::Local`.
    pub host_ordered: Vec<Box<[u8]>>,
    /// `--on-upstream-loss`.
    pub on_upstream_loss: OnUpstreamLoss,
    /// `--on-gap`.
    pub on_gap: OnGap,
    /// How long a command waits for the link before it is answered with an error.
    pub upstream_timeout: Duration,
    /// The link's key, windows and timeouts.
    pub link: goblin_protocol::link::session::Config,
}
