//! P8: nobody is trusted by default, and rights are enforced here.

use goblin_protocol::link::message::Message;

use super::world::{TIMEOUT_MS, World, config};

#[test]
fn strangers_are_not_served_before_the_host_has_told_who_may_do_what() {
    let mut world = World::alone(config());
    let stranger = world.client_at("192.0.2.1:6379");
    world.sends(stranger, "PING");
    world.wait(900);
    world.sees_nothing(stranger);
    world.wait(200);
    world.sees(
        stranger,
        "-UPSTREAM the host has not been reached since this edge started",
    );
    assert!(world.is_closed(stranger));
}

#[test]
fn who_waits_for_the_first_link_is_served_by_the_rights_that_come_with_it() {
    let mut world = World::alone(config());
    world.users = vec![("default", "on ~* &* +@all")];
    let alice = world.client();
    world.sends(alice, "GET k");
    world.sees_nothing(alice);
    world.link_comes_up();
    world.sees(alice, "-NOAUTH Authentication required.");
    world.host_sees("begin\nend #1");
}

#[test]
fn an_address_that_is_not_loopback_is_served_with_a_password_only() {
    let mut world = World::new();
    let stranger = world.client_at("192.0.2.1:6379");
    assert!(world.takes(stranger).starts_with("-DENIED"));
    assert!(world.is_closed(stranger));

    let mut config = config();
    config.allow_unauthenticated = true;
    let mut world = World::with(config);
    let stranger = world.client_at("192.0.2.1:6379");
    world.sends(stranger, "PING");
    world.sees(stranger, "+PONG");
}

#[test]
fn a_revoked_channel_closes_those_who_hold_it() {
    let mut world = World::new();
    let alice = world.subscriber("a", 2);
    let bob = world.subscriber("b", 3);
    let waiting = world.client();
    world.sends(waiting, "SUBSCRIBE a2");
    let queued = world.client();
    world.sends(queued, "GET k");
    world.host_changes_user("default", "on nopass ~* resetchannels &b +@all");
    assert!(world.is_closed(alice));
    assert!(world.is_closed(waiting));
    assert!(!world.is_closed(bob));
    assert!(!world.is_closed(queued));
    world.sends(bob, "SUBSCRIBE a");
    assert!(world.takes(bob).starts_with("-NOPERM"));
}

#[test]
fn a_revoked_pattern_closes_those_who_hold_it() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "PSUBSCRIBE a*");
    world.host_confirms(2);
    world.host_changes_user("default", "on nopass ~* resetchannels &ab &a* +@all");
    assert!(!world.is_closed(alice));
    world.host_changes_user("default", "on nopass ~* resetchannels &ab +@all");
    assert!(world.is_closed(alice));
}

#[test]
fn a_subscription_queued_in_a_transaction_that_executes_is_seen_by_a_revocation() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "MULTI\nSUBSCRIBE a\nEXEC");
    for reply in ["+OK\r\n", "+QUEUED\r\n", "*1\r\n+OK\r\n"] {
        world.host_replies(alice, reply);
    }
    world.host_changes_user("default", "on nopass ~* resetchannels &b +@all");
    assert!(world.is_closed(alice));
}

#[test]
fn clients_of_a_user_that_is_deleted_are_closed_and_of_one_turned_off_stay() {
    let mut world = World::alone(config());
    world.users = vec![
        ("default", "on nopass ~* &* +@all"),
        ("bob", "on ~* &* +@all"),
        ("eve", "on ~* &* +@all"),
    ];
    world.link_comes_up();
    let (alice, bob, eve) = (world.client(), world.client(), world.client());
    world.sends(bob, "AUTH bob x");
    world.host_replies(bob, "+OK\r\n");
    world.sends(eve, "AUTH eve x");
    world.host_replies(eve, "+OK\r\n");
    world.host_says(&Message::RightsGone { user: b"bob" });
    world.host_changes_user("eve", "off ~* &* +@all");
    assert!(world.is_closed(bob));
    assert!(!world.is_closed(eve));
    assert!(!world.is_closed(alice));
}

#[test]
fn a_user_whose_rules_are_not_understood_may_do_nothing() {
    let mut world = World::new();
    let alice = world.subscriber("a", 2);
    let bob = world.client();
    world.host_changes_user("default", "on nopass +@nosuchcategory");
    assert!(world.is_closed(alice));
    world.sends(bob, "PUBLISH a x");
    assert!(world.takes(bob).starts_with("-NOPERM"));
}

#[test]
fn a_client_whose_password_the_host_may_have_accepted_unheard_is_closed() {
    let mut world = World::alone(config());
    world.users = vec![
        ("default", "on nopass ~* &* +@all"),
        ("bob", "on ~* &* +@all"),
    ];
    world.link_comes_up();
    let bob = world.client();
    world.sends(bob, "AUTH bob x");
    world.link_breaks();
    world.wait(TIMEOUT_MS);
    assert!(world.takes(bob).starts_with("-UPSTREAM"));
    assert!(world.is_closed(bob));
}
