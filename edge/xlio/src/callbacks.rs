#![allow(unsafe_code)] // C functions that the library calls.

//! The callbacks: they record, and one thing more: an accepted socket is given its tag at once,
//! because its first bytes may be told before the poll returns.
//!
//! A callback carries no context but the socket's userdata, so the record is the thread's. Callbacks
//! run only inside calls for one group, whose caller takes the record before anything else is
//! called: what is in it is always that group's. The record is borrowed only where nothing of the
//! library is called.

use std::cell::{Cell, RefCell};
use std::ffi::{c_int, c_void};

use goblin_xlio_sys::functions::{SocketBufFree, SocketUpdate};
use goblin_xlio_sys::{
    Buf, EVENT_CLOSED, EVENT_ERROR, EVENT_ESTABLISHED, EVENT_TERMINATED, PollGroupAttr,
};

/// Names one use of a place in a group's table of sockets; what a socket's userdata is. Never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tag(usize);

impl Tag {
    /// The place.
    pub(crate) fn index(self) -> usize {
        self.0 & 0xffff_ffff
    }

    pub(crate) fn userdata(self) -> usize {
        self.0
    }
}

/// Bytes that arrived, in the library's memory. Gives itself back.
#[derive(Debug)]
pub(crate) struct Received {
    data: *const u8,
    length: usize,
    buffer: *mut Buf,
    free: SocketBufFree,
}

impl Received {
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the library lends `length` bytes until the buffer is freed, which `drop` does.
        unsafe { std::slice::from_raw_parts(self.data, self.length) }
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        // SAFETY: the buffer is freed here only, on the group's thread (the type is not `Send`) and
        // before the group is gone (which empties the record first). The socket is not looked at.
        unsafe { (self.free)(0, self.buffer) };
    }
}

/// What a callback was told.
#[derive(Debug)]
pub(crate) enum Told {
    Established(Tag),
    Accepted {
        socket: usize,
        listener: Tag,
        tag: Tag,
    },
    Received(Tag, Received),
    /// What the send was given.
    Completed(usize),
    Closed(Tag),
    Failed(Tag, c_int),
    Terminated(Tag),
}

#[derive(Debug, Default)]
struct Tags {
    /// The generation that each index has now, or will have.
    generations: Vec<u32>,
    free: Vec<u32>,
}

impl Tags {
    fn allocate(&mut self) -> Tag {
        let index = self.free.pop().unwrap_or_else(|| {
            self.generations.push(1);
            (self.generations.len() - 1) as u32
        });
        let generation = self.generations.get(index as usize).copied().unwrap_or(1);
        Tag((generation as usize) << 32 | index as usize)
    }

    fn release(&mut self, tag: Tag) {
        if let Some(generation) = self.generations.get_mut(tag.index()) {
            // Zero is the userdata of sockets that are not ours.
            *generation = generation.wrapping_add(1).max(1);
            self.free.push(tag.index() as u32);
        }
    }
}

thread_local! {
    static TOLD: RefCell<Vec<Told>> = const { RefCell::new(Vec::new()) };
    static TAGS: RefCell<Tags> = RefCell::default();
    static CALLS: Cell<Option<(SocketUpdate, SocketBufFree)>> = const { Cell::new(None) };
}

/// A name that no socket of this thread has.
pub(crate) fn allocate_tag() -> Tag {
    TAGS.with_borrow_mut(Tags::allocate)
}

/// Takes back the name of a socket that is gone.
pub(crate) fn release_tag(tag: Tag) {
    // A thread that ends has no use for it.
    let _ = TAGS.try_with(|tags| tags.borrow_mut().release(tag));
}

/// Moves what was recorded to the end of `to`.
pub(crate) fn take(to: &mut Vec<Told>) {
    let _ = TOLD.try_with(|told| to.append(&mut told.borrow_mut()));
}

/// What a group is made with, on this thread.
pub(crate) fn attributes(update: SocketUpdate, free: SocketBufFree) -> PollGroupAttr {
    CALLS.set(Some((update, free)));
    PollGroupAttr {
        flags: 0,
        socket_event_cb: Some(on_event),
        socket_comp_cb: Some(on_completion),
        socket_rx_cb: Some(on_received),
        socket_accept_cb: Some(on_accepted),
    }
}

fn record(told: Told) {
    TOLD.with_borrow_mut(|all| all.push(told));
}

unsafe extern "C" fn on_event(_socket: usize, userdata: usize, event: c_int, value: c_int) {
    if userdata == 0 {
        return;
    }
    let tag = Tag(userdata);
    match event {
        EVENT_ESTABLISHED => record(Told::Established(tag)),
        EVENT_TERMINATED => record(Told::Terminated(tag)),
        EVENT_CLOSED => record(Told::Closed(tag)),
        EVENT_ERROR => record(Told::Failed(tag, value)),
        _ => {}
    }
}

unsafe extern "C" fn on_completion(_socket: usize, _userdata: usize, operation: usize) {
    record(Told::Completed(operation));
}

unsafe extern "C" fn on_received(
    _socket: usize,
    userdata: usize,
    data: *mut c_void,
    length: usize,
    buffer: *mut Buf,
) {
    if let Some((_, free)) = CALLS.get() {
        let received = Received {
            data: data.cast(),
            length,
            buffer,
            free,
        };
        record(Told::Received(Tag(userdata), received));
    }
}

unsafe extern "C" fn on_accepted(socket: usize, _listener: usize, userdata: usize) {
    let Some((update, _)) = CALLS.get() else {
        return;
    };
    let tag = allocate_tag();
    // SAFETY: a new socket in its accept callback, where this call is allowed.
    unsafe { update(socket, 0, tag.userdata()) };
    record(Told::Accepted {
        socket,
        listener: Tag(userdata),
        tag,
    });
}
