//! XLIO Ultra with its contract in types, and a transport on it.
//!
//! * [`Xlio`] is the started library: started once per process, failure is final, ended when the
//!   last handle is dropped, after all groups.
//! * `group` makes the calls. Callbacks only record; what they recorded is handed out after the call
//!   in which they ran, so that nothing is destroyed, borrowed or sent inside one.
//! * `memory` is what zero-copy sends are made from.
//! * [`XlioTransport`] is a [`Transport`](goblin_transport::Transport).
//!
//! # Thread safety
//!
//! A group, and the transport on it, belong to the thread that made them and are not `Send`. An
//! [`Xlio`] may be shared.
//!
//! # Cleanup
//!
//! Dropping a transport closes its sockets, polls until they are gone (or a deadline has passed),
//! resets the rest and destroys the group; its send memory is freed after that. The last `Xlio`
//! then ends the library. It happens on every path that drops, a panic included.
//!
//! # Library dependency
//!
//! `libxlio.so.3`, at run time, see `goblin_xlio_sys::load`; `libibverbs.so.1` for zero-copy sends.

mod callbacks;
mod group;
mod library;
mod memory;
mod registration;
mod transport;

pub use library::{StartError, Xlio};
pub use transport::{Identities, SetupError, XlioOptions, XlioTransport};
