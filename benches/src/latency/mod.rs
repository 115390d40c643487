//! How long one operation takes: one connection, one operation at a time, every answer checked.
//!
//! The client spins and is to have a processor to itself, as is the server. What is measured contains
//! both sides' system calls and the kernel's work between them; the [`floor`] says how much that is.

mod connection;
mod distribution;
mod floor;
mod probe;
mod side_by_side;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use goblin_end_to_end::Process;
use rustix::thread::{CpuSet, sched_setaffinity};

use connection::Wait;
use distribution::Distribution;
use floor::FloorKind;
use probe::{Operation, Peer, Probe};

pub(crate) use side_by_side::{SideBySide, run as side_by_side};

#[derive(clap::Args)]
pub(crate) struct Latency {
    /// Where a server listens that speaks RESP
    #[arg(long, value_name = "ADDRESS:PORT")]
    address: SocketAddr,
    /// What to time
    #[arg(long, value_enum, default_value = "ping")]
    operation: Operation,
    #[command(flatten)]
    sampling: Sampling,
}

#[derive(clap::Args)]
pub(crate) struct Floor {
    /// What to answer
    #[arg(long, value_enum, default_value = "echo")]
    kind: FloorKind,
    /// The processor of the answering process
    #[arg(long, value_name = "PROCESSOR")]
    server_cpu: Option<usize>,
    #[command(flatten)]
    sampling: Sampling,
}

#[derive(clap::Args)]
pub(crate) struct FloorServer {
    #[arg(value_enum)]
    kind: FloorKind,
    #[arg(long)]
    cpu: Option<usize>,
}

/// How many samples, and where the client runs.
#[derive(Clone, Copy, clap::Args)]
struct Sampling {
    /// Operations before the samples
    #[arg(long, default_value_t = 20_000)]
    warm_up: usize,
    /// Samples
    #[arg(long, default_value_t = 200_000)]
    samples: usize,
    /// The processor of the client
    #[arg(long, value_name = "PROCESSOR")]
    cpu: Option<usize>,
}

/// Measures one operation of a server that runs.
pub(crate) fn latency(arguments: &Latency) -> Result<(), String> {
    pin(arguments.sampling.cpu)?;
    let (operation, address) = (arguments.operation, arguments.address);
    let mut probe = Probe::new(operation, address, Peer::Server, Wait::Spin)?;
    report(&arguments.sampling, &mut probe)
}

/// Measures the floor.
pub(crate) fn floor(arguments: &Floor) -> Result<(), String> {
    pin(arguments.sampling.cpu)?;
    let (process, address) = start_floor(arguments.kind, arguments.server_cpu)?;
    let operation = match arguments.kind {
        FloorKind::Echo => Operation::Ping,
        FloorKind::Relay => Operation::Pubsub,
    };
    let mut probe = Probe::new(operation, address, Peer::Floor, Wait::Spin)?;
    report(&arguments.sampling, &mut probe)?;
    drop(process);
    Ok(())
}

/// Is the floor's answering process.
pub(crate) fn floor_server(arguments: &FloorServer) -> Result<(), String> {
    pin(arguments.cpu)?;
    floor::serve(arguments.kind)
}

fn report(sampling: &Sampling, probe: &mut Probe) -> Result<(), String> {
    for _ in 0..sampling.warm_up {
        probe.sample()?;
    }
    let mut distribution = Distribution::new();
    for _ in 0..sampling.samples {
        distribution.record(probe.sample()?);
    }
    println!("{}   (µs)", Distribution::heading());
    println!("{distribution}");
    println!("{}", cost_of_clock());
    Ok(())
}

/// Starts the floor's answering process.
fn start_floor(kind: FloorKind, cpu: Option<usize>) -> Result<(Process, SocketAddr), String> {
    let program: PathBuf =
        std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let mut command = Command::new(program);
    command.arg("floor-server").arg(match kind {
        FloorKind::Echo => "echo",
        FloorKind::Relay => "relay",
    });
    if let Some(cpu) = cpu {
        command.args(["--cpu", &cpu.to_string()]);
    }
    let process = Process::start("floor", &command);
    let address = process.output_line("listening", |line| {
        line.strip_prefix("listening clients tcp ")?.parse().ok()
    });
    Ok((process, address))
}

/// Keeps this thread, and processes that it starts, to one processor.
fn pin(cpu: Option<usize>) -> Result<(), String> {
    let Some(cpu) = cpu.filter(|cpu| *cpu < CpuSet::MAX_CPU) else {
        return Ok(());
    };
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|error| format!("processor {cpu}: {error}"))
}

/// What the clock itself takes of each sample.
fn cost_of_clock() -> String {
    const READINGS: u32 = 100_000;
    let start = Instant::now();
    for _ in 0..READINGS {
        std::hint::black_box(Instant::now());
    }
    let each = start.elapsed() / READINGS;
    format!(
        "a sample reads the clock twice, {} ns each",
        each.as_nanos()
    )
}
