//! The pair as a client meets it: real processes, real sockets, real clients.
//!
//! * [`Place`] owns what a run leaves on disk: a temporary folder and the key file.
//! * [`Process`] owns a child and what it prints. Whatever happens to the test (a failure, a panic,
//!   an interrupt), the child ends, by its process identity, and nothing else is ended.
//! * [`Host`], [`Edge`] and [`RedisServer`] are processes that have said where they listen.
//! * [`Server`] is "whatever is under test": the host, an edge, or redis-server itself, which
//!   proves that an expectation is Redis's and not ours.
//! * [`Client`] is a blocking connection that never waits beyond [`DEADLINE`].
//!
//! Nothing here waits by the clock: every wait ends with the event that it is for, or fails. This is
//! a test harness: where the world is not as it has to be, it panics, and says what it waited for
//! and what it saw.

mod client;
mod namespaces;
mod pair;
mod place;
mod process;
mod reply;
mod server;

use std::time::Duration;

pub use client::{Address, Client, Stream};
pub use namespaces::{Namespaces, as_root};
pub use pair::{Edge, Host, RedisServer};
pub use place::{Place, Profile, build, repository};
pub use process::Process;
pub use reply::Reply;
pub use server::{Options, Server, Target};

/// The longest that anything may take before it counts as hanging. Generous: the machine may be
/// busy with other tests, and a wait that succeeds ends at once.
pub const DEADLINE: Duration = Duration::from_secs(20);
