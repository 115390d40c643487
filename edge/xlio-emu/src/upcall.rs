#![allow(unsafe_code)] // Calls the program's callbacks.

//! Callbacks, and what is going on while one runs.

use std::cell::Cell;

use goblin_xlio_sys::{
    Buf, EVENT_CLOSED, EVENT_ERROR, EVENT_ESTABLISHED, EVENT_TERMINATED, PollGroupAttr,
};

/// A callback to make.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Upcall {
    Established(usize),
    Closed(usize),
    Failed(usize, i32),
    /// With the userdata that the socket had.
    Terminated(usize, usize),
    /// Socket, its userdata if it is gone already, the send's userdata.
    Completed(usize, Option<usize>, usize),
    /// Socket, slot, length.
    Received(usize, u32, usize),
    /// Child, listener.
    Accepted(usize, usize),
    /// An error of a handle that the program has never seen.
    Unknown(usize),
}

thread_local! {
    static CURRENT: Cell<Option<Upcall>> = const { Cell::new(None) };
}

pub(crate) fn in_callback() -> bool {
    CURRENT.get().is_some()
}

pub(crate) fn in_terminated() -> bool {
    matches!(CURRENT.get(), Some(Upcall::Terminated(..)))
}

/// Whether the callback that runs forbids sending.
pub(crate) fn forbids_sending() -> bool {
    matches!(
        CURRENT.get(),
        Some(Upcall::Terminated(..) | Upcall::Closed(_) | Upcall::Failed(..) | Upcall::Unknown(_))
    )
}

/// Whether the socket's own input is being told, so that its output waits.
pub(crate) fn defers_output_of(socket: usize) -> bool {
    matches!(
        CURRENT.get(),
        Some(Upcall::Received(it, ..) | Upcall::Established(it)) if it == socket
    )
}

/// Where a received buffer is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) address: usize,
    pub(crate) descriptor: *mut Buf,
}

/// Makes a callback. The library's lock is not held.
pub(crate) fn make(attr: &PollGroupAttr, upcall: Upcall, userdata: usize, place: Option<Place>) {
    let outer = CURRENT.replace(Some(upcall));
    call(attr, upcall, userdata, place);
    CURRENT.set(outer);
}

fn call(attr: &PollGroupAttr, upcall: Upcall, userdata: usize, place: Option<Place>) {
    let event = |socket, event, value| {
        if let Some(callback) = attr.socket_event_cb {
            // SAFETY: the program gave the callback for this purpose.
            unsafe { callback(socket, userdata, event, value) };
        }
    };
    match upcall {
        Upcall::Established(socket) => event(socket, EVENT_ESTABLISHED, 0),
        Upcall::Closed(socket) => event(socket, EVENT_CLOSED, 0),
        Upcall::Failed(socket, error) => event(socket, EVENT_ERROR, error),
        Upcall::Terminated(socket, _) => event(socket, EVENT_TERMINATED, 0),
        Upcall::Unknown(socket) => event(socket, EVENT_ERROR, libc::ECONNRESET),
        Upcall::Completed(socket, _, operation) => {
            if let Some(callback) = attr.socket_comp_cb {
                // SAFETY: as above.
                unsafe { callback(socket, userdata, operation) };
            }
        }
        Upcall::Received(socket, _, length) => {
            if let (Some(callback), Some(place)) = (attr.socket_rx_cb, place) {
                let data = place.address as *mut _;
                // SAFETY: as above; the slot is the program's until it gives the descriptor back.
                unsafe { callback(socket, userdata, data, length, place.descriptor) };
            }
        }
        Upcall::Accepted(child, listener) => {
            if let Some(callback) = attr.socket_accept_cb {
                // SAFETY: as above.
                unsafe { callback(child, listener, userdata) };
            }
        }
    }
}
