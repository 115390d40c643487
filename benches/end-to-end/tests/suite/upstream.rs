//! The host is away, or was: nothing hangs, nothing is silently lost.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use goblin_end_to_end::{Address, Client, DEADLINE, Edge, Host, Place, Reply};

/// Nobody listens there: loopback refuses at once.
const NOBODY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);
/// Long enough to tell "at once" from "after the timeout", short enough to wait for.
const TIMEOUT: [&str; 2] = ["--upstream-timeout-ms", "300"];

fn edge(place: &Place, upstream: SocketAddr, arguments: &[&str]) -> Edge {
    let mut command = Edge::command(place, upstream);
    Edge::run(
        command
            .args(["--listen", "127.0.0.1:0"])
            .args(TIMEOUT)
            .args(arguments),
    )
}

/// A host on the port where an earlier one was.
fn host_again(place: &Place, edges: SocketAddr) -> Host {
    let edges = edges.to_string();
    Host::run(Host::command(place).args(["--listen", "127.0.0.1:0", "--edge-listen", &edges]))
}

#[track_caller]
fn expect_upstream_error(reply: &Reply) {
    let is_error = matches!(reply, Reply::Error(_)) && reply.text().starts_with("UPSTREAM ");
    assert!(is_error, "{reply:?}");
}

#[test]
fn an_edge_without_its_host_starts_says_so_once_and_rejects() {
    let place = Place::new();
    let edge = edge(&place, NOBODY, &[]);
    edge.process.log_line("127.0.0.1:1");
    let mut client = Client::connect(&edge.clients);
    client.exchange("PING\r\nECHO x\r\n", "+PONG\r\n$1\r\nx\r\n");
    for command in [
        "PUBLISH a x",
        "SET k v",
        "SUBSCRIBE a",
        "PSUBSCRIBE a*",
        "PUBSUB NUMPAT",
    ] {
        let before = Instant::now();
        client.send_bytes(format!("{command}\r\n").as_bytes());
        expect_upstream_error(&client.reply());
        assert!(
            before.elapsed() < DEADLINE / 2,
            "{command} took {:?}",
            before.elapsed()
        );
    }
    // Not subscribed: the connection is still in its ordinary mode.
    client.exchange("PING\r\n", "+PONG\r\n");
    let said = edge.process.log();
    let about_the_host = said
        .iter()
        .filter(|line| line.contains("127.0.0.1:1"))
        .count();
    assert_eq!(about_the_host, 1, "{said:?}");
}

#[test]
fn rejected_publications_are_delivered_to_nobody() {
    let place = Place::new();
    let mut host = Host::start(&place, &[]);
    let soon = ["--on-gap", "keep", "--link-resume-timeout-ms", "500"];
    let edge = edge(&place, host.edges, &soon);
    edge.wait_for_link();
    let mut subscriber = Client::connect(&edge.clients);
    subscriber.subscribe(&["a"]);
    let mut publisher = Client::connect(&edge.clients);
    assert_eq!(publisher.publish("a", "before"), 1);
    subscriber.expect_message("a", "before");
    host.process.kill();
    // The first may still have been on its way when the link broke; then it was delivered, and is
    // answered, with an error all the same, when the session cannot be resumed any more.
    expect_upstream_error(&publisher.call(&["PUBLISH", "a", "breaking"]));
    for _ in 0..3 {
        expect_upstream_error(&publisher.call(&["PUBLISH", "a", "while away"]));
    }
    host = host_again(&place, host.edges);
    publish_until_accepted(&mut publisher, "after");
    let mut next = subscriber.reply();
    if next.elements()[2] == Reply::bulk("breaking") {
        next = subscriber.reply();
    }
    assert_eq!(next.elements()[2], Reply::bulk("after"));
    subscriber.expect_nothing_more();
    drop(host);
}

#[test]
fn with_local_an_edge_alone_serves_its_own_clients() {
    let place = Place::new();
    let edge = edge(&place, NOBODY, &["--on-upstream-loss", "local"]);
    let mut subscriber = Client::connect(&edge.clients);
    subscriber.subscribe(&["a"]);
    subscriber.psubscribe(&["a*"]);
    let mut publisher = Client::connect(&edge.clients);
    assert_eq!(publisher.publish("a", "x"), 2);
    assert_eq!(publisher.publish("b", "x"), 0);
    subscriber.expect_message("a", "x");
    subscriber.reply();
    subscriber.expect_nothing_more();
    expect_upstream_error(&publisher.call(&["GET", "k"]));
}

#[test]
fn a_host_that_comes_later_is_found_and_told_of_every_subscription() {
    let place = Place::new();
    // A port that was free a moment ago.
    let edges = Host::start(&place, &[]).edges;
    let edge = edge(
        &place,
        edges,
        &["--on-upstream-loss", "local", "--on-gap", "keep"],
    );
    let mut subscriber = Client::connect(&edge.clients);
    subscriber.subscribe(&["a"]);
    let host = host_again(&place, edges);
    edge.wait_for_link();
    let mut direct = Client::connect(&host.clients);
    publish_until_heard(&mut direct, "a");
    assert_eq!(subscriber.reply().elements()[2], Reply::bulk("heard"));
}

#[test]
fn a_lost_session_closes_subscribers_and_nobody_else() {
    let place = Place::new();
    let mut host = Host::start(&place, &[]);
    let edge = edge(&place, host.edges, &[]);
    edge.wait_for_link();
    let mut subscribers = [(); 2].map(|()| Client::connect(&edge.clients));
    subscribers[0].subscribe(&["a"]);
    subscribers[1].psubscribe(&["a*"]);
    let mut other = Client::connect(&edge.clients);
    other.exchange("SET k v\r\n", "+OK\r\n");
    host.process.kill();
    let host = host_again(&place, host.edges);
    for subscriber in &mut subscribers {
        subscriber.expect_closed();
    }
    // The other one never noticed, beyond errors: and the new host has no data.
    publish_until_accepted(&mut other, "x");
    other.exchange("GET k\r\n", "$-1\r\n");
    let mut subscriber = Client::connect(&edge.clients);
    subscriber.subscribe(&["a"]);
    assert_eq!(Client::connect(&host.clients).publish("a", "y"), 1);
    subscriber.expect_message("a", "y");
}

#[test]
fn a_gap_that_is_kept_is_counted() {
    let place = Place::new();
    let mut host = Host::start(&place, &[]);
    let edge = edge(&place, host.edges, &["--on-gap", "keep"]);
    edge.wait_for_link();
    let mut subscriber = Client::connect(&edge.clients);
    subscriber.subscribe(&["a"]);
    host.process.kill();
    let host = host_again(&place, host.edges);
    publish_until_heard(&mut Client::connect(&host.clients), "a");
    assert_eq!(subscriber.reply().elements()[2], Reply::bulk("heard"));
    let info = Client::connect(&edge.clients)
        .call(&["INFO", "link"])
        .text();
    let gaps = info
        .lines()
        .find_map(|line| line.strip_prefix("link_gaps:"));
    assert_eq!(gaps, Some("1"), "{info}");
}

#[test]
fn an_edge_with_another_key_is_refused() {
    let (place, stranger) = (Place::new(), Place::new());
    let host = Host::start(&place, &[]);
    let edge = edge(&stranger, host.edges, &[]);
    let mut client = Client::connect(&edge.clients);
    expect_upstream_error(&client.call(&["PUBLISH", "a", "x"]));
    edge.process.log_line("authentic");
    host.process.log_line("authentic");
}

#[test]
fn a_killed_edge_takes_its_interest_with_it() {
    let place = Place::new();
    let host = Host::start(&place, &["--link-resume-timeout-ms", "500"]);
    let mut edge = edge(&place, host.edges, &[]);
    edge.wait_for_link();
    let mut subscriber = Client::connect(&edge.clients);
    subscriber.subscribe(&["a"]);
    let mut direct = Client::connect(&host.clients);
    assert_eq!(direct.publish("a", "x"), 1);
    edge.process.kill();
    let deadline = Instant::now() + DEADLINE;
    while direct.publish("a", "x") != 0 {
        assert!(Instant::now() < deadline, "the edge's interest stays");
    }
    direct.exchange("PUBSUB NUMSUB a\r\n", "*2\r\n$1\r\na\r\n:0\r\n");
}

/// A port on which something listens that never speaks: the edge gives up on it in time.
#[test]
fn a_silent_upstream_is_as_good_as_none() {
    let place = Place::new();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = silent.local_addr().expect("it has an address");
    let edge = edge(&place, address, &[]);
    let mut client = Client::connect(&edge.clients);
    let before = Instant::now();
    expect_upstream_error(&client.call(&["PUBLISH", "a", "x"]));
    let took = before.elapsed();
    assert!(
        took >= Duration::from_millis(250) && took < DEADLINE / 2,
        "{took:?}"
    );
    assert!(matches!(edge.clients, Address::Tcp(_)));
}

/// Publishes until the link is there again.
fn publish_until_accepted(publisher: &mut Client, payload: &str) {
    let deadline = Instant::now() + DEADLINE;
    while let reply @ Reply::Error(_) = publisher.call(&["PUBLISH", "a", payload]) {
        expect_upstream_error(&reply);
        assert!(Instant::now() < deadline, "the link stays away");
    }
}

/// Publishes on the host until an edge has announced its subscriber.
fn publish_until_heard(publisher: &mut Client, channel: &str) {
    let deadline = Instant::now() + DEADLINE;
    while publisher.publish(channel, "heard") == 0 {
        assert!(
            Instant::now() < deadline,
            "the edge's interest does not come"
        );
    }
}
