//! Clients that are connected to the host itself.

use goblin_protocol::service::Core;
use goblin_protocol::session::Environment;

use super::world::World;

#[test]
fn a_clients_own_publication_follows_the_reply() {
    let mut world = World::new();
    let alice = world.subscriber("a");
    world.sends(alice, "PUBLISH a x");
    world.sees(alice, ":1 >3 message a x");
    world.sends(alice, "MULTI\nPUBLISH a y\nPING\nEXEC");
    world.sees(alice, "+OK +QUEUED +QUEUED *2 :1 +PONG >3 message a y");
}

#[test]
fn what_is_published_while_a_client_waits_for_info_reaches_it_and_nobody_else() {
    let mut world = World::new();
    world.host.set_environment(Environment::default());
    world.settle();
    let (alice, bob) = (world.subscriber("a"), world.client());
    let edge = world.edge();
    world.sends(alice, "INFO memory");
    world.edge_publishes(edge, "a", goblin_protocol::link::message::DeliveryBy::Edge);
    world.sends(bob, "PING");
    world.sees(bob, "+PONG");
    world.sees(alice, ">3 message a x");
}

#[test]
fn losing_the_right_to_a_channel_closes_its_subscribers() {
    let mut world = World::new();
    let (alice, bob) = (world.subscriber("a"), world.subscriber("b"));
    let edge = world.edge();
    world.sends(bob, "ACL SETUSER default resetchannels &b");
    world.sees(bob, "+OK");
    assert!(world.is_closed(alice));
    assert!(!world.is_closed(bob));
    world.edge_sees(edge, "rights default on nopass ~* resetchannels &b +@all");
}

#[test]
fn draining_answers_closes_and_says_goodbye() {
    let mut world = World::new();
    let alice = world.client();
    let edge = world.edge();
    world.host.drain(world.now());
    world.settle();
    assert!(world.is_closed(alice));
    world.edge_sees(edge, "goodbye");
    let late = world.client();
    assert!(world.is_closed(late));
}
