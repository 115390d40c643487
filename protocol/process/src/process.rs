//! A core over kernel sockets, from the first listener to the last byte.
//!
//! On standard output the process says where it listens, one line a listener, and then `ready`:
//!
//! ```text
//! listening clients tcp 127.0.0.1:6379
//! listening edges tcp 127.0.0.1:6400
//! ready
//! ```
//!
//! and whenever the core's status changes, that, such as `link up`.
//!
//! `SIGTERM` and `SIGINT` drain it: it stops accepting, lets the core finish what it owes, and ends. A
//! second signal ends it at once. Signals are taken by a thread of their own, which only sets a flag
//! and wakes the loop.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use goblin_protocol::service::{Core, ListenerId};
use goblin_protocol::session::{Environment, resident_bytes};
use goblin_protocol::table::HashSeed;
use goblin_protocol::time::Now;
use goblin_transport::kernel::{
    Address, KernelOptions, KernelTransport, ListenOptions, SetupError, Waker,
};
use goblin_transport::{Clock, ConnectionIds, Counters, PollMode, Transport, Turn};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tracing::{info, warn};

use crate::{Failure, descriptors};

/// How long a drain may take.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// A listener and what it is for.
#[derive(Clone, Debug)]
pub struct Listener {
    /// Who connects there: `clients`, `edges`.
    pub purpose: &'static str,
    /// Where.
    pub address: Address,
}

/// What a process needs besides its core.
#[derive(Debug)]
pub struct Options {
    /// Where to listen; the position is the core's `ListenerId`.
    pub listeners: Vec<Listener>,
    /// Where the core's `Action::Dial` leads.
    pub upstream: Vec<Address>,
    /// How many clients there may be.
    pub clients_max: usize,
    /// Seconds of silence before the kernel asks whether a peer is there.
    pub keepalive_seconds: u32,
    /// How to wait.
    pub poll_mode: PollMode,
}

/// Opens the listeners, makes the core, and runs it until a signal has drained it. `make` is told the
/// time and the port of the first TCP listener.
///
/// # Errors
/// A listener cannot be opened.
pub fn run<C: Core>(options: Options, make: impl FnOnce(Now, u16) -> C) -> Result<(), Failure> {
    descriptors::make_room(options.clients_max);
    let transport = KernelTransport::new(
        KernelOptions {
            listeners: options
                .listeners
                .iter()
                .map(|listener| ListenOptions::new(listener.address.clone()))
                .collect(),
            upstream: options.upstream,
            keepalive_seconds: options.keepalive_seconds,
            ..KernelOptions::default()
        },
        ConnectionIds::default(),
    )
    .map_err(|error| match error {
        // The flag that names the address is what has to change.
        SetupError::Listen { .. } => Failure::usage(error),
        SetupError::Kernel(_) => Failure::unavailable(error),
    })?;
    let signals = Arc::new(AtomicU32::new(0));
    watch_signals(Arc::clone(&signals), transport.waker())?;
    let port = announce(&options.listeners, &transport)?;
    let core = make(Clock::new().now(), port);
    let mut turn = Turn::new(core, transport);
    let stopped = || signals.load(Ordering::Relaxed) > 0;
    let mut status = "";
    while !stopped() {
        tell_status(&mut status, turn.service().status());
        let environment = environment(&turn.counters());
        turn.service_mut().set_environment(environment);
        turn.run_until(options.poll_mode, |core| {
            stopped() || core.wants_environment()
        });
    }
    drain(&mut turn, options.poll_mode, &signals);
    Ok(())
}

fn drain<C: Core>(turn: &mut Turn<C, KernelTransport>, poll_mode: PollMode, signals: &AtomicU32) {
    info!("draining");
    let mut clock = Clock::new();
    turn.transport_mut().close_listeners();
    turn.service_mut().drain(clock.now());
    let started = Instant::now();
    turn.run_until(poll_mode, |core| {
        core.is_drained()
            || started.elapsed() > DRAIN_TIMEOUT
            || signals.load(Ordering::Relaxed) > 1
    });
    if !turn.service().is_drained() {
        warn!("ending although not everything was sent");
    }
    // What the core asked for last, above all to close connections in order.
    turn.turn(clock.now());
}

fn watch_signals(signals: Arc<AtomicU32>, waker: Waker) -> Result<(), Failure> {
    let mut watched = Signals::new([SIGTERM, SIGINT]).map_err(Failure::unavailable)?;
    std::thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for _ in watched.forever() {
                signals.fetch_add(1, Ordering::Relaxed);
                waker.wake();
            }
        })
        .map_err(Failure::unavailable)?;
    Ok(())
}

/// Says where the process listens; returns the first TCP port.
fn announce(listeners: &[Listener], transport: &KernelTransport) -> Result<u16, Failure> {
    let mut out = std::io::stdout().lock();
    let mut port = 0;
    for (position, listener) in (0u16..).zip(listeners) {
        let address = transport
            .local_address(ListenerId(position))
            .unwrap_or(&listener.address);
        let sort = match address {
            Address::Tcp(address) => {
                if port == 0 {
                    port = address.port();
                }
                "tcp"
            }
            Address::Unix(_) => "unix",
        };
        writeln!(out, "listening {} {sort} {address}", listener.purpose)
            .map_err(Failure::unavailable)?;
    }
    writeln!(out, "ready").map_err(Failure::unavailable)?;
    Ok(port)
}

fn tell_status(told: &mut &'static str, status: &'static str) {
    if *told != status {
        *told = status;
        // Nobody may be listening any more, which is no reason to stop.
        let _ = writeln!(std::io::stdout(), "{status}");
    }
}

fn environment(counters: &Counters) -> Environment {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let transport = &counters.transport;
    Environment {
        resident_bytes: resident_bytes(&statm, rustix::param::page_size()).unwrap_or(0),
        transport: vec![
            ("turns", counters.turns),
            ("turns_busy", counters.turns_busy),
            ("longest_turn_ns", counters.longest_turn_ns),
            ("longest_gap_ns", counters.longest_gap_ns),
            ("bytes_in", transport.bytes_in),
            ("bytes_out", transport.bytes_out),
            ("reads", transport.reads),
            ("reads_empty", transport.reads_empty),
            ("writes", transport.writes),
            ("writes_short", transport.writes_short),
            ("accept_calls", transport.accept_calls),
            ("accepts", transport.accepts),
            ("accepts_refused", transport.accepts_refused),
            ("dials", transport.dials),
            ("readiness_checks", transport.readiness_checks),
            ("sleeps", transport.sleeps),
        ],
    }
}

/// Reads `ADDRESS:PORT`.
///
/// # Errors
/// It is none; `flag` names the culprit.
pub fn parse_tcp(flag: &str, text: &str) -> Result<std::net::SocketAddr, Failure> {
    text.parse().map_err(|_| {
        Failure::usage(format_args!(
            "{flag} {text}: not an address and port like 127.0.0.1:6379 or [::1]:6379"
        ))
    })
}

/// Random bytes from the kernel, for nonces.
///
/// # Panics
/// The kernel has none, which on Linux happens only before it has booted.
pub fn random_bytes(bytes: &mut [u8]) {
    getrandom::fill(bytes).expect("the kernel yields random bytes");
}

/// A key for the hash tables of this process.
#[must_use]
pub fn hash_seed() -> HashSeed {
    HashSeed(std::array::from_fn(|_| {
        let mut word = [0; 8];
        random_bytes(&mut word);
        u64::from_le_bytes(word)
    }))
}
