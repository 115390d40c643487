//! P5 and P6: resume, loss, and a host that is down.

use super::world::{World, config};
use crate::{OnGap, OnUpstreamLoss};

#[test]
fn a_broken_link_loses_nothing_and_repeats_nothing() {
    let mut world = World::new();
    let alice = world.subscriber("a", 2);
    let bob = world.client();
    world.host_is_deaf = true;
    world.sends(bob, "PUBLISH a x\nGET k");
    world.link_breaks();
    world.host_is_deaf = false;
    world.link_comes_up();
    world.host_sees("publish #0 a x delivered 1\nopen 2 default\n2: GET k");
    world.link_breaks();
    world.link_comes_up();
    world.host_sees("");
    world.host_answers(0, 1);
    world.host_replies(bob, "+v\r\n");
    world.sees(bob, ":1 +v");
    world.sees(alice, "*3 message a x");
    assert!(!world.is_closed(alice));
}

#[test]
fn a_lost_session_is_told_to_everybody_whom_it_concerns() {
    let mut world = World::new();
    let alice = world.subscriber("a", 2);
    let (bob, carol, dave) = (world.client(), world.client(), world.client());
    world.sends(bob, "PUBLISH a x\nGET k\nPING");
    world.sends(carol, "SUBSCRIBE b");
    world.host_restarts();
    world.host_sees("publish #0 a x delivered 1\nopen 2 default\n2: GET k\nb=1 #3");
    world.link_comes_up();
    world.sees(
        bob,
        "-UPSTREAM delivered to 1 here, unknown elsewhere: the link lost it \
         -UPSTREAM the host was lost before it answered; the outcome is unknown +PONG",
    );
    assert!(world.is_closed(alice));
    assert!(!world.is_closed(bob));
    assert!(!world.is_closed(dave));
    assert_eq!(world.edge.statistics().gaps, 1);
    assert_eq!(world.edge.statistics().publications_lost, 1);
    world.host_sees("begin\nb=1\nend #4");
    world.sees_nothing(carol);
    world.host_confirms(4);
    world.sees(carol, "*3 subscribe b :1");
    world.sends(bob, "PUBLISH b y");
    world.host_sees("publish #1 b y delivered 1");
    world.host_answers(1, 1);
    world.sees(bob, ":1");
}

#[test]
fn subscribers_may_be_kept_and_their_interest_is_stated_anew() {
    let mut config = config();
    config.on_gap = OnGap::Keep;
    let mut world = World::with(config);
    let alice = world.subscriber("a", 2);
    world.host_restarts();
    world.link_comes_up();
    assert!(!world.is_closed(alice));
    assert_eq!(world.edge.statistics().gaps, 1);
    world.host_sees("begin\na=1\nend #3");
    let bob = world.client();
    world.sends(bob, "SUBSCRIBE a");
    world.host_sees("a=2 #4");
    world.host_confirms(3);
    world.sees_nothing(bob);
    world.host_confirms(4);
    world.sees(bob, "*3 subscribe a :1");
}

#[test]
fn interest_that_changes_while_the_link_is_down_is_stated_at_the_resume() {
    let mut world = World::new();
    let alice = world.subscriber("a", 2);
    world.link_breaks();
    world.leaves(alice);
    world.link_comes_up();
    world.host_sees("a=0");
}

#[test]
fn more_changes_than_are_remembered_state_everything_anew() {
    let mut world = World::new();
    let alice = world.client();
    let bob = world.subscriber("kept", 2);
    let names: Vec<String> = (0..70_000).map(|number| number.to_string()).collect();
    for some in names.chunks(5_000) {
        world.sends(alice, &format!("SUBSCRIBE {}", some.join(" ")));
    }
    world.host_confirms(70_002);
    assert!(world.takes(alice).ends_with(":70000"));
    world.link_breaks();
    world.leaves(alice);
    world.link_comes_up();
    world.sees_nothing(bob);
    world.host_sees_at_the_end("begin\nkept=1\nend #70003");
}

#[test]
fn commands_wait_for_the_link_and_are_then_answered_with_an_error() {
    let mut world = World::new();
    let alice = world.subscriber("a", 2);
    world.link_breaks();
    for command in ["GET k", "PUBLISH a x", "MULTI", "AUTH x", "NOSUCH"] {
        let bob = world.client();
        world.sends(bob, &format!("{command}\nPING"));
        world.wait(900);
        world.sees_nothing(bob);
        world.wait(200);
        world.sees(bob, "-UPSTREAM the host cannot be reached +PONG");
    }
    world.sees_nothing(alice);
    world.link_comes_up();
    world.host_sees("");
}

#[test]
fn alone_publications_reach_the_clients_here_and_stay_here() {
    let mut config = config();
    config.on_upstream_loss = OnUpstreamLoss::Local;
    let mut world = World::with(config);
    let alice = world.subscriber("a", 2);
    let bob = world.client();
    world.link_breaks();
    world.sends(bob, "PUBLISH a x");
    world.sees(bob, ":1");
    world.sees(alice, "*3 message a x");
    world.link_comes_up();
    world.host_sees("");
    assert_eq!(world.edge.statistics().publications_kept_local, 1);
}

#[test]
fn a_command_on_its_way_is_given_up_and_its_late_reply_dropped() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "GET k");
    world.link_breaks();
    world.wait(1_100);
    world.sees(
        alice,
        "-UPSTREAM the host was lost before it answered; the outcome is unknown",
    );
    world.link_comes_up();
    world.sends(alice, "GET l");
    world.host_sees("open 1 default\n1: GET k\n1: GET l");
    world.host_replies(alice, "+late\r\n");
    world.sees_nothing(alice);
    world.host_replies(alice, "+l\r\n");
    world.sees(alice, "+l");
}

#[test]
fn a_publication_on_its_way_waits_for_the_resume() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "PUBLISH a x\nGET k");
    world.link_breaks();
    world.wait(5_000);
    world.sees_nothing(alice);
    world.link_comes_up();
    world.host_answers(0, 2);
    world.host_replies(alice, "+v\r\n");
    world.sees(alice, ":2 +v");
}

#[test]
fn a_session_that_cannot_be_resumed_in_time_is_lost() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "PUBLISH a x");
    world.link_breaks();
    world.wait(61_000);
    world.sees(
        alice,
        "-UPSTREAM delivered to 0 here, unknown elsewhere: the link lost it",
    );
}
