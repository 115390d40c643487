use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use goblin_protocol::service::Opened;
use rustix::net::sockopt;

use super::*;

/// Remembers the first connection.
#[derive(Default)]
struct First {
    id: Option<ConnectionId>,
    closed: Option<Closed>,
}

impl Events for First {
    fn opened(&mut self, id: ConnectionId, _how: Opened<'_>) {
        self.id.get_or_insert(id);
    }
    fn received(&mut self, _id: ConnectionId, _bytes: &[u8]) {}
    fn writable(&mut self, _id: ConnectionId) {}
    fn closed(&mut self, _id: ConnectionId, why: Closed) {
        self.closed.get_or_insert(why);
    }
}

fn at(milliseconds: u64) -> Now {
    Now {
        monotonic: Time::from_nanos(milliseconds * 1_000_000),
        unix_us: 0,
    }
}

fn listening(options: ListenOptions) -> Result<KernelTransport, SetupError> {
    let options = KernelOptions {
        listeners: vec![options],
        keepalive_seconds: 100,
        ..KernelOptions::default()
    };
    KernelTransport::new(options, ConnectionIds::new())
}

fn unix_path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("goblin-kernel-{}-{name}", std::process::id()))
}

#[test]
fn an_accepted_connection_has_the_options_of_its_listener() {
    let loopback = Address::Tcp("127.0.0.1:0".parse().unwrap());
    let mut transport = listening(ListenOptions::new(loopback)).unwrap();
    let address = transport.local_address(ListenerId(0)).unwrap().to_string();
    let _peer = std::net::TcpStream::connect(address).unwrap();
    let mut first = First::default();
    for step in 0.. {
        transport.poll(at(step), &mut first);
        if first.id.is_some() {
            break;
        }
    }
    let connection = transport.connections.get_mut(first.id.unwrap()).unwrap();
    let socket = &connection.socket;
    assert!(sockopt::tcp_nodelay(socket).unwrap());
    assert!(sockopt::socket_keepalive(socket).unwrap());
    assert_eq!(sockopt::tcp_keepidle(socket).unwrap().as_secs(), 100);
    assert_eq!(sockopt::tcp_keepintvl(socket).unwrap().as_secs(), 33);
    assert_eq!(sockopt::tcp_keepcnt(socket).unwrap(), 3);
    let flags = rustix::fs::fcntl_getfl(socket).unwrap();
    assert!(flags.contains(rustix::fs::OFlags::NONBLOCK));
    let flags = rustix::io::fcntl_getfd(socket).unwrap();
    assert!(flags.contains(rustix::io::FdFlags::CLOEXEC));
}

#[test]
fn a_unix_socket_has_its_permissions_replaces_a_stale_one_and_goes_away() {
    let path = unix_path("stale");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    let mut options = ListenOptions::new(Address::Unix(path.clone()));
    options.permissions = Some(0o700);
    let transport = listening(options).unwrap();
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    drop(transport);
    assert!(!path.exists());
}

#[test]
fn a_file_that_is_no_socket_is_not_replaced() {
    let path = unix_path("file");
    std::fs::write(&path, "precious").unwrap();
    let error = listening(ListenOptions::new(Address::Unix(path.clone()))).unwrap_err();
    assert!(
        error.to_string().contains(path.to_str().unwrap()),
        "{error}"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_dial_that_nobody_answers_is_given_up() {
    // A listener whose queue is full does not answer.
    let full = rustix::net::socket_with(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::STREAM,
        rustix::net::SocketFlags::NONBLOCK,
        None,
    )
    .unwrap();
    let loopback: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    rustix::net::bind(&full, &loopback).unwrap();
    rustix::net::listen(&full, 0).unwrap();
    let address = rustix::net::getsockname(&full).unwrap();
    let address = std::net::SocketAddr::try_from(address).unwrap();
    let _first = std::net::TcpStream::connect(address).unwrap();
    let options = KernelOptions {
        upstream: vec![Address::Tcp(address)],
        dial_timeout: Duration::from_millis(100),
        ..KernelOptions::default()
    };
    let mut transport = KernelTransport::new(options, ConnectionIds::new()).unwrap();
    let mut first = First::default();
    transport.poll(at(0), &mut first);
    transport.dial();
    transport.poll(at(99), &mut first);
    assert_eq!(first.closed, None);
    transport.poll(at(100), &mut first);
    let cause = Errno::TIMEDOUT.raw_os_error();
    assert_eq!(first.closed, Some(Closed::Unreachable(cause)));
    assert!(first.id.is_none());
}

#[test]
fn upstreams_are_dialed_in_turn() {
    let nowhere = Address::Unix(unix_path("nowhere"));
    let somewhere = unix_path("somewhere");
    let _listener = std::os::unix::net::UnixListener::bind(&somewhere).unwrap();
    let options = KernelOptions {
        upstream: vec![nowhere, Address::Unix(somewhere.clone())],
        ..KernelOptions::default()
    };
    let mut transport = KernelTransport::new(options, ConnectionIds::new()).unwrap();
    let mut first = First::default();
    transport.dial();
    transport.poll(at(0), &mut first);
    let cause = Errno::NOENT.raw_os_error();
    assert_eq!(first.closed, Some(Closed::Unreachable(cause)));
    transport.dial();
    transport.poll(at(1), &mut first);
    assert!(first.id.is_some());
    std::fs::remove_file(somewhere).unwrap();
}

#[test]
fn the_token_of_a_connection_is_never_that_of_a_listener_or_the_waker() {
    let id = ConnectionId {
        index: u32::MAX,
        generation: u32::MAX - 1,
    };
    for token in [
        Token::Connection(id),
        Token::Listener(0),
        Token::Listener(u16::MAX),
        Token::Waker,
    ] {
        assert_eq!(Token::from_u64(token.to_u64()), Some(token));
    }
}
