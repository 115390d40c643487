//! A connection that spins: the quickest way for a client to see that bytes have come.

use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, recv, send};

/// The longest that an answer may take; whoever takes longer does not answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Reads between two looks at the clock.
const READS_PER_LOOK: usize = 100_000;

/// How to wait for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Reads until something comes.
    Spin,
    /// Leaves the processor to others until something comes.
    Sleep,
}

/// One connection to a server.
#[derive(Debug)]
pub(super) struct Connection {
    socket: TcpStream,
    received: [u8; 4096],
    length: usize,
}

impl Connection {
    pub(super) fn open(address: SocketAddr) -> Result<Self, String> {
        let socket = TcpStream::connect(address)
            .and_then(|socket| {
                socket.set_nodelay(true)?;
                socket.set_nonblocking(true)?;
                Ok(socket)
            })
            .map_err(|error| format!("no connection to {address}: {error}"))?;
        Ok(Self::over(socket))
    }

    /// A connection over a socket that does not block.
    pub(super) fn over(socket: TcpStream) -> Self {
        Self {
            socket,
            received: [0; 4096],
            length: 0,
        }
    }

    /// Sends a request, which is short enough for one call.
    #[inline]
    pub(super) fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        match send(&self.socket, bytes, SendFlags::NOSIGNAL) {
            Ok(taken) if taken == bytes.len() => Ok(()),
            Ok(taken) => Err(format!("{taken} of {} bytes were taken", bytes.len())),
            Err(error) => Err(format!("not sent: {error}")),
        }
    }

    /// Exactly these bytes come, and nothing else with them.
    #[inline]
    pub(super) fn expect(&mut self, expected: &[u8], wait: Wait) -> Result<(), String> {
        let received = self.receive(expected.len(), wait)?;
        if received == expected {
            return Ok(());
        }
        let (expected, received) = (expected.escape_ascii(), received.escape_ascii());
        Err(format!("expected {expected}, received {received}"))
    }

    /// At least so many bytes.
    #[inline]
    pub(super) fn receive(&mut self, length: usize, wait: Wait) -> Result<&mut [u8], String> {
        self.length = 0;
        while self.length < length {
            self.read(wait)?;
        }
        Ok(&mut self.received[..self.length])
    }

    #[inline]
    fn read(&mut self, wait: Wait) -> Result<(), String> {
        let mut since: Option<Instant> = None;
        loop {
            if wait == Wait::Sleep {
                self.sleep()?;
            }
            for _ in 0..READS_PER_LOOK {
                let place = &mut self.received[self.length..];
                match recv(&self.socket, place, RecvFlags::empty()) {
                    Ok((0, _)) => return Err("the connection was closed".to_owned()),
                    Ok((count, _)) => {
                        self.length += count;
                        return Ok(());
                    }
                    Err(Errno::AGAIN | Errno::INTR) => std::hint::spin_loop(),
                    Err(error) => return Err(format!("not received: {error}")),
                }
            }
            if since.get_or_insert_with(Instant::now).elapsed() > PATIENCE {
                let received = self.received[..self.length].escape_ascii();
                return Err(format!("no answer; received so far: {received}"));
            }
        }
    }

    fn sleep(&self) -> Result<(), String> {
        let mut waited = [PollFd::new(&self.socket, PollFlags::IN)];
        let limit = Timespec::try_from(PATIENCE).ok();
        match poll(&mut waited, limit.as_ref()) {
            Ok(0) => Err("no answer".to_owned()),
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(format!("not waited: {error}")),
        }
    }
}
