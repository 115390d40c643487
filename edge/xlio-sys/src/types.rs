//! Structures, constants and callback types of the API.
//!
//! Names are the C names in Rust's case. A callback is called by the library on the thread that
//! polls the group, see the wrapper for what may be done inside.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::{offset_of, size_of};

/// Names a polling group. Opaque; 0 is none.
pub type PollGroup = usize;
/// Names a socket. Opaque; a value may come again after its socket's `TERMINATED`.
pub type Socket = usize;

/// A receive buffer, which the application owns until it frees it.
#[repr(C)]
#[derive(Debug)]
pub struct Buf {
    /// The application's, while it owns the buffer.
    pub userdata: u64,
}

/// A protection domain of libibverbs. Never looked into.
#[repr(C)]
#[derive(Debug)]
pub struct IbvPd {
    opaque: [u8; 0],
}

/// Tells of the memory that receive buffers come from: address, bytes, size of its huge pages or 0.
pub type MemoryCb = unsafe extern "C" fn(*mut c_void, usize, usize);
/// An allocator for that memory: bytes to address.
pub type MemoryAlloc = unsafe extern "C" fn(usize) -> *mut c_void;
/// Gives back what [`MemoryAlloc`] gave.
pub type MemoryFree = unsafe extern "C" fn(*mut c_void);
/// Something happened to a socket: socket, its userdata, one of `EVENT_*`, error number or 0.
pub type SocketEventCb = unsafe extern "C" fn(Socket, usize, c_int, c_int);
/// A zero-copy send is done with its memory: socket, its userdata, the send's userdata.
pub type SocketCompCb = unsafe extern "C" fn(Socket, usize, usize);
/// Bytes arrived: socket, its userdata, address, length, the buffer to free.
pub type SocketRxCb = unsafe extern "C" fn(Socket, usize, *mut c_void, usize, *mut Buf);
/// A listener has accepted: new socket, listener, the listener's userdata.
pub type SocketAcceptCb = unsafe extern "C" fn(Socket, Socket, usize);

/// The connection that was asked for is established.
pub const EVENT_ESTABLISHED: c_int = 1;
/// The socket is gone.
pub const EVENT_TERMINATED: c_int = 2;
/// The peer sends no more, though its last bytes may not have been told yet.
pub const EVENT_CLOSED: c_int = 3;
/// The connection failed.
pub const EVENT_ERROR: c_int = 4;

/// A group that may be polled and sent on from several threads.
pub const GROUP_FLAG_SAFE: c_uint = 1;
/// A group that keeps a list of sockets to flush.
pub const GROUP_FLAG_DIRTY: c_uint = 2;
/// Send now, with everything before it.
pub const SEND_FLAG_FLUSH: c_uint = 1;
/// Copy the bytes; no completion follows.
pub const SEND_FLAG_INLINE: c_uint = 2;

/// For `xlio_init_ex`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct InitAttr {
    /// None are defined.
    pub flags: c_uint,
    /// Optional.
    pub memory_cb: Option<MemoryCb>,
    /// Optional, together with `memory_free`.
    pub memory_alloc: Option<MemoryAlloc>,
    /// Optional, together with `memory_alloc`.
    pub memory_free: Option<MemoryFree>,
}

/// For `xlio_poll_group_create`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct PollGroupAttr {
    /// `GROUP_FLAG_*`.
    pub flags: c_uint,
    /// Required.
    pub socket_event_cb: Option<SocketEventCb>,
    /// Without it no zero-copy send completes.
    pub socket_comp_cb: Option<SocketCompCb>,
    /// Without it whatever arrives is discarded.
    pub socket_rx_cb: Option<SocketRxCb>,
    /// Required for listening.
    pub socket_accept_cb: Option<SocketAcceptCb>,
}

/// For `xlio_socket_create`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SocketAttr {
    /// None are defined.
    pub flags: c_uint,
    /// `AF_INET` or `AF_INET6`.
    pub domain: c_int,
    /// Which group polls it.
    pub group: PollGroup,
    /// What callbacks are given.
    pub userdata_sq: usize,
}

/// For sends.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SocketSendAttr {
    /// `SEND_FLAG_*`.
    pub flags: c_uint,
    /// Of the registered memory; ignored with `SEND_FLAG_INLINE`.
    pub mkey: u32,
    /// What the completion is given; 0: no completion.
    pub userdata_op: usize,
}

const _: () = {
    assert!(size_of::<Buf>() == 8);
    assert!(size_of::<InitAttr>() == 32);
    assert!(offset_of!(InitAttr, memory_cb) == 8);
    assert!(offset_of!(InitAttr, memory_alloc) == 16);
    assert!(offset_of!(InitAttr, memory_free) == 24);
    assert!(size_of::<PollGroupAttr>() == 40);
    assert!(offset_of!(PollGroupAttr, socket_event_cb) == 8);
    assert!(offset_of!(PollGroupAttr, socket_comp_cb) == 16);
    assert!(offset_of!(PollGroupAttr, socket_rx_cb) == 24);
    assert!(offset_of!(PollGroupAttr, socket_accept_cb) == 32);
    assert!(size_of::<SocketAttr>() == 24);
    assert!(offset_of!(SocketAttr, domain) == 4);
    assert!(offset_of!(SocketAttr, group) == 8);
    assert!(offset_of!(SocketAttr, userdata_sq) == 16);
    assert!(size_of::<SocketSendAttr>() == 16);
    assert!(offset_of!(SocketSendAttr, mkey) == 4);
    assert!(offset_of!(SocketSendAttr, userdata_op) == 8);
};
