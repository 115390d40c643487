//! Clients that are connected to the host itself.

use goblin_protocol::service::Core;
use goblin_protocol::session::Environment;

use super::world::{World, config};

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

#[test]
fn a_transaction_that_queues_more_than_a_request_may_take_closes_its_client() {
    let mut config = config();
    config.clients.query_bytes_max = 10_000;
    let mut world = World::with(config);
    let bob = world.client();
    world.sends(bob, "MULTI");
    let value = "x".repeat(3_000);
    for _ in 0..4 {
        world.sends(bob, &format!("SET k {value}"));
    }
    assert!(
        world
            .takes(bob)
            .ends_with("-ERR the transaction exceeds client-query-buffer-limit")
    );
    assert!(world.is_closed(bob));
}

#[test]
fn a_client_that_kills_itself_in_a_transaction_is_closed_behind_the_reply() {
    let mut world = World::new();
    let bob = world.client();
    world.sends(bob, "MULTI\nCLIENT KILL SKIPME no ID 1\nPING\nEXEC");
    world.sees(bob, "+OK +QUEUED +QUEUED *2 :1 +PONG");
    assert!(world.is_closed(bob));
}
