//! Network namespaces: a host and its edges, each with a network of its own, and cables that can be
//! pulled.
//!
//! ```text
//!   host ── edge0: 10.77.0.1 ═══ 10.77.0.2 ── edge 0
//!    └───── edge1: 10.77.1.1 ═══ 10.77.1.2 ── edge 1
//! ```
//!
//! The names carry the process identity of the test. They are removed when dropped; those of a test
//! that was killed are removed by the next one. Clients are not inside: they reach an edge through a
//! Unix socket, which knows no network namespaces, so a pulled cable cuts the link and nothing else.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The port on which the host listens for edges, in its own namespace.
const EDGE_PORT: u16 = 7000;

/// One namespace for a host and one for each of its edges.
#[derive(Debug)]
pub struct Namespaces {
    prefix: String,
    edges: u8,
}

impl Namespaces {
    /// Creates them, with a cable from each edge to the host. Needs to be root ([`as_root`]).
    #[track_caller]
    pub fn new(edges: u8) -> Namespaces {
        static MADE: AtomicU32 = AtomicU32::new(0);
        remove_those_of_the_dead();
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let namespaces = Namespaces {
            prefix: format!("goblin-{}-{number}", std::process::id()),
            edges,
        };
        let host = namespaces.host();
        ip(&["netns", "add", &host]);
        ip(&["-n", &host, "link", "set", "lo", "up"]);
        for edge in 0..edges {
            namespaces.connect(edge);
        }
        namespaces
    }

    /// Where the host has to listen for edges.
    pub fn edge_listen(&self) -> SocketAddr {
        (Ipv4Addr::UNSPECIFIED, EDGE_PORT).into()
    }

    /// The host's address, as an edge has to dial it.
    pub fn upstream(&self, edge: u8) -> SocketAddr {
        (Ipv4Addr::new(10, 77, edge, 1), EDGE_PORT).into()
    }

    /// The same command, in the host's namespace.
    pub fn in_host(&self, command: &Command) -> Command {
        inside(&self.host(), command)
    }

    /// The same command, in an edge's namespace.
    pub fn in_edge(&self, edge: u8, command: &Command) -> Command {
        inside(&self.edge(edge), command)
    }

    /// Pulls the cable between the host and an edge: packets vanish, nobody is told.
    #[track_caller]
    pub fn cut(&self, edge: u8) {
        ip(&["-n", &self.host(), "link", "set", &cable(edge), "down"]);
    }

    /// Plugs it in again.
    #[track_caller]
    pub fn mend(&self, edge: u8) {
        ip(&["-n", &self.host(), "link", "set", &cable(edge), "up"]);
    }

    fn connect(&self, number: u8) {
        let (host, edge, cable) = (self.host(), self.edge(number), cable(number));
        let here = format!("10.77.{number}.1/24");
        let there = format!("10.77.{number}.2/24");
        ip(&["netns", "add", &edge]);
        ip(&["-n", &edge, "link", "set", "lo", "up"]);
        let peer = ["type", "veth", "peer", "name", "host", "netns", &edge];
        ip(&[&["-n", &host, "link", "add", &cable], &peer[..]].concat());
        ip(&["-n", &host, "address", "add", &here, "dev", &cable]);
        ip(&["-n", &edge, "address", "add", &there, "dev", "host"]);
        ip(&["-n", &host, "link", "set", &cable, "up"]);
        ip(&["-n", &edge, "link", "set", "host", "up"]);
    }

    fn host(&self) -> String {
        format!("{}-host", self.prefix)
    }

    fn edge(&self, number: u8) -> String {
        format!("{}-edge{number}", self.prefix)
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for edge in 0..self.edges {
            remove(&self.edge(edge));
        }
        remove(&self.host());
    }
}

/// Runs the calling test as root: at once when this process is root, otherwise by running this test
/// program again through `sudo`. `test` is the test's full name; `binaries` was built before.
#[track_caller]
pub fn as_root(test: &str, body: impl FnOnce()) {
    if rustix::process::geteuid().is_root() {
        return body();
    }
    let binaries = crate::Place::new().binary("");
    let program = std::env::current_exe().expect("the test program has a path");
    let status = Command::new("sudo")
        .args(["--non-interactive", "env"])
        .arg(format!("{}={}", crate::place::BINARIES, binaries.display()))
        .arg(program)
        .args(["--exact", test, "--nocapture"])
        .status();
    match status {
        Ok(status) if status.success() => {}
        other => panic!("{test} needs root, and through sudo: {other:?}"),
    }
}

fn cable(edge: u8) -> String {
    format!("edge{edge}")
}

fn inside(namespace: &str, command: &Command) -> Command {
    let mut wrapped = Command::new("ip");
    wrapped.args(["netns", "exec", namespace]);
    wrapped.arg(command.get_program()).args(command.get_args());
    wrapped
}

#[track_caller]
fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output();
    match output {
        Ok(output) if output.status.success() => {}
        Ok(output) => panic!(
            "ip {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        ),
        Err(error) => panic!("ip did not start: {error}"),
    }
}

/// Never complains: it runs while a test may already be failing.
fn remove(namespace: &str) {
    let _ = Command::new("ip")
        .args(["netns", "delete", namespace])
        .output();
}

fn remove_those_of_the_dead() {
    let Ok(names) = std::fs::read_dir("/run/netns") else {
        return;
    };
    for name in names.flatten() {
        let name = name.file_name().to_string_lossy().into_owned();
        let process = name
            .strip_prefix("goblin-")
            .and_then(|rest| rest.split('-').next());
        if let Some(process) = process
            && !Path::new("/proc").join(process).exists()
        {
            remove(&name);
        }
    }
}
