//! What a publication reaches, how often, and what `PUBSUB` says about it.

use std::time::{Duration, Instant};

use goblin_end_to_end::{Client, Reply, Server, Target, on_every_server, on_the_pair};

on_the_pair!(
    a_pathological_pattern_costs_nothing,
    counts_are_those_of_the_whole_system
);
on_every_server!(
    a_connection_gets_one_message_for_each_subscription_that_matches,
    pubsub_counts_what_it_is_asked_about,
    shard_channels_are_a_space_of_their_own_and_never_move,
    names_and_payloads_are_any_bytes,
    one_of_many_patterns_matches,
);

fn a_connection_gets_one_message_for_each_subscription_that_matches(target: Target) {
    let server = Server::start(target);
    let mut subscriber = server.connect();
    subscriber.subscribe(&["news"]);
    subscriber.psubscribe(&["n*", "?ews"]);
    for mut publisher in [server.connect(), server.connect_elsewhere()] {
        assert_eq!(publisher.publish("news", "x"), 3);
        subscriber.expect_message("news", "x");
        let mut patterns = [(); 2].map(|()| {
            let message = subscriber.reply();
            let parts: Vec<_> = message.elements().iter().map(Reply::text).collect();
            assert_eq!(
                (&*parts[0], &*parts[2], &*parts[3]),
                ("pmessage", "news", "x")
            );
            parts[1].clone()
        });
        patterns.sort();
        assert_eq!(patterns, ["?ews", "n*"]);
        subscriber.expect_nothing_more();
    }
}

fn pubsub_counts_what_it_is_asked_about(target: Target) {
    let server = Server::start(target);
    let (mut one, mut two) = (server.connect(), server.connect_elsewhere());
    one.subscribe(&["a", "b"]);
    one.psubscribe(&["p*", "q*"]);
    two.subscribe(&["a"]);
    two.psubscribe(&["p*"]);
    for mut asking in [server.connect(), server.connect_elsewhere()] {
        asking.exchange(
            "PUBSUB NUMSUB a a nosuch b\r\n",
            "*8\r\n$1\r\na\r\n:2\r\n$1\r\na\r\n:2\r\n$6\r\nnosuch\r\n:0\r\n$1\r\nb\r\n:1\r\n",
        );
        asking.exchange("PUBSUB NUMSUB\r\n", "*0\r\n");
        // A pattern counts once, however many connections have it.
        asking.exchange("PUBSUB NUMPAT\r\n", ":2\r\n");
        asking.exchange("PUBSUB CHANNELS b*\r\n", "*1\r\n$1\r\nb\r\n");
        assert_eq!(names(&asking.call(&["PUBSUB", "CHANNELS"])), ["a", "b"]);
        asking.exchange(
            "PUBSUB SHARDCHANNELS\r\nPUBSUB SHARDNUMSUB\r\n",
            "*0\r\n*0\r\n",
        );
    }
    drop(one);
    let mut asking = server.connect();
    wait_until(
        &mut asking,
        "PUBSUB NUMSUB b\r\n",
        "*2\r\n$1\r\nb\r\n:0\r\n",
    );
    asking.exchange("PUBSUB NUMPAT\r\n", ":1\r\n");
    asking.exchange("PUBSUB CHANNELS\r\n", "*1\r\n$1\r\na\r\n");
}

fn shard_channels_are_a_space_of_their_own_and_never_move(target: Target) {
    let server = Server::start(target);
    let mut subscriber = server.connect();
    // Names of different hash slots in one command: a cluster would answer `MOVED` or `CROSSSLOT`.
    subscriber.send(&["SSUBSCRIBE", "a", "{b}c", "d"]);
    for (name, count) in [("a", 1), ("{b}c", 2), ("d", 3)] {
        let expected = [
            Reply::bulk("ssubscribe"),
            Reply::bulk(name),
            Reply::Integer(count),
        ];
        assert_eq!(subscriber.reply().elements(), expected);
    }
    for mut publisher in [server.connect(), server.connect_elsewhere()] {
        assert_eq!(publisher.publish("a", "not for shard channels"), 0);
        publisher.exchange("SPUBLISH a x\r\nSPUBLISH e x\r\n", ":1\r\n:0\r\n");
        subscriber.expect("*3\r\n$8\r\nsmessage\r\n$1\r\na\r\n$1\r\nx\r\n");
        publisher.exchange(
            "PUBSUB SHARDNUMSUB a nosuch\r\nPUBSUB SHARDCHANNELS a*\r\nPUBSUB CHANNELS\r\n",
            "*4\r\n$1\r\na\r\n:1\r\n$6\r\nnosuch\r\n:0\r\n*1\r\n$1\r\na\r\n*0\r\n",
        );
    }
    subscriber.exchange(
        "SUNSUBSCRIBE a\r\n",
        "*3\r\n$12\r\nsunsubscribe\r\n$1\r\na\r\n:2\r\n",
    );
    // What an edge says reaches the host in order: behind this the count is right elsewhere too.
    server.connect().exchange("GET nosuch\r\n", "$-1\r\n");
    server
        .connect_elsewhere()
        .exchange("SPUBLISH a x\r\nSPUBLISH d y\r\n", ":0\r\n:1\r\n");
    subscriber.expect("*3\r\n$8\r\nsmessage\r\n$1\r\nd\r\n$1\r\ny\r\n");
    subscriber.expect_nothing_more();
}

fn names_and_payloads_are_any_bytes(target: Target) {
    let server = Server::start(target);
    let mut publisher = server.connect_elsewhere();
    let large = vec![b'\n'; 300_000];
    let all_bytes: Vec<u8> = (0..=255).collect();
    for name in [&b""[..], b"\0", b"a\r\n:1\r\n", &all_bytes] {
        for payload in [&b""[..], b"\r\n", &all_bytes, &large] {
            let mut subscriber = server.connect();
            subscriber.subscribe(&[name]);
            let count = publisher.call(&[b"PUBLISH", name, payload]);
            assert_eq!(count, Reply::Integer(1));
            let message = subscriber.reply();
            assert_eq!(
                message.elements()[1..],
                [Reply::bulk(name), Reply::bulk(payload)]
            );
            subscriber.send(&["RESET"]);
            assert_eq!(subscriber.reply().text(), "RESET");
        }
    }
}

fn one_of_many_patterns_matches(target: Target) {
    let server = Server::start(target);
    let mut subscriber = server.connect();
    let patterns: Vec<_> = (0..8192)
        .map(|number| format!("prefix.{number}.*"))
        .collect();
    for some in patterns.chunks(512) {
        subscriber.psubscribe(some);
    }
    for mut publisher in [server.connect(), server.connect_elsewhere()] {
        assert_eq!(publisher.publish("prefix.8192.x", "x"), 0);
        assert_eq!(publisher.publish("prefix.4711.x", "x"), 1);
        let message = subscriber.reply();
        assert_eq!(message.elements()[1], Reply::bulk("prefix.4711.*"));
    }
}

/// Not on redis-server: whether it is quick is its own affair.
fn a_pathological_pattern_costs_nothing(target: Target) {
    let server = Server::start(target);
    let mut subscriber = server.connect();
    subscriber.psubscribe(&["a*a*a*a*a*a*a*a*a*a*b", "*?*?*?*?*?*?*?*?*?*?b"]);
    for mut publisher in [server.connect(), server.connect_elsewhere()] {
        let before = Instant::now();
        assert_eq!(publisher.publish(&"a".repeat(1 << 20), "x"), 0);
        // Exponential would be beyond the age of the universe; a debug build on a busy machine
        // has to be far below this.
        let took = before.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}");
    }
}

/// Redis would be one server; here there are three subscribers' places and three publishers'.
fn counts_are_those_of_the_whole_system(target: Target) {
    let server = Server::start(target);
    let mut subscribers = [
        server.connect(),
        server.connect(),
        server.connect_elsewhere(),
    ];
    for count in 1..=subscribers.len() {
        let (subscribed, _) = subscribers.split_at_mut(count);
        if let Some(newest) = subscribed.last_mut() {
            newest.subscribe(&["a"]);
        }
        for mut publisher in [server.connect(), server.connect_elsewhere()] {
            let expected = i64::try_from(count).unwrap_or_default();
            assert_eq!(publisher.publish("a", "x"), expected);
            // Before the next one subscribes, which may be earlier than this message is delivered to
            // where it is connected.
            for subscriber in &mut *subscribed {
                subscriber.expect_message("a", "x");
            }
        }
    }
    for mut subscriber in subscribers {
        subscriber.expect_nothing_more();
    }
}

/// Asks again until the answer is the right one: for what another connection's end brings about,
/// which no reply announces.
fn wait_until(client: &mut Client, question: &str, answer: &str) {
    let expected = Reply::parse(answer.as_bytes()).map(|(reply, _)| reply);
    let deadline = Instant::now() + goblin_end_to_end::DEADLINE;
    loop {
        client.send_bytes(question.as_bytes());
        let reply = client.reply();
        if Some(&reply) == expected.as_ref() {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "{question:?} still answers {reply:?}"
        );
    }
}

fn names(reply: &Reply) -> Vec<String> {
    let mut names: Vec<_> = reply.elements().iter().map(Reply::text).collect();
    names.sort();
    names
}
