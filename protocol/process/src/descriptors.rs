//! Room for a descriptor per client.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tracing::warn;

/// Descriptors that a process needs besides those of its clients: standard streams, listeners, the
/// readiness queue, links, log files.
const OTHERS: u64 = 64;

/// Raises the process's limit so that `clients_max` clients can be connected, as far as the machine
/// allows, and says so when that is not far enough: the rest will be turned away at the door.
pub fn make_room(clients_max: usize) {
    let wanted = u64::try_from(clients_max)
        .unwrap_or(u64::MAX)
        .saturating_add(OTHERS);
    let limit = getrlimit(Resource::Nofile);
    let allowed = |limit: Option<u64>| limit.unwrap_or(u64::MAX);
    if allowed(limit.current) >= wanted {
        return;
    }
    let current = wanted.min(allowed(limit.maximum));
    let raised = Rlimit {
        current: Some(current),
        maximum: limit.maximum,
    };
    if setrlimit(Resource::Nofile, raised).is_err() || current < wanted {
        warn!(
            descriptors = allowed(getrlimit(Resource::Nofile).current),
            wanted,
            "not enough file descriptors for maxclients; raise the limit (ulimit -n, LimitNOFILE=)"
        );
    }
}
