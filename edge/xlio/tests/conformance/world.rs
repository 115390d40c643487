#![allow(unsafe_code)] // Starts the library of this workspace.

//! Where transports on the emulation reach each other.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use goblin_protocol::service::{ConnectionId, ListenerId};
use goblin_protocol::time::Now;
use goblin_transport::Clock;
use goblin_transport::conformance::World;
use goblin_xlio::{Identities, Xlio, XlioOptions, XlioTransport};

/// An address of this machine.
pub(crate) struct Emulated {
    address: &'static str,
    options: XlioOptions,
    pub(crate) listened: Option<SocketAddr>,
    clock: Clock,
}

impl Emulated {
    pub(crate) fn new(options: XlioOptions) -> Self {
        Self::on("127.0.0.1", options)
    }

    pub(crate) fn on(address: &'static str, options: XlioOptions) -> Self {
        Self {
            address,
            options,
            listened: None,
            clock: Clock::new(),
        }
    }

    fn at_port(&self, port: u16) -> SocketAddr {
        format!("{}:{port}", self.address).parse().unwrap()
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
            listeners: vec![self.at_port(0)],
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
        self.dialing_to(self.at_port(1))
    }

    fn now(&mut self, _idle: bool) -> Now {
        self.clock.now()
    }
}

/// Names of connections for one transport.
#[derive(Debug, Default)]
pub(crate) struct Names {
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
pub(crate) fn xlio() -> Arc<Xlio> {
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
