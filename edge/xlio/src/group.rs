#![allow(unsafe_code)] // Makes the library's calls.

//! A polling group and the calls on its sockets.
//!
//! Whoever holds a group holds handles of its sockets, from `create` or an accept until
//! `TERMINATED`, and destroys each once. That is the table of the transport, which is the only user;
//! callbacks never run code of ours that could break it.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6};
use std::sync::Arc;

use goblin_xlio_sys::{Functions, IbvPd, SocketAttr, SocketSendAttr};
use libc::{sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage};

use crate::callbacks::{self, Tag, Told};
use crate::library::{Xlio, last_error};

/// The group. Not `Send`: it belongs to the thread that made it.
#[derive(Debug)]
pub(crate) struct Group {
    functions: Functions,
    handle: usize,
    told: Vec<Told>,
    _thread: PhantomData<*const ()>,
    /// Ended after the group.
    _xlio: Arc<Xlio>,
}

/// Options are numbers here: the library takes `int` for all that are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SocketOption(pub(crate) c_int, pub(crate) c_int, pub(crate) c_int);

fn check(result: c_int) -> Result<(), c_int> {
    if result == 0 {
        Ok(())
    } else {
        Err(last_error())
    }
}

impl Group {
    pub(crate) fn new(xlio: Arc<Xlio>) -> Result<Self, c_int> {
        let functions = xlio.functions();
        let attr = callbacks::attributes(functions.socket_update, functions.socket_buf_free);
        let mut handle = 0;
        // SAFETY: the library is started; attributes and result live through the call.
        check(unsafe { (functions.poll_group_create)(&raw const attr, &raw mut handle) })?;
        Ok(Self {
            functions,
            handle,
            told: Vec::new(),
            _thread: PhantomData,
            _xlio: xlio,
        })
    }

    /// Runs what is due.
    pub(crate) fn poll(&mut self) {
        // SAFETY: the group lives, on its thread; no callback calls this.
        unsafe { (self.functions.poll_group_poll)(self.handle) };
        callbacks::take(&mut self.told);
    }

    /// What was told since this was called last, in order.
    pub(crate) fn told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }

    pub(crate) fn has_told(&self) -> bool {
        !self.told.is_empty()
    }

    pub(crate) fn create(&mut self, address: SocketAddr, tag: Tag) -> Result<usize, c_int> {
        let attr = SocketAttr {
            flags: 0,
            domain: if address.is_ipv4() {
                libc::AF_INET
            } else {
                libc::AF_INET6
            },
            group: self.handle,
            userdata_sq: tag.userdata(),
        };
        let mut socket = 0;
        // SAFETY: the library started; attributes and result live through the call.
        check(unsafe { (self.functions.socket_create)(&raw const attr, &raw mut socket) })?;
        Ok(socket)
    }

    pub(crate) fn set(&mut self, socket: usize, option: SocketOption) -> Result<(), c_int> {
        let SocketOption(level, name, value) = option;
        let (at, length) = ((&raw const value).cast(), size_of_val(&value) as u32);
        // SAFETY: a living socket; the value lives through the call.
        check(unsafe { (self.functions.socket_setsockopt)(socket, level, name, at, length) })
    }

    /// Makes `destroy` a reset.
    pub(crate) fn make_abortive(&mut self, socket: usize) {
        let linger = libc::linger {
            l_onoff: 1,
            l_linger: 0,
        };
        let (at, length) = ((&raw const linger).cast(), size_of_val(&linger) as u32);
        let (level, name) = (libc::SOL_SOCKET, libc::SO_LINGER);
        // SAFETY: a living socket; the value lives through the call.
        unsafe { (self.functions.socket_setsockopt)(socket, level, name, at, length) };
    }

    pub(crate) fn bind(&mut self, socket: usize, address: SocketAddr) -> Result<(), c_int> {
        let (raw, length) = raw_address(address);
        // SAFETY: a living socket; the address lives through the call.
        check(unsafe { (self.functions.socket_bind)(socket, (&raw const raw).cast(), length) })
    }

    pub(crate) fn connect(&mut self, socket: usize, address: SocketAddr) -> Result<(), c_int> {
        let (raw, length) = raw_address(address);
        // SAFETY: a living socket; the address lives through the call.
        check(unsafe { (self.functions.socket_connect)(socket, (&raw const raw).cast(), length) })
    }

    pub(crate) fn listen(&mut self, socket: usize) -> Result<(), c_int> {
        // SAFETY: a living socket of a group.
        check(unsafe { (self.functions.socket_listen)(socket) })
    }

    pub(crate) fn local_address(&mut self, socket: usize) -> Option<SocketAddr> {
        self.name(socket, self.functions.socket_getsockname)
    }

    pub(crate) fn peer_address(&mut self, socket: usize) -> Option<SocketAddr> {
        self.name(socket, self.functions.socket_getpeername)
    }

    fn name(
        &mut self,
        socket: usize,
        ask: goblin_xlio_sys::functions::SocketName,
    ) -> Option<SocketAddr> {
        // SAFETY: all zeroes is an address.
        let mut raw: sockaddr_storage = unsafe { std::mem::zeroed() };
        let mut length = size_of_val(&raw) as u32;
        // SAFETY: a living socket; address and length live through the call.
        let result = unsafe { ask(socket, (&raw mut raw).cast::<sockaddr>(), &raw mut length) };
        (result == 0).then(|| safe_address(&raw)).flatten()
    }

    /// The domain to register memory in; null when there is none.
    pub(crate) fn protection_domain(&mut self, socket: usize) -> *mut IbvPd {
        // SAFETY: a living socket.
        unsafe { (self.functions.socket_get_pd)(socket) }
    }

    /// Queues bytes. Completions may be told meanwhile.
    ///
    /// # Safety
    ///
    /// Unless the flags say `INLINE`, the bytes stay as they are until the completion of the
    /// attributes' userdata, or until the group is gone.
    pub(crate) unsafe fn send(
        &mut self,
        socket: usize,
        bytes: *const u8,
        length: usize,
        attr: SocketSendAttr,
    ) -> Result<(), c_int> {
        // SAFETY: a living socket that is not being destroyed, outside callbacks; the bytes are valid
        // now, and for as long as the caller promises.
        let result = check(unsafe {
            (self.functions.socket_send)(socket, bytes.cast(), length, &raw const attr)
        });
        callbacks::take(&mut self.told);
        result
    }

    pub(crate) fn flush(&mut self, socket: usize) {
        // SAFETY: a living socket of a group that is not DIRTY.
        unsafe { (self.functions.socket_flush)(socket) };
        callbacks::take(&mut self.told);
    }

    /// Asks for a socket's end. `TERMINATED` follows from a poll.
    pub(crate) fn destroy(&mut self, socket: usize) {
        // SAFETY: a living socket of this group, which the table destroys once; no callback runs.
        unsafe { (self.functions.socket_destroy)(socket) };
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.told.clear();
        // SAFETY: the group lives, on its thread, in no callback. The transport has waited for its
        // sockets; what is left is reset here, and tells of it only in the record.
        unsafe { (self.functions.poll_group_destroy)(self.handle) };
        callbacks::take(&mut self.told);
    }
}

fn raw_address(address: SocketAddr) -> (sockaddr_storage, u32) {
    // SAFETY: all zeroes is an address.
    let mut raw: sockaddr_storage = unsafe { std::mem::zeroed() };
    let to = &raw mut raw;
    match address {
        SocketAddr::V4(it) => {
            let value = sockaddr_in {
                sin_family: libc::AF_INET as _,
                sin_port: it.port().to_be(),
                sin_addr: libc::in_addr {
                    s_addr: u32::from(*it.ip()).to_be(),
                },
                sin_zero: [0; 8],
            };
            // SAFETY: the storage is larger and at least as aligned.
            unsafe { to.cast::<sockaddr_in>().write(value) };
            (raw, size_of::<sockaddr_in>() as u32)
        }
        SocketAddr::V6(it) => {
            let value = sockaddr_in6 {
                sin6_family: libc::AF_INET6 as _,
                sin6_port: it.port().to_be(),
                sin6_flowinfo: it.flowinfo(),
                sin6_addr: libc::in6_addr {
                    s6_addr: it.ip().octets(),
                },
                sin6_scope_id: it.scope_id(),
            };
            // SAFETY: the storage is larger and at least as aligned.
            unsafe { to.cast::<sockaddr_in6>().write(value) };
            (raw, size_of::<sockaddr_in6>() as u32)
        }
    }
}

fn safe_address(raw: &sockaddr_storage) -> Option<SocketAddr> {
    let from = std::ptr::from_ref(raw);
    match c_int::from(raw.ss_family) {
        libc::AF_INET => {
            // SAFETY: the storage is larger and at least as aligned, and the family says so.
            let it = unsafe { from.cast::<sockaddr_in>().read() };
            let ip = u32::from_be(it.sin_addr.s_addr).into();
            Some(SocketAddrV4::new(ip, u16::from_be(it.sin_port)).into())
        }
        libc::AF_INET6 => {
            // SAFETY: as above.
            let it = unsafe { from.cast::<sockaddr_in6>().read() };
            let ip = it.sin6_addr.s6_addr.into();
            let port = u16::from_be(it.sin6_port);
            Some(SocketAddrV6::new(ip, port, it.sin6_flowinfo, it.sin6_scope_id).into())
        }
        _ => None,
    }
}
