//! P1, P2, P4: local first, the host's number, one order.

use super::world::{World, config};
use crate::Delivery;

#[test]
fn a_publication_reaches_local_subscribers_before_the_host_answers() {
    let mut world = World::new();
    let alice = world.subscriber("a", 2);
    let bob = world.client();
    world.host_is_deaf = true;
    world.sends(bob, "PUBLISH a x");
    world.sees(alice, "*3 message a x");
    world.host_sees("");
    world.sees_nothing(bob);
    world.host_is_deaf = false;
    world.settle();
    world.host_sees("publish #0 a x delivered 1");
    world.host_answers(0, 5);
    world.sees(bob, ":5");
    world.sees_nothing(alice);
}

#[test]
fn what_the_host_refuses_is_an_error() {
    use goblin_protocol::link::message::Message;
    let mut world = World::new();
    let bob = world.client();
    world.sends(bob, "PUBLISH a x");
    world.host_says(&Message::PublicationResult {
        id: 0,
        deliveries: 0,
        refused: "NOPERM no",
    });
    world.sees(bob, "-NOPERM no");
}

#[test]
fn a_host_ordered_channel_is_delivered_by_the_host() {
    let mut world = World::new();
    let alice = world.subscriber("ordered.a", 2);
    let bob = world.client();
    world.sends(bob, "PUBLISH ordered.a x");
    world.host_sees("publish #0 ordered.a x to be delivered");
    world.sees_nothing(alice);
    world.host_delivers("ordered.a", "x");
    world.sees(alice, "*3 message ordered.a x");
    world.host_answers(0, 1);
    world.sees(bob, ":1");
}

#[test]
fn with_host_delivery_every_channel_is() {
    let mut config = config();
    config.delivery = Delivery::Host;
    let mut world = World::with(config);
    let alice = world.subscriber("a", 2);
    let bob = world.client();
    world.sends(bob, "PUBLISH a x\nSPUBLISH s y");
    world.host_sees("publish #0 a x to be delivered\npublish #1 s y to be delivered");
    world.sees_nothing(alice);
}

#[test]
fn a_client_waits_while_the_window_is_full_and_is_not_read_from() {
    let mut config = config();
    config.link.window_bytes = 8 * 1024;
    let mut world = World::with(config);
    let (alice, bob) = (world.client(), world.client());
    world.host_is_deaf = true;
    let payload = "x".repeat(1_000);
    for _ in 0..100 {
        world.sends(alice, &format!("PUBLISH a {payload}"));
    }
    assert!(world.is_paused(alice));
    assert!(!world.is_paused(bob));
    world.sends(bob, "PING");
    world.sees(bob, "+PONG");
    world.wait(5_000);
    world.sees_nothing(alice);
    world.host_is_deaf = false;
    world.wait(1_000);
    assert!(!world.is_paused(alice));
    for id in 0..100 {
        world.host_answers(id, 0);
    }
    assert_eq!(world.takes(alice), vec![":0"; 100].join(" "));
}
