use std::io::IoSlice;
use std::time::Duration;

use super::*;
use crate::link::error::{LinkError, Loss};
use crate::link::frame::{Flags, Frame, Header, Kind};
use crate::link::session::{Config, Connected, Event, HostIdentity, Session};
use crate::link::{ProtocolVersion, Role};
use crate::time::{Now, Time};

const EDGE_NONCE: Nonce = Nonce([1; 32]);
const HOST_NONCE: Nonce = Nonce([2; 32]);
const IDENTITY: HostIdentity = HostIdentity {
    instance: 77,
    edge_number: 3,
};

fn at(milliseconds: u64) -> Now {
    Now {
        monotonic: Time::from_nanos(milliseconds * 1_000_000),
        unix_us: 0,
    }
}

fn with_key(key: &[u8]) -> Config {
    Config::new(Authentication::SharedKey(Key::new(key).unwrap()))
}

fn keyed() -> Config {
    with_key(b"0123456789abcdef0123456789abcdef")
}

fn open() -> Config {
    Config::new(Authentication::Off)
}

fn from_edge(edge: &mut Session) -> Vec<u8> {
    let mut slices = [IoSlice::new(&[]); 4];
    let filled = edge.fill_slices(&mut slices);
    let bytes: Vec<u8> = slices[..filled]
        .iter()
        .flat_map(|slice| slice.to_vec())
        .collect();
    edge.handle_written(at(0), bytes.len());
    bytes
}

fn from_host(host: &mut HostHandshake) -> Vec<u8> {
    let mut slices = [IoSlice::new(&[]); 4];
    let filled = host.fill_slices(&mut slices);
    let bytes: Vec<u8> = slices[..filled]
        .iter()
        .flat_map(|slice| slice.to_vec())
        .collect();
    host.handle_written(bytes.len());
    bytes
}

/// Hands bytes to the edge; yields the event if there is one.
fn to_edge(edge: &mut Session, bytes: &[u8]) -> Result<Option<Connected>, LinkError> {
    let mut input = edge.open(bytes);
    let mut connected = None;
    while let Some(event) = input.next(edge, at(0))? {
        let Event::Connected(event) = event else {
            panic!("{event:?} during a handshake");
        };
        connected = Some(event);
    }
    Ok(connected)
}

fn dialed(config: Config) -> Session {
    let mut edge = Session::new(config, 42, "card-1");
    edge.handle_connected(at(0), EDGE_NONCE);
    edge
}

fn accepted(config: &Config) -> HostHandshake {
    HostHandshake::new(config, at(0), HOST_NONCE)
}

/// A frame of a handshake.
fn frame(kind: Kind, payload: &[u8]) -> Vec<u8> {
    let header = Header {
        session: 42,
        sequence: 0,
        acknowledged: 0,
        kind,
        flags: Flags::WHOLE,
    };
    let mut bytes = Vec::new();
    header.put(payload, &mut bytes);
    bytes
}

fn hello(version: ProtocolVersion) -> Vec<u8> {
    let mut payload = Vec::new();
    Hello {
        version,
        features: 0,
        nonce: EDGE_NONCE,
        previous: 0,
        window_bytes: 1 << 20,
        heartbeat_timeout_ms: 0,
        fresh: true,
        name: "card-1",
    }
    .encode_into(&mut payload);
    frame(Kind::Hello, &payload)
}

fn hello_ack_of(version: ProtocolVersion, outcome: Outcome) -> Vec<u8> {
    let mut payload = Vec::new();
    HelloAck {
        version,
        ..hello_ack(&open(), IDENTITY, outcome)
    }
    .encode_into(&mut payload);
    frame(Kind::HelloAck, &payload)
}

#[test]
fn both_ends_prove_themselves_and_agree() {
    let mut edge = dialed(keyed());
    let mut host = accepted(&keyed());
    let hello = from_edge(&mut edge);
    assert_eq!(host.handle_received(&hello), Ok(None));
    assert_eq!(to_edge(&mut edge, &from_host(&mut host)), Ok(None));
    let known = host
        .handle_received(&from_edge(&mut edge))
        .unwrap()
        .unwrap();
    assert_eq!(
        (known.session, known.fresh, known.last_received),
        (42, true, 0)
    );
    assert_eq!((&*known.name, known.previous), ("card-1", None));
    assert_eq!(host.next_deadline(), None);
    let mut session = Session::accept_fresh(keyed(), at(0), &known, IDENTITY);
    let connected = to_edge(&mut edge, &from_edge(&mut session))
        .unwrap()
        .unwrap();
    assert!(!connected.resumed);
    assert_eq!(connected.host, IDENTITY);
    assert!(edge.is_connected() && session.is_connected());
}

#[test]
fn any_cut_of_the_handshake_gives_the_same() {
    for chunk in 1..60 {
        let mut edge = dialed(keyed());
        let mut host = accepted(&keyed());
        let mut known = None;
        for _ in 0..2 {
            for piece in from_edge(&mut edge).chunks(chunk) {
                known = host.handle_received(piece).unwrap();
            }
            for piece in from_host(&mut host).chunks(chunk) {
                assert_eq!(to_edge(&mut edge, piece), Ok(None));
            }
        }
        assert_eq!(
            known.map(|edge| edge.session),
            Some(42),
            "chunks of {chunk}"
        );
    }
}

#[test]
fn the_edge_refuses_a_host_with_another_key_and_proves_nothing_to_it() {
    let mut edge = dialed(keyed());
    let mut host = accepted(&with_key(b"another key, and as long as it has to be"));
    host.handle_received(&from_edge(&mut edge)).unwrap();
    let error = LinkError::WrongProof { peer: Role::Host };
    assert_eq!(to_edge(&mut edge, &from_host(&mut host)), Err(error));
    let parting = from_edge(&mut edge);
    let said = host.handle_received(&parting).unwrap_err();
    assert_eq!(
        said.to_string(),
        "the peer says: not authentic: the host does not hold the same key"
    );
    assert!(!host.has_output(), "no answer to an error");
    edge.handle_disconnected(at(0));
    assert_eq!(edge.loss(), None);
}

#[test]
fn the_host_refuses_an_edge_with_another_key() {
    let mut host = accepted(&keyed());
    host.handle_received(&hello(ProtocolVersion::CURRENT))
        .unwrap();
    let key = Key::new(b"another key, and as long as it has to be").unwrap();
    let mut payload = Vec::new();
    ChallengeAnswer {
        proof: proof(&key, Role::Edge, &EDGE_NONCE, &HOST_NONCE, 42),
    }
    .encode_into(&mut payload);
    let error = host.handle_received(&frame(Kind::Challenge, &payload));
    assert_eq!(error, Err(LinkError::WrongProof { peer: Role::Edge }));
    from_host(&mut host);
    assert!(
        host.handle_received(&hello(ProtocolVersion::CURRENT))
            .is_err(),
        "it is over"
    );
}

#[test]
fn the_hosts_own_proof_is_no_answer() {
    let mut host = accepted(&keyed());
    host.handle_received(&hello(ProtocolVersion::CURRENT))
        .unwrap();
    let key = Key::new(b"0123456789abcdef0123456789abcdef").unwrap();
    let mut payload = Vec::new();
    ChallengeAnswer {
        proof: proof(&key, Role::Host, &EDGE_NONCE, &HOST_NONCE, 42),
    }
    .encode_into(&mut payload);
    let error = host.handle_received(&frame(Kind::Challenge, &payload));
    assert_eq!(error, Err(LinkError::WrongProof { peer: Role::Edge }));
}

#[test]
fn a_recorded_handshake_is_good_for_one_connection() {
    let mut edge = dialed(keyed());
    let mut host = accepted(&keyed());
    let recorded_hello = from_edge(&mut edge);
    host.handle_received(&recorded_hello).unwrap();
    let recorded_challenge = from_host(&mut host);
    to_edge(&mut edge, &recorded_challenge).unwrap();
    let recorded_answer = from_edge(&mut edge);
    assert!(host.handle_received(&recorded_answer).unwrap().is_some());

    let mut later = HostHandshake::new(&keyed(), at(0), Nonce([9; 32]));
    later.handle_received(&recorded_hello).unwrap();
    let error = later.handle_received(&recorded_answer);
    assert_eq!(error, Err(LinkError::WrongProof { peer: Role::Edge }));

    edge.handle_connected(at(0), Nonce([8; 32]));
    from_edge(&mut edge);
    let error = to_edge(&mut edge, &recorded_challenge);
    assert_eq!(error, Err(LinkError::WrongProof { peer: Role::Host }));
}

#[test]
fn versions_work_together_when_they_are_neighbours() {
    let version = |major, minor| ProtocolVersion { major, minor };
    for (ours, theirs, works) in [
        (version(1, 0), version(1, 0), true),
        (version(1, 0), version(1, 1), true),
        (version(1, 1), version(1, 0), true),
        (version(1, 0), version(1, 2), false),
        (version(1, 2), version(1, 0), false),
        (version(1, 0), version(2, 0), false),
        (version(2, 1), version(1, 1), false),
    ] {
        assert_eq!(ours.works_with(theirs), works, "{ours} with {theirs}");
    }
    let current = ProtocolVersion::CURRENT;
    for (theirs, works) in [
        (current, true),
        (version(current.major, current.minor + 1), true),
        (version(current.major, current.minor + 2), false),
        (version(current.major + 1, current.minor), false),
    ] {
        let error = LinkError::Version {
            ours: current,
            theirs,
        };
        let text = error.to_string();
        assert!(text.contains(&theirs.to_string()) && text.contains(&current.to_string()));
        let at_host = accepted(&open()).handle_received(&hello(theirs));
        assert_eq!(
            at_host.map(|edge| edge.is_some()),
            works.then_some(true).ok_or(error.clone())
        );
        let at_edge = to_edge(&mut dialed(open()), &hello_ack_of(theirs, Outcome::Fresh));
        assert_eq!(
            at_edge.map(|event| event.is_some()),
            works.then_some(true).ok_or(error)
        );
    }
}

#[test]
fn the_peer_is_told_both_versions() {
    let mut host = accepted(&keyed());
    let theirs = ProtocolVersion { major: 9, minor: 4 };
    assert!(host.handle_received(&hello(theirs)).is_err());
    let bytes = from_host(&mut host);
    let frame = Frame::decode(&bytes).unwrap();
    let text = ErrorText::decode(frame.payload).unwrap().text;
    let expected = "protocol version 9.4 of the peer does not work with 1.0 of this end";
    assert_eq!((frame.header.kind, text), (Kind::Error, expected));
}

#[test]
fn ends_that_disagree_about_authentication_refuse_each_other() {
    let mut edge = dialed(keyed());
    let ack = hello_ack_of(ProtocolVersion::CURRENT, Outcome::Fresh);
    assert_eq!(to_edge(&mut edge, &ack), Err(LinkError::ProofMissing));

    let mut edge = dialed(open());
    let mut host = accepted(&keyed());
    host.handle_received(&from_edge(&mut edge)).unwrap();
    assert_eq!(
        to_edge(&mut edge, &from_host(&mut host)),
        Err(LinkError::KeyMissing)
    );
}

#[test]
fn without_authentication_the_hello_is_enough() {
    let mut edge = dialed(open());
    let known = accepted(&open())
        .handle_received(&from_edge(&mut edge))
        .unwrap()
        .unwrap();
    let mut session = Session::accept_fresh(open(), at(0), &known, IDENTITY);
    assert!(
        to_edge(&mut edge, &from_edge(&mut session))
            .unwrap()
            .is_some()
    );
}

#[test]
fn a_host_that_did_not_prove_itself_cannot_end_the_session() {
    let mut payload = Vec::new();
    ErrorText::encode_error(&Loss::Abandoned.into(), &mut payload);
    let bytes = frame(Kind::Error, &payload);
    let error = to_edge(&mut dialed(keyed()), &bytes).unwrap_err();
    assert!(matches!(error, LinkError::Peer { .. }), "{error}");
    let lost = hello_ack_of(ProtocolVersion::CURRENT, Outcome::Lost);
    assert_eq!(
        to_edge(&mut dialed(keyed()), &lost),
        Err(LinkError::ProofMissing)
    );
    assert_eq!(
        to_edge(&mut dialed(open()), &lost),
        Err(Loss::Unknown.into())
    );
}

#[test]
fn kinds_out_of_place_are_named() {
    for kind in [
        Kind::Data,
        Kind::Heartbeat,
        Kind::Goodbye,
        Kind::HelloAck,
        Kind::Challenge,
    ] {
        let error = accepted(&keyed())
            .handle_received(&frame(kind, b""))
            .unwrap_err();
        assert_eq!(error, LinkError::Unexpected { kind });
    }
    for kind in [Kind::Data, Kind::Heartbeat, Kind::Goodbye, Kind::Hello] {
        let error = to_edge(&mut dialed(keyed()), &frame(kind, b"")).unwrap_err();
        assert_eq!(error, LinkError::Unexpected { kind });
    }
    let mut host = accepted(&keyed());
    let twice = [
        hello(ProtocolVersion::CURRENT),
        hello(ProtocolVersion::CURRENT),
    ]
    .concat();
    let error = LinkError::Unexpected { kind: Kind::Hello };
    assert_eq!(host.handle_received(&twice), Err(error));
}

#[test]
fn an_edge_that_does_not_wait_to_be_accepted_is_refused() {
    let early = [hello(ProtocolVersion::CURRENT), frame(Kind::Data, b"")].concat();
    let error = accepted(&open()).handle_received(&early).unwrap_err();
    assert_eq!(error, LinkError::Unexpected { kind: Kind::Data });
}

#[test]
fn a_peer_that_is_not_known_has_few_bytes_and_little_time() {
    let mut host = accepted(&keyed());
    let long = host.handle_received(&(HANDSHAKE_FRAME_BYTES_MAX as u32).to_le_bytes());
    assert!(matches!(long, Err(LinkError::Format(_))), "{long:?}");
    let flood = accepted(&keyed()).handle_received(&[0; HANDSHAKE_BYTES_MAX + 1]);
    assert!(
        matches!(flood, Err(LinkError::HandshakeTooLong { .. })),
        "{flood:?}"
    );

    let mut host = accepted(&keyed());
    assert_eq!(host.next_deadline(), Some(at(5000).monotonic));
    assert_eq!(host.handle_time(at(4999)), Ok(()));
    let after = Duration::from_secs(5);
    assert_eq!(
        host.handle_time(at(5000)),
        Err(LinkError::HandshakeTimeout { after })
    );
    assert_eq!(host.handle_time(at(5001)), Ok(()));

    let mut edge = dialed(keyed());
    assert_eq!(edge.next_deadline(), Some(at(5000).monotonic));
    assert_eq!(edge.handle_time(at(4999)), Ok(()));
    assert_eq!(
        edge.handle_time(at(5000)),
        Err(LinkError::HandshakeTimeout { after })
    );
    edge.handle_disconnected(at(5000));
    assert_eq!(edge.loss(), None);
}

#[test]
fn a_short_key_is_no_key_and_no_key_prints_itself() {
    assert!(Key::new(&[7; Key::BYTES_MIN - 1]).is_none());
    let key = Key::new(b"0123456789abcdef0123456789abcdef").unwrap();
    assert_eq!(format!("{key:?}"), "Key(..)");
}

#[test]
fn names_and_texts_are_cut_between_characters() {
    assert_eq!(cut("äöü", 3), "ä");
    assert_eq!(cut("abc", 9), "abc");
    let name = "ä".repeat(300);
    let mut edge = Session::new(open(), 1, &name);
    edge.handle_connected(at(0), EDGE_NONCE);
    let known = accepted(&open())
        .handle_received(&from_edge(&mut edge))
        .unwrap()
        .unwrap();
    assert_eq!(known.name.len(), NAME_BYTES_MAX - 1);
}

#[test]
fn the_proof_is_what_it_says() {
    // HMAC-SHA-256 computed by other means over "edge", 32 x 01, 32 x 02, 42 as u64.
    let key = Key::new(b"0123456789abcdef0123456789abcdef").unwrap();
    let proof = proof(&key, Role::Edge, &EDGE_NONCE, &HOST_NONCE, 42);
    let hex: String = proof.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(
        hex,
        "abf38325f7d4ef8f5aff16a99fd3faf05e33ba852f5c6f52bbc8ebbf84f88aa0"
    );
}
