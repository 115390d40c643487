//! What the link writes, by hand, read by the schema alone.

use std::io::IoSlice;

use goblin_protocol::link::frame::Frame;
use goblin_protocol::link::handshake::{Authentication, HostHandshake, Key, Nonce};
use goblin_protocol::link::message::{
    ClientOpen, ClientReply, CommandOf, Delivery, DeliveryBy, Encode, Interest, Message,
    Publication, StatisticsOf,
};
use goblin_protocol::link::session::{Config, HostIdentity, Session};
use goblin_protocol::resp::Version;
use goblin_protocol::table::Kind;
use goblin_protocol::time::Now;

use crate::support::{decode_in_python, hex};

const SCHEMA: &str = "schema/goblin.xml";

fn assert_decoded(cases: &[(Vec<u8>, &str)]) {
    let decoded = decode_in_python(SCHEMA, cases.iter().map(|(bytes, _)| hex(bytes)));
    assert_eq!(decoded.len(), cases.len());
    for ((_, expected), decoded) in cases.iter().zip(&decoded) {
        assert_eq!(decoded, expected);
    }
}

fn encoded(message: &impl Encode) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode_into(&mut bytes);
    bytes
}

#[test]
fn messages_of_the_edge_are_those_of_the_schema() {
    let interest = Interest {
        token: 1,
        kind: Kind::Pattern,
        count: 2,
        name: b"n*",
    };
    let publication = Publication {
        id: 1,
        kind: Kind::Shard,
        delivery: DeliveryBy::Host,
        delivered_here: 3,
        client: 2,
        channel: b"ch",
        payload: b"p",
    };
    let open = ClientOpen {
        client: 9,
        user: b"u",
        address: "a",
        local_address: "l",
        name: b"",
    };
    let command = CommandOf {
        client: 9,
        version: Version::Resp3,
        arguments: [&b"GET"[..], b"k"].into_iter(),
    };
    let figures = StatisticsOf([("x", 5), ("y", u64::MAX)].into_iter());
    assert_decoded(&[
        (
            encoded(&Message::Interest(interest)),
            "Interest token=1 count=2 kind=Pattern name=6e2a",
        ),
        (
            encoded(&Message::InterestBegin { epoch: 4 }),
            "InterestBegin epoch=4",
        ),
        (
            encoded(&Message::InterestEnd { epoch: 4, token: 5 }),
            "InterestEnd epoch=4 token=5",
        ),
        (
            encoded(&Message::Publication(publication)),
            "Publication publication=1 client=2 deliveredHere=3 kind=ShardChannel delivery=Host \
             channel=6368 payload=70",
        ),
        (
            encoded(&Message::ClientOpen(open)),
            "ClientOpen client=9 user=75 address=61 localAddress=6c name=",
        ),
        (
            encoded(&command),
            "ClientCommand client=9 version=Resp3 arguments=[argument=474554|argument=6b]",
        ),
        (
            encoded(&Message::ClientClose { client: 9 }),
            "ClientClose client=9",
        ),
        (
            encoded(&figures),
            "Statistics figures=[figure=5 name=78|figure=18446744073709551615 name=79]",
        ),
    ]);
}

#[test]
fn messages_of_the_host_are_those_of_the_schema() {
    let result = Message::PublicationResult {
        id: 1,
        deliveries: 2,
        refused: "no",
    };
    let delivery = Delivery {
        kind: Kind::Channel,
        origin: 3,
        sequence: 7,
        channel: b"c",
        payload: b"p",
    };
    let reply = ClientReply {
        client: 9,
        last: true,
        close: true,
        bytes: b"+",
    };
    assert_decoded(&[
        (
            encoded(&Message::InterestConfirmed { token: 8 }),
            "InterestConfirmed token=8",
        ),
        (
            encoded(&result),
            "PublicationResult publication=1 deliveries=2 refused=6e6f",
        ),
        (
            encoded(&Message::Delivery(delivery)),
            "Delivery sequence=7 origin=3 kind=Channel channel=63 payload=70",
        ),
        (
            encoded(&Message::ClientReply(reply)),
            "ClientReply client=9 flags=Last+Close bytes=2b",
        ),
        (
            encoded(&Message::ClientClosed {
                client: 9,
                reason: "r",
            }),
            "ClientClosed client=9 reason=72",
        ),
        (
            encoded(&Message::Rights {
                user: b"u",
                rules: b"+@all",
            }),
            "Rights user=75 rules=2b40616c6c",
        ),
        (encoded(&Message::RightsBegin), "RightsBegin"),
        (encoded(&Message::RightsEnd), "RightsEnd"),
        (
            encoded(&Message::RightsGone { user: b"u" }),
            "RightsGone user=75",
        ),
    ]);
}

fn output(session: &mut Session) -> Vec<u8> {
    let mut slices = [IoSlice::new(&[]); 4];
    let filled = session.fill_slices(&mut slices);
    let waiting = slices.iter().take(filled);
    let bytes: Vec<u8> = waiting.flat_map(|slice| slice.to_vec()).collect();
    session.handle_written(Now::default(), bytes.len());
    bytes
}

fn handshake_output(host: &mut HostHandshake) -> Vec<u8> {
    let mut slices = [IoSlice::new(&[]); 4];
    let filled = host.fill_slices(&mut slices);
    let waiting = slices.iter().take(filled);
    let bytes: Vec<u8> = waiting.flat_map(|slice| slice.to_vec()).collect();
    host.handle_written(bytes.len());
    bytes
}

/// The frame, and the payload inside, as the decoder prints them.
fn decoded_frame(frame: &[u8]) -> [String; 2] {
    let payload = Frame::decode(frame).expect("it is a frame").payload;
    let messages = [hex(&frame[4..]), hex(payload)];
    let lines = decode_in_python(SCHEMA, messages.into_iter());
    lines.try_into().expect("a line for each")
}

#[test]
fn a_handshake_is_that_of_the_schema() {
    let key = Key::new(&[7; 32]).expect("the key is long enough");
    let config = Config::new(Authentication::SharedKey(key));
    let mut edge = Session::new(config.clone(), 99, "edge");
    edge.handle_connected(Now::default(), Nonce([1; 32]));
    let hello = output(&mut edge);
    let [frame, payload] = decoded_frame(&hello);
    assert!(frame.starts_with(
        "Frame session=99 sequence=0 acknowledged=0 kind=Hello flags=First+Last payload="
    ));
    let nonce = "01".repeat(32);
    assert!(payload.starts_with(&format!(
        "LinkHello major=1 minor=0 features=0 nonce={nonce} previousSession=0 "
    )));
    assert!(
        payload.ends_with(" heartbeatTimeoutMs=3000 fresh=True name=65646765"),
        "{payload}"
    );

    let mut host = HostHandshake::new(&config, Now::default(), Nonce([2; 32]));
    assert!(
        host.handle_received(&hello)
            .expect("it is a hello")
            .is_none()
    );
    let challenge = handshake_output(&mut host);
    let [_, payload] = decoded_frame(&challenge);
    assert!(payload.starts_with(&format!("LinkChallenge nonce={} proof=", "02".repeat(32))));

    let mut input = edge.open(&challenge);
    while input
        .next(&mut edge, Now::default())
        .expect("the host has the key")
        .is_some()
    {}
    let answer = output(&mut edge);
    let [frame, payload] = decoded_frame(&answer);
    assert!(frame.contains(" kind=Challenge "));
    assert_eq!(payload.len(), "LinkChallengeAnswer proof=".len() + 64);

    let accepted = host.handle_received(&answer).expect("the edge has the key");
    let accepted = accepted.expect("nothing else is needed");
    let identity = HostIdentity {
        instance: 7,
        edge_number: 3,
    };
    let mut host = Session::accept_fresh(config, Now::default(), &accepted, identity);
    let [frame, payload] = decoded_frame(&output(&mut host));
    assert!(frame.contains(" kind=HelloAck "));
    assert!(payload.starts_with("LinkHelloAck major=1 minor=0 features=0 hostInstance=7 "));
    assert!(
        payload.ends_with(" edgeNumber=3 outcome=Fresh"),
        "{payload}"
    );
}

#[test]
fn an_error_frame_is_that_of_the_schema() {
    let config = |key: &[u8]| {
        let key = Key::new(key).expect("the key is long enough");
        Config::new(Authentication::SharedKey(key))
    };
    let mut edge = Session::new(config(&[7; 32]), 99, "edge");
    edge.handle_connected(Now::default(), Nonce([1; 32]));
    let mut host = HostHandshake::new(&config(&[8; 32]), Now::default(), Nonce([2; 32]));
    let hello = output(&mut edge);
    assert!(
        host.handle_received(&hello)
            .expect("it is a hello")
            .is_none()
    );
    handshake_output(&mut host);
    // A host that is shown something else than a proof says why it closes.
    assert!(host.handle_received(&hello).is_err());
    let [frame, payload] = decoded_frame(&handshake_output(&mut host));
    assert!(frame.contains(" kind=Error "));
    assert!(
        payload.starts_with("LinkError lost=False text="),
        "{payload}"
    );
}
