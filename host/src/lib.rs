//! The authoritative host: the data, the users, and the interest of every edge and every client.
//!
//! [`Host`] is the core. It does no I/O and is driven as a `goblin_protocol::service::Service`: by the
//! turn over a transport in the program, by seeded virtual time in the simulator.
//!
//! What belongs where:
//!
//! | room | what it decides |
//! | --- | --- |
//! | `client` | what is known of a client, connected here or to an edge |
//! | `commands` | what a request does: checks, transactions, and who executes it |
//! | `publications` | matching and delivery to clients here and to edges |
//! | `subscriptions` | subscribing here, and what `PUBSUB` answers for the whole system |
//! | `edges` | the links: handshakes, sessions, interest, the clients behind them |
//! | `settings` | `CONFIG` |
//! | `users` | who may do what |
//! | `store`, `data` | keys and values, and the commands on them |

mod client;
mod commands;
mod config;
pub mod data;
mod edges;
mod host;
mod info;
mod publications;
mod settings;
pub mod store;
mod subscriptions;
#[cfg(test)]
mod tests;
pub mod users;

pub use config::Config;
pub use host::{Host, Randomness, Statistics};
