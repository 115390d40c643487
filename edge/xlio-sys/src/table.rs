//! The function table that the library hands out, in the three layouts it has had.
//!
//! The magic number is the same in all of them, so the exact capability mask decides; a mask that
//! is not listed here belongs to a layout that is not known, and calling through a wrong layout
//! calls the wrong functions.
//!
//! | releases | bytes | mask | remarks |
//! | --- | --- | --- | --- |
//! | 3.40 to 3.51 | 248 | `0x3fff` | no accept, listen or exit |
//! | 3.60 | 232 | `0x2819` | one slot more before `init_ex` |
//! | 3.61 to 3.70 | 224 | `0x2818` | |

use std::ffi::c_void;
use std::mem::{offset_of, size_of};

use crate::functions::{
    InitEx, Plain, PollGroupBufFree, PollGroupCreate, PollGroupDestroy, PollGroupTurn,
    SocketAddress, SocketAttach, SocketBufFree, SocketCreate, SocketFlush, SocketGetPd, SocketName,
    SocketPlain, SocketSend, SocketSendv, SocketSetsockopt, SocketUpdate,
};

/// The option of `getsockopt(-2, SOL_SOCKET, ..)` that asks for the table.
pub const SO_XLIO_GET_API: i32 = 2800;
/// What every table begins with: `NVDAXLIO`.
pub const MAGIC: u64 = 0x4f49_4c58_4144_564e;
/// The descriptor that does not exist, by which the library knows that it is meant.
pub const GET_API_DESCRIPTOR: i32 = -2;

/// The mask of [`Table340`].
pub const MASK_340: u64 = 0x3fff;
/// The mask of [`Table360`].
pub const MASK_360: u64 = 0x2819;
/// The mask of [`Table361`].
pub const MASK_361: u64 = 0x2818;

/// A slot of a function that is not ours to call.
pub type Foreign = Option<unsafe extern "C" fn(*mut c_void)>;

/// What all layouts have in common.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// [`MAGIC`].
    pub magic: u64,
    /// Which layout follows.
    pub cap_mask: u64,
}

macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $($foreign:ident),* } { $($slot:ident: $kind:ty),* $(,)? }) => {
        $(#[$doc])*
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, reason = "the slots are described in `Functions`")]
        pub struct $name {
            pub head: Head,
            $(pub $foreign: Foreign,)*
            $(pub $slot: Option<$kind>,)*
        }
    };
}

table! {
    /// 3.40 to 3.51: for outgoing connections only, with the short group attributes (32 bytes).
    Table340 {
        foreign_16, foreign_24, foreign_32, foreign_40, foreign_48, foreign_56, foreign_64,
        foreign_72, foreign_80, foreign_88, foreign_96, foreign_104, foreign_112
    } {
        init_ex: InitEx,
        poll_group_create: PollGroupCreate,
        poll_group_destroy: PollGroupDestroy,
        poll_group_poll: PollGroupTurn,
        socket_create: SocketCreate,
        socket_destroy: SocketPlain,
        socket_setsockopt: SocketSetsockopt,
        socket_bind: SocketAddress,
        socket_connect: SocketAddress,
        socket_get_pd: SocketGetPd,
        socket_send: SocketSend,
        socket_sendv: SocketSendv,
        poll_group_flush: PollGroupTurn,
        socket_flush: SocketFlush,
        socket_buf_free: SocketBufFree,
        poll_group_buf_free: PollGroupBufFree,
    }
}

table! {
    /// 3.60.
    Table360 { add_conf_rule, thread_offload, dump_fd_stats, register_recv_callback } {
        init_ex: InitEx,
        exit: Plain,
        poll_group_create: PollGroupCreate,
        poll_group_destroy: PollGroupDestroy,
        poll_group_poll: PollGroupTurn,
        socket_create: SocketCreate,
        socket_destroy: SocketPlain,
        socket_update: SocketUpdate,
        socket_setsockopt: SocketSetsockopt,
        socket_getsockname: SocketName,
        socket_getpeername: SocketName,
        socket_bind: SocketAddress,
        socket_connect: SocketAddress,
        socket_listen: SocketPlain,
        socket_get_pd: SocketGetPd,
        socket_detach_group: SocketPlain,
        socket_attach_group: SocketAttach,
        socket_send: SocketSend,
        socket_sendv: SocketSendv,
        poll_group_flush: PollGroupTurn,
        socket_flush: SocketFlush,
        socket_buf_free: SocketBufFree,
        poll_group_buf_free: PollGroupBufFree,
    }
}

table! {
    /// 3.61 to 3.70.
    Table361 { add_conf_rule, thread_offload, dump_fd_stats } {
        init_ex: InitEx,
        exit: Plain,
        poll_group_create: PollGroupCreate,
        poll_group_destroy: PollGroupDestroy,
        poll_group_poll: PollGroupTurn,
        socket_create: SocketCreate,
        socket_destroy: SocketPlain,
        socket_update: SocketUpdate,
        socket_setsockopt: SocketSetsockopt,
        socket_getsockname: SocketName,
        socket_getpeername: SocketName,
        socket_bind: SocketAddress,
        socket_connect: SocketAddress,
        socket_listen: SocketPlain,
        socket_get_pd: SocketGetPd,
        socket_detach_group: SocketPlain,
        socket_attach_group: SocketAttach,
        socket_send: SocketSend,
        socket_sendv: SocketSendv,
        poll_group_flush: PollGroupTurn,
        socket_flush: SocketFlush,
        socket_buf_free: SocketBufFree,
        poll_group_buf_free: PollGroupBufFree,
    }
}

const _: () = {
    assert!(offset_of!(Head, cap_mask) == 8);

    assert!(size_of::<Table340>() == 248);
    assert!(offset_of!(Table340, init_ex) == 120);

    assert!(size_of::<Table360>() == 232);
    assert!(offset_of!(Table360, register_recv_callback) == 40);
    assert!(offset_of!(Table360, init_ex) == 48);

    assert!(size_of::<Table361>() == 224);
    assert!(offset_of!(Table361, add_conf_rule) == 16);
    assert!(offset_of!(Table361, thread_offload) == 24);
    assert!(offset_of!(Table361, dump_fd_stats) == 32);
    assert!(offset_of!(Table361, init_ex) == 40);
    assert!(offset_of!(Table361, exit) == 48);
    assert!(offset_of!(Table361, poll_group_create) == 56);
    assert!(offset_of!(Table361, poll_group_destroy) == 64);
    assert!(offset_of!(Table361, poll_group_poll) == 72);
    assert!(offset_of!(Table361, socket_create) == 80);
    assert!(offset_of!(Table361, socket_destroy) == 88);
    assert!(offset_of!(Table361, socket_update) == 96);
    assert!(offset_of!(Table361, socket_setsockopt) == 104);
    assert!(offset_of!(Table361, socket_getsockname) == 112);
    assert!(offset_of!(Table361, socket_getpeername) == 120);
    assert!(offset_of!(Table361, socket_bind) == 128);
    assert!(offset_of!(Table361, socket_connect) == 136);
    assert!(offset_of!(Table361, socket_listen) == 144);
    assert!(offset_of!(Table361, socket_get_pd) == 152);
    assert!(offset_of!(Table361, socket_detach_group) == 160);
    assert!(offset_of!(Table361, socket_attach_group) == 168);
    assert!(offset_of!(Table361, socket_send) == 176);
    assert!(offset_of!(Table361, socket_sendv) == 184);
    assert!(offset_of!(Table361, poll_group_flush) == 192);
    assert!(offset_of!(Table361, socket_flush) == 200);
    assert!(offset_of!(Table361, socket_buf_free) == 208);
    assert!(offset_of!(Table361, poll_group_buf_free) == 216);
};
