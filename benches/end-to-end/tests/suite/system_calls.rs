//! What an idle pair asks the kernel, counted by strace.
//!
//! A loop that spins may read where traffic comes from and nothing else: `accept` on a listener that
//! has nothing was measured elsewhere to cost a tail of 857 microseconds instead of 29.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use goblin_end_to_end::{Client, Options, Process, Server, Target, as_root};

use crate::limits::processor_time;

/// For how long calls are counted.
const STRETCH: Duration = Duration::from_secs(2);
/// What carries traffic.
const READS: [&str; 4] = ["read", "readv", "recvfrom", "recvmsg"];
/// What asks for readiness, and how often it may: once in 5 µs when there is nothing to read from.
const READINESS: [&str; 2] = ["epoll_pwait", "epoll_wait"];
const READINESS_PER_SECOND_MAX: u64 = 200_000;
/// Heartbeats: all that an idle process does besides.
const OTHERS_PER_SECOND_MAX: u64 = 20;
/// A sleeping pair wakes for its heartbeats.
const SLEEPING_PER_SECOND_MAX: u64 = 100;

#[test]
fn an_idle_spinning_pair_only_reads() {
    as_root("system_calls::an_idle_spinning_pair_only_reads", || {
        for calls in idle_calls("busy") {
            assert!(
                !calls.keys().any(|call| call.starts_with("accept")),
                "{calls:?}"
            );
            let per_second = |wanted: &dyn Fn(&str) -> bool| -> u64 {
                let counted = calls.iter().filter(|(call, _)| wanted(call));
                counted.map(|(_, count)| count).sum::<u64>() / STRETCH.as_secs()
            };
            let readiness = per_second(&|call| READINESS.contains(&call));
            assert!(readiness < READINESS_PER_SECOND_MAX, "{calls:?}");
            let others = per_second(&|call| !READS.contains(&call) && !READINESS.contains(&call));
            assert!(others < OTHERS_PER_SECOND_MAX, "{calls:?}");
        }
    });
}

#[test]
fn an_idle_adaptive_pair_sleeps() {
    as_root("system_calls::an_idle_adaptive_pair_sleeps", || {
        for calls in idle_calls("adaptive") {
            assert!(
                !calls.keys().any(|call| call.starts_with("accept")),
                "{calls:?}"
            );
            let all: u64 = calls.values().sum();
            assert!(
                all / STRETCH.as_secs() < SLEEPING_PER_SECOND_MAX,
                "{calls:?}"
            );
        }
    });
}

#[test]
fn an_idle_adaptive_pair_uses_under_a_hundredth_of_a_core() {
    let server = Server::start(Target::Edge);
    let mut clients = connected(&server);
    // The clock of the processor counts in hundredths of a second.
    let stretch = Duration::from_secs(5);
    let processes = processes(&server);
    let before = processes.map(processor_time);
    clients[0].expect_silence(stretch);
    for (process, before) in processes.iter().zip(before) {
        let used = processor_time(process) - before;
        assert!(
            used <= stretch / 100,
            "{process} used {used:?} of {stretch:?}"
        );
    }
}

/// The system calls of host and edge over a stretch without traffic, by name.
fn idle_calls(poll: &str) -> [BTreeMap<String, u64>; 2] {
    let options = Options {
        clients: &["--poll", poll],
        ..Options::default()
    };
    let server = Server::start_with(Target::Edge, options);
    let mut clients = connected(&server);
    processes(&server).map(|process| count_calls(process, &mut clients[0]))
}

/// Subscribers and others on both, with all that a connection does at first behind them.
fn connected(server: &Server) -> [Client; 4] {
    let mut clients = [
        server.connect(),
        server.connect(),
        server.connect_elsewhere(),
        server.connect_elsewhere(),
    ];
    clients[0].subscribe(&["a"]);
    clients[2].subscribe(&["a"]);
    assert_eq!(clients[1].publish("a", "x"), 2);
    clients[0].expect_message("a", "x");
    clients[2].expect_message("a", "x");
    clients
}

fn processes(server: &Server) -> [&Process; 2] {
    match (&server.host, &server.edge) {
        (Some(host), Some(edge)) => [&host.process, &edge.process],
        _ => unreachable!("a pair was started"),
    }
}

fn count_calls(process: &Process, idle: &mut Client) -> BTreeMap<String, u64> {
    let id = process.id().to_string();
    let mut command = Command::new("strace");
    let mut strace = Process::start("strace", command.args(["-f", "-c", "-p", &id]));
    strace.log_line("attached");
    idle.expect_silence(STRETCH);
    strace.terminate();
    let calls: BTreeMap<_, _> = strace.log().iter().filter_map(|line| call(line)).collect();
    assert!(
        !calls.is_empty(),
        "strace counted nothing: {:?}",
        strace.log()
    );
    calls
}

/// A line of the table: share of time, seconds, microseconds per call, calls, perhaps errors, name.
fn call(line: &str) -> Option<(String, u64)> {
    let fields: Vec<_> = line.split_whitespace().collect();
    let [_, seconds, _, count, .., name] = fields[..] else {
        return None;
    };
    seconds.parse::<f64>().ok()?;
    (name != "total").then_some(())?;
    Some((name.to_owned(), count.parse().ok()?))
}
