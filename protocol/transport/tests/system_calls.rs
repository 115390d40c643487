//! How many system calls kernel sockets take, as the transport's counters tell.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use goblin_protocol::service::{ConnectionId, ListenerId};
use goblin_transport::conformance::{Probe, pattern};
use goblin_transport::kernel::{Address, KernelOptions, KernelTransport, ListenOptions};
use goblin_transport::{Clock, ConnectionIds, PollMode, Transport, TransportCounters, Turn};
use rustix::time::{ClockId, clock_gettime};

const PATIENCE: Duration = Duration::from_secs(60);

/// A probe that listens, and what it takes to turn it by hand.
struct Server {
    turn: Turn<Probe, KernelTransport>,
    clock: Clock,
    started: Instant,
}

impl Server {
    fn new() -> Self {
        let options = KernelOptions {
            listeners: vec![ListenOptions::new(Address::Tcp(
                "127.0.0.1:0".parse().unwrap(),
            ))],
            ..KernelOptions::default()
        };
        let transport = KernelTransport::new(options, ConnectionIds::new()).unwrap();
        Self {
            turn: Turn::new(Probe::default(), transport),
            clock: Clock::new(),
            started: Instant::now(),
        }
    }

    #[track_caller]
    fn turn_until(&mut self, mut done: impl FnMut(&Probe, TransportCounters) -> bool) {
        while !done(self.turn.service(), self.turn.counters().transport) {
            assert!(self.started.elapsed() < PATIENCE, "waited in vain");
            let now = self.clock.now();
            self.turn.turn(now);
        }
    }

    fn counters(&self) -> TransportCounters {
        self.turn.counters().transport
    }

    /// A plain connection to the server, accepted.
    fn connect(&mut self) -> (TcpStream, ConnectionId) {
        let address = self.turn.transport().local_address(ListenerId(0));
        let stream = TcpStream::connect(address.unwrap().to_string()).unwrap();
        let opened = self.turn.service().opened.len();
        self.turn_until(|probe, _| probe.opened.len() > opened);
        (stream, self.turn.service().opened[opened])
    }
}

#[test]
fn a_message_of_a_hot_connection_is_one_read_and_one_write() {
    let mut server = Server::new();
    server.turn.service_mut().echo = true;
    let (mut stream, _) = server.connect();
    stream.write_all(b"warm up").unwrap();
    server.turn_until(|_, counters| counters.writes == 1);
    stream.read_exact(&mut [0; 7]).unwrap();

    let before = server.counters();
    for message in 1..=200 {
        stream.write_all(b"ping").unwrap();
        server.turn_until(|_, counters| counters.writes - before.writes == message);
        stream.read_exact(&mut [0; 4]).unwrap();
    }
    let after = server.counters();
    assert_eq!(after.reads - before.reads, 200);
    assert_eq!(after.writes - before.writes, 200);
    assert_eq!(after.accept_calls, 1);
    assert_eq!(after.interest_changes, 0);
    assert_eq!(after.sleeps, 0);
}

#[test]
fn accept_is_never_called_on_a_listener_that_is_not_ready() {
    let mut server = Server::new();
    let mut streams = Vec::new();
    for _ in 0..20 {
        streams.push(server.connect());
    }
    for _ in 0..10_000 {
        let now = server.clock.now();
        server.turn.turn(now);
    }
    let counters = server.counters();
    assert_eq!(counters.accept_calls, 20);
    assert_eq!(counters.accepts, 20);
}

#[test]
fn an_idle_spinning_pass_asks_at_a_bounded_rate_and_nothing_else() {
    let mut server = Server::new();
    let connections: Vec<_> = (0..20).map(|_| server.connect()).collect();
    let started = Instant::now();
    let before = server.turn.counters();
    let lasts = Duration::from_millis(100);
    server
        .turn
        .run_until(PollMode::Busy, |_| started.elapsed() >= lasts);
    let elapsed = started.elapsed();
    let after = server.turn.counters();
    let checks = after.transport.readiness_checks - before.transport.readiness_checks;
    let most = elapsed.as_micros() / 5 + 1;
    assert!(u128::from(checks) <= most, "{checks} checks in {elapsed:?}");
    assert!(checks > 0);
    let spent = TransportCounters {
        readiness_checks: before.transport.readiness_checks,
        ..after.transport
    };
    assert_eq!(spent, before.transport);
    assert!(after.turns - before.turns > checks);
    drop(connections);
}

/// Reads that found nothing and checks of a hundred passes in one moment, right after `count`
/// connections spoke.
fn a_hundred_passes_after(count: usize) -> (u64, u64) {
    let mut server = Server::new();
    let mut connections: Vec<_> = (0..count).map(|_| server.connect().0).collect();
    for stream in &mut connections {
        stream.write_all(b"ping").unwrap();
    }
    let bytes = count as u64 * 4;
    while server.counters().bytes_in < bytes {
        assert!(server.started.elapsed() < PATIENCE, "waited in vain");
        server.turn.turn(server.clock.now());
    }
    // One moment for all passes, so that nothing cools down and no check becomes due.
    let now = server.clock.now();
    server.turn.turn(now);
    let before = server.counters();
    for _ in 0..100 {
        server.turn.turn(now);
    }
    let after = server.counters();
    (
        after.reads_empty - before.reads_empty,
        after.readiness_checks - before.readiness_checks,
    )
}

#[test]
fn few_active_connections_are_read_on_suspicion() {
    assert_eq!(a_hundred_passes_after(3), (300, 0));
}

#[test]
fn many_active_connections_are_asked_for() {
    assert_eq!(a_hundred_passes_after(10), (0, 100));
}

#[test]
fn an_idle_adaptive_process_sleeps() {
    let mut server = Server::new();
    let (_stream, _) = server.connect();
    let cpu_before = clock_gettime(ClockId::ThreadCPUTime);
    let before = server.turn.counters();
    let started = Instant::now();
    let lasts = Duration::from_millis(500);
    let tick = Duration::from_millis(50);
    let mut clock = Clock::new();
    server.turn.run_until(PollMode::Adaptive, |probe| {
        probe.deadline = Some(clock.now().monotonic + tick);
        started.elapsed() >= lasts
    });
    let elapsed = started.elapsed();
    let cpu = clock_gettime(ClockId::ThreadCPUTime) - cpu_before;
    let after = server.turn.counters();
    let sleeps = after.transport.sleeps - before.transport.sleeps;
    assert!((5..=11).contains(&sleeps), "{sleeps} sleeps");
    let cpu = Duration::try_from(cpu).unwrap();
    assert!(cpu < elapsed / 100, "{cpu:?} of {elapsed:?}");
}

#[test]
fn a_waker_wakes_the_sleeper() {
    let mut server = Server::new();
    let waker = server.turn.transport().waker();
    let asleep = std::sync::Barrier::new(2);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            asleep.wait();
            stop.store(true, std::sync::atomic::Ordering::Release);
            waker.wake();
        });
        asleep.wait();
        // No deadline: without the waker this never returns.
        server.turn.run_until(PollMode::Adaptive, |_| {
            stop.load(std::sync::atomic::Ordering::Acquire)
        });
    });
}

#[test]
fn a_peer_that_does_not_read_costs_one_write_until_it_does() {
    let mut server = Server::new();
    let (mut stream, id) = server.connect();
    let bytes = pattern(1, 16 * 1024 * 1024);
    server.turn.service_mut().send(id, bytes.clone());
    server.turn_until(|_, counters| counters.writes_short > 0);
    // The kernel may still make room by moving bytes to the peer's side.
    let mut settled = server.counters();
    for quiet in 0..100_000 {
        let now = server.clock.now();
        server.turn.turn(now);
        if quiet % 20_000 == 0 {
            settled = server.counters();
        }
        let more = server.turn.service().unwritten(id) > 0;
        assert!(more, "the kernel took everything");
    }
    assert_eq!(server.counters().writes, settled.writes);

    let mut received = vec![0; bytes.len()];
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| stream.read_exact(&mut received));
        server.turn_until(|probe, _| probe.unwritten(id) == 0);
        reader.join().unwrap().unwrap();
    });
    assert!(received == bytes);
    let counters = server.counters();
    assert!(counters.writes_short + 1 >= counters.writes);
    assert_eq!(counters.interest_changes, 1);
}

#[test]
fn a_broken_connection_is_told_after_what_it_sent() {
    let mut server = Server::new();
    let (mut stream, id) = server.connect();
    stream.write_all(b"last words").unwrap();
    server.turn.service_mut().send(id, pattern(2, 100));
    let mut first = [0; 1];
    server.turn_until(|_, counters| counters.bytes_out == 100);
    stream.read_exact(&mut first).unwrap();
    // Unread bytes turn closing into a reset.
    drop(stream);
    server.turn_until(|probe, _| !probe.closed.is_empty());
    let heard = server.turn.service().heard(id);
    assert_eq!(heard.received, b"last words");
    let reset = rustix::io::Errno::CONNRESET.raw_os_error();
    assert_eq!(
        heard.closed,
        Some(goblin_protocol::service::Closed::Failed(reset))
    );
}

#[test]
fn closing_listeners_frees_the_port() {
    let mut server = Server::new();
    let address = server
        .turn
        .transport()
        .local_address(ListenerId(0))
        .cloned();
    server.turn.transport_mut().close_listeners();
    let options = KernelOptions {
        listeners: vec![ListenOptions::new(address.unwrap())],
        ..KernelOptions::default()
    };
    assert!(KernelTransport::new(options, ConnectionIds::new()).is_ok());
}
