#![allow(unsafe_code)] // System calls that read or write at addresses that a program gave.

//! The system calls for which there is no safe function.

use std::ffi::{c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};

use libc::socklen_t;

/// Bytes of a program, by address: `(address, length)`. Only the kernel reads them, which answers
/// `EFAULT` where there is no memory.
pub(crate) type Foreign = (usize, usize);

/// Sends from the pieces, without waiting.
pub(crate) fn send(fd: BorrowedFd<'_>, pieces: &[Foreign]) -> io::Result<usize> {
    let vectors: Vec<libc::iovec> = pieces
        .iter()
        .map(|(address, length)| libc::iovec {
            iov_base: *address as *mut c_void,
            iov_len: *length,
        })
        .collect();
    // SAFETY: all zeroes is a message without anything.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = vectors.as_ptr().cast_mut();
    message.msg_iovlen = vectors.len() as _;
    let flags = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;
    // SAFETY: message and vectors live through the call; the kernel checks the addresses in them.
    let sent = unsafe { libc::sendmsg(fd.as_raw_fd(), &raw const message, flags) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Receives to an address, without waiting.
///
/// # Safety
///
/// `length` bytes at `address` are nobody's but the caller's.
pub(crate) unsafe fn receive(
    fd: BorrowedFd<'_>,
    address: usize,
    length: usize,
) -> io::Result<usize> {
    let to = address as *mut c_void;
    // SAFETY: the caller's memory.
    let received = unsafe { libc::recv(fd.as_raw_fd(), to, length, libc::MSG_DONTWAIT) };
    usize::try_from(received).map_err(|_| io::Error::last_os_error())
}

/// Bytes that were written and that the peer has not acknowledged.
pub(crate) fn unacknowledged(fd: BorrowedFd<'_>) -> u64 {
    let mut bytes: c_int = 0;
    // SAFETY: this request writes one `int`, which is ours.
    let result = unsafe { libc::ioctl(fd.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result == 0 {
        bytes.unsigned_abs().into()
    } else {
        0
    }
}

/// Sets an option with a value that the program gave.
pub(crate) fn set_option(
    fd: BorrowedFd<'_>,
    level: c_int,
    name: c_int,
    value: *const c_void,
    length: socklen_t,
) -> io::Result<()> {
    // SAFETY: the kernel checks the address.
    let result = unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value, length) };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Asks the kernel for an option, past this library's own function of the same name.
///
/// # Safety
///
/// As for `getsockopt`.
pub(crate) unsafe fn get_option(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    // SAFETY: the caller's arguments; the kernel checks the addresses.
    let result = unsafe { libc::syscall(libc::SYS_getsockopt, fd, level, name, value, length) };
    result as c_int
}

/// A digest of a program's bytes, or `None` when there is no memory any more. The kernel copies, so
/// that memory that is gone is an error here and not a crash.
pub(crate) fn digest(pieces: &[Foreign]) -> Option<u64> {
    let this_process = std::process::id() as libc::pid_t;
    let mut buffer = [0_u8; 4096];
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for (address, length) in pieces {
        let mut done = 0;
        while done < *length {
            let step = buffer.len().min(length - done);
            let to = libc::iovec {
                iov_base: buffer.as_mut_ptr().cast(),
                iov_len: step,
            };
            let from = libc::iovec {
                iov_base: (address + done) as *mut c_void,
                iov_len: step,
            };
            // SAFETY: `to` is our buffer and `step` fits; the kernel checks `from`.
            let copied = unsafe {
                libc::process_vm_readv(this_process, &raw const to, 1, &raw const from, 1, 0)
            };
            if copied != step as isize {
                return None;
            }
            for word in buffer[..step].chunks(8) {
                let mut bytes = [0; 8];
                bytes[..word.len()].copy_from_slice(word);
                state = (state ^ u64::from_le_bytes(bytes)).wrapping_mul(0x0000_0100_0000_01b3);
            }
            done += step;
        }
    }
    Some(state)
}

/// Overwrites memory, so that whoever still reads it notices.
///
/// # Safety
///
/// As for [`receive`].
pub(crate) unsafe fn poison(address: usize, length: usize) {
    // SAFETY: the caller's memory.
    unsafe { std::ptr::write_bytes(address as *mut u8, 0xdb, length) };
}

/// Sets `errno`.
pub(crate) fn set_errno(number: c_int) {
    // SAFETY: no arguments; the address is this thread's for as long as it lives.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    unsafe { *errno = number };
}
