//! What moves bytes between processes, and the turn that drives a core over it.
//!
//! * [`Transport`] is what a transport must do, without a word about descriptors: kernel sockets,
//!   a library that calls back and a simulated network all fit it.
//! * [`Turn`] runs one [`Service`](goblin_protocol::service::Service) over one transport.
//! * [`kernel`] is TCP and Unix sockets; [`simulated`] is a seeded network inside one process, of
//!   which [`simulated::Shape::in_memory`] is the plain in-memory case.
//! * `conformance` (a feature) is the one test body that all of them run.
//!
//! Everything here belongs to one thread. What may cross threads is a [`kernel::Waker`].

mod clock;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
mod counters;
mod identities;
pub mod kernel;
pub mod simulated;
mod transport;
mod turn;

pub use clock::Clock;
pub use counters::{Counters, TransportCounters};
pub use identities::ConnectionIds;
pub use transport::{Events, Transport};
pub use turn::{PollMode, Turn};
