//! Heartbeats, silence, goodbyes, losses, and peers that break the rules.

use std::time::Duration;

use super::pair::{Pair, config, delivery, output_of};
use crate::link::frame::{Flags, Header, Kind};
use crate::link::message::{Encode, Message};
use crate::link::session::Config;
use crate::link::{LinkError, Loss, Role};

/// Hands the edge a frame that its host did not make.
fn forge(pair: &mut Pair, header: Header, payload: &[u8]) {
    let mut bytes = Vec::new();
    header.put(payload, &mut bytes);
    pair.to_edge.bytes.extend(bytes);
    pair.deliver(Role::Edge, usize::MAX);
}

fn numbered(sequence: u64) -> Header {
    Header {
        session: 99,
        sequence,
        acknowledged: 0,
        kind: Kind::Data,
        flags: Flags::WHOLE,
    }
}

fn encoded(message: Message<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode_into(&mut bytes);
    bytes
}

fn pair() -> Pair {
    Pair::connected(config(), config())
}

#[test]
fn heartbeats_keep_an_idle_connection_alive() {
    let mut pair = pair();
    for _ in 0..60 {
        pair.wait(500);
        pair.settle();
    }
    assert!(pair.is_connected());
    let frames = pair.edge.counters().frames_sent;
    assert!((25..=30).contains(&frames), "{frames} in 30 s");
}

#[test]
fn a_silent_peer_is_noticed_and_the_session_goes_on_later() {
    let mut pair = pair();
    let silent = pair.now().monotonic + Duration::from_secs(3);
    pair.wait(1000);
    assert_eq!(pair.edge.next_deadline(), Some(silent));
    pair.wait(1999);
    assert!(pair.edge.is_connected());
    pair.wait(1);
    let after = Duration::from_secs(3);
    assert_eq!(pair.edge_saw.errors, [LinkError::Silence { after }]);
    assert_eq!(pair.host_saw.errors, [LinkError::Silence { after }]);
    pair.connect();
    pair.settle();
    assert!(pair.is_connected());
    assert_eq!(pair.edge.counters().resumes, 1);
}

#[test]
fn each_end_is_as_patient_as_it_wants() {
    let patient = Config {
        heartbeat_timeout: Duration::ZERO,
        ..config()
    };
    let mut pair = Pair::connected(patient, config());
    for _ in 0..20 {
        pair.wait(1000);
        pair.settle();
    }
    assert!(
        pair.is_connected(),
        "the edge sends what the host waits for"
    );
    assert!(pair.edge.counters().frames_sent >= 20);
    assert_eq!(pair.host().counters().frames_sent, 0);
}

#[test]
fn a_goodbye_ends_both_ends_without_a_loss() {
    let mut pair = pair();
    pair.send(Role::Edge, b"last").unwrap();
    let now = pair.now();
    pair.edge.say_goodbye(now);
    pair.edge.say_goodbye(now);
    assert!(!pair.edge.is_drained());
    pair.settle();
    assert_eq!(pair.host_saw.payloads, [b"last"]);
    assert_eq!(pair.host_saw.goodbyes, 1);
    assert!(pair.edge.is_drained());
    pair.cut();
    assert!(pair.edge.is_closed() && pair.host().is_closed());
    pair.wait(1_000_000);
    assert!(pair.edge.loss().is_none() && pair.host().loss().is_none());
    assert_eq!(pair.edge.next_deadline(), None);
}

#[test]
fn a_goodbye_waits_for_the_backlog_and_for_another_connection() {
    let mut pair = pair();
    let long = vec![3; 20_000_000];
    pair.send(Role::Host, &long).unwrap();
    let now = pair.now();
    pair.host().say_goodbye(now);
    pair.write(Role::Host, 1_000_000);
    pair.report(Role::Host);
    pair.connect();
    pair.settle();
    assert!(pair.edge_saw.payloads == [long]);
    assert_eq!(pair.edge_saw.goodbyes, 1);
    assert!(pair.host().is_drained());
}

#[test]
fn a_session_without_a_connection_is_lost_in_the_end_at_both_ends() {
    let mut pair = pair();
    pair.wait(10);
    pair.cut();
    let lost = pair.now().monotonic + Duration::from_secs(60);
    assert_eq!(pair.edge.next_deadline(), Some(lost));
    assert_eq!(pair.host().next_deadline(), Some(lost));
    pair.wait(59_999);
    assert!(pair.edge.loss().is_none());
    pair.wait(1);
    let loss = Loss::ResumeTimeout {
        after: Duration::from_secs(60),
    };
    assert_eq!(pair.edge_saw.errors, [LinkError::Lost(loss.clone())]);
    assert_eq!(pair.host_saw.errors, [LinkError::Lost(loss)]);
    pair.wait(1);
    assert_eq!(pair.edge.counters().losses, 1);
    assert_eq!(pair.host().counters().losses, 1);
}

#[test]
fn attempts_that_fail_do_not_prolong_a_session() {
    let mut pair = pair();
    pair.cut();
    for _ in 0..30 {
        pair.wait(1900);
        pair.reconnect_edge();
        pair.cut_edge();
    }
    assert!(pair.edge.loss().is_none());
    pair.wait(3000);
    assert!(pair.edge.loss().is_some());
}

#[test]
fn an_edge_that_was_never_accepted_waits_for_ever() {
    let mut pair = Pair::new(config(), config());
    pair.wait(1_000_000);
    assert_eq!(pair.edge.next_deadline(), None);
    pair.send(Role::Edge, b"early").unwrap();
    pair.connect();
    pair.settle();
    assert_eq!(pair.host_saw.payloads, [b"early"]);
}

#[test]
fn a_host_that_does_not_know_the_session_loses_it() {
    let mut pair = pair();
    pair.send(Role::Edge, b"lost").unwrap();
    pair.cut();
    pair.host = None;
    pair.connect();
    pair.settle();
    assert_eq!(pair.edge_saw.errors, [LinkError::Lost(Loss::Unknown)]);
    pair.cut();
    assert_eq!(pair.edge.loss(), Some(&Loss::Unknown));
    pair.connect();
    assert_eq!(output_of(&pair.edge), b"", "a lost session does not dial");
    pair.edge.restart(100);
    pair.connect();
    pair.settle();
    assert!(pair.is_connected());
    assert_eq!(pair.edge_saw.accepted, 2);
    assert!(pair.host_saw.payloads.is_empty());
    assert_eq!(pair.edge.counters().losses, 1);
}

#[test]
fn a_session_accepted_on_a_connection_that_broke_too_early_still_begins() {
    let mut pair = Pair::new(config(), config());
    pair.connect();
    while pair.host.is_none() {
        pair.write(Role::Edge, usize::MAX);
        pair.report(Role::Edge);
        pair.deliver(Role::Host, usize::MAX);
        if pair.host.is_none() {
            pair.write(Role::Host, usize::MAX);
            pair.report(Role::Host);
            pair.deliver(Role::Edge, usize::MAX);
        }
    }
    pair.send(Role::Host, b"first").unwrap();
    pair.write(Role::Host, usize::MAX);
    pair.report(Role::Host);
    pair.connect();
    pair.settle();
    assert_eq!(pair.edge_saw.payloads, [b"first"]);
    assert_eq!(pair.edge_saw.accepted, 1);
}

#[test]
fn a_peer_that_lacks_what_is_not_kept_loses_the_session_at_both_ends() {
    let mut pair = pair();
    for _ in 0..3 {
        pair.send(Role::Edge, b"message").unwrap();
    }
    pair.settle();
    pair.wait(20);
    pair.settle();
    assert_eq!(pair.edge.counters().pending_frames, 0);
    // The host forgets what it has received.
    let mut other = Pair::connected(config(), config());
    std::mem::swap(&mut pair.host, &mut other.host);
    pair.connect();
    pair.settle();
    let loss = Loss::Unreplayable {
        wanted: 1,
        oldest: 4,
    };
    assert_eq!(pair.edge_saw.errors, [LinkError::Lost(loss)]);
    let [LinkError::Lost(Loss::ByPeer { text })] = &pair.host_saw.errors[..] else {
        panic!("{:?}", pair.host_saw.errors);
    };
    assert_eq!(
        &**text,
        "session lost: frame 1 is wanted, the oldest kept is 4"
    );

    // And the edge what the host never sent.
    other.connect();
    other.settle();
    let loss = Loss::NeverSent {
        acknowledged: 3,
        last: 0,
    };
    assert_eq!(other.edge_saw.errors, [LinkError::Lost(loss)]);
}

#[test]
fn a_session_that_is_given_up_is_lost_at_both_ends() {
    let mut pair = pair();
    pair.host().abandon();
    pair.settle();
    assert!(matches!(
        pair.edge_saw.errors[..],
        [LinkError::Lost(Loss::ByPeer { .. })]
    ));
    pair.cut();
    assert_eq!(pair.host().loss(), Some(&Loss::Abandoned));
}

#[test]
fn a_missing_frame_breaks_the_connection_and_comes_with_the_next() {
    let mut pair = pair();
    pair.send(Role::Host, b"one").unwrap();
    pair.settle();
    pair.send(Role::Host, b"two").unwrap();
    pair.send(Role::Host, b"three").unwrap();
    let message = encoded(delivery(b"three"));
    forge(&mut pair, numbered(3), &message);
    let gap = LinkError::Gap {
        expected: 2,
        received: 3,
    };
    assert_eq!(pair.edge_saw.errors, [gap]);
    assert_eq!(pair.edge.counters().gap, 1);
    pair.connect();
    pair.settle();
    let expected: [&[u8]; 3] = [b"one", b"two", b"three"];
    assert_eq!(pair.edge_saw.payloads, expected);
}

#[test]
fn a_heartbeat_shows_what_is_missing() {
    let mut pair = pair();
    let heartbeat = Header {
        kind: Kind::Heartbeat,
        ..numbered(1)
    };
    forge(&mut pair, heartbeat, b"");
    assert!(matches!(
        pair.edge_saw.errors[..],
        [LinkError::Gap {
            expected: 1,
            received: 1
        }]
    ));
}

#[test]
fn a_frame_that_came_before_is_dropped_and_counted() {
    let mut pair = pair();
    pair.send(Role::Host, b"one").unwrap();
    pair.settle();
    let message = encoded(delivery(b"again"));
    forge(&mut pair, numbered(1), &message);
    assert_eq!(pair.edge_saw.payloads, [b"one"]);
    assert_eq!(pair.edge.counters().duplicate, 1);
    assert!(pair.edge.is_connected());
}

#[test]
fn what_breaks_the_rules_is_named() {
    let first = numbered(1);
    let good = encoded(delivery(b"x"));
    let own = encoded(Message::ClientClose { client: 1 });
    let cases: [(Header, &[u8], LinkError); 7] = [
        (
            Header {
                session: 98,
                ..first
            },
            &good,
            LinkError::WrongSession {
                expected: 99,
                received: 98,
            },
        ),
        (
            Header {
                acknowledged: 1,
                ..first
            },
            &good,
            LinkError::Lost(Loss::NeverSent {
                acknowledged: 1,
                last: 0,
            }),
        ),
        (
            Header {
                kind: Kind::Hello,
                ..first
            },
            b"",
            LinkError::Unexpected { kind: Kind::Hello },
        ),
        (first, &own, LinkError::Lost(Loss::WrongDirection)),
        (
            first,
            b"",
            LinkError::Lost(Loss::Message(crate::link::FormatError::Truncated)),
        ),
        (
            Header {
                flags: Flags::LAST,
                ..first
            },
            &good,
            LinkError::Lost(Loss::FragmentOrder),
        ),
        (
            Header {
                flags: Flags(0),
                ..first
            },
            &good,
            LinkError::Lost(Loss::FragmentOrder),
        ),
    ];
    for (header, payload, error) in cases {
        let mut pair = pair();
        forge(&mut pair, header, payload);
        assert_eq!(pair.edge_saw.errors, std::slice::from_ref(&error));
        assert!(pair.edge_saw.payloads.is_empty());
        pair.settle();
        let is_lost = matches!(error, LinkError::Lost(_));
        let [told] = &pair.host_saw.errors[..] else {
            panic!("{:?}", pair.host_saw.errors);
        };
        assert_eq!(
            matches!(told, LinkError::Lost(Loss::ByPeer { .. })),
            is_lost
        );
        assert!(told.to_string().ends_with(&error.to_string()), "{told}");
    }
}

#[test]
fn a_message_begun_twice_is_refused() {
    let mut pair = pair();
    let begin = Header {
        flags: Flags::FIRST,
        ..numbered(1)
    };
    forge(&mut pair, begin, b"begin");
    forge(&mut pair, numbered(2), b"begin");
    let error = LinkError::Lost(Loss::FragmentOrder);
    assert_eq!(pair.edge_saw.errors, [error]);
}

#[test]
fn nothing_follows_a_goodbye() {
    let mut pair = pair();
    let goodbye = Header {
        kind: Kind::Goodbye,
        ..numbered(1)
    };
    forge(&mut pair, goodbye, b"");
    forge(&mut pair, numbered(2), b"");
    let error = LinkError::Unexpected { kind: Kind::Data };
    assert_eq!(pair.edge_saw.errors, [error]);
}
