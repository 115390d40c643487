//! P4: replies come in the order of the commands.

use goblin_protocol::service::{Core, Service};

use super::world::{World, config};

#[test]
fn a_pipeline_is_answered_in_order_whoever_answers() {
    for version in [2, 3] {
        let mut world = World::new();
        let alice = world.client();
        world.sends(alice, &format!("HELLO {version}"));
        world.takes(alice);
        world.sends(
            alice,
            "PING\nGET k\nPING 1\nPUBLISH a x\nSUBSCRIBE b\nPING 2",
        );
        world.host_sees("open 1 default\n1: GET k\npublish #0 a x delivered 0\nb=1 #2");
        world.sees(alice, "+PONG");
        world.host_confirms(2);
        world.sees_nothing(alice);
        world.host_replies(alice, "+v\r\n");
        world.sees(alice, "+v 1");
        world.host_answers(0, 3);
        let end = if version == 2 {
            ":3 *3 subscribe b :1 *2 pong 2"
        } else {
            ":3 >3 subscribe b :1 2"
        };
        world.sees(alice, end);
    }
}

#[test]
fn a_resp2_subscriber_may_do_little_else() {
    let mut world = World::new();
    let alice = world.subscriber("a", 2);
    world.sends(alice, "GET k");
    assert!(
        world
            .takes(alice)
            .starts_with("-ERR Can't execute 'get': only")
    );
    world.sends(alice, "PING\nUNSUBSCRIBE\nPING");
    world.sees(alice, "*2 pong  *3 unsubscribe a :0 +PONG");
}

#[test]
fn what_changes_the_conversation_waits_for_the_replies_before_it() {
    let mut world = World::new();
    let alice = world.client();
    for (command, answer) in [
        ("RESET", "+RESET"),
        ("HELLO 2 SETNAME me", "*14 server redis"),
    ] {
        world.sends(alice, &format!("GET k\n{command}\nPING"));
        world.sees_nothing(alice);
        world.host_replies(alice, "+v\r\n");
        let seen = world.takes(alice);
        assert!(seen.starts_with(&format!("+v {answer}")), "{seen}");
        assert!(seen.ends_with(" +PONG"), "{seen}");
    }
}

#[test]
fn quitting_waits_for_what_is_owed() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "GET k\nQUIT\nSET never executed");
    world.host_sees("open 1 default\n1: GET k");
    assert!(!world.is_closed(alice));
    world.host_replies(alice, "+v\r\n");
    world.sees(alice, "+v +OK");
    assert!(world.is_closed(alice));
    world.host_sees("close 1");
}

#[test]
fn muted_replies_are_awaited_and_not_sent() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(
        alice,
        "GET 1\nCLIENT REPLY SKIP\nGET 2\nGET 3\nCLIENT REPLY OFF\nGET 4\nPUBLISH a x\nCLIENT REPLY ON",
    );
    for reply in ["+1\r\n", "+2\r\n", "+3\r\n", "+4\r\n"] {
        world.host_replies(alice, reply);
    }
    world.host_answers(0, 9);
    world.sees(alice, "+1 +3 +OK");
}

#[test]
fn a_password_is_checked_by_the_host_before_anything_else_runs() {
    let mut world = World::alone(config());
    world.users = vec![("default", "on ~* &* +@all"), ("bob", "on ~* &b +@all")];
    world.link_comes_up();
    world.host_sees("begin\nend #1");
    world.host_confirms(1);
    let bob = world.client();
    world.sends(bob, "GET k\nAUTH bob secret\nSUBSCRIBE a\nSUBSCRIBE b");
    world.host_sees("open 1 \n1: AUTH bob secret");
    world.sees(bob, "-NOAUTH Authentication required.");
    world.host_replies(bob, "+OK\r\n");
    world.host_sees("b=1 #2");
    world.host_confirms(2);
    let seen = world.takes(bob);
    assert!(seen.starts_with("+OK -NOPERM"), "{seen}");
    assert!(seen.ends_with("*3 subscribe b :1"), "{seen}");

    let eve = world.client();
    world.sends(eve, "HELLO 3 AUTH bob wrong\nPING");
    world.host_replies(eve, "-WRONGPASS no\r\n");
    world.sees(eve, "-WRONGPASS no -NOAUTH Authentication required.");
    world.sends(eve, "HELLO 3 AUTH bob secret SETNAME eve");
    world.host_replies(eve, "+OK\r\n");
    assert!(world.takes(eve).starts_with("%7 server redis"));
}

#[test]
fn info_is_the_edges_with_the_hosts_keyspace_while_the_link_is_up() {
    let mut world = World::new();
    let alice = world.client();
    world.sends(alice, "INFO\nPING");
    world.host_sees("open 1 default\n1: INFO keyspace");
    world.host_replies(alice, "$10\r\n# Keyspace\r\n");
    let seen = world.takes(alice);
    assert!(seen.contains("goblin_role:edge"), "{seen}");
    assert!(seen.ends_with("# Keyspace +PONG"), "{seen}");
    world.link_breaks();
    world.sends(alice, "INFO");
    assert!(world.takes(alice).contains("link_up:0"));
}

#[test]
fn a_malformed_request_is_told_and_ends_the_connection() {
    let mut world = World::new();
    let alice = world.client();
    world.sends_bytes(alice, b"GET k\r\n*x\r\nSET k v\r\n");
    world.host_sees("open 1 default\n1: GET k");
    world.host_replies(alice, "+v\r\n");
    world.sees(alice, "+v -ERR Protocol error: invalid multibulk length");
    assert!(world.is_closed(alice));
}

#[test]
fn draining_gives_clients_what_they_are_owed_and_takes_nobody_new() {
    let mut world = World::new();
    let (alice, bob) = (world.client(), world.client());
    world.sends(alice, "GET k");
    world.edge.drain(world.now());
    world.settle();
    assert!(world.is_closed(bob));
    assert!(!world.is_closed(alice));
    let late = world.client();
    assert!(world.is_closed(late));
    world.host_replies(alice, "+v\r\n");
    world.sees(alice, "+v");
    assert!(world.is_closed(alice));
    world.settle();
    assert!(world.edge.is_drained() || world.edge.next_deadline().is_some());
}
