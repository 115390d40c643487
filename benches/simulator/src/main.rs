//! Runs seeds: one and tells its story, many and sums up, or without an end.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use clap::Parser;
use goblin_simulator::history::Connection;
use goblin_simulator::{Counts, Outcome};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;

/// How often a soak says how far it is, in seeds.
const SOAK_REPORT: u64 = 100;

/// One host, several edges and many clients in simulated time, from a seed.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    /// Run this seed, tell what happened and what was wrong.
    #[arg(long, group = "what")]
    seed: Option<u64>,
    /// Tell of this connection, too.
    #[arg(long, requires = "seed")]
    connection: Option<usize>,
    /// Show what the cores log.
    #[arg(long, requires = "seed")]
    log: bool,
    /// Run this many seeds and sum up.
    #[arg(long, group = "what")]
    seeds: Option<u64>,
    /// Run seeds until stopped, or until one fails.
    #[arg(long, group = "what")]
    soak: bool,
    /// The first of the seeds.
    #[arg(long, default_value_t = 1)]
    first: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.log {
        tracing_subscriber::fmt()
            .with_timer(VirtualTime)
            .with_ansi(false)
            .with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG)
            .init();
    }
    let done = match (arguments.seed, arguments.seeds) {
        (Some(seed), _) => tell(seed, arguments.connection),
        (_, Some(count)) => run_many(arguments.first, count),
        _ => soak(arguments.first),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) | Err(_) => ExitCode::FAILURE,
    }
}

/// Stamps logs with the time in the simulated world.
struct VirtualTime;

impl FormatTime for VirtualTime {
    fn format_time(&self, writer: &mut Writer<'_>) -> fmt::Result {
        let at = goblin_simulator::virtual_time();
        write!(writer, "{:>11.3} ms ", at.as_nanos() as f64 / 1e6)
    }
}

/// Runs a seed and tells its story. True if it passed.
fn tell(seed: u64, connection: Option<usize>) -> io::Result<bool> {
    let outcome = goblin_simulator::run(seed);
    let mut out = io::stdout().lock();
    let plan = &outcome.plan;
    writeln!(out, "seed {seed}")?;
    for (edge, settings) in plan.edges.iter().enumerate() {
        writeln!(out, "edge {edge}: {settings:?}")?;
    }
    writeln!(
        out,
        "heartbeat {:?}, resume {:?}, handshake {:?}, upstream {:?}, window {} bytes",
        plan.heartbeat_timeout,
        plan.resume_timeout,
        plan.handshake_timeout,
        plan.upstream_timeout,
        plan.window_bytes,
    )?;
    for (at, text) in &outcome.history.story {
        writeln!(out, "{:>11.3} ms  {text}", at.as_nanos() as f64 / 1e6)?;
    }
    writeln!(
        out,
        "{} connections, {} publications, {:.3} s",
        outcome.history.connections.len(),
        outcome.history.publications.len(),
        outcome.history.end.as_nanos() as f64 / 1e9,
    )?;
    if let Some(connection) = connection.and_then(|it| outcome.history.connections.get(it)) {
        write_connection(&mut out, connection)?;
    }
    write_counts(&mut out, &outcome.counts)?;
    writeln!(out, "digest {:016x}", outcome.history.digest.value())?;
    write_verdict(&mut out, &outcome)?;
    Ok(outcome.violations.is_empty())
}

/// What one connection sent and received, in the order of time.
fn write_connection(out: &mut impl Write, connection: &Connection) -> io::Result<()> {
    let version = if connection.resp3 { 3 } else { 2 };
    writeln!(out, "a client of {:?}, RESP{version}", connection.place)?;
    let mut lines = vec![(connection.opened, "connects".to_owned())];
    for command in &connection.commands {
        lines.push((command.sent, format!("asks {:?}", command.ask)));
        if let Some(answered) = command.answered {
            let text = format!("{:?} gets {:?}", command.ask, command.replies);
            lines.push((answered, text));
        }
    }
    for delivery in &connection.deliveries {
        let text = format!(
            "publication {} through {:?}",
            delivery.publication, delivery.via
        );
        lines.push((delivery.at, text));
    }
    let ends = [
        (connection.left, "leaves"),
        (connection.cut, "is cut"),
        (connection.closed.map(|closed| closed.0), "is closed"),
        (connection.slow.map(|slow| slow.0), "stops reading"),
        (connection.slow.map(|slow| slow.1), "reads again"),
    ];
    lines.extend(
        ends.into_iter()
            .filter_map(|(at, text)| Some((at?, text.to_owned()))),
    );
    lines.sort_by_key(|line| line.0);
    for (at, text) in lines {
        writeln!(out, "{:>11.3} ms  {text}", at.as_nanos() as f64 / 1e6)?;
    }
    Ok(())
}

fn write_counts(out: &mut impl Write, counts: &Counts) -> io::Result<()> {
    for (name, count) in counts.named() {
        writeln!(out, "{name:<32} {count:>10}")?;
    }
    Ok(())
}

fn write_verdict(out: &mut impl Write, outcome: &Outcome) -> io::Result<()> {
    let seed = outcome.plan.seed;
    if outcome.violations.is_empty() {
        return writeln!(out, "seed {seed} passed");
    }
    for violation in &outcome.violations {
        writeln!(out, "{violation}")?;
    }
    let count = outcome.violations.len();
    writeln!(out, "seed {seed} failed: {count} violations")
}

/// What many runs come to.
#[derive(Debug, Default)]
struct Sum {
    passed: u64,
    failed: Vec<u64>,
    counts: Counts,
}

/// Runs seeds on every core and says which failed. True if none did.
fn run_many(first: u64, count: u64) -> io::Result<bool> {
    let sum = run_seeds(first, count);
    let mut out = io::stdout().lock();
    write_counts(&mut out, &sum.counts)?;
    for seed in &sum.failed {
        writeln!(out, "failed: --seed {seed}")?;
    }
    writeln!(
        out,
        "{} seeds passed, {} failed",
        sum.passed,
        sum.failed.len()
    )?;
    Ok(sum.failed.is_empty())
}

fn run_seeds(first: u64, count: u64) -> Sum {
    let next = AtomicU64::new(first);
    let end = first.saturating_add(count);
    let sum = Mutex::new(Sum::default());
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    let outcome = goblin_simulator::run(seed);
                    let Ok(mut sum) = sum.lock() else {
                        return;
                    };
                    sum.counts.add(&outcome.counts);
                    if outcome.violations.is_empty() {
                        sum.passed += 1;
                    } else {
                        sum.failed.push(seed);
                    }
                }
            });
        }
    });
    let mut sum = sum.into_inner().unwrap_or_default();
    sum.failed.sort_unstable();
    sum
}

/// Runs seeds until one fails; a signal ends it.
fn soak(first: u64) -> io::Result<bool> {
    let started = Instant::now();
    let mut next = first;
    loop {
        let sum = run_seeds(next, SOAK_REPORT);
        next += SOAK_REPORT;
        let mut out = io::stdout().lock();
        for seed in &sum.failed {
            writeln!(out, "failed: --seed {seed}")?;
        }
        let seconds = started.elapsed().as_secs_f64();
        let count = next - first;
        writeln!(
            out,
            "{count} seeds in {seconds:.0} s, {:.1} a second",
            count as f64 / seconds.max(0.001)
        )?;
        if !sum.failed.is_empty() {
            return Ok(false);
        }
    }
}
