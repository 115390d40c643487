#![allow(unsafe_code)] // The C functions: arguments are converted, then safe code takes over.

//! The functions that the library exports, and the table of them.
//!
//! Every function is `unsafe` by its C contract: pointers that it is given are valid for what it
//! reads and writes. Handles are numbers that are looked up, and an unknown one is diagnosed.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};

use goblin_xlio_sys::table::{
    GET_API_DESCRIPTOR, Head, MAGIC, MASK_361, SO_XLIO_GET_API, Table361,
};
use goblin_xlio_sys::{Buf, IbvPd, InitAttr, PollGroupAttr, SocketAttr, SocketSendAttr};
use libc::{iovec, sockaddr, sockaddr_in, sockaddr_in6, socklen_t};
use rustix::io::Errno;

use crate::library::{Phase, lock};
use crate::polling;
use crate::sending::{self, Bytes};
use crate::socket::State;
use crate::system;

fn answer(result: Result<(), i32>) -> c_int {
    match result {
        Ok(()) => 0,
        Err(error) => {
            if error != 0 {
                system::set_errno(error);
            }
            -1
        }
    }
}

/// Fills what the caller gave for a result.
fn fill<T>(to: *mut T, value: Result<T, i32>) -> c_int {
    answer(value.map(|value| {
        if !to.is_null() {
            // SAFETY: the caller's place for the result.
            unsafe { to.write(value) };
        }
    }))
}

/// The address that a program gave.
fn address(from: *const sockaddr, length: socklen_t) -> Result<SocketAddr, i32> {
    if from.is_null() || (length as usize) < size_of::<sockaddr_in>() {
        return Err(libc::EINVAL);
    }
    // SAFETY: the caller's address is at least as long as this.
    let family = unsafe { (*from).sa_family };
    match c_int::from(family) {
        libc::AF_INET => {
            // SAFETY: checked above to be as long.
            let it = unsafe { from.cast::<sockaddr_in>().read_unaligned() };
            let ip = u32::from_be(it.sin_addr.s_addr).into();
            Ok(SocketAddrV4::new(ip, u16::from_be(it.sin_port)).into())
        }
        libc::AF_INET6 if length as usize >= size_of::<sockaddr_in6>() => {
            // SAFETY: checked just now to be as long.
            let it = unsafe { from.cast::<sockaddr_in6>().read_unaligned() };
            let ip = it.sin6_addr.s6_addr.into();
            let port = u16::from_be(it.sin6_port);
            Ok(SocketAddrV6::new(ip, port, it.sin6_flowinfo, it.sin6_scope_id).into())
        }
        _ => Err(libc::EAFNOSUPPORT),
    }
}

/// Writes an address as far as there is room, and its whole length.
fn give_address(address: SocketAddr, to: *mut sockaddr, length: *mut socklen_t) -> c_int {
    if to.is_null() || length.is_null() {
        return answer(Err(libc::EINVAL));
    }
    // SAFETY: the caller's length.
    let room = unsafe { length.read() } as usize;
    let written = match address {
        SocketAddr::V4(it) => {
            let raw = sockaddr_in {
                sin_family: libc::AF_INET as _,
                sin_port: it.port().to_be(),
                sin_addr: libc::in_addr {
                    s_addr: u32::from(*it.ip()).to_be(),
                },
                sin_zero: [0; 8],
            };
            let whole = size_of_val(&raw);
            // SAFETY: at most as many bytes as the caller says there is room for.
            unsafe {
                to.cast::<u8>()
                    .copy_from((&raw const raw).cast(), room.min(whole));
            }
            whole
        }
        SocketAddr::V6(it) => {
            let raw = sockaddr_in6 {
                sin6_family: libc::AF_INET6 as _,
                sin6_port: it.port().to_be(),
                sin6_flowinfo: it.flowinfo(),
                sin6_addr: libc::in6_addr {
                    s6_addr: it.ip().octets(),
                },
                sin6_scope_id: it.scope_id(),
            };
            let whole = size_of_val(&raw);
            // SAFETY: as above.
            unsafe {
                to.cast::<u8>()
                    .copy_from((&raw const raw).cast(), room.min(whole));
            }
            whole
        }
    };
    // SAFETY: the caller's length.
    unsafe { length.write(written as socklen_t) };
    0
}

macro_rules! export {
    ($($name:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)? $body:block)*) => {
        $(
            /// # Safety
            ///
            /// As the C function of this name.
            // SAFETY (export): the name is the C API's, whose place this library takes.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $kind),*) $(-> $result)? $body
        )*
    };
}

export! {
    xlio_init() -> c_int {
        answer(lock().init(&InitAttr::default()).map(|_| ()))
    }

    xlio_init_ex(attr: *const InitAttr) -> c_int {
        if attr.is_null() {
            return answer(Err(libc::EINVAL));
        }
        // SAFETY: not null, hence the caller's attributes.
        let attr = unsafe { *attr };
        let block = lock().init(&attr);
        if let (Ok(Some((base, length))), Some(callback)) = (block, attr.memory_cb) {
            // SAFETY: the program gave the callback for this purpose.
            unsafe { callback(base as *mut c_void, length, 0) };
        }
        answer(block.map(|_| ()))
    }

    xlio_exit() -> c_int {
        for group in polling::groups() {
            polling::destroy_group(group);
        }
        lock().phase = Phase::Exited;
        0
    }

    xlio_poll_group_create(attr: *const PollGroupAttr, out: *mut usize) -> c_int {
        if attr.is_null() || out.is_null() {
            return answer(Err(libc::EINVAL));
        }
        // SAFETY: not null, hence the caller's attributes.
        let attr = unsafe { *attr };
        fill(out, lock().create_group(attr))
    }

    xlio_poll_group_update(group: usize, attr: *const PollGroupAttr) -> c_int {
        if attr.is_null() {
            return answer(Err(libc::EINVAL));
        }
        // SAFETY: not null, hence the caller's attributes.
        let attr = unsafe { *attr };
        answer(lock().update_group(group, attr))
    }

    xlio_poll_group_destroy(group: usize) -> c_int {
        polling::destroy_group(group);
        0
    }

    xlio_poll_group_poll(group: usize) {
        polling::poll(group);
    }

    xlio_poll_group_flush(group: usize) {
        sending::flush_group(group);
    }

    xlio_poll_group_buf_free(_group: usize, buffer: *mut Buf) {
        lock().free_buffer(buffer);
    }

    xlio_socket_buf_free(_socket: usize, buffer: *mut Buf) {
        lock().free_buffer(buffer);
    }

    xlio_socket_create(attr: *const SocketAttr, out: *mut usize) -> c_int {
        if attr.is_null() || out.is_null() {
            return answer(Err(libc::EINVAL));
        }
        // SAFETY: not null, hence the caller's attributes.
        let attr = unsafe { *attr };
        fill(out, lock().create_socket(attr.domain, attr.group, attr.userdata_sq))
    }

    xlio_socket_destroy(socket: usize) -> c_int {
        lock().destroy_socket(socket);
        0
    }

    xlio_socket_update(socket: usize, _flags: c_uint, userdata: usize) -> c_int {
        lock().socket(socket).userdata = userdata;
        0
    }

    xlio_socket_setsockopt(
        socket: usize,
        level: c_int,
        name: c_int,
        value: *const c_void,
        length: socklen_t
    ) -> c_int {
        let mut library = lock();
        let socket = library.socket(socket);
        let linger = level == libc::SOL_SOCKET && name == libc::SO_LINGER;
        if linger && length as usize >= size_of::<libc::linger>() && !value.is_null() {
            // SAFETY: the caller's value is as long as this.
            let value = unsafe { value.cast::<libc::linger>().read_unaligned() };
            socket.abortive = value.l_onoff != 0 && value.l_linger == 0;
        }
        let fd = std::os::fd::AsFd::as_fd(&socket.fd);
        let result = system::set_option(fd, level, name, value, length);
        answer(result.map_err(|error| error.raw_os_error().unwrap_or(libc::EINVAL)))
    }

    xlio_socket_getsockname(socket: usize, to: *mut sockaddr, length: *mut socklen_t) -> c_int {
        match crate::library::local_address(lock().socket(socket)) {
            Some(address) => give_address(address, to, length),
            None => answer(Err(libc::EINVAL)),
        }
    }

    xlio_socket_getpeername(socket: usize, to: *mut sockaddr, length: *mut socklen_t) -> c_int {
        let peer = rustix::net::getpeername(&lock().socket(socket).fd);
        let peer = peer.map_err(Errno::raw_os_error);
        let peer = peer.and_then(|it| it.ok_or(libc::ENOTCONN));
        let peer = peer.and_then(|it| SocketAddr::try_from(it).map_err(|_| libc::EINVAL));
        match peer {
            Ok(address) => give_address(address, to, length),
            Err(error) => answer(Err(error)),
        }
    }

    xlio_socket_bind(socket: usize, from: *const sockaddr, length: socklen_t) -> c_int {
        answer(address(from, length).and_then(|address| lock().bind(socket, address)))
    }

    xlio_socket_connect(socket: usize, to: *const sockaddr, length: socklen_t) -> c_int {
        answer(address(to, length).and_then(|address| lock().connect(socket, address)))
    }

    xlio_socket_listen(socket: usize) -> c_int {
        answer(lock().listen(socket))
    }

    xlio_socket_get_pd(socket: usize) -> *mut IbvPd {
        static DOMAIN: [u64; 8] = [0; 8];
        match lock().socket(socket).state {
            State::Established => DOMAIN.as_ptr().cast_mut().cast(),
            _ => std::ptr::null_mut(),
        }
    }

    xlio_socket_detach_group(socket: usize) -> c_int {
        answer(lock().detach(socket))
    }

    xlio_socket_attach_group(socket: usize, group: usize) -> c_int {
        answer(lock().attach(socket, group))
    }

    xlio_socket_send(
        socket: usize,
        data: *const c_void,
        length: usize,
        attr: *const SocketSendAttr
    ) -> c_int {
        let vector = iovec {
            iov_base: data.cast_mut(),
            iov_len: length,
        };
        // SAFETY: the caller's bytes and attributes, and our own vector.
        unsafe { xlio_socket_sendv(socket, &raw const vector, 1, attr) }
    }

    xlio_socket_sendv(
        socket: usize,
        vectors: *const iovec,
        count: c_uint,
        attr: *const SocketSendAttr
    ) -> c_int {
        if attr.is_null() || (vectors.is_null() && count > 0) {
            return answer(Err(libc::EINVAL));
        }
        // SAFETY: not null, hence the caller's attributes.
        let attr = unsafe { *attr };
        let vectors = if count == 0 {
            &[]
        } else {
            // SAFETY: not null, hence the caller's `count` vectors.
            unsafe { std::slice::from_raw_parts(vectors, count as usize) }
        };
        let bytes = if sending::is_inline(attr.flags) {
            Bytes::Copied(vectors.iter().map(copy).collect())
        } else {
            let places = vectors.iter().map(|it| (it.iov_base as usize, it.iov_len));
            Bytes::Foreign(places.collect(), attr.userdata_op)
        };
        answer(sending::send(socket, bytes, attr.flags))
    }

    xlio_socket_flush(socket: usize) {
        sending::flush(socket);
    }

    getsockopt(
        fd: c_int,
        level: c_int,
        name: c_int,
        value: *mut c_void,
        length: *mut socklen_t
    ) -> c_int {
        let ours = fd == GET_API_DESCRIPTOR && level == libc::SOL_SOCKET && name == SO_XLIO_GET_API;
        let pointer = size_of::<*const Table361>() as socklen_t;
        // SAFETY: asked only when it is not null, hence the caller's length.
        if ours && !value.is_null() && !length.is_null() && unsafe { *length } >= pointer {
            // SAFETY: the caller's value is at least as long as a pointer.
            unsafe { value.cast::<*const Table361>().write_unaligned(&raw const TABLE) };
            // SAFETY: the caller's length.
            unsafe { length.write(pointer) };
            return 0;
        }
        // SAFETY: the caller's arguments.
        unsafe { system::get_option(fd, level, name, value, length) }
    }
}

/// A copy of a program's bytes.
fn copy(vector: &iovec) -> Vec<u8> {
    if vector.iov_len == 0 {
        return Vec::new();
    }
    // SAFETY: the caller's bytes.
    let bytes = unsafe { std::slice::from_raw_parts(vector.iov_base.cast::<u8>(), vector.iov_len) };
    bytes.to_vec()
}

/// Slots of the POSIX part, which is not emulated.
unsafe extern "C" fn not_supported(_argument: *mut c_void) {}

static TABLE: Table361 = Table361 {
    head: Head {
        magic: MAGIC,
        cap_mask: MASK_361,
    },
    add_conf_rule: Some(not_supported),
    thread_offload: Some(not_supported),
    dump_fd_stats: Some(not_supported),
    init_ex: Some(xlio_init_ex),
    exit: Some(xlio_exit),
    poll_group_create: Some(xlio_poll_group_create),
    poll_group_destroy: Some(xlio_poll_group_destroy),
    poll_group_poll: Some(xlio_poll_group_poll),
    socket_create: Some(xlio_socket_create),
    socket_destroy: Some(xlio_socket_destroy),
    socket_update: Some(xlio_socket_update),
    socket_setsockopt: Some(xlio_socket_setsockopt),
    socket_getsockname: Some(xlio_socket_getsockname),
    socket_getpeername: Some(xlio_socket_getpeername),
    socket_bind: Some(xlio_socket_bind),
    socket_connect: Some(xlio_socket_connect),
    socket_listen: Some(xlio_socket_listen),
    socket_get_pd: Some(xlio_socket_get_pd),
    socket_detach_group: Some(xlio_socket_detach_group),
    socket_attach_group: Some(xlio_socket_attach_group),
    socket_send: Some(xlio_socket_send),
    socket_sendv: Some(xlio_socket_sendv),
    poll_group_flush: Some(xlio_poll_group_flush),
    socket_flush: Some(xlio_socket_flush),
    socket_buf_free: Some(xlio_socket_buf_free),
    poll_group_buf_free: Some(xlio_poll_group_buf_free),
};

/// The name of the library's kind, so that a program can tell people what it runs on.
#[unsafe(no_mangle)]
pub extern "C" fn xlio_emulation_version() -> *const c_char {
    c"goblin-xlio-emu 0.1".as_ptr()
}
