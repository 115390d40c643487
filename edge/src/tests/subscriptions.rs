//! P3: a confirmed subscription misses nothing.

use super::world::{World, config};
use crate::OnUpstreamLoss;

#[test]
fn a_subscription_is_confirmed_when_the_host_has_confirmed_the_interest() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "SUBSCRIBE a");
    world.host_sees("a=1 #2");
    world.sees_nothing(alice);
    world.host_confirms(2);
    world.sees(alice, "*3 subscribe a :1");
    world.host_delivers("a", "x");
    world.sees(alice, "*3 message a x");
}

#[test]
fn a_name_that_the_edge_has_is_confirmed_at_once() {
    let mut world = World::new();
    world.subscriber("a", 2);
    let bob = world.client();
    world.sends(bob, "SUBSCRIBE a");
    world.sees(bob, "*3 subscribe a :1");
    world.host_sees("a=2");
}

#[test]
fn several_clients_wait_for_one_name() {
    let mut world = World::new();
    let (alice, bob) = (world.client(), world.client());
    world.sends(alice, "SUBSCRIBE a");
    world.sends(bob, "SUBSCRIBE a");
    world.host_sees("a=1 #2\na=2 #3");
    world.host_confirms(2);
    world.sees(alice, "*3 subscribe a :1");
    world.sees_nothing(bob);
    world.host_confirms(3);
    world.sees(bob, "*3 subscribe a :1");
}

#[test]
fn held_and_new_names_of_one_command_are_confirmed_together() {
    let mut world = World::new();
    world.subscriber("a", 2);
    let bob = world.client();
    world.sends(bob, "SUBSCRIBE a b");
    world.host_sees("a=2\nb=1 #3");
    world.sees_nothing(bob);
    world.host_confirms(3);
    world.sees(bob, "*3 subscribe a :1 *3 subscribe b :2");
}

#[test]
fn a_name_given_twice_counts_once() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "SUBSCRIBE a a");
    world.host_sees("a=1 #2\na=2 #3");
    world.host_confirms(3);
    world.sees(alice, "*3 subscribe a :1 *3 subscribe a :1");
    world.host_sees("a=1");
    world.host_delivers("a", "x");
    world.sees(alice, "*3 message a x");
}

#[test]
fn interest_is_withdrawn_with_the_subscription() {
    let mut world = World::new();
    let alice = world.subscriber("a", 2);
    let bob = world.client();
    world.sends(bob, "SUBSCRIBE a");
    world.sends(alice, "UNSUBSCRIBE a");
    world.sees(alice, "*3 unsubscribe a :0");
    world.leaves(bob);
    world.host_sees("a=2\na=1\na=0");
}

#[test]
fn a_publication_waits_for_its_clients_own_subscription() {
    let mut world = World::new();
    let alice = world.resp3_client();
    world.sends(alice, "SUBSCRIBE a\nPUBLISH a x");
    world.host_sees("a=1 #2");
    world.host_confirms(2);
    world.host_sees("publish #0 a x delivered 1");
    world.sees(alice, ">3 subscribe a :1 >3 message a x");
    world.host_answers(0, 1);
    world.sees(alice, ":1");
}

#[test]
fn unsubscribing_from_nothing_is_answered() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "UNSUBSCRIBE\nUNSUBSCRIBE a\nPUNSUBSCRIBE");
    world.sees(
        alice,
        "*3 unsubscribe $-1 :0 *3 unsubscribe a :0 *3 punsubscribe $-1 :0",
    );
    world.host_sees("");
}

#[test]
fn channels_and_patterns_each_deliver_once() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "SUBSCRIBE news\nPSUBSCRIBE n* *s");
    world.host_sees("news=1 #2\npattern n*=1 #3\npattern *s=1 #4");
    world.host_confirms(4);
    world.takes(alice);
    world.host_delivers("news", "x");
    let mut seen = world.takes(alice);
    for part in [
        "*3 message news x",
        "*4 pmessage n* news x",
        "*4 pmessage *s news x",
    ] {
        assert!(seen.contains(part), "{seen}");
        seen = seen.replacen(part, "", 1);
    }
    assert_eq!(seen.trim(), "");
}

#[test]
fn subscriptions_wait_for_the_link_and_are_then_refused() {
    let mut world = World::new();
    let alice = world.client();
    world.link_breaks();
    world.sends(alice, "SUBSCRIBE a");
    world.wait(900);
    world.sees_nothing(alice);
    world.wait(200);
    world.sees(alice, "-UPSTREAM the host cannot be reached");
    world.link_comes_up();
    world.host_sees("");
}

#[test]
fn a_subscription_on_its_way_is_refused_when_the_link_stays_down() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "SUBSCRIBE a");
    world.link_breaks();
    world.wait(1_100);
    world.sees(
        alice,
        "-UPSTREAM the host did not confirm the subscription in time",
    );
    world.link_comes_up();
    world.host_sees("a=1 #2\na=0");
    world.host_confirms(2);
    world.host_delivers("a", "x");
    world.sees_nothing(alice);
}

#[test]
fn alone_subscriptions_are_confirmed_here_and_only_the_host_makes_them_known_everywhere() {
    let mut config = config();
    config.on_upstream_loss = OnUpstreamLoss::Local;
    let mut world = World::with(config);
    world.link_breaks();
    let (alice, bob) = (world.client(), world.client());
    world.sends(alice, "SUBSCRIBE a");
    world.sees(alice, "*3 subscribe a :1");
    world.link_comes_up();
    world.sends(bob, "SUBSCRIBE a");
    world.sees_nothing(bob);
    world.host_sees("begin\na=1\nend #2\na=2 #3");
    world.host_confirms(3);
    world.sees(bob, "*3 subscribe a :1");
}

#[test]
fn a_subscription_confirmed_alone_while_its_interest_was_on_its_way_is_not_held_yet() {
    let mut config = config();
    config.on_upstream_loss = OnUpstreamLoss::Local;
    let mut world = World::with(config);
    let (alice, bob) = (world.client(), world.client());
    world.host_is_deaf = true;
    world.sends(alice, "SUBSCRIBE a");
    world.link_breaks();
    world.host_is_deaf = false;
    world.wait(1_100);
    world.sees(alice, "*3 subscribe a :1");
    world.link_comes_up();
    world.sends(bob, "SUBSCRIBE a");
    world.sees_nothing(bob);
}
