#![allow(unsafe_code)] // Starts the library of this workspace.

//! The transport on the emulation, against the one test body of all transports, in a process per
//! mode: the library reads its settings once.

use std::io::{IoSlice, Read as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, OnceLock};

use goblin_protocol::service::{Closed, ConnectionId, ListenerId, Opened};
use goblin_protocol::time::Now;
use goblin_transport::conformance::World;
use goblin_transport::{Clock, Events, Transport, conformance_tests};
use goblin_xlio::{Identities, SetupError, Xlio, XlioOptions, XlioTransport};

conformance_tests!(emulated, [Emulated::new(XlioOptions::default())]);
conformance_tests!(
    emulated_with_little_memory,
    [Emulated::new(XlioOptions {
        outstanding_bytes_max: 100_000,
        send_memory_bytes: 3 * 64 * 1024,
        ..XlioOptions::default()
    })]
);

struct Emulated {
    options: XlioOptions,
    listened: Option<SocketAddr>,
    clock: Clock,
}

impl Emulated {
    fn new(options: XlioOptions) -> Self {
        Self {
            options,
            listened: None,
            clock: Clock::new(),
        }
    }

    fn dialing_to(&self, upstream: SocketAddr) -> XlioTransport<Names> {
        let options = XlioOptions {
            upstream: vec![upstream],
            ..self.options.clone()
        };
        XlioTransport::new(xlio(), options, Names::default()).unwrap()
    }
}

impl World for Emulated {
    type Transport = XlioTransport<Names>;

    fn listening(&mut self) -> Self::Transport {
        let options = XlioOptions {
            listeners: vec!["127.0.0.1:0".parse().unwrap()],
            ..self.options.clone()
        };
        let mut transport = XlioTransport::new(xlio(), options, Names::default()).unwrap();
        self.listened = transport.local_address(ListenerId(0));
        transport
    }

    fn dialing(&mut self) -> Self::Transport {
        self.dialing_to(self.listened.expect("somebody listens"))
    }

    fn dialing_nobody(&mut self) -> Self::Transport {
        self.dialing_to("127.0.0.1:1".parse().unwrap())
    }

    fn now(&mut self, _idle: bool) -> Now {
        self.clock.now()
    }
}

/// Names of connections for one transport.
#[derive(Debug, Default)]
struct Names {
    generations: Vec<u32>,
    free: Vec<u32>,
}

impl Identities for Names {
    fn allocate(&mut self) -> Option<ConnectionId> {
        let index = self.free.pop().unwrap_or_else(|| {
            self.generations.push(0);
            self.generations.len() as u32 - 1
        });
        let generation = self.generations[index as usize];
        Some(ConnectionId { index, generation })
    }

    fn release(&mut self, id: ConnectionId) {
        let generation = &mut self.generations[id.index as usize];
        assert_eq!(*generation, id.generation, "a name is released once");
        *generation += 1;
        self.free.push(id.index);
    }
}

/// The library, for as long as the process lives: tests run in any order, and it starts once.
fn xlio() -> Arc<Xlio> {
    static XLIO: OnceLock<Arc<Xlio>> = OnceLock::new();
    let start = || {
        // SAFETY: the emulation of this workspace.
        unsafe { Xlio::start(Some(&library())) }.expect("the emulation is beside the test")
    };
    Arc::clone(XLIO.get_or_init(start))
}

fn library() -> PathBuf {
    std::env::current_exe()
        .unwrap()
        .with_file_name("libxlio.so")
}

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

/// Marks the children of the test below, which must not start any themselves.
const CHILD: &str = "GOBLIN_XLIO_TEST_CHILD";
const SEEDS: u32 = 3;

#[test]
fn everything_holds_in_every_strict_mode() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    for seed in 1..=SEEDS {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["emulated::", "--test-threads=2"])
            .env(CHILD, "1");
        command
            .env("XLIO_EMU_STRICT", "1")
            .env("XLIO_EMU_RX_MAX", "4000");
        let output = command
            .env("XLIO_EMU_SEED", seed.to_string())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "seed {seed}: {said}{complained}");
        assert!(said.contains(" 11 passed"), "seed {seed}: {said}");
    }
}
