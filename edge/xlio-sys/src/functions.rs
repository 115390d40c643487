#![allow(unsafe_code)] // Functions found by name are turned into typed pointers.

//! The types of the functions, and the set of them that a program calls.
//!
//! All are `unsafe` to call: handles must be alive, pointers valid, and the thread the one that
//! polls the group. Unless said otherwise they return 0, or -1 with `errno`.

use std::ffi::{c_int, c_uint, c_void};

use libc::{iovec, sockaddr, socklen_t};

use crate::types::{
    Buf, IbvPd, InitAttr, PollGroup, PollGroupAttr, Socket, SocketAttr, SocketSendAttr,
};

/// `xlio_init` and `xlio_exit`.
pub type Plain = unsafe extern "C" fn() -> c_int;
/// `xlio_init_ex`: once per process, and never again after a failure.
pub type InitEx = unsafe extern "C" fn(*const InitAttr) -> c_int;
/// `xlio_poll_group_create`.
pub type PollGroupCreate = unsafe extern "C" fn(*const PollGroupAttr, *mut PollGroup) -> c_int;
/// `xlio_poll_group_destroy`.
pub type PollGroupDestroy = unsafe extern "C" fn(PollGroup) -> c_int;
/// `xlio_poll_group_update`.
pub type PollGroupUpdate = unsafe extern "C" fn(PollGroup, *const PollGroupAttr) -> c_int;
/// `xlio_poll_group_poll` and `xlio_poll_group_flush`.
pub type PollGroupTurn = unsafe extern "C" fn(PollGroup);
/// `xlio_socket_create`.
pub type SocketCreate = unsafe extern "C" fn(*const SocketAttr, *mut Socket) -> c_int;
/// `xlio_socket_destroy`, `xlio_socket_listen` and `xlio_socket_detach_group`.
pub type SocketPlain = unsafe extern "C" fn(Socket) -> c_int;
/// `xlio_socket_update`: flags (0) and new userdata.
pub type SocketUpdate = unsafe extern "C" fn(Socket, c_uint, usize) -> c_int;
/// `xlio_socket_setsockopt`.
pub type SocketSetsockopt =
    unsafe extern "C" fn(Socket, c_int, c_int, *const c_void, socklen_t) -> c_int;
/// `xlio_socket_getsockname` and `xlio_socket_getpeername`.
pub type SocketName = unsafe extern "C" fn(Socket, *mut sockaddr, *mut socklen_t) -> c_int;
/// `xlio_socket_bind` and `xlio_socket_connect`.
pub type SocketAddress = unsafe extern "C" fn(Socket, *const sockaddr, socklen_t) -> c_int;
/// `xlio_socket_get_pd`: null before the socket is connected.
pub type SocketGetPd = unsafe extern "C" fn(Socket) -> *mut IbvPd;
/// `xlio_socket_attach_group`.
pub type SocketAttach = unsafe extern "C" fn(Socket, PollGroup) -> c_int;
/// `xlio_socket_send`.
pub type SocketSend =
    unsafe extern "C" fn(Socket, *const c_void, usize, *const SocketSendAttr) -> c_int;
/// `xlio_socket_sendv`.
pub type SocketSendv =
    unsafe extern "C" fn(Socket, *const iovec, c_uint, *const SocketSendAttr) -> c_int;
/// `xlio_socket_flush`.
pub type SocketFlush = unsafe extern "C" fn(Socket);
/// `xlio_socket_buf_free`.
pub type SocketBufFree = unsafe extern "C" fn(Socket, *mut Buf);
/// `xlio_poll_group_buf_free`.
pub type PollGroupBufFree = unsafe extern "C" fn(PollGroup, *mut Buf);

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident: $kind:ty = $symbol:literal,)*) => {
        /// What a program calls. The two functions that no table has are found by name only.
        #[derive(Clone, Copy, Debug)]
        pub struct Functions {
            $($(#[$doc])* pub $name: $kind,)*
            /// `xlio_init`, where it is exported. Not to be depended on.
            pub init: Option<Plain>,
            /// `xlio_poll_group_update`, where it is exported. Not to be depended on.
            pub poll_group_update: Option<PollGroupUpdate>,
        }

        /// The names of the functions that every program needs.
        pub const SYMBOLS: &[&std::ffi::CStr] = &[$($symbol),*];

        /// Where functions are found: a slot of a table, or a symbol.
        pub(crate) struct Found {
            $(pub(crate) $name: Option<$kind>,)*
        }

        impl Found {
            /// The functions, or the name of the first that is missing.
            pub(crate) fn complete(self) -> Result<Functions, &'static std::ffi::CStr> {
                Ok(Functions {
                    $($name: self.$name.ok_or($symbol)?,)*
                    init: None,
                    poll_group_update: None,
                })
            }

            /// Looks every function up by name.
            ///
            /// # Safety
            ///
            /// What `lookup` returns for a name is null or the function of that name.
            pub(crate) unsafe fn by_name(
                lookup: impl Fn(&std::ffi::CStr) -> *mut std::ffi::c_void,
            ) -> Self {
                Self {
                    $($name: {
                        let address = lookup($symbol);
                        // SAFETY: a nullable function pointer has the layout of a data pointer, and
                        // the caller promises that the name belongs to a function of this type.
                        unsafe { std::mem::transmute::<*mut std::ffi::c_void, Option<$kind>>(address) }
                    },)*
                }
            }
        }

        /// The functions of a table of this crate's newer layouts.
        macro_rules! found_in {
            ($table:expr) => {
                Found { $($name: $table.$name),* }
            };
        }
        pub(crate) use found_in;
    };
}

functions! {
    /// Starts the library.
    init_ex: InitEx = c"xlio_init_ex",
    /// Ends it; groups must be gone.
    exit: Plain = c"xlio_exit",
    /// Makes a group.
    poll_group_create: PollGroupCreate = c"xlio_poll_group_create",
    /// Destroys a group.
    poll_group_destroy: PollGroupDestroy = c"xlio_poll_group_destroy",
    /// Runs everything that is due in a group.
    poll_group_poll: PollGroupTurn = c"xlio_poll_group_poll",
    /// Makes a socket.
    socket_create: SocketCreate = c"xlio_socket_create",
    /// Asks for a socket's end.
    socket_destroy: SocketPlain = c"xlio_socket_destroy",
    /// Changes a socket's userdata.
    socket_update: SocketUpdate = c"xlio_socket_update",
    /// Sets an option.
    socket_setsockopt: SocketSetsockopt = c"xlio_socket_setsockopt",
    /// The local address.
    socket_getsockname: SocketName = c"xlio_socket_getsockname",
    /// The peer's address.
    socket_getpeername: SocketName = c"xlio_socket_getpeername",
    /// Chooses the local address.
    socket_bind: SocketAddress = c"xlio_socket_bind",
    /// Starts a connection.
    socket_connect: SocketAddress = c"xlio_socket_connect",
    /// Accepts connections from now on.
    socket_listen: SocketPlain = c"xlio_socket_listen",
    /// The protection domain that zero-copy memory is registered in.
    socket_get_pd: SocketGetPd = c"xlio_socket_get_pd",
    /// Takes a socket out of its group.
    socket_detach_group: SocketPlain = c"xlio_socket_detach_group",
    /// Puts a detached socket into a group.
    socket_attach_group: SocketAttach = c"xlio_socket_attach_group",
    /// Queues bytes.
    socket_send: SocketSend = c"xlio_socket_send",
    /// Queues bytes from several places.
    socket_sendv: SocketSendv = c"xlio_socket_sendv",
    /// Sends what the group's sockets have queued.
    poll_group_flush: PollGroupTurn = c"xlio_poll_group_flush",
    /// Sends what the socket has queued.
    socket_flush: SocketFlush = c"xlio_socket_flush",
    /// Gives a receive buffer back.
    socket_buf_free: SocketBufFree = c"xlio_socket_buf_free",
    /// Gives a receive buffer back.
    poll_group_buf_free: PollGroupBufFree = c"xlio_poll_group_buf_free",
}
