//! Programs and libraries that speak Redis: redis-cli, redis-benchmark, and the `redis` crate.

use std::fs::File;
use std::process::{Command, Stdio};

use goblin_end_to_end::{DEADLINE, Process, Server, Target, on_the_pair};
use redis::Commands;

// Those that start with `redis_7` need what Redis's programs can do since Redis 7.
on_the_pair!(
    redis_cli_runs_commands,
    redis_cli_subscribes,
    redis_7_cli_subscribes_to_shard_channels,
    redis_cli_pipes,
    redis_benchmark_finds_its_way,
    redis_7_benchmark_speaks_resp3_and_publishes_to_shards,
    the_redis_crate_subscribes_and_publishes,
    the_redis_crate_pipelines_and_runs_transactions,
);

/// `redis-cli` or another of Redis's programs, aimed at the tested server.
fn aimed(program: &str, server: &Server) -> Command {
    let mut command = Command::new(program);
    command.args(["-p", &server.address().port().to_string()]);
    command
}

#[track_caller]
fn output(command: &mut Command) -> String {
    let output = command.output().expect("it is installed");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {text}{error}");
    text
}

fn redis_cli_runs_commands(target: Target) {
    let server = Server::start(target);
    for (arguments, expected) in [
        (&["PING"][..], "PONG"),
        (&["-3", "PING"], "PONG"),
        (&["SET", "k", "a b"], "OK"),
        (&["GET", "k"], "a b"),
        (&["-3", "HSET", "h", "f", "v"], "1"),
        (&["-3", "HGETALL", "h"], "f v"),
        (&["PUBLISH", "a", "x"], "0"),
        (&["PUBSUB", "NUMPAT"], "0"),
        (
            &["NOSUCH"],
            "ERR unknown command 'NOSUCH', with args beginning with:",
        ),
    ] {
        // How it breaks lines depends on its version.
        let said = output(aimed("redis-cli", &server).args(arguments));
        let words: Vec<_> = said.split_whitespace().collect();
        assert_eq!(words.join(" "), expected, "{arguments:?}");
    }
}

fn redis_cli_subscribes(target: Target) {
    let server = Server::start(target);
    hears(&server, &["SUBSCRIBE"], "PUBLISH");
    hears(&server, &["-3", "PSUBSCRIBE"], "PUBLISH");
}

fn redis_7_cli_subscribes_to_shard_channels(target: Target) {
    let server = Server::start(target);
    hears(&server, &["SSUBSCRIBE"], "SPUBLISH");
}

/// A redis-cli that subscribes prints what is published elsewhere.
#[track_caller]
fn hears(server: &Server, subscribe: &[&str], publish: &str) {
    let aimed = aimed("redis-cli", server);
    // It flushes line by line only to a terminal or when told to.
    let mut command = Command::new("stdbuf");
    command.arg("-oL").arg(aimed.get_program());
    command.args(aimed.get_args()).args(subscribe).arg("news");
    let subscriber = Process::start("redis-cli", &command);
    let printed = |what: &str| {
        subscriber.output_line(what, |line| line.contains(what).then_some(()));
    };
    printed("subscribe");
    for message in ["first", "second"] {
        let mut publisher = server.connect_elsewhere();
        assert_eq!(publisher.call(&[publish, "news", message]).integer(), 1);
        printed(message);
    }
}

fn redis_cli_pipes(target: Target) {
    let server = Server::start(target);
    let commands: String = (0..10_000)
        .map(|number| format!("SET k{number} {number}\r\n"))
        .collect();
    let file = server.place.write("commands", commands.as_bytes());
    let file = File::open(file).expect("just written");
    let mut command = aimed("redis-cli", &server);
    let said = output(command.arg("--pipe").stdin(Stdio::from(file)));
    assert!(said.contains("errors: 0, replies: 10000"), "{said}");
    assert_eq!(server.connect().call(&["DBSIZE"]).integer(), 10_000);
}

fn redis_benchmark_finds_its_way(target: Target) {
    let server = Server::start(target);
    let all = ["-t", "ping,set,get,incr,hset,zadd,mset", "-c", "20"];
    measures(&server, &all);
    measures(&server, &["-t", "ping,set,get", "-P", "16", "-c", "10"]);
}

fn redis_7_benchmark_speaks_resp3_and_publishes_to_shards(target: Target) {
    let server = Server::start(target);
    measures(&server, &["-3", "-c", "10", "publish", "news", "x"]);
    measures(&server, &["-P", "16", "-c", "10", "spublish", "news", "x"]);
}

/// redis-benchmark ends well and reports rates.
#[track_caller]
fn measures(server: &Server, arguments: &[&str]) {
    let mut command = aimed("redis-benchmark", server);
    let said = output(command.args(["-n", "2000", "--csv"]).args(arguments));
    let rows = said.lines().skip(1).count();
    assert!(rows >= 1 && !said.contains("rror"), "{said}");
}

fn client(server: &Server, protocol: &str) -> redis::Client {
    let port = server.address().port();
    redis::Client::open(format!("redis://127.0.0.1:{port}/?protocol={protocol}"))
        .expect("an address of a server")
}

fn the_redis_crate_subscribes_and_publishes(target: Target) {
    let server = Server::start(target);
    for protocol in ["resp2", "resp3"] {
        let client = client(&server, protocol);
        let mut connection = client
            .get_connection_with_timeout(DEADLINE)
            .expect("connected");
        let mut publisher = client
            .get_connection_with_timeout(DEADLINE)
            .expect("connected");
        let mut subscriber = connection.as_pubsub();
        subscriber
            .set_read_timeout(Some(DEADLINE))
            .expect("a timeout");
        subscriber.subscribe(&["a", "b"]).expect("subscribed");
        subscriber.psubscribe("n*").expect("subscribed");
        for (channel, pattern) in [("a", None), ("news", Some("n*")), ("b", None)] {
            let count: i64 = publisher.publish(channel, "x").expect("published");
            assert_eq!(count, 1);
            let message = subscriber.get_message().expect("a message");
            assert_eq!(message.get_channel_name(), channel);
            assert_eq!(message.get_payload_bytes(), b"x");
            let matched: Option<String> = message.get_pattern().expect("a pattern or none");
            assert_eq!(matched.as_deref(), pattern);
        }
        subscriber.unsubscribe("a").expect("unsubscribed");
        subscriber.punsubscribe("n*").expect("unsubscribed");
        for (channel, expected) in [("a", 0), ("news", 0), ("b", 1)] {
            let count: i64 = publisher.publish(channel, "y").expect("published");
            assert_eq!(count, expected);
        }
        let message = subscriber.get_message().expect("a message");
        assert_eq!(message.get_channel_name(), "b");
        drop(subscriber);
        let echoed: String = redis::cmd("PING")
            .query(&mut connection)
            .expect("usable again");
        assert_eq!(echoed, "PONG");
    }
}

fn the_redis_crate_pipelines_and_runs_transactions(target: Target) {
    let server = Server::start(target);
    for protocol in ["resp2", "resp3"] {
        let client = client(&server, protocol);
        let mut connection = client
            .get_connection_with_timeout(DEADLINE)
            .expect("connected");
        let mut subscriber = server.connect();
        subscriber.subscribe(&["news"]);
        let (value, count): (i64, i64) = redis::pipe()
            .set("k", 41)
            .ignore()
            .incr("k", 1)
            .publish("news", "in a pipeline")
            .query(&mut connection)
            .expect("a pipeline");
        assert_eq!((value, count), (42, 1));
        subscriber.expect_message("news", "in a pipeline");
        let (value, count): (i64, i64) = redis::pipe()
            .atomic()
            .incr("k", 1)
            .publish("news", "in a transaction")
            .query(&mut connection)
            .expect("a transaction");
        assert_eq!((value, count), (43, 1));
        subscriber.expect_message("news", "in a transaction");
    }
}
