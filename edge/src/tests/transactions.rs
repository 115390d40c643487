//! Transactions: the host's, with the edge's own part in its place.

use super::world::World;

#[test]
fn the_edge_puts_its_own_replies_into_their_places() {
    let mut world = World::new();
    let alice = world.resp3_client();
    world.sends(alice, "MULTI\nSET k v\nSUBSCRIBE a\nCLIENT GETNAME\nEXEC");
    for reply in ["+OK\r\n", "+QUEUED\r\n", "+QUEUED\r\n", "+QUEUED\r\n"] {
        world.host_replies(alice, reply);
    }
    world.sees(alice, "+OK +QUEUED +QUEUED +QUEUED");
    world.host_sees(
        "open 1 default\n1: MULTI\n1: SET k v\n1: SUBSCRIBE a\n1: CLIENT GETNAME\n1: EXEC",
    );
    world.host_replies(alice, "*3\r\n+OK\r\n+OK\r\n+OK\r\n");
    world.host_sees("a=1 #2");
    world.sees_nothing(alice);
    world.host_confirms(2);
    world.sees(alice, "*3 +OK >3 subscribe a :1 _");
}

#[test]
fn what_the_host_refuses_at_exec_the_edge_does_not_execute() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "MULTI\nSUBSCRIBE a\nEXEC");
    world.host_replies(alice, "+OK\r\n");
    world.host_replies(alice, "+QUEUED\r\n");
    world.takes(alice);
    world.host_replies(alice, "*1\r\n-NOPERM no\r\n");
    world.sees(alice, "*1 -NOPERM no");
    world.host_delivers("a", "x");
    world.sees_nothing(alice);
}

#[test]
fn nothing_of_a_discarded_transaction_is_executed() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "MULTI\nSUBSCRIBE a\nNOSUCH\nEXEC");
    for reply in ["+OK\r\n", "+QUEUED\r\n", "-ERR unknown\r\n"] {
        world.host_replies(alice, reply);
    }
    world.host_replies(alice, "-EXECABORT no\r\n");
    world.sees(alice, "+OK +QUEUED -ERR unknown -EXECABORT no");
    world.sends(alice, "PING");
    world.sees(alice, "+PONG");
}

#[test]
fn a_transaction_that_the_edge_refused_a_command_of_is_aborted() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "MULTI\nSET k v\nAUTH secret\nEXEC\nPING");
    for reply in ["+OK\r\n", "+QUEUED\r\n", "+OK\r\n"] {
        world.host_replies(alice, reply);
    }
    world.host_sees("open 1 default\n1: MULTI\n1: SET k v\n1: DISCARD");
    world.sees(
        alice,
        "+OK +QUEUED -ERR Command not allowed inside a transaction \
         -EXECABORT Transaction discarded because of previous errors. +PONG",
    );
}

#[test]
fn a_transaction_that_lost_a_command_to_the_timeout_is_aborted() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "MULTI\nSET k v");
    world.host_replies(alice, "+OK\r\n");
    world.host_replies(alice, "+QUEUED\r\n");
    world.link_breaks();
    world.sends(alice, "SET l w");
    world.wait(1_100);
    world.sees(alice, "+OK +QUEUED -UPSTREAM the host cannot be reached");
    world.link_comes_up();
    world.sends(alice, "EXEC");
    world.host_replies(alice, "+OK\r\n");
    world.sees(
        alice,
        "-EXECABORT Transaction discarded because of previous errors.",
    );
    world.host_sees("open 1 default\n1: MULTI\n1: SET k v\n1: DISCARD");
}

#[test]
fn a_session_lost_inside_a_transaction_closes_the_client() {
    let mut world = World::new();
    let (alice, bob) = (world.client(), world.client());
    world.sends(alice, "MULTI\nSET k v");
    world.host_replies(alice, "+OK\r\n");
    world.host_restarts();
    world.link_comes_up();
    assert!(world.is_closed(alice));
    assert!(!world.is_closed(bob));
}

#[test]
fn a_transaction_whose_end_cannot_reach_the_host_ends_with_its_client() {
    for end in ["EXEC", "DISCARD"] {
        let mut world = World::new();
        let alice = world.client();
        world.sends(alice, "MULTI");
        world.host_replies(alice, "+OK\r\n");
        world.link_breaks();
        world.sends(alice, &format!("{end}\nSET k v"));
        world.wait(1_100);
        world.sees(alice, "+OK -UPSTREAM the host cannot be reached");
        assert!(world.is_closed(alice));
        world.link_comes_up();
        world.host_sees("open 1 default\n1: MULTI\nclose 1");
    }
}

#[test]
fn resetting_leaves_a_transaction() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "MULTI\nRESET\nGET k");
    world.host_replies(alice, "+OK\r\n");
    world.sees(alice, "+OK +RESET");
    world.host_sees("open 1 default\n1: MULTI\nclose 1\nopen 1 default\n1: GET k");
}
