//! The shape of a core, as whatever drives it sees it.
//!
//! A core is told what happened through `handle_*` and asked what must go out through `poll_action`
//! and `output`. It does no I/O; a driver (the turn over a transport, or the simulator) does.
//!
//! The order within one turn: any number of `handle_opened`, `handle_received`, `handle_closed`;
//! then `handle_turn` once; then `poll_action` until it yields nothing. `Action::Flush` asks the
//! driver to write what `output` yields and to report it through `handle_written`, now or when the
//! connection can take more.

use std::fmt;
use std::io::IoSlice;

use crate::session::Environment;
use crate::time::{Now, Time};

/// Names one connection of one process. An index that is reused carries another generation, so a
/// late event can never reach the next owner of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId {
    /// Dense: a table indexed by it stays as small as the largest number of connections at once.
    pub index: u32,
    /// Counts the uses of the index.
    pub generation: u32,
}

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index, self.generation)
    }
}

/// Names a listener, in the order in which the process was given them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListenerId(pub u16);

/// How a connection came to be.
#[derive(Clone, Copy, Debug)]
pub enum Opened<'a> {
    /// A peer connected to a listener. Addresses are text: `127.0.0.1:6379`, `[::1]:6379`, or the
    /// path of a Unix socket followed by `:0`, as Redis prints them.
    Accepted {
        /// Where it connected.
        listener: ListenerId,
        /// The peer's address.
        peer: &'a str,
        /// Our address.
        local: &'a str,
    },
    /// The connection that `Action::Dial` asked for is established.
    Dialed,
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// The peer closed its side.
    ByPeer,
    /// The transport failed; the number is the operating system's error.
    Failed(i32),
    /// A dial did not reach the other side; the number is the operating system's error.
    Unreachable(i32),
}

/// What a core wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Connect to the upstream. Answered by `handle_opened` with `Opened::Dialed`, or by
    /// `handle_closed` with `Closed::Unreachable` for an identity that was never opened.
    Dial,
    /// Write the connection's output.
    Flush(ConnectionId),
    /// Close the connection and forget it; no `handle_closed` follows.
    Close(ConnectionId),
    /// Stop reading from the connection, where the transport can.
    Pause(ConnectionId),
    /// Read from the connection again.
    Resume(ConnectionId),
}

/// Most slices that one `output` call fills.
pub const OUTPUT_SLICES_MAX: usize = 16;

/// A core that a driver can run.
pub trait Service {
    /// A connection was established.
    fn handle_opened(&mut self, now: Now, id: ConnectionId, how: Opened<'_>);

    /// Bytes arrived. They are the core's for the length of the call; what it cannot use yet it
    /// copies.
    fn handle_received(&mut self, now: Now, id: ConnectionId, bytes: &[u8]);

    /// The first `bytes` bytes of the connection's output have been handed to the transport.
    fn handle_written(&mut self, now: Now, id: ConnectionId, bytes: usize);

    /// A connection ended, or a dial failed. The identity is not used again.
    fn handle_closed(&mut self, now: Now, id: ConnectionId, why: Closed);

    /// The events of this turn are over: do what is due and what was put off until the batch was
    /// complete.
    fn handle_turn(&mut self, now: Now);

    /// When `handle_turn` must be called even if nothing happens.
    fn next_deadline(&self) -> Option<Time>;

    /// The next thing to do. A connection is flushed at most once between two `None`.
    fn poll_action(&mut self) -> Option<Action>;

    /// Fills `slices` with the connection's waiting output, oldest first, and returns how many it
    /// filled; 0 when nothing waits or the connection is unknown.
    fn output<'a>(
        &'a self,
        id: ConnectionId,
        slices: &mut [IoSlice<'a>; OUTPUT_SLICES_MAX],
    ) -> usize;
}

/// A core that a process can run to its end.
pub trait Core: Service {
    /// Whether it would like to hear about the process around it, now and then.
    fn wants_environment(&self) -> bool;

    /// Tells it.
    fn set_environment(&mut self, environment: Environment);

    /// A line for people and scripts that wait for the process, told whenever it has changed and is
    /// not empty. A change makes it want the environment.
    fn status(&self) -> &'static str;

    /// Asks it to finish what it owes and to accept nothing new.
    fn drain(&mut self, now: Now);

    /// Whether it has finished.
    fn is_drained(&self) -> bool;
}
