//! What is refused, and what is bounded.

use std::io::{IoSlice, Read as _};
use std::net::TcpStream;

use goblin_protocol::service::{Closed, ConnectionId, Opened};
use goblin_transport::conformance::World;
use goblin_transport::{Events, Transport};
use goblin_xlio::{SetupError, XlioOptions, XlioTransport};

use crate::world::{Emulated, Names, xlio};

#[test]
fn a_wildcard_and_an_address_without_a_card_are_refused() {
    let listen = |address: &str| {
        let options = XlioOptions {
            listeners: vec![address.parse().unwrap()],
            ..XlioOptions::default()
        };
        XlioTransport::new(xlio(), options, Names::default()).map(|_| ())
    };
    let any = "0.0.0.0:0".parse().unwrap();
    assert_eq!(listen("0.0.0.0:0"), Err(SetupError::Wildcard(any)));
    let foreign = "192.0.2.1:7".parse().unwrap();
    assert_eq!(
        listen("192.0.2.1:7"),
        Err(SetupError::Listen(foreign, libc::ENODEV))
    );
}

/// Remembers the connection, and whether it takes output again.
#[derive(Default)]
struct Heard {
    opened: Option<ConnectionId>,
    writable: bool,
}

impl Events for Heard {
    fn opened(&mut self, id: ConnectionId, _how: Opened<'_>) {
        self.opened = Some(id);
    }

    fn received(&mut self, _id: ConnectionId, _bytes: &[u8]) {}

    fn writable(&mut self, _id: ConnectionId) {
        self.writable = true;
    }

    fn closed(&mut self, _id: ConnectionId, _why: Closed) {}
}

#[test]
fn a_peer_that_does_not_read_is_sent_a_bounded_number_of_bytes() {
    const MOST: usize = 8 * 1024 * 1024;
    let mut world = Emulated::new(XlioOptions {
        outstanding_bytes_max: MOST,
        ..XlioOptions::default()
    });
    let mut transport = world.listening();
    let mut peer = std::net::TcpStream::connect(world.listened.unwrap()).unwrap();
    let mut heard = Heard::default();
    let id = loop {
        transport.poll(world.now(false), &mut heard);
        if let Some(id) = heard.opened {
            break id;
        }
    };
    // Small writes in between are counted too.
    let (large, small) = (vec![1; 100_000], [2; 100]);
    let mut sent = 0;
    loop {
        let slices = [IoSlice::new(&small)];
        sent += transport.write(id, &slices);
        let taken = transport.write(id, &[IoSlice::new(&large)]);
        sent += taken;
        for _ in 0..20 {
            transport.poll(world.now(false), &mut heard);
        }
        // What the kernel of the peer has acknowledged is not outstanding.
        assert!(sent <= MOST + 8 * 1024 * 1024, "{sent}");
        if taken < large.len() && !heard.writable {
            break;
        }
        heard.writable = false;
    }
    let mut left = sent;
    let mut buffer = vec![0; 1 << 20];
    while left > 0 {
        let most = left.min(buffer.len());
        left -= peer.read(&mut buffer[..most]).unwrap();
        transport.poll(world.now(false), &mut heard);
    }
    while !heard.writable {
        transport.poll(world.now(false), &mut heard);
    }
    assert_eq!(transport.write(id, &[IoSlice::new(b"more")]), 4);
}

#[test]
fn a_connection_beyond_the_limit_is_reset_and_the_others_stay() {
    let mut world = Emulated::new(XlioOptions {
        // The listener and two connections.
        sockets_max: Some(3),
        ..XlioOptions::default()
    });
    let mut transport = world.listening();
    let address = world.listened.unwrap();
    let mut heard = Heard::default();
    let mut peers: Vec<_> = (0..3)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    while transport.counters().accepts_refused == 0 {
        transport.poll(world.now(false), &mut heard);
    }
    assert_eq!(transport.counters().accepts, 2);
    // The reset is sent by the poll after.
    transport.poll(world.now(false), &mut heard);
    let refused = peers[2].read(&mut [0; 1]).unwrap_err();
    assert_eq!(refused.raw_os_error(), Some(libc::ECONNRESET));
    let id = heard.opened.unwrap();
    assert_eq!(transport.write(id, &[IoSlice::new(b"x")]), 1);
    assert_eq!(peers[1].read(&mut [0; 1]).unwrap(), 1);
}

/// Bytes to each of sixteen subscribers; `GOBLIN_XLIO_TRANSFER_MIB` in all for a longer run.
#[test]
fn sixteen_subscribers_get_every_byte_in_bounded_memory() {
    const SUBSCRIBERS: usize = 16;
    const PAYLOAD: usize = 64 * 1024;
    let mebibytes = std::env::var("GOBLIN_XLIO_TRANSFER_MIB").ok();
    let mebibytes: usize = mebibytes.map_or(64, |it| it.parse().unwrap());
    let payloads = mebibytes * 1024 * 1024 / PAYLOAD / SUBSCRIBERS;
    let mut world = Emulated::new(XlioOptions {
        send_memory_bytes: 4 * 1024 * 1024,
        ..XlioOptions::default()
    });
    let mut transport = world.listening();
    let address = world.listened.unwrap();
    let mut heard = Heard::default();
    let mut readers = Vec::new();
    let mut ids = Vec::new();
    for _ in 0..SUBSCRIBERS {
        let mut peer = TcpStream::connect(address).unwrap();
        readers.push(std::thread::spawn(move || {
            let mut buffer = vec![0; PAYLOAD];
            for number in 0..payloads {
                peer.read_exact(&mut buffer).unwrap();
                assert!(buffer == payload(number, PAYLOAD), "payload {number}");
            }
        }));
        while heard.opened.is_none() {
            transport.poll(world.now(false), &mut heard);
        }
        ids.push((heard.opened.take().unwrap(), 0));
    }
    let total = payloads * PAYLOAD;
    while ids.iter().any(|it| it.1 < total) {
        for (id, sent) in ids.iter_mut().filter(|it| it.1 < total) {
            let bytes = payload(*sent / PAYLOAD, PAYLOAD);
            *sent += transport.write(*id, &[IoSlice::new(&bytes[*sent % PAYLOAD..])]);
        }
        transport.poll(world.now(false), &mut heard);
    }
    for reader in readers {
        reader.join().unwrap();
    }
    while transport.outstanding_bytes() > 0 {
        transport.poll(world.now(false), &mut heard);
    }
}

fn payload(number: usize, length: usize) -> Vec<u8> {
    goblin_transport::conformance::pattern(number, length)
}
