//! Faults of the simulated network, and that a seed decides everything.

use std::time::Duration;

use goblin_protocol::service::{Closed, ConnectionId};
use goblin_protocol::time::Time;
use goblin_transport::conformance::{Probe, pattern};
use goblin_transport::simulated::{Client, Network, NodeId, Shape, SimulatedTransport};
use goblin_transport::{ConnectionIds, Turn};

const SEEDS: u64 = 20;
const SECOND: Duration = Duration::from_secs(1);

/// One node that listens, and scripted clients.
struct World {
    network: Network,
    node: NodeId,
    server: Turn<Probe, SimulatedTransport>,
}

impl World {
    fn new(seed: u64) -> Self {
        let network = Network::new(seed, Shape::rough());
        let node = network.node();
        let mut transport = network.transport(node, ConnectionIds::new());
        transport.listen("server:1").unwrap();
        let server = Turn::new(Probe::default(), transport);
        Self {
            network,
            node,
            server,
        }
    }

    /// Lets everything happen that happens within `time`.
    fn run(&mut self, time: Duration) {
        let end = self.network.now().monotonic + time;
        loop {
            while self.server.turn(self.network.now()) {}
            let next = self.network.next_event().filter(|next| *next <= end);
            self.network.advance_to(next.unwrap_or(end));
            if next.is_none() {
                break;
            }
        }
    }

    fn connect(&mut self) -> (Client, ConnectionId) {
        let client = self.network.connect("server:1");
        self.run(SECOND);
        (client, *self.server.service().opened.last().unwrap())
    }

    fn received(&self, id: ConnectionId) -> &[u8] {
        &self.server.service().heard(id).received
    }
}

#[test]
fn a_client_talks_to_a_core() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        world.server.service_mut().echo = true;
        let (client, _) = world.connect();
        let sent = pattern(1, 100_000);
        client.send(&sent);
        let mut received = Vec::new();
        while received.len() < sent.len() {
            world.run(SECOND / 100);
            received.extend(client.receive());
        }
        assert!(received == sent);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let mut world = World::new(seed);
        world.server.service_mut().echo = true;
        let (client, _) = world.connect();
        client.send(&pattern(2, 50_000));
        let mut log = Vec::new();
        for _ in 0..50 {
            world.run(SECOND / 1000);
            log.push((world.network.now(), client.receive().len()));
        }
        (log, world.server.counters().transport)
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn a_cut_loses_a_tail_and_both_sides_notice() {
    let mut shorter = 0;
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        let (client, id) = world.connect();
        let sent = pattern(3, 10_000);
        client.send(&sent);
        world.network.cut(client.wire());
        client.send(b"into the void");
        world.run(SECOND);
        let received = world.received(id);
        assert!(sent.starts_with(received));
        shorter += usize::from(received.len() < sent.len());
        let heard = world.server.service().heard(id);
        assert_eq!(heard.closed, Some(Closed::Failed(104)));
        assert_eq!(client.closed(), Some(Closed::Failed(104)));
    }
    assert!(shorter > 0);
}

#[test]
fn a_stall_holds_one_direction_until_it_ends() {
    let mut world = World::new(1);
    let (client, id) = world.connect();
    let until = world.network.now().monotonic + SECOND;
    world.network.stall(client.wire(), world.node, until);
    client.send(b"late");
    world.server.service_mut().send(id, b"in time".to_vec());
    world.run(SECOND / 2);
    assert_eq!(client.receive(), b"in time");
    assert!(world.received(id).is_empty());
    world.run(SECOND);
    assert_eq!(world.received(id), b"late");
}

#[test]
fn a_client_that_does_not_read_makes_writes_fall_short() {
    let mut world = World::new(2);
    let (client, id) = world.connect();
    let sent = pattern(4, 100_000);
    world.server.service_mut().send(id, sent.clone());
    world.run(SECOND);
    let unwritten = world.server.service().unwritten(id);
    assert_eq!(unwritten, sent.len() - Shape::rough().buffer_bytes);
    let mut received = client.receive_at_most(10);
    assert_eq!(received.len(), 10);
    while received.len() < sent.len() {
        world.run(SECOND);
        received.extend(client.receive());
    }
    assert!(received == sent);
}

#[test]
fn refused_dials_say_so_until_they_are_allowed() {
    let mut world = World::new(3);
    let edge = world.network.node();
    let mut transport = world.network.transport(edge, ConnectionIds::new());
    transport.set_upstream("server:1");
    let mut edge_turn = Turn::new(Probe::default(), transport);
    let mut dial = |world: &mut World, refuse| {
        world.network.refuse_dials(edge, world.node, refuse);
        edge_turn.service_mut().dial();
        edge_turn.turn(world.network.now());
        world.run(SECOND);
        edge_turn.turn(world.network.now());
        let probe = edge_turn.service();
        (probe.closed.len(), probe.opened.len())
    };
    assert_eq!(dial(&mut world, true), (1, 0));
    assert_eq!(dial(&mut world, false), (1, 1));
    assert_eq!(world.network.wires_between(edge, world.node).len(), 1);
    assert_eq!(world.network.wires_of(edge).len(), 1);
}

#[test]
fn a_killed_node_is_noticed_and_starts_again() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        let (client, _) = world.connect();
        world.network.kill(world.node);
        world.run(SECOND);
        assert_eq!(client.closed(), Some(Closed::Failed(104)));
        let turned_away = world.network.connect("server:1");
        world.run(SECOND);
        assert_eq!(turned_away.closed(), Some(Closed::Unreachable(111)));
        let opened = world.server.service().opened.len();
        assert_eq!(opened, 1, "a dead transport tells nothing");

        let mut transport = world.network.transport(world.node, ConnectionIds::new());
        transport.listen("server:1").unwrap();
        world.server = Turn::new(Probe::default(), transport);
        let (client, id) = world.connect();
        client.send(b"again");
        world.run(SECOND);
        assert_eq!(world.received(id), b"again");
    }
}

#[test]
fn a_dial_that_is_cut_before_it_opens_fails_as_a_dial() {
    for seed in 0..SEEDS {
        let mut world = World::new(seed);
        let edge = world.network.node();
        let mut transport = world.network.transport(edge, ConnectionIds::new());
        transport.set_upstream("server:1");
        let mut edge_turn = Turn::new(Probe::default(), transport);
        edge_turn.service_mut().dial();
        edge_turn.turn(world.network.now());
        world.network.cut(world.network.wires_of(edge)[0]);
        world.run(SECOND);
        edge_turn.turn(world.network.now());
        let probe = edge_turn.service();
        assert!(probe.opened.is_empty());
        let closed = probe.heard(probe.closed[0]).closed;
        assert!(matches!(closed, Some(Closed::Unreachable(_))));
    }
}

#[test]
fn time_is_the_networks() {
    let network = Network::new(0, Shape::in_memory());
    network.advance_to(Time::from_nanos(5_000));
    network.advance_to(Time::from_nanos(3_000));
    assert_eq!(network.now().monotonic, Time::from_nanos(5_000));
    assert_eq!(network.next_event(), None);
}
