//! What the edge, the host and their clients share: wire formats, the link between edge and host,
//! and the matching of channels and patterns.
//!
//! Nothing here does I/O, reads a clock or draws a random number: input, time and randomness come
//! in as arguments, output is drained by the caller. The same code therefore runs under every
//! transport and under the seeded simulator.

pub mod command;
pub mod glob;
pub mod limits;
pub mod link;
pub mod outbox;
pub mod resp;
pub mod rights;
pub mod sbe;
pub mod service;
pub mod session;
pub mod table;
pub mod time;
