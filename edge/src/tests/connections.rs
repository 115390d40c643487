//! P7 and the limits of connections.

use std::time::Duration;

use goblin_protocol::session::OutputLimit;

use super::world::{World, config};

#[test]
fn a_subscriber_that_does_not_read_is_closed_and_nobody_else_waits() {
    let mut config = config();
    config.clients.output_subscribers = OutputLimit {
        hard_bytes: 1_000,
        soft_bytes: 0,
        soft_duration: Duration::ZERO,
    };
    let mut world = World::with(config);
    let slow = world.subscriber("a", 2);
    let fast = world.client();
    world.sends(fast, "SUBSCRIBE a");
    world.takes(fast);
    world.stops_reading(slow);
    for _ in 0..20 {
        world.host_delivers("a", &"x".repeat(100));
    }
    assert!(world.is_closed(slow));
    assert!(!world.is_closed(fast));
    assert_eq!(world.takes(fast).matches("message").count(), 20);
    assert_eq!(world.edge.statistics().slow_clients_closed, 1);
}

#[test]
fn a_soft_limit_lasts_before_it_closes() {
    let mut config = config();
    config.clients.output_subscribers = OutputLimit {
        hard_bytes: 0,
        soft_bytes: 1_000,
        soft_duration: Duration::from_secs(5),
    };
    let mut world = World::with(config);
    let slow = world.subscriber("a", 2);
    world.stops_reading(slow);
    world.host_delivers("a", &"x".repeat(2_000));
    world.wait(4_000);
    assert!(!world.is_closed(slow));
    world.wait(3_000);
    assert!(world.is_closed(slow));
}

#[test]
fn an_idle_client_is_closed_unless_it_subscribes_or_waits() {
    let mut config = config();
    config.clients.idle_timeout = Some(Duration::from_secs(10));
    let mut world = World::with(config);
    let subscriber = world.subscriber("a", 2);
    let (idle, waiting) = (world.client(), world.client());
    world.sends(waiting, "GET k");
    world.wait(12_000);
    assert!(world.is_closed(idle));
    assert!(!world.is_closed(subscriber));
    assert!(!world.is_closed(waiting));
    assert_eq!(world.edge.statistics().idle_clients_closed, 1);
}

#[test]
fn more_clients_than_allowed_are_turned_away() {
    let mut config = config();
    config.clients.clients_max = 1;
    let mut world = World::with(config);
    let alice = world.client();
    let bob = world.client();
    world.sees(bob, "-ERR max number of clients reached");
    assert!(world.is_closed(bob));
    world.leaves(alice);
    let carol = world.client();
    world.sends(carol, "PING");
    world.sees(carol, "+PONG");
}
