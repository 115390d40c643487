//! Every transport of this crate against the one test body.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, Ordering};

use goblin_protocol::service::ListenerId;
use goblin_protocol::time::Now;
use goblin_transport::conformance::World;
use goblin_transport::kernel::{Address, KernelOptions, KernelTransport, ListenOptions};
use goblin_transport::simulated::{Network, NodeId, Shape, SimulatedTransport};
use goblin_transport::{Clock, ConnectionIds, conformance_tests};

conformance_tests!(tcp, [Kernel::new(loopback())]);
conformance_tests!(
    tcp_version_six,
    [Kernel::new(Address::Tcp("[::1]:0".parse().unwrap()))]
);
conformance_tests!(tcp_with_small_buffers, [Kernel::small(loopback())]);
conformance_tests!(unix, [Kernel::new(unix_path())]);
conformance_tests!(in_memory, [Simulated::new(0, Shape::in_memory())]);
conformance_tests!(
    simulated,
    (1..=5).map(|seed| Simulated::new(seed, Shape::rough()))
);

/// Sockets of this machine.
struct Kernel {
    listen: Address,
    listened: Option<Address>,
    send_buffer_bytes: Option<usize>,
    clock: Clock,
}

impl Kernel {
    fn new(listen: Address) -> Self {
        Self {
            listen,
            listened: None,
            send_buffer_bytes: None,
            clock: Clock::new(),
        }
    }

    fn small(listen: Address) -> Self {
        Self {
            send_buffer_bytes: Some(128 * 1024),
            ..Self::new(listen)
        }
    }

    fn dialing_to(&self, upstream: Address) -> KernelTransport {
        let options = KernelOptions {
            upstream: vec![upstream],
            send_buffer_bytes: self.send_buffer_bytes,
            ..KernelOptions::default()
        };
        KernelTransport::new(options, ConnectionIds::new()).unwrap()
    }
}

impl World for Kernel {
    type Transport = KernelTransport;

    fn listening(&mut self) -> KernelTransport {
        let options = KernelOptions {
            listeners: vec![ListenOptions::new(self.listen.clone())],
            send_buffer_bytes: self.send_buffer_bytes,
            ..KernelOptions::default()
        };
        let transport = KernelTransport::new(options, ConnectionIds::new()).unwrap();
        self.listened = transport.local_address(ListenerId(0)).cloned();
        transport
    }

    fn dialing(&mut self) -> KernelTransport {
        self.dialing_to(self.listened.clone().expect("somebody listens"))
    }

    fn dialing_nobody(&mut self) -> KernelTransport {
        let nobody = match &self.listen {
            Address::Unix(_) => unix_path(),
            Address::Tcp(address) => Address::Tcp(unused(*address)),
        };
        self.dialing_to(nobody)
    }

    fn now(&mut self, _idle: bool) -> Now {
        self.clock.now()
    }
}

fn loopback() -> Address {
    Address::Tcp("127.0.0.1:0".parse().unwrap())
}

/// A port where nobody listens: privileged, of a service that no machine runs any more.
fn unused(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), 1)
}

fn unix_path() -> Address {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("goblin-conformance-{}-{number}", std::process::id());
    Address::Unix(std::env::temp_dir().join(name))
}

/// Nodes of one seeded network.
struct Simulated {
    network: Network,
    server: NodeId,
}

impl Simulated {
    fn new(seed: u64, shape: Shape) -> Self {
        let network = Network::new(seed, shape);
        let server = network.node();
        Self { network, server }
    }

    fn dialing_to(&self, upstream: &str) -> SimulatedTransport {
        let node = self.network.node();
        let mut transport = self.network.transport(node, ConnectionIds::new());
        transport.set_upstream(upstream);
        transport
    }
}

impl World for Simulated {
    type Transport = SimulatedTransport;

    fn listening(&mut self) -> SimulatedTransport {
        let mut transport = self.network.transport(self.server, ConnectionIds::new());
        transport.listen("server:1").expect("nobody else listens");
        transport
    }

    fn dialing(&mut self) -> SimulatedTransport {
        self.dialing_to("server:1")
    }

    fn dialing_nobody(&mut self) -> SimulatedTransport {
        self.dialing_to("nobody:1")
    }

    fn now(&mut self, idle: bool) -> Now {
        if idle && let Some(time) = self.network.next_event() {
            self.network.advance_to(time);
        }
        self.network.now()
    }
}
