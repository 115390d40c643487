//! Full windows, full backlogs, long messages, acknowledgement.

use std::time::Duration;

use super::pair::{Pair, config, output_of, publication};
use crate::link::frame::OVERHEAD_BYTES;
use crate::link::message::Encode;
use crate::link::session::Config;
use crate::link::{LinkError, Loss, Role, SendError};

fn small() -> Config {
    Config {
        window_bytes: 8 * 1024,
        backlog_bytes_max: 4 * 1024,
        ..config()
    }
}

#[test]
fn what_does_not_fit_the_window_waits_for_acknowledgements() {
    let mut pair = Pair::connected(small(), config());
    let payload = vec![1; 1500];
    let mut sent = 0;
    while !pair.edge.is_full() {
        pair.send(Role::Edge, &payload).unwrap();
        sent += 1;
    }
    assert_eq!(sent, 6);
    let frame = OVERHEAD_BYTES + publication(&payload).encoded_len();
    let counters = pair.edge.counters();
    assert_eq!(counters.pending_frames, 5);
    assert!(output_of(&pair.edge).len() <= 8 * 1024);
    let waiting = 4 + frame - OVERHEAD_BYTES;
    assert_eq!(pair.edge.backlog_bytes(), waiting);
    assert_eq!(counters.pending_bytes, (5 * frame + waiting) as u64);
    pair.settle();
    assert_eq!(
        pair.host_saw.payloads.len(),
        6,
        "a quarter of the window is acknowledged at once"
    );
    assert!(!pair.edge.is_full());
}

#[test]
fn a_backlog_over_its_bound_ends_the_session_at_both_ends() {
    let mut pair = Pair::connected(small(), config());
    pair.cut();
    let payload = vec![1; 1500];
    let mut sent = 0;
    let error = loop {
        match pair.send(Role::Edge, &payload) {
            Ok(()) => sent += 1,
            Err(error) => break error,
        }
    };
    let loss = Loss::BacklogFull {
        bytes_max: 4 * 1024,
    };
    assert_eq!(error, SendError::Lost(loss.clone()));
    assert_eq!(sent, 5 + 3, "the bound and one message");
    assert_eq!(pair.edge.loss(), Some(&loss));
    assert_eq!(pair.send(Role::Edge, b""), Err(SendError::Lost(loss)));
    assert_eq!(
        (pair.edge.counters().overflow, pair.edge.counters().losses),
        (1, 1)
    );

    pair.send(Role::Host, b"never arrives").unwrap();
    let old = pair.edge.id();
    pair.edge.restart(100);
    pair.connect();
    pair.settle();
    assert!(pair.is_connected());
    assert_eq!((old, pair.edge.id(), pair.host().id()), (99, 100, 100));
    assert!(pair.host_saw.payloads.is_empty() && pair.edge_saw.payloads.is_empty());
}

#[test]
fn a_backlog_over_its_bound_is_told_to_the_peer_that_is_connected() {
    let mut pair = Pair::connected(config(), small());
    let payload = vec![1; 1000];
    // A frame is on its way in part: the parting words go behind it.
    pair.send(Role::Host, &payload).unwrap();
    pair.write(Role::Host, 500);
    pair.report(Role::Host);
    while pair.send(Role::Host, &payload).is_ok() {}
    assert!(!pair.host().is_connected() && pair.host().has_connection());
    pair.settle();
    let [LinkError::Lost(Loss::ByPeer { text })] = &pair.edge_saw.errors[..] else {
        panic!("{:?}", pair.edge_saw.errors);
    };
    assert!(text.contains("4096 bytes"), "{text}");
    assert_eq!(pair.edge_saw.payloads, [payload]);
    pair.cut();
    assert!(pair.edge.loss().is_some() && pair.host().loss().is_some());
}

#[test]
fn a_message_longer_than_a_frame_and_than_the_window_arrives_whole() {
    for window_bytes in [4 * 1024, 16 * 1024 * 1024] {
        let config = Config {
            window_bytes,
            ..config()
        };
        let mut pair = Pair::connected(config.clone(), config);
        let long: Vec<u8> = (0..5 * 1024 * 1024u32)
            .map(|index| (index >> 8) as u8)
            .collect();
        for role in [Role::Edge, Role::Host] {
            pair.send(role, b"before").unwrap();
            pair.send(role, &long).unwrap();
            pair.send(role, b"after").unwrap();
        }
        pair.settle();
        for seen in [&pair.host_saw, &pair.edge_saw] {
            let lengths: Vec<usize> = seen.payloads.iter().map(Vec::len).collect();
            assert_eq!(lengths, [6, long.len(), 5]);
            assert!(seen.payloads[1] == long);
        }
    }
}

#[test]
fn a_long_message_survives_a_break_in_its_middle() {
    let mut pair = Pair::connected(small(), small());
    let long: Vec<u8> = (0..100_000u32).map(|index| (index >> 4) as u8).collect();
    pair.send(Role::Edge, &long).unwrap();
    while pair.edge.backlog_bytes() > 0 {
        pair.write(Role::Edge, 5000);
        pair.report(Role::Edge);
        pair.deliver(Role::Host, 4000);
        pair.connect();
        pair.settle_handshake();
    }
    pair.settle();
    assert!(pair.host_saw.payloads == [long]);
    assert!(pair.edge.counters().resumes > 10);
    assert_eq!(pair.host().counters().duplicate, 0);
}

#[test]
fn a_message_over_the_bound_is_refused_and_nothing_else() {
    let bounded = Config {
        message_bytes_max: 1000,
        ..config()
    };
    let mut pair = Pair::connected(bounded, config());
    let error = SendError::TooLong { bytes_max: 1000 };
    assert_eq!(pair.send(Role::Edge, &[0; 1000]), Err(error));
    assert_eq!(pair.send(Role::Edge, &[0; 900]), Ok(()));
    pair.send(Role::Host, &[0; 70_000]).unwrap();
    pair.settle();
    let loss = Loss::MessageTooLong { bytes_max: 1000 };
    assert_eq!(pair.edge_saw.errors, [LinkError::Lost(loss)]);
}

#[test]
fn what_is_received_is_acknowledged_after_the_delay_or_by_what_is_sent() {
    let mut pair = Pair::connected(config(), config());
    pair.send(Role::Edge, b"one").unwrap();
    pair.settle();
    assert_eq!(pair.edge.counters().pending_frames, 1);
    let due = pair.now().monotonic + Duration::from_millis(20);
    assert_eq!(pair.host().next_deadline(), Some(due));
    pair.wait(19);
    pair.settle();
    assert_eq!(pair.edge.counters().pending_frames, 1);
    pair.wait(1);
    pair.settle();
    assert_eq!(pair.edge.counters().pending_frames, 0);
    assert_eq!(pair.host().counters().frames_sent, 1);

    pair.send(Role::Edge, b"answer me").unwrap();
    pair.settle();
    assert_eq!(pair.edge.counters().pending_frames, 0);
    assert_eq!(pair.host().counters().frames_sent, 2);
}

#[test]
fn an_acknowledgement_that_cannot_go_out_is_not_asked_for_again() {
    let mut pair = Pair::connected(config(), config());
    pair.send(Role::Edge, b"one").unwrap();
    pair.write(Role::Edge, usize::MAX);
    pair.report(Role::Edge);
    pair.deliver(Role::Host, usize::MAX);
    pair.wait(20);
    pair.send(Role::Edge, b"two").unwrap();
    pair.write(Role::Edge, usize::MAX);
    pair.report(Role::Edge);
    pair.deliver(Role::Host, usize::MAX);
    pair.wait(20);
    let heard = pair.now().monotonic + Duration::from_millis(3000 - 20);
    assert_eq!(
        pair.host().next_deadline(),
        Some(heard),
        "nothing but silence is left"
    );
    assert_eq!(pair.host().counters().frames_sent, 1);
    pair.settle();
    assert_eq!(
        pair.host().counters().frames_sent,
        2,
        "and then the newer one"
    );
    assert_eq!(pair.edge.counters().pending_frames, 0);
}
