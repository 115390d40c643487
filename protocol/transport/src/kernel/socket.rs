//! Makes sockets: the options that they need, and nothing that needs to be kept.

use std::io::IoSlice;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FileType, Mode, chmod, lstat, unlink};
use rustix::io::Errno;
use rustix::net::{
    self, AddressFamily, SendAncillaryBuffer, SendFlags, SocketFlags, SocketType, sockopt,
};

use super::address::Address;
use super::listener::ListenOptions;

const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// Questions without an answer before TCP gives a silent peer up, as in Redis.
const KEEPALIVE_COUNT: u32 = 3;

/// What every connection gets, whether accepted or dialed.
#[derive(Clone, Copy, Debug)]
pub(super) struct StreamOptions {
    pub(super) keepalive_seconds: u32,
    pub(super) send_buffer_bytes: Option<usize>,
}

/// A socket that listens. On Linux an accepted connection inherits the options of its listener, so
/// they are set here once and accepting costs one system call less per option.
pub(super) fn listen(options: &ListenOptions, stream: StreamOptions) -> Result<OwnedFd, Errno> {
    let address = options.address.to_socket_address()?;
    let family = options.address.family();
    let socket = net::socket_with(family, SocketType::STREAM, FLAGS, None)?;
    match &options.address {
        Address::Tcp(_) => sockopt::set_socket_reuseaddr(&socket, true)?,
        Address::Unix(path) => remove_socket_file(path),
    }
    if family == AddressFamily::INET6 {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    set_stream_options(&socket, family, stream)?;
    net::bind(&socket, &address)?;
    if let (Address::Unix(path), Some(permissions)) = (&options.address, options.permissions) {
        // Before `listen`, so that nobody connects under the wrong permissions.
        chmod(path, Mode::from_raw_mode(permissions))?;
    }
    net::listen(&socket, i32::try_from(options.backlog).unwrap_or(i32::MAX))?;
    Ok(socket)
}

/// A socket that is connecting.
pub(super) fn dial(address: &Address, stream: StreamOptions) -> Result<OwnedFd, Errno> {
    let target = address.to_socket_address()?;
    let family = address.family();
    let socket = net::socket_with(family, SocketType::STREAM, FLAGS, None)?;
    set_stream_options(&socket, family, stream)?;
    match net::connect(&socket, &target) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(cause) => Err(cause),
    }
}

/// Sends the front of `slices` in one system call.
pub(super) fn send(socket: impl AsFd, slices: &[IoSlice<'_>]) -> Result<usize, Errno> {
    match slices {
        [slice] => net::send(socket, slice, SendFlags::NOSIGNAL),
        _ => {
            let mut control = SendAncillaryBuffer::default();
            net::sendmsg(socket, slices, &mut control, SendFlags::NOSIGNAL)
        }
    }
}

/// Removes what an earlier process left where a Unix socket is to be; anything that is not a socket
/// stays, and binding will fail.
pub(super) fn remove_socket_file(path: &Path) {
    let is_socket =
        lstat(path).is_ok_and(|status| FileType::from_raw_mode(status.st_mode) == FileType::Socket);
    if is_socket {
        // If it cannot be removed, binding says why.
        let _ = unlink(path);
    }
}

fn set_stream_options(
    socket: impl AsFd,
    family: AddressFamily,
    options: StreamOptions,
) -> Result<(), Errno> {
    let socket = socket.as_fd();
    if let Some(bytes) = options.send_buffer_bytes {
        sockopt::set_socket_send_buffer_size(socket, bytes)?;
    }
    if family == AddressFamily::UNIX {
        return Ok(());
    }
    sockopt::set_tcp_nodelay(socket, true)?;
    if options.keepalive_seconds > 0 {
        let idle = u64::from(options.keepalive_seconds);
        let interval = (idle / u64::from(KEEPALIVE_COUNT)).max(1);
        sockopt::set_socket_keepalive(socket, true)?;
        sockopt::set_tcp_keepidle(socket, Duration::from_secs(idle))?;
        sockopt::set_tcp_keepintvl(socket, Duration::from_secs(interval))?;
        sockopt::set_tcp_keepcnt(socket, KEEPALIVE_COUNT)?;
    }
    Ok(())
}
