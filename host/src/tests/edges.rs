//! Edges: what reaches them, what they state, and what becomes of their sessions.

use goblin_protocol::link::message::{DeliveryBy, Message};
use goblin_protocol::table::Kind;

use super::world::{World, config};

#[test]
fn each_edge_with_interest_gets_a_publication_once_and_every_subscription_counts() {
    let mut world = World::new();
    let (near, far) = (world.edge(), world.edge());
    let alice = world.subscriber("a");
    world.edge_states(near, Kind::Channel, "a", 2);
    world.edge_states(far, Kind::Channel, "a", 3);
    world.edge_states(far, Kind::Pattern, "a*", 4);
    world.edge_publishes(near, "a", DeliveryBy::Edge);
    world.edge_sees(near, "result #0 10");
    world.edge_sees(far, "a x");
    world.sees(alice, ">3 message a x");
    let bob = world.client();
    world.sends(bob, "PUBLISH a y");
    world.sees(bob, ":10");
    world.edge_sees(near, "a y");
    world.edge_sees(far, "a y");
}

#[test]
fn a_host_ordered_publication_goes_back_to_where_it_came_from() {
    let mut world = World::new();
    let edge = world.edge();
    world.edge_states(edge, Kind::Channel, "a", 2);
    world.edge_publishes(edge, "a", DeliveryBy::Host);
    world.edge_sees(edge, "a x\nresult #0 2");
}

#[test]
fn a_statement_of_all_interest_replaces_the_one_before_when_it_is_complete() {
    let mut world = World::new();
    let edge = world.edge();
    let bob = world.client();
    world.edge_states(edge, Kind::Channel, "old", 1);
    world.edge_states(edge, Kind::Channel, "kept", 1);
    world.edge_says(edge, &Message::InterestBegin { epoch: 2 });
    world.edge_states(edge, Kind::Channel, "kept", 5);
    world.sends(bob, "PUBSUB NUMSUB old kept");
    world.sees(bob, "*4 old :1 kept :5");
    world.edge_says(edge, &Message::InterestEnd { epoch: 2, token: 9 });
    world.edge_sees(edge, "confirmed #9");
    world.sends(bob, "PUBSUB NUMSUB old kept\nPUBSUB CHANNELS");
    world.sees(bob, "*4 old :0 kept :5 *1 kept");
}

#[test]
fn pubsub_answers_for_the_whole_system() {
    let mut world = World::new();
    let edge = world.edge();
    world.subscriber("a");
    let bob = world.client();
    world.edge_states(edge, Kind::Channel, "a", 2);
    world.edge_states(edge, Kind::Channel, "b", 1);
    world.edge_states(edge, Kind::Pattern, "p*", 1);
    world.sends(bob, "PUBSUB NUMSUB a b\nPUBSUB CHANNELS\nPUBSUB NUMPAT");
    world.sees(bob, "*4 a :3 b :1 *2 a b :1");
}

#[test]
fn every_client_behind_an_edge_has_its_own_transaction() {
    let mut world = World::new();
    let edge = world.edge();
    world.edge_opens(edge, 1, "default");
    world.edge_opens(edge, 2, "default");
    world.edge_passes(edge, 1, "MULTI\nSET k v\nSUBSCRIBE a");
    world.edge_passes(edge, 2, "GET k");
    world.edge_passes(edge, 1, "EXEC");
    world.edge_passes(edge, 2, "GET k");
    world.edge_passes(edge, 3, "GET k");
    world.edge_sees(
        edge,
        "1: +OK\n1: +QUEUED\n1: +QUEUED\n2: $-1\n1: *2 +OK +OK\n2: v\n\
         3: -UPSTREAM the host does not know this client any more",
    );
}

#[test]
fn a_publication_in_a_transaction_goes_back_before_the_reply() {
    let mut world = World::new();
    let edge = world.edge();
    world.edge_states(edge, Kind::Channel, "a", 2);
    world.edge_opens(edge, 1, "default");
    world.edge_passes(edge, 1, "MULTI\nPUBLISH a x\nEXEC");
    world.edge_sees(edge, "1: +OK\n1: +QUEUED\na x\n1: *1 :2");
}

#[test]
fn a_password_is_checked_for_the_client_behind_the_edge() {
    let mut config = config();
    config.password = Some("secret".into());
    let mut world = World::with(config);
    let edge = world.edge();
    world.edge_opens(edge, 1, "");
    world.edge_passes(edge, 1, "GET k\nAUTH wrong\nAUTH secret\nGET k");
    world.edge_sees(
        edge,
        "1: -NOAUTH Authentication required.\n\
         1: -WRONGPASS invalid username-password pair or user is disabled.\n1: +OK\n1: $-1",
    );
}

#[test]
fn a_session_goes_on_over_another_connection() {
    let mut world = World::new();
    let edge = world.edge();
    let bob = world.client();
    world.edge_states(edge, Kind::Channel, "a", 1);
    world.edge_breaks(edge);
    world.sends(bob, "PUBLISH a x");
    world.sees(bob, ":1");
    world.edge_sees(edge, "");
    world.edge_connects(edge);
    world.edge_sees(edge, "resumed\na x");
}

#[test]
fn a_connection_that_replaces_one_that_seems_alive_closes_it() {
    let mut world = World::new();
    let edge = world.edge();
    let before = world.connection_of(edge);
    world.edge_connects(edge);
    world.edge_sees(edge, "resumed");
    assert!(world.is_closed(before));
    assert!(world.edge_is_up(edge));
    assert_eq!(world.host.edge_count(), 1);
}

#[test]
fn a_connection_in_the_place_of_one_that_was_just_closed_is_not_taken_for_it() {
    let mut world = World::new();
    let edge = world.edge();
    let before = world.connection_of(edge);
    world.edge_talks_nonsense(edge);
    world.act();
    world.edge_connects_in_the_same_place(edge, before);
    world.edge_sees(edge, "resumed");
    assert!(world.edge_is_up(edge));
}

#[test]
fn an_edge_that_is_away_costs_its_window_and_no_more() {
    let mut config = config();
    config.link.window_bytes = 8 * 1024;
    let mut world = World::with(config);
    let edge = world.edge();
    let bob = world.client();
    world.edge_states(edge, Kind::Channel, "a", 1);
    world.edge_breaks(edge);
    let payload = "x".repeat(1_000);
    for _ in 0..20 {
        world.sends(bob, &format!("PUBLISH a {payload}"));
    }
    world.takes(bob);
    world.sends(bob, "PUBLISH a x");
    world.sees(bob, ":0");
}

#[test]
fn an_edge_that_does_not_keep_up_is_given_up_and_nobody_waits() {
    let mut config = config();
    config.link.window_bytes = 8 * 1024;
    config.link.backlog_bytes_max = 8 * 1024;
    let mut world = World::with(config);
    let edge = world.edge();
    let bob = world.client();
    world.edge_states(edge, Kind::Channel, "a", 1);
    world.edge_goes_deaf(edge);
    let payload = "x".repeat(1_000);
    for _ in 0..40 {
        world.sends(bob, &format!("PUBLISH a {payload}"));
    }
    assert!(!world.edge_is_up(edge));
    assert!(world.takes(bob).ends_with(":0"));
}

#[test]
fn a_session_that_does_not_come_back_is_over() {
    let mut world = World::new();
    let edge = world.edge();
    let bob = world.client();
    world.edge_states(edge, Kind::Channel, "a", 1);
    world.edge_breaks(edge);
    world.wait(61_000);
    world.sends(bob, "PUBLISH a x");
    world.sees(bob, ":0");
}

#[test]
fn a_reply_that_is_too_long_for_the_link_is_an_error_and_the_next_is_its_own() {
    let mut config = config();
    config.link.message_bytes_max = 4 * 1024;
    let mut world = World::with(config);
    let edge = world.edge();
    world.edge_opens(edge, 7, "default");
    let value = "x".repeat(3_000);
    world.edge_passes(edge, 7, &format!("SET k {value}\nMGET k k\nPING"));
    world.edge_sees(
        edge,
        "7: +OK\n7: -ERR the reply is too long for the link between edge and host\n7: +PONG",
    );
    assert!(world.edge_is_up(edge));
}

#[test]
fn what_an_edge_asks_for_while_it_does_not_read_waits_until_it_does() {
    let mut config = config();
    config.link.window_bytes = 8 * 1024;
    config.link.backlog_bytes_max = 8 * 1024;
    let mut world = World::with(config);
    let edge = world.edge();
    world.edge_opens(edge, 7, "default");
    let value = "x".repeat(3_000);
    world.edge_passes(edge, 7, &format!("SET k {value}"));
    world.edge_sees(edge, "7: +OK");
    world.edge_goes_deaf(edge);
    world.edge_passes(edge, 7, &["GET k"; 40].join("\n"));
    assert!(world.edge_is_up(edge));
    world.edge_listens_again(edge);
    let all = vec![format!("7: {value}"); 40].join("\n");
    world.edge_sees(edge, &all);
}
