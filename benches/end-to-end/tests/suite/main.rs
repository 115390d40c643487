//! The pair, tested from outside: the host, an edge, and redis-server beside them.
//!
//! A test body takes the [`goblin_end_to_end::Target`] it runs on. A body that passes on redis-server
//! states what Redis does; the others say in their documentation why they cannot run there.

mod bad_input;
mod configuration;
mod handshake;
mod limits;
mod partitions;
mod programs;
mod promises;
mod replies;
mod rights;
mod subscriptions;
mod system_calls;
mod upstream;
