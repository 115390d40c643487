//! Where to listen and where to connect to.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix};

/// An address of the kernel's sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// TCP over IPv4 or IPv6.
    Tcp(SocketAddr),
    /// A Unix stream socket in the file system.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

impl Address {
    pub(super) fn family(&self) -> AddressFamily {
        match self {
            Self::Tcp(SocketAddr::V4(_)) => AddressFamily::INET,
            Self::Tcp(SocketAddr::V6(_)) => AddressFamily::INET6,
            Self::Unix(_) => AddressFamily::UNIX,
        }
    }

    /// As the kernel takes it; fails for a path that is too long or contains a NUL byte.
    pub(super) fn to_socket_address(&self) -> Result<SocketAddrAny, Errno> {
        match self {
            Self::Tcp(address) => Ok((*address).into()),
            Self::Unix(path) => Ok(SocketAddrUnix::new(path)?.into()),
        }
    }
}
