//! Servers that have started and said where they listen.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;

use crate::{Address, Place, Process};

/// An address on which the kernel picks a free port.
const ANY_PORT: &str = "127.0.0.1:0";

/// A running `goblin-host`.
pub struct Host {
    /// The process.
    pub process: Process,
    /// Where clients connect.
    pub clients: Address,
    /// Where edges connect.
    pub edges: SocketAddr,
}

impl Host {
    /// Starts a host on loopback; `arguments` come after the listeners and the key file.
    #[track_caller]
    pub fn start(place: &Place, arguments: &[&str]) -> Host {
        let mut command = Host::command(place);
        command.args(["--listen", ANY_PORT, "--edge-listen", ANY_PORT]);
        Host::run(command.args(arguments))
    }

    /// The command without listeners, with the key file.
    pub fn command(place: &Place) -> Command {
        let mut command = Command::new(place.binary("goblin-host"));
        command.args(["--edge-key-file", &place.key()]);
        command
    }

    /// Runs a command that starts a host, and waits until it is ready.
    #[track_caller]
    pub fn run(command: &Command) -> Host {
        let process = Process::start("goblin-host", command);
        let edges = process.output_line("listening edges", |line| {
            line.strip_prefix("listening edges tcp ")?.parse().ok()
        });
        let clients = clients(&process);
        ready(&process);
        Host {
            process,
            clients,
            edges,
        }
    }
}

/// A running `goblin-edge`.
pub struct Edge {
    /// The process.
    pub process: Process,
    /// Where clients connect.
    pub clients: Address,
}

impl Edge {
    /// Starts an edge on loopback and waits until its link to `host` is up.
    #[track_caller]
    pub fn start(place: &Place, host: &Host, arguments: &[&str]) -> Edge {
        let mut command = Edge::command(place, host.edges);
        command.args(["--listen", ANY_PORT]).args(arguments);
        let edge = Edge::run(&command);
        edge.wait_for_link();
        edge
    }

    /// The command without listeners, with the upstream and the key file.
    pub fn command(place: &Place, upstream: SocketAddr) -> Command {
        let mut command = Command::new(place.binary("goblin-edge"));
        command.args(["--edge-key-file", &place.key()]);
        command.args(["--upstream", &format!("tcp://{upstream}")]);
        command
    }

    /// Runs a command that starts an edge, and waits until it is ready; the link may be down.
    #[track_caller]
    pub fn run(command: &Command) -> Edge {
        let process = Process::start("goblin-edge", command);
        let clients = clients(&process);
        ready(&process);
        Edge { process, clients }
    }

    /// Waits for the first session with the host.
    #[track_caller]
    pub fn wait_for_link(&self) {
        self.process
            .output_line("link up", |line| (line == "link up").then_some(()));
    }
}

/// A running redis-server, to ask what Redis does.
pub struct RedisServer {
    /// The process.
    pub process: Process,
    /// Where clients connect.
    pub clients: Address,
}

impl RedisServer {
    /// Starts a redis-server that keeps nothing, on a Unix socket: no port to compete for.
    #[track_caller]
    pub fn start(place: &Place, arguments: &[&str]) -> RedisServer {
        let socket = place.path("redis.sock");
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--unixsocket"]).arg(&socket);
        command.args(["--save", "", "--appendonly", "no", "--daemonize", "no"]);
        let process = Process::start("redis-server", command.args(arguments));
        process.output_line("ready to accept connections", |line| {
            line.contains("eady to accept connections").then_some(())
        });
        RedisServer {
            process,
            clients: Address::Unix(socket),
        }
    }
}

/// The first listener for clients.
#[track_caller]
fn clients(process: &Process) -> Address {
    process.output_line("listening clients", |line| {
        let line = line.strip_prefix("listening clients ")?;
        if let Some(path) = line.strip_prefix("unix ") {
            return Some(Address::Unix(PathBuf::from(path)));
        }
        Some(Address::Tcp(line.strip_prefix("tcp ")?.parse().ok()?))
    })
}

#[track_caller]
fn ready(process: &Process) {
    process.output_line("ready", |line| (line == "ready").then_some(()));
}
