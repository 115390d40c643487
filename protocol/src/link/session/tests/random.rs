//! Whatever happens to the connections, messages arrive once and in order.

use std::time::Duration;

use proptest::prelude::*;

use super::pair::{Pair, config};
use crate::link::session::Config;
use crate::link::{Role, SendError};

#[derive(Clone, Debug)]
enum Step {
    Send(Role, usize),
    Write(Role, usize),
    Report(Role),
    Deliver(Role, usize),
    Wait(u64),
    Connect,
    Cut,
    /// The edge comes back before the host knows that it was gone.
    Replace,
    Settle,
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![Just(Role::Edge), Just(Role::Host)]
}

fn length() -> impl Strategy<Value = usize> {
    prop_oneof![8 => 0..200usize, 2 => 0..3000usize, 1 => 0..20_000usize]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (role(), length()).prop_map(|(role, length)| Step::Send(role, length)),
        10 => (role(), length()).prop_map(|(role, length)| Step::Write(role, length)),
        8 => role().prop_map(Step::Report),
        10 => (role(), length()).prop_map(|(role, length)| Step::Deliver(role, length)),
        3 => (0..40u64).prop_map(Step::Wait),
        1 => Just(Step::Connect),
        1 => Just(Step::Cut),
        1 => Just(Step::Replace),
        2 => Just(Step::Settle),
    ]
}

fn small(window_bytes: usize) -> Config {
    Config {
        window_bytes,
        backlog_bytes_max: 1 << 30,
        heartbeat_timeout: Duration::from_secs(60),
        handshake_timeout: Duration::from_secs(60),
        ..config()
    }
}

/// Sends a message that no other looks like; yields it if it was taken.
fn send(pair: &mut Pair, from: Role, number: u64, length: usize) -> Option<Vec<u8>> {
    if from == Role::Host && pair.host.is_none() {
        return None;
    }
    let mut payload = number.to_le_bytes().to_vec();
    payload.resize(8 + length, number as u8);
    assert_eq!(pair.send(from, &payload), Ok(()));
    Some(payload)
}

fn run(steps: &[Step], edge: Config, host: Config) -> Result<(), TestCaseError> {
    let mut pair = Pair::new(edge, host);
    let mut sent = [Vec::new(), Vec::new()];
    for (number, step) in steps.iter().enumerate() {
        match *step {
            Step::Send(from, length) => {
                let list = &mut sent[usize::from(from == Role::Host)];
                list.extend(send(&mut pair, from, number as u64, length));
            }
            Step::Write(from, bytes) => pair.write(from, bytes),
            Step::Report(from) => pair.report(from),
            Step::Deliver(to, bytes) => pair.deliver(to, bytes),
            Step::Wait(milliseconds) => pair.wait(milliseconds),
            Step::Connect => pair.connect(),
            Step::Cut => pair.cut(),
            Step::Replace => pair.reconnect_edge(),
            Step::Settle => pair.settle(),
        }
        prop_assert!(pair.edge_saw.payloads.len() <= sent[1].len());
        prop_assert!(pair.host_saw.payloads.len() <= sent[0].len());
    }
    pair.connect();
    for _ in 0..3 {
        pair.settle();
        pair.wait(20);
    }
    pair.settle();
    prop_assert_eq!(&pair.edge_saw.errors, &[]);
    prop_assert_eq!(&pair.host_saw.errors, &[]);
    prop_assert!(pair.is_connected());
    prop_assert!(pair.host_saw.payloads == sent[0], "edge to host");
    prop_assert!(pair.edge_saw.payloads == sent[1], "host to edge");
    for session in [&pair.edge, pair.host.as_ref().unwrap()] {
        let counters = session.counters();
        prop_assert_eq!(counters.pending_frames, 0);
        prop_assert_eq!(counters.pending_bytes, 0);
        prop_assert_eq!(
            (counters.gap, counters.duplicate, counters.losses),
            (0, 0, 0)
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn messages_arrive_once_and_in_order_over_connections_that_break(
        steps in prop::collection::vec(step(), 1..200),
        windows in [4_096usize..30_000, 4_096..30_000],
    ) {
        run(&steps, small(windows[0]), small(windows[1]))?;
    }
}

#[test]
fn a_cut_at_any_byte_loses_nothing() {
    let mut total = 0;
    let mut cut = 0;
    while cut <= total {
        let mut pair = Pair::connected(config(), config());
        for payload in [&b"one"[..], b"two", b"three"] {
            pair.send(Role::Edge, payload).unwrap();
            pair.send(Role::Host, payload).unwrap();
        }
        for (from, to) in [(Role::Edge, Role::Host), (Role::Host, Role::Edge)] {
            pair.write(from, cut);
            pair.report(from);
            pair.deliver(to, cut);
            total = total.max(pair.end(from).counters().pending_bytes as usize);
        }
        pair.connect();
        pair.settle();
        let expected: [&[u8]; 3] = [b"one", b"two", b"three"];
        assert_eq!(pair.edge_saw.payloads, expected, "cut after {cut}");
        assert_eq!(pair.host_saw.payloads, expected, "cut after {cut}");
        assert_eq!(pair.edge.counters().reconnects, 1);
        assert_eq!(pair.edge.counters().resumes, 1);
        cut += 1;
    }
    assert!(total > 150);
}

#[test]
fn a_message_may_be_answered_while_it_is_borrowed() {
    let mut pair = Pair::connected(config(), config());
    let now = pair.now();
    let mut input = pair.edge.open(&[]);
    assert_eq!(input.next(&mut pair.edge, now), Ok(None));
    for _ in 0..3 {
        pair.send(Role::Edge, b"answer me").unwrap();
    }
    pair.settle();
    assert_eq!(pair.edge_saw.payloads, [b"answer me"; 3]);
}

#[test]
fn nothing_is_sent_after_a_goodbye() {
    let mut pair = Pair::connected(config(), config());
    let now = pair.now();
    pair.edge.say_goodbye(now);
    assert_eq!(pair.send(Role::Edge, b"late"), Err(SendError::Closing));
}
