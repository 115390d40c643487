//! What happens when the process has no descriptor left. The limit is the whole process's, so this
//! is its own test binary with one test.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use goblin_protocol::service::ListenerId;
use goblin_transport::conformance::Probe;
use goblin_transport::kernel::{Address, KernelOptions, KernelTransport, ListenOptions};
use goblin_transport::{Clock, ConnectionIds, PollMode, Turn};
use rustix::process::{Resource, Rlimit, setrlimit};
use tracing::{Event, Metadata, Subscriber, span};

/// Counts log lines.
#[derive(Clone, Default)]
struct Lines(Arc<AtomicU32>);

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }
    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

type Server = Turn<Probe, KernelTransport>;

#[track_caller]
fn turn_until(server: &mut Server, mut done: impl FnMut(&Server) -> bool) {
    let started = Instant::now();
    let mut clock = Clock::new();
    while !done(server) {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "waited in vain"
        );
        server.turn(clock.now());
    }
}

/// The first thing that happens to a connection that nobody wants.
fn is_refused(stream: &mut TcpStream) -> bool {
    match stream.read(&mut [0]) {
        Ok(length) => length == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

#[test]
fn a_process_without_descriptors_refuses_newcomers_and_serves_the_others() {
    let lines = Lines::default();
    let logged = lines.0.clone();
    tracing::subscriber::set_global_default(lines).unwrap();
    let options = KernelOptions {
        listeners: vec![ListenOptions::new(Address::Tcp(SocketAddr::from((
            [127, 0, 0, 1],
            0,
        ))))],
        ..KernelOptions::default()
    };
    let transport = KernelTransport::new(options, ConnectionIds::new()).unwrap();
    let address = transport.local_address(ListenerId(0)).unwrap().to_string();
    let mut probe = Probe::default();
    probe.echo = true;
    let mut server = Turn::new(probe, transport);
    let mut existing = TcpStream::connect(&address).unwrap();
    turn_until(&mut server, |server| server.service().opened.len() == 1);

    // Five sockets that wait to be accepted, then not one descriptor more.
    let mut newcomers: Vec<_> = (0..5)
        .map(|_| TcpStream::connect(&address).unwrap())
        .collect();
    let limit = Rlimit {
        current: Some(200),
        maximum: Some(200),
    };
    setrlimit(Resource::Nofile, limit).unwrap();
    let mut hoard: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    assert!(hoard.len() > 100);

    turn_until(&mut server, |server| {
        server.counters().transport.accepts_refused == 5
    });
    assert!(newcomers.iter_mut().all(is_refused));
    assert_eq!(logged.load(Ordering::Relaxed), 1);
    existing.write_all(b"still here").unwrap();
    let mut answer = [0; 10];
    turn_until(&mut server, |server| {
        server.counters().transport.bytes_out == 10
    });
    existing.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"still here");

    // Nothing is left to refuse: nothing is asked any more, and an idle turn sleeps.
    let before = server.counters().transport;
    assert_eq!(before.accept_calls, 1 + 2 * 5);
    let started = Instant::now();
    let tick = Duration::from_millis(20);
    let mut clock = Clock::new();
    server.run_until(PollMode::Adaptive, |probe| {
        probe.deadline = Some(clock.now().monotonic + tick);
        started.elapsed() >= 5 * tick
    });
    let after = server.counters().transport;
    assert_eq!(after.accept_calls, before.accept_calls);
    assert!(after.sleeps > before.sleeps);

    spare_is_taken_by_somebody_else(&mut server, &address, &mut hoard);
    drop(hoard);
    let mut welcome = TcpStream::connect(&address).unwrap();
    turn_until(&mut server, |server| server.service().opened.len() == 3);
    welcome.write_all(b"hello").unwrap();
    turn_until(&mut server, |server| {
        server.counters().transport.bytes_out == 15
    });
}

/// Another thread takes every descriptor that becomes free, also the one with which newcomers are
/// refused: then the listener is left alone for a while instead of being asked in vain.
fn spare_is_taken_by_somebody_else(server: &mut Server, address: &str, hoard: &mut Vec<File>) {
    hoard.pop();
    let late = TcpStream::connect(address).unwrap();
    let lower = Rlimit {
        current: Some(0),
        maximum: Some(200),
    };
    // This limit makes every new descriptor fail, the spare's successor, too.
    setrlimit(Resource::Nofile, lower).unwrap();
    let before = server.counters().transport;
    turn_until(server, |server| {
        server.counters().transport.interest_changes > before.interest_changes
    });
    let asked = server.counters().transport.accept_calls;
    let mut clock = Clock::new();
    for _ in 0..10_000 {
        server.turn(clock.now());
    }
    let asked = server.counters().transport.accept_calls - asked;
    assert!(asked <= 2, "{asked} accepts in vain");

    hoard.pop();
    hoard.pop();
    let limit = Rlimit {
        current: Some(200),
        maximum: Some(200),
    };
    setrlimit(Resource::Nofile, limit).unwrap();
    turn_until(server, |server| server.service().opened.len() == 2);
    drop(late);
}
