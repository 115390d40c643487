//! What a peer can do to the link: bytes before the handshake is over, and after it.
//!
//! The first byte of the input chooses who receives the rest and how it is cut: bit 0 the edge or the
//! host, bit 1 before or after the handshake, the others the length of the pieces. Checked: nothing
//! panics, the pieces give what the whole gives, and what was decoded is encoded again to what is
//! decoded to the same.

use std::io::IoSlice;

use goblin_protocol::link::frame::{self, FRAME_BYTES_MAX, Frame};
use goblin_protocol::link::handshake::{
    Authentication, HANDSHAKE_BYTES_MAX, HostHandshake, Key, Nonce,
};
use goblin_protocol::link::message::Message;
use goblin_protocol::link::session::{Config, Event, HostIdentity, Session};
use goblin_protocol::link::{LinkError, Role};
use goblin_protocol::time::Now;

/// The session of all frames in the corpus.
const SESSION: u64 = 99;

/// Checks all of the above on one input.
pub(crate) fn check(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else {
        return;
    };
    let piece = 1 + usize::from(choice >> 2);
    match (choice & 2 == 0, choice & 1 == 0) {
        (true, true) => check_session(Role::Edge, bytes, piece),
        (true, false) => check_session(Role::Host, bytes, piece),
        (false, true) => check_dialing(bytes, piece),
        (false, false) => check_accepting(bytes, piece),
    }
    check_frames(bytes);
    check_message(bytes);
}

fn check_frames(mut bytes: &[u8]) {
    while let Ok(Some(length)) = frame::length(bytes, FRAME_BYTES_MAX) {
        let Some((first, rest)) = bytes.split_at_checked(length) else {
            return;
        };
        if let Ok(frame) = Frame::decode(first) {
            check_frame(&frame);
        }
        bytes = rest;
    }
}

fn check_frame(frame: &Frame<'_>) {
    let mut encoded = Vec::new();
    frame.header.put(frame.payload, &mut encoded);
    assert_eq!(Frame::decode(&encoded).as_ref(), Ok(frame));
    check_message(frame.payload);
}

fn check_message(bytes: &[u8]) {
    if let Ok(message) = Message::decode(bytes) {
        let mut encoded = Vec::new();
        message.encode(&mut encoded);
        assert!(
            encoded.len() <= bytes.len(),
            "only what is not known is left out"
        );
        assert_eq!(Message::decode(&encoded), Ok(message));
    }
}

/// Bytes that reach a session that is connected.
fn check_session(role: Role, bytes: &[u8], piece: usize) {
    let end = || {
        let (edge, host) = connected();
        match role {
            Role::Edge => edge,
            Role::Host => host,
        }
    };
    let whole = read(&mut end(), [bytes].into_iter());
    let pieces = read(&mut end(), bytes.chunks(piece));
    assert_eq!(whole, pieces);
}

/// Bytes that reach an edge that has dialed.
fn check_dialing(bytes: &[u8], piece: usize) {
    let whole = read(&mut dialing(keyed()), [bytes].into_iter());
    let pieces = read(&mut dialing(keyed()), bytes.chunks(piece));
    assert_eq!(whole, pieces);
    assert!(whole.0.is_empty(), "nobody has the key");
}

/// Bytes that reach a host that has accepted a connection.
fn check_accepting(bytes: &[u8], piece: usize) {
    let receive = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut host = HostHandshake::new(&keyed(), Now::default(), Nonce([2; 32]));
        for piece in pieces {
            host.handle_received(piece)?;
        }
        Ok::<(), LinkError>(())
    };
    // A host that is flooded says so before it looks at what it was flooded with.
    if bytes.len() <= HANDSHAKE_BYTES_MAX {
        assert_eq!(
            receive(&mut [bytes].into_iter()),
            receive(&mut bytes.chunks(piece))
        );
    }
}

/// The events that `pieces` cause, and the error that ends them.
fn read<'a>(
    session: &mut Session,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<Vec<u8>>, Option<LinkError>) {
    let mut events = Vec::new();
    for piece in pieces {
        let mut input = session.open(piece);
        loop {
            match input.next(session, Now::default()) {
                Ok(None) => break,
                Ok(Some(Event::Message(message))) => {
                    let mut encoded = Vec::new();
                    message.encode(&mut encoded);
                    events.push(encoded);
                }
                Ok(Some(event)) => events.push(format!("{event:?}").into_bytes()),
                Err(error) => return (events, Some(error)),
            }
        }
    }
    (events, None)
}

fn keyed() -> Config {
    let key = Key::new(b"0123456789abcdef0123456789abcdef").expect("the key is long enough");
    Config::new(Authentication::SharedKey(key))
}

fn dialing(config: Config) -> Session {
    let mut edge = Session::new(config, SESSION, "edge");
    edge.handle_connected(Now::default(), Nonce([1; 32]));
    edge
}

/// Two ends that have found each other.
fn connected() -> (Session, Session) {
    let config = Config {
        message_bytes_max: 4096,
        ..Config::new(Authentication::Off)
    };
    let mut edge = dialing(config.clone());
    let mut host = accept(&config, &output(&mut edge));
    let acknowledgement = output(&mut host);
    let (events, error) = read(&mut edge, [&acknowledgement[..]].into_iter());
    assert_eq!((events.len(), error), (1, None));
    (edge, host)
}

fn accept(config: &Config, hello: &[u8]) -> Session {
    let identity = HostIdentity {
        instance: 1,
        edge_number: 1,
    };
    let mut handshake = HostHandshake::new(config, Now::default(), Nonce([2; 32]));
    let edge = handshake
        .handle_received(hello)
        .expect("the hello is good")
        .expect("the hello is all that is needed");
    Session::accept_fresh(config.clone(), Now::default(), &edge, identity)
}

fn output(session: &mut Session) -> Vec<u8> {
    let mut slices = [IoSlice::new(&[]); 4];
    let filled = session.fill_slices(&mut slices);
    let waiting = slices.iter().take(filled);
    let bytes: Vec<u8> = waiting.flat_map(|slice| slice.to_vec()).collect();
    session.handle_written(Now::default(), bytes.len());
    bytes
}
