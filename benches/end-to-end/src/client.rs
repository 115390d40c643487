//! A blocking client for tests: sends bytes, reads replies, and never waits beyond the deadline.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use crate::{DEADLINE, Reply};

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// An address and a port.
    Tcp(SocketAddr),
    /// The path of a socket.
    Unix(PathBuf),
}

impl Address {
    /// The port, for what can only be told a port.
    ///
    /// # Panics
    /// For a Unix socket.
    pub fn port(&self) -> u16 {
        match self {
            Address::Tcp(address) => address.port(),
            Address::Unix(path) => panic!("{} has no port", path.display()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(f),
            Address::Unix(path) => path.display().fmt(f),
        }
    }
}

/// A connected socket of either kind.
#[derive(Debug)]
pub enum Stream {
    /// Over TCP, without delay.
    Tcp(TcpStream),
    /// Over a Unix socket.
    Unix(UnixStream),
}

impl Stream {
    /// Connects.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn connect(address: &Address) -> io::Result<Stream> {
        let stream = match address {
            Address::Tcp(address) => {
                let stream = TcpStream::connect_timeout(address, DEADLINE)?;
                stream.set_nodelay(true)?;
                Stream::Tcp(stream)
            }
            Address::Unix(path) => Stream::Unix(UnixStream::connect(path)?),
        };
        stream.set_deadline(DEADLINE)?;
        Ok(stream)
    }

    /// The longest that one read or write may take.
    fn set_deadline(&self, deadline: Duration) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => {
                stream.set_write_timeout(Some(deadline))?;
                stream.set_read_timeout(Some(deadline))
            }
            Stream::Unix(stream) => {
                stream.set_write_timeout(Some(deadline))?;
                stream.set_read_timeout(Some(deadline))
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One connection. What it waits for comes within the deadline, or the test fails there.
pub struct Client {
    stream: Stream,
    received: Vec<u8>,
    read: usize,
}

impl Client {
    /// Connects; the protocol is RESP2 until [`Client::speak_resp3`].
    #[track_caller]
    pub fn connect(address: &Address) -> Client {
        match Stream::connect(address) {
            Ok(stream) => Client::over(stream),
            Err(error) => panic!("no connection to {address}: {error}"),
        }
    }

    /// A client over a connection that exists.
    pub fn over(stream: Stream) -> Client {
        Client {
            stream,
            received: Vec::new(),
            read: 0,
        }
    }

    /// Changes to RESP3.
    #[track_caller]
    pub fn speak_resp3(&mut self) {
        let hello = self.call(&["HELLO", "3"]);
        assert!(matches!(hello, Reply::Map(_)), "HELLO 3 answers {hello:?}");
    }

    /// The socket's own end, as the server sees its peer.
    pub fn local_port(&self) -> u16 {
        match &self.stream {
            Stream::Tcp(stream) => stream.local_addr().map_or(0, |address| address.port()),
            Stream::Unix(_) => 0,
        }
    }

    /// Sends one command.
    #[track_caller]
    pub fn send<T: AsRef<[u8]>>(&mut self, arguments: &[T]) {
        self.send_bytes(&encoded(arguments));
    }

    /// Sends one command to a server that may have closed the connection.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn try_send<T: AsRef<[u8]>>(&mut self, arguments: &[T]) -> io::Result<()> {
        self.try_send_bytes(&encoded(arguments))
    }

    /// Sends bytes as they are.
    #[track_caller]
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        if let Err(error) = self.try_send_bytes(bytes) {
            panic!("not sent: {} ({error})", shortened(bytes));
        }
    }

    /// Sends bytes to a server that may have closed the connection.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn try_send_bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Sends a command and takes the next reply.
    #[track_caller]
    pub fn call<T: AsRef<[u8]>>(&mut self, arguments: &[T]) -> Reply {
        self.send(arguments);
        self.reply()
    }

    /// The next reply or push.
    #[track_caller]
    pub fn reply(&mut self) -> Reply {
        match self.try_reply() {
            Ok(reply) => reply,
            Err(error) => panic!("no reply: {error}; received so far: {}", self.unread()),
        }
    }

    /// The next reply or push, from a server that may close the connection.
    ///
    /// # Errors
    /// `UnexpectedEof` when it was closed, `TimedOut` when nothing came within the deadline.
    pub fn try_reply(&mut self) -> io::Result<Reply> {
        loop {
            if let Some((reply, length)) = Reply::parse(&self.received[self.read..]) {
                self.read += length;
                return Ok(reply);
            }
            if self.fill()? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// The next bytes are exactly these.
    #[track_caller]
    pub fn expect(&mut self, expected: impl AsRef<[u8]>) {
        let expected = expected.as_ref();
        while self.received.len() - self.read < expected.len() {
            // What differs already is shown at once, not when the deadline has passed.
            if !expected.starts_with(&self.received[self.read..]) {
                break;
            }
            match self.fill() {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
        let unread = &self.received[self.read..];
        if !unread.starts_with(expected) {
            let expected = shortened(expected);
            panic!("expected  {expected}\n received {}", self.unread());
        }
        self.read += expected.len();
    }

    /// Sends bytes, and exactly these come back.
    #[track_caller]
    pub fn exchange(&mut self, sent: impl AsRef<[u8]>, expected: impl AsRef<[u8]>) {
        self.send_bytes(sent.as_ref());
        self.expect(expected);
    }

    /// The server closes the connection and says nothing more.
    #[track_caller]
    pub fn expect_closed(&mut self) {
        match self.fill() {
            Ok(0) => assert_eq!(self.unread(), "", "the last bytes before the close"),
            // A reset: the server closed while bytes of ours were still unread.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            Ok(_) => panic!("no close, but {}", self.unread()),
            Err(error) => panic!("no close: {error}"),
        }
    }

    /// Nothing has come beyond what was read: proved by a `PING` whose reply is the next thing.
    #[track_caller]
    pub fn expect_nothing_more(&mut self) {
        self.send(&["PING", "nothing more"]);
        let reply = self.reply();
        let answered = reply.bytes() == b"nothing more"
            || reply.elements().last().map(Reply::bytes) == Some(b"nothing more");
        assert!(answered, "something more: {reply:?}");
    }

    /// Nothing comes for as long as this: for what is measured over a stretch of time.
    #[track_caller]
    pub fn expect_silence(&mut self, length: Duration) {
        let prepared = self.stream.set_deadline(length);
        let silence = self.fill();
        let restored = self.stream.set_deadline(DEADLINE);
        match (prepared, silence, restored) {
            (Ok(()), Err(error), Ok(())) if error.kind() == ErrorKind::TimedOut => {}
            other => panic!("no silence: {other:?}, {}", self.unread()),
        }
    }

    /// Subscribes to channels and takes the confirmations.
    #[track_caller]
    pub fn subscribe<T: AsRef<[u8]>>(&mut self, channels: &[T]) {
        self.confirmed("SUBSCRIBE", channels);
    }

    /// Subscribes to patterns and takes the confirmations.
    #[track_caller]
    pub fn psubscribe<T: AsRef<[u8]>>(&mut self, patterns: &[T]) {
        self.confirmed("PSUBSCRIBE", patterns);
    }

    #[track_caller]
    fn confirmed<T: AsRef<[u8]>>(&mut self, command: &str, names: &[T]) {
        let mut arguments = vec![command.as_bytes()];
        arguments.extend(names.iter().map(AsRef::as_ref));
        self.send(&arguments);
        for name in names {
            let reply = self.reply();
            let [kind, confirmed, Reply::Integer(_)] = reply.elements() else {
                panic!("no confirmation: {reply:?}");
            };
            assert_eq!(kind.text(), command.to_lowercase());
            assert_eq!(confirmed.bytes(), name.as_ref());
        }
    }

    /// The next thing is the message `payload` on `channel`.
    #[track_caller]
    pub fn expect_message(&mut self, channel: &str, payload: impl AsRef<[u8]>) {
        let next = self.reply();
        let expected = ["message".as_bytes(), channel.as_bytes(), payload.as_ref()];
        let parts: Vec<_> = next.elements().iter().map(Reply::bytes).collect();
        assert_eq!(parts, expected, "the next message, {next:?}");
    }

    /// Publishes and returns the number of deliveries.
    #[track_caller]
    pub fn publish(&mut self, channel: &str, payload: impl AsRef<[u8]>) -> i64 {
        self.call(&["PUBLISH".as_bytes(), channel.as_bytes(), payload.as_ref()])
            .integer()
    }

    /// Reads what has come; 0 at the end of the stream.
    fn fill(&mut self) -> io::Result<usize> {
        self.received.drain(..self.read);
        self.read = 0;
        let mut buffer = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(count) => {
                    self.received.extend_from_slice(&buffer[..count]);
                    return Ok(count);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Err(io::Error::new(ErrorKind::TimedOut, "nothing came in time"));
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn unread(&self) -> String {
        shortened(&self.received[self.read..])
    }
}

/// A command as clients send it: an array of bulk strings.
fn encoded<T: AsRef<[u8]>>(arguments: &[T]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", arguments.len()).into_bytes();
    for argument in arguments {
        let argument = argument.as_ref();
        bytes.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
        bytes.extend_from_slice(argument);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

fn shortened(bytes: &[u8]) -> String {
    const SHOWN: usize = 400;
    let shown = bytes.get(..SHOWN).unwrap_or(bytes).escape_ascii();
    match bytes.len().checked_sub(SHOWN + 1) {
        Some(_) => format!("{shown}… ({} bytes)", bytes.len()),
        None => shown.to_string(),
    }
}
