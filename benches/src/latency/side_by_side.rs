//! The pair, the floor and redis-server beside each other, in one run on two processors.
//!
//! The client spins on one processor and one server at a time runs on the other; those that are not
//! measured stand still (`SIGSTOP`), because a spinning server would take the processor from the
//! others. Rounds alternate between the cells, so whatever else the machine does hits all alike.
//!
//! The host behind the edge has no processor to itself: it runs on the client's, with the idle
//! policy. It gets that processor when the client sleeps, which is while it waits for the reply to a
//! publication, after the message was checked and the clock stopped.
//!
//! The client then finds its processor as the host left it, which costs a microsecond or two that a
//! host on a machine of its own would not. So there is also the *severed edge*: one whose host is gone
//! and that delivers all the same (`--on-upstream-loss local`). Beside that of the edge its figure
//! tells what sharing the processor takes.
//!
//! Two things are told: the distribution of all samples of a cell, and for each pair of cells the
//! median over the rounds of their ratio within one round, which the noise of a busy machine moves
//! less than a ratio of totals.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use goblin_end_to_end::{Address, Edge, Host, Place, Process, Profile, RedisServer, build};

use super::connection::Wait;
use super::distribution::Distribution;
use super::floor::FloorKind;
use super::probe::{Operation, Peer, Probe};
use super::{cost_of_clock, pin, start_floor};

#[derive(clap::Args)]
pub(crate) struct SideBySide {
    /// How often the cells take turns
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    /// Operations before the samples of each round
    #[arg(long, default_value_t = 500)]
    warm_up: usize,
    /// Samples of each cell in each round
    #[arg(long, default_value_t = 5_000)]
    samples: usize,
    /// The processor of the client, and of the host behind the edge
    #[arg(long, value_name = "PROCESSOR", default_value_t = 0)]
    client_cpu: usize,
    /// The processor of the server that is measured
    #[arg(long, value_name = "PROCESSOR", default_value_t = 1)]
    server_cpu: usize,
}

/// One operation of one server.
struct Cell {
    name: &'static str,
    /// Which of the servers.
    server: usize,
    probe: Probe,
    all: Distribution,
    rounds: Vec<Distribution>,
}

struct Server {
    process: Process,
    address: SocketAddr,
    peer: Peer,
}

/// Which cell is held against which.
const COMPARED: &[(&str, &str)] = &[
    ("edge PING", "floor echo"),
    ("host PING", "floor echo"),
    ("redis PING", "floor echo"),
    ("floor relay", "floor echo"),
    ("severed edge", "floor relay"),
    ("severed edge", "edge PING"),
    ("edge pubsub", "floor relay"),
    ("edge pubsub", "edge PING"),
    ("host pubsub", "host PING"),
    ("redis PING", "edge PING"),
    ("redis pubsub", "edge pubsub"),
];

/// Measures all cells and prints what came of it.
pub(crate) fn run(arguments: &SideBySide) -> Result<(), String> {
    let binaries = build(Profile::Release)?;
    let mut bench = Bench::start(&binaries, arguments)?;
    pin(Some(arguments.client_cpu))?;
    for _ in 0..arguments.rounds {
        bench.round(arguments)?;
    }
    bench.report();
    Ok(())
}

struct Bench {
    servers: Vec<Server>,
    cells: Vec<Cell>,
    /// The host behind the edge.
    _host: Host,
    _place: Place,
}

impl Bench {
    fn start(binaries: &Path, arguments: &SideBySide) -> Result<Self, String> {
        let place = Place::with_binaries(binaries);
        let (client_cpu, server_cpu) = (arguments.client_cpu, arguments.server_cpu);
        let cpu = server_cpu.to_string();
        let host = start_host_behind(&place, client_cpu);
        let busy = ["--poll", "busy", "--cpu", &cpu];
        let edge = Edge::start(&place, &host, &[&busy[..], &QUIET[..]].concat());
        let severed = start_severed_edge(&place, &[&busy[..], &QUIET[..]].concat());
        let alone = Host::start(&place, &busy);
        let port = free_port()?;
        let redis = RedisServer::start(
            &place,
            &["--port", &port.to_string(), "--server_cpulist", &cpu],
        );
        let (echo, echo_at) = start_floor(FloorKind::Echo, Some(server_cpu))?;
        let (relay, relay_at) = start_floor(FloorKind::Relay, Some(server_cpu))?;
        let server = |process, address, peer| Server {
            process,
            address,
            peer,
        };
        let servers = vec![
            server(echo, echo_at, Peer::Floor),
            server(relay, relay_at, Peer::Floor),
            server(edge.process, tcp(&edge.clients)?, Peer::Server),
            server(alone.process, tcp(&alone.clients)?, Peer::Server),
            server(
                redis.process,
                SocketAddr::from(([127, 0, 0, 1], port)),
                Peer::Server,
            ),
            server(severed.process, tcp(&severed.clients)?, Peer::Server),
        ];
        let mut bench = Self {
            servers,
            cells: Vec::new(),
            _host: host,
            _place: place,
        };
        for (name, server, operation) in [
            ("floor echo", 0, Operation::Ping),
            ("edge PING", 2, Operation::Ping),
            ("host PING", 3, Operation::Ping),
            ("redis PING", 4, Operation::Ping),
            ("floor relay", 1, Operation::Pubsub),
            ("edge pubsub", 2, Operation::Pubsub),
            ("severed edge", 5, Operation::Pubsub),
            ("host pubsub", 3, Operation::Pubsub),
            ("redis pubsub", 4, Operation::Pubsub),
        ] {
            bench.add(name, server, operation)?;
        }
        for server in &bench.servers {
            server.process.pause();
        }
        Ok(bench)
    }

    fn add(
        &mut self,
        name: &'static str,
        server: usize,
        operation: Operation,
    ) -> Result<(), String> {
        let Server { address, peer, .. } = &self.servers[server];
        self.cells.push(Cell {
            name,
            server,
            probe: Probe::new(operation, *address, *peer, Wait::Sleep)?,
            all: Distribution::new(),
            rounds: Vec::new(),
        });
        Ok(())
    }

    /// Each cell once.
    fn round(&mut self, arguments: &SideBySide) -> Result<(), String> {
        for cell in &mut self.cells {
            let process = &self.servers[cell.server].process;
            process.resume();
            let sampled = cell.sample(arguments);
            process.pause();
            sampled.map_err(|problem| format!("{}: {problem}", cell.name))?;
        }
        Ok(())
    }

    fn report(&self) {
        println!("{:<14}{}   (µs)", "", Distribution::heading());
        for cell in &self.cells {
            println!("{:<14}{}", cell.name, cell.all);
        }
        println!("\n{:<30}{:>9}{:>9}", "median of the rounds", "p50", "p99");
        for (one, other) in COMPARED {
            let ratio = |per_cent| self.ratio(one, other, per_cent).unwrap_or(f64::NAN);
            let names = format!("{one} / {other}");
            println!("{names:<30}{:>9.3}{:>9.3}", ratio(50.0), ratio(99.0));
        }
        println!("\n{}", cost_of_clock());
    }

    /// The median over the rounds of one cell's percentile by the other's.
    fn ratio(&self, one: &str, other: &str, per_cent: f64) -> Option<f64> {
        let find = |name| self.cells.iter().find(|cell| cell.name == name);
        let rounds = find(one)?.rounds.iter().zip(&find(other)?.rounds);
        let mut ratios: Vec<f64> = rounds
            .map(|(one, other)| one.percentile(per_cent) as f64 / other.percentile(per_cent) as f64)
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied()
    }
}

impl Cell {
    fn sample(&mut self, arguments: &SideBySide) -> Result<(), String> {
        for _ in 0..arguments.warm_up {
            self.probe.sample()?;
        }
        let mut round = Distribution::new();
        for _ in 0..arguments.samples {
            let took = self.probe.sample()?;
            round.record(took);
            self.all.record(took);
        }
        self.rounds.push(round);
        Ok(())
    }
}

/// A process that stands still sends no heartbeats, so nobody may wait for any.
const QUIET: [&str; 2] = ["--heartbeat-timeout-ms", "0"];

/// The host behind the edge, where it takes nothing from those that are measured.
fn start_host_behind(place: &Place, cpu: usize) -> Host {
    let command = Host::command(place);
    let mut idle = Command::new("chrt");
    idle.args(["--idle", "0"]);
    idle.arg(command.get_program()).args(command.get_args());
    idle.args(["--listen", "127.0.0.1:0", "--edge-listen", "127.0.0.1:0"]);
    idle.args(["--cpu", &cpu.to_string()]).args(QUIET);
    Host::run(&idle)
}

/// An edge that knows the users, and whose host is gone.
fn start_severed_edge(place: &Place, arguments: &[&str]) -> Edge {
    let mut host = Host::start(place, &QUIET);
    let local = ["--on-upstream-loss", "local"];
    let edge = Edge::start(place, &host, &[arguments, &local[..]].concat());
    host.process.terminate();
    edge
}

fn tcp(address: &Address) -> Result<SocketAddr, String> {
    match address {
        Address::Tcp(address) => Ok(*address),
        Address::Unix(path) => Err(format!("{} is no TCP address", path.display())),
    }
}

/// A port that was free a moment ago: redis-server cannot choose one itself.
fn free_port() -> Result<u16, String> {
    std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| format!("no free port: {error}"))
}
