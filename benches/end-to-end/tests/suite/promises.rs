//! What the pair promises beyond Redis while the link is up: nothing missed, nothing twice, order.
//!
//! Redis is one process, so most of this says nothing about it.

use std::thread;

use goblin_end_to_end::{
    Client, Edge, Options, Reply, Server, Target, on_every_server, on_the_pair,
};

on_every_server!(
    a_confirmed_subscription_misses_nothing,
    one_publisher_is_heard_in_order,
    who_is_told_of_a_change_sees_it,
    a_publication_in_a_transaction_is_delivered_at_exec,
);
on_the_pair!(ones_own_publication_is_heard_once);

fn a_confirmed_subscription_misses_nothing(target: Target) {
    let server = Server::start(target);
    let mut publishers = [server.connect(), server.connect_elsewhere()];
    let mut subscriber = server.connect();
    for round in 0..200 {
        let channel = format!("channel {}", round / 3);
        subscriber.subscribe(&[&channel]);
        for publisher in &mut publishers {
            assert_eq!(publisher.publish(&channel, "x"), 1);
            subscriber.expect_message(&channel, "x");
        }
        subscriber.send(&["UNSUBSCRIBE", &channel]);
        subscriber.reply();
        for publisher in &mut publishers {
            assert_eq!(publisher.publish(&channel, "x"), 0);
        }
    }
    subscriber.expect_nothing_more();
}

fn one_publisher_is_heard_in_order(target: Target) {
    const MESSAGES: usize = 3000;
    let server = Server::start(target);
    let mut subscribers = [
        server.connect(),
        server.connect(),
        server.connect_elsewhere(),
    ];
    subscribers[0].subscribe(&["a", "b"]);
    subscribers[1].psubscribe(&["*"]);
    subscribers[2].subscribe(&["b", "a"]);
    let mut publisher = server.connect();
    let pipeline: String = (0..MESSAGES)
        .map(|number| format!("PUBLISH {} {number}\r\n", ["a", "b"][number % 2]))
        .collect();
    thread::scope(|scope| {
        for subscriber in &mut subscribers {
            scope.spawn(move || assert_eq!(numbers(subscriber, MESSAGES), in_order(MESSAGES)));
        }
        publisher.send_bytes(pipeline.as_bytes());
        for _ in 0..MESSAGES {
            assert_eq!(publisher.reply(), Reply::Integer(3));
        }
    });
}

/// A pipelined `SET` and `PUBLISH`, and a subscriber that reads on the message.
fn who_is_told_of_a_change_sees_it(target: Target) {
    let server = Server::start(target);
    let mut subscriber = server.connect();
    subscriber.subscribe(&["changed"]);
    let mut reader = server.connect();
    for mut publisher in [server.connect(), server.connect_elsewhere()] {
        for number in 0..200 {
            publisher
                .send_bytes(format!("SET k {number}\r\nPUBLISH changed {number}\r\n").as_bytes());
            subscriber.expect_message("changed", number.to_string());
            assert_eq!(reader.call(&["GET", "k"]).text(), number.to_string());
            publisher.expect("+OK\r\n:1\r\n");
        }
    }
}

fn a_publication_in_a_transaction_is_delivered_at_exec(target: Target) {
    let server = Server::start(target);
    let mut subscribers = [server.connect(), server.connect_elsewhere()];
    for subscriber in &mut subscribers {
        subscriber.subscribe(&["a"]);
    }
    let mut publisher = server.connect();
    publisher.exchange(
        "MULTI\r\nPUBLISH a x\r\nSET k v\r\n",
        "+OK\r\n+QUEUED\r\n+QUEUED\r\n",
    );
    for subscriber in &mut subscribers {
        subscriber.expect_nothing_more();
    }
    publisher.exchange("EXEC\r\n", "*2\r\n:2\r\n+OK\r\n");
    for subscriber in &mut subscribers {
        subscriber.expect_message("a", "x");
        subscriber.expect_nothing_more();
    }
    publisher.exchange(
        "MULTI\r\nPUBLISH a y\r\nDISCARD\r\n",
        "+OK\r\n+QUEUED\r\n+OK\r\n",
    );
    for subscriber in &mut subscribers {
        subscriber.expect_nothing_more();
    }
}

/// On the host the reply comes first, as in Redis 7.2; through an edge the push may.
fn ones_own_publication_is_heard_once(target: Target) {
    let server = Server::start(target);
    let mut client = server.connect_resp3();
    client.subscribe(&["a"]);
    let push = Reply::Push(["message", "a", "x"].map(Reply::bulk).to_vec());
    client.send(&["PUBLISH", "a", "x"]);
    let both = [client.reply(), client.reply()];
    let reply_first = both == [Reply::Integer(1), push.clone()];
    let push_first = both == [push, Reply::Integer(1)];
    assert!(
        reply_first || (target == Target::Edge && push_first),
        "{both:?}"
    );
    client.expect_nothing_more();
}

/// Concurrent publishers everywhere; two subscribers of one edge hear one order of everything.
#[test]
fn subscribers_of_one_edge_hear_the_same_order() {
    let server = Server::start(Target::Edge);
    let mut subscribers = [server.connect(), server.connect()];
    subscribers[0].subscribe(&["a"]);
    subscribers[1].psubscribe(&["a*"]);
    let logs = concurrently(&server, &[], &mut subscribers, 2);
    assert_eq!(logs[0], logs[1]);
}

/// The host's order is one, so subscribers anywhere hear the same.
#[test]
fn a_host_ordered_channel_is_heard_in_one_order_everywhere() {
    let flags = ["--host-ordered", "a*"];
    let options = Options {
        edge: &flags,
        ..Options::default()
    };
    let server = Server::start_with(Target::Edge, options);
    let (Some(host), place) = (&server.host, &server.place) else {
        unreachable!("a pair was started");
    };
    let second = Edge::start(place, host, &flags);
    let mut subscribers = [
        server.connect(),
        server.connect_elsewhere(),
        Client::connect(&second.clients),
    ];
    for subscriber in &mut subscribers {
        subscriber.subscribe(&["a"]);
    }
    let logs = concurrently(&server, &[&second], &mut subscribers, 3);
    assert_eq!(logs[0], logs[1]);
    assert_eq!(logs[0], logs[2]);
}

/// Two edges that decide locally and one whose deliveries all come from the host: every subscription
/// gets every publication once.
#[test]
fn every_edge_and_the_host_share_one_space() {
    let server = Server::start(Target::Edge);
    let (Some(host), place) = (&server.host, &server.place) else {
        unreachable!("a pair was started");
    };
    let edges = [
        Edge::start(place, host, &[]),
        Edge::start(place, host, &["--delivery", "host"]),
    ];
    let everywhere = || {
        let mut clients = vec![server.connect(), server.connect_elsewhere()];
        clients.extend(edges.iter().map(|edge| Client::connect(&edge.clients)));
        clients
    };
    let mut subscribers = everywhere();
    for subscriber in &mut subscribers {
        subscriber.subscribe(&["a"]);
        subscriber.psubscribe(&["a*"]);
    }
    for (number, mut publisher) in everywhere().into_iter().enumerate() {
        assert_eq!(publisher.publish("a", number.to_string()), 8);
        publisher.exchange(
            "PUBSUB NUMSUB a\r\nPUBSUB NUMPAT\r\n",
            "*2\r\n$1\r\na\r\n:4\r\n:1\r\n",
        );
    }
    for subscriber in &mut subscribers {
        for number in 0..4 {
            subscriber.expect_message("a", number.to_string());
            assert_eq!(subscriber.reply().elements()[0], Reply::bulk("pmessage"));
        }
        subscriber.expect_nothing_more();
    }
}

/// The host stands still, and the subscriber on the edge has the message all the same.
#[test]
fn local_delivery_does_not_wait_for_the_host() {
    let server = Server::start(Target::Edge);
    let Some(host) = &server.host else {
        unreachable!("a pair was started");
    };
    let mut subscriber = server.connect();
    subscriber.subscribe(&["a"]);
    let mut publisher = server.connect();
    for number in 0..10 {
        host.process.pause();
        publisher.send(&["PUBLISH", "a", &number.to_string()]);
        subscriber.expect_message("a", number.to_string());
        host.process.resume();
        assert_eq!(publisher.reply(), Reply::Integer(1));
    }
}

/// Lets publishers on the edge, on the host and on `edges` publish at once, and returns what each
/// subscriber heard, after checking that it heard each publisher in order.
fn concurrently(
    server: &Server,
    edges: &[&Edge],
    subscribers: &mut [Client],
    publishers: usize,
) -> Vec<Vec<usize>> {
    const EACH: usize = 1000;
    let mut all = vec![server.connect(), server.connect_elsewhere()];
    all.extend(edges.iter().map(|edge| Client::connect(&edge.clients)));
    assert_eq!(all.len(), publishers);
    thread::scope(|scope| {
        for (index, mut publisher) in all.into_iter().enumerate() {
            scope.spawn(move || {
                for number in 0..EACH {
                    publisher.publish("a", (publishers * number + index).to_string());
                }
            });
        }
        let heard: Vec<_> = subscribers
            .iter_mut()
            .map(|subscriber| scope.spawn(move || numbers(subscriber, publishers * EACH)))
            .collect();
        let heard: Vec<_> = heard
            .into_iter()
            .map(|log| log.join().expect("the subscriber heard everything"))
            .collect();
        for (log, index) in heard
            .iter()
            .flat_map(|log| (0..publishers).map(move |i| (log, i)))
        {
            let of_one: Vec<_> = log
                .iter()
                .filter(|&number| number % publishers == index)
                .collect();
            assert!(of_one.is_sorted(), "one publisher's order");
        }
        heard
    })
}

/// The payloads of the next messages, as numbers.
fn numbers(subscriber: &mut Client, count: usize) -> Vec<usize> {
    (0..count)
        .map(|_| {
            let message = subscriber.reply();
            let payload = message.elements().last().map(Reply::text);
            payload
                .and_then(|payload| payload.parse().ok())
                .unwrap_or_else(|| panic!("no numbered message: {message:?}"))
        })
        .collect()
}

fn in_order(count: usize) -> Vec<usize> {
    (0..count).collect()
}
