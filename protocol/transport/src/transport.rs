//! What a transport must do for the turn.
//!
//! The trait knows connections by [`ConnectionId`] and bytes by slices, nothing else: no
//! descriptors, no buffers that change hands. A transport whose library calls back records in the
//! callback and tells in [`Transport::poll`]; one that receives into its own memory lends it to
//! [`Events::received`] for the length of the call.
//!
//! Rules that hold for every transport:
//!
//! * A call that names a connection the transport does not have does nothing: the connection
//!   ended while the call was on its way.
//! * Per connection the order of events is opened, then received and writable in any mix, then at
//!   most one closed, and nothing after it. A failed dial is closed without opened.
//! * After `closed`, and after [`Transport::close`], the transport has forgotten the connection;
//!   its index may be reused with another generation.
//! * One `poll` tells a bounded number of events and reads a bounded number of bytes. What is left
//!   over is told by the next call, and [`Transport::wait`] does not sleep while there is any.
//! * Identities come from one [`ConnectionIds`](crate::ConnectionIds) per process, so that two
//!   transports under one core never name two connections alike.

use std::io::IoSlice;
use std::time::Duration;

use goblin_protocol::service::{Closed, ConnectionId, Opened};
use goblin_protocol::time::Now;

use crate::counters::TransportCounters;

/// What a transport tells the turn during [`Transport::poll`].
pub trait Events {
    /// A connection was accepted, or a dial succeeded.
    fn opened(&mut self, id: ConnectionId, how: Opened<'_>);

    /// Bytes arrived. They are the callee's for the length of the call.
    fn received(&mut self, id: ConnectionId, bytes: &[u8]);

    /// The connection takes output again after a [`Transport::write`] that fell short.
    fn writable(&mut self, id: ConnectionId);

    /// The connection ended, or a dial failed. The transport has forgotten it.
    fn closed(&mut self, id: ConnectionId, why: Closed);
}

/// Moves bytes for the connections of one thread.
pub trait Transport {
    /// Tells a bounded batch of what happened, without sleeping. Returns whether it told anything
    /// or holds more to tell at once.
    fn poll<E: Events>(&mut self, now: Now, events: &mut E) -> bool;

    /// Takes bytes from the front of `slices` (at most
    /// [`OUTPUT_SLICES_MAX`](goblin_protocol::service::OUTPUT_SLICES_MAX) of them) and returns how
    /// many. After fewer than all it takes nothing, and asks nobody, until it has told
    /// [`Events::writable`]. An error takes nothing and is told as [`Events::closed`].
    fn write(&mut self, id: ConnectionId, slices: &[IoSlice<'_>]) -> usize;

    /// Ends the connection; no event follows. Bytes that `write` took are still sent.
    fn close(&mut self, id: ConnectionId);

    /// Whether [`Transport::pause`] has an effect.
    fn can_pause(&self) -> bool;

    /// Stops reading, so that the peer is held back. Bytes already read are still told. The end of
    /// a paused connection may be told only after it is resumed.
    fn pause(&mut self, id: ConnectionId);

    /// Reads again.
    fn resume(&mut self, id: ConnectionId);

    /// Starts a connection to the upstream. Answered by `opened` with [`Opened::Dialed`], or by
    /// `closed` with [`Closed::Unreachable`]; never from inside this call.
    fn dial(&mut self);

    /// Stops accepting; connections stay.
    fn close_listeners(&mut self);

    /// Sleeps until there may be something to tell, or until `timeout` has passed (`None`: without
    /// end), or until something outside asks for attention. Returns early at will. A transport
    /// without anything to sleep in returns at once.
    fn wait(&mut self, timeout: Option<Duration>);

    /// What it has counted.
    fn counters(&self) -> &TransportCounters;
}
