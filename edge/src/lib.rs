//! The edge: Pub/Sub matched and delivered on the network card, everything else passed through to the
//! host.
//!
//! [`Edge`] is the core. It does no I/O and is driven as a `goblin_protocol::service::Service`: by the
//! turn over a transport in the program, by seeded virtual time in the simulator.
//!
//! What belongs where:
//!
//! | room | what it decides |
//! | --- | --- |
//! | `client` | what is known of a client, and why its next request has to wait |
//! | `commands` | which command is answered here, which by the host, which has to wait |
//! | `subscriptions` | subscribing, the host's confirmation, interest |
//! | `publications` | matching, delivery, forwarding, the publisher's reply |
//! | `transactions` | what of a transaction is the edge's own |
//! | `upstream` | the link: dialing, sessions, announcing interest, loss |
//! | `users` | who may do what, as the host told it |

mod client;
mod commands;
mod config;
mod edge;
mod info;
mod publications;
mod subscriptions;
#[cfg(test)]
mod tests;
mod transactions;
mod upstream;
mod users;

pub use config::{Config, Delivery, OnGap, OnUpstreamLoss};
pub use edge::{Edge, Randomness, Statistics};
