//! What bad input gets: Redis's words, to the byte.

use goblin_end_to_end::{Reply, Server, Target, on_every_server};

on_every_server!(
    a_malformed_frame_is_named_and_the_connection_closed,
    an_http_request_is_closed_without_a_word,
    what_only_looks_malformed_is_served,
    a_command_that_is_wrong_is_told_so,
    a_value_of_the_wrong_kind_is_told_so,
);

fn a_malformed_frame_is_named_and_the_connection_closed(target: Target) {
    let too_long = "1".repeat(64 * 1024 + 1);
    let inline = "a".repeat(64 * 1024 + 1);
    let rows = [
        ("*1\r\nX\r\n", "expected '$', got 'X'"),
        ("*1\r\n:4\r\n", "expected '$', got ':'"),
        ("*1\r\n$-5\r\n", "invalid bulk length"),
        ("*1\r\n$abc\r\n", "invalid bulk length"),
        ("*1\r\n$\r\n", "invalid bulk length"),
        ("*1\r\n$4 \r\n", "invalid bulk length"),
        ("*1\r\n$536870913\r\n", "invalid bulk length"),
        ("*abc\r\n", "invalid multibulk length"),
        ("*\r\n", "invalid multibulk length"),
        ("* 1\r\n", "invalid multibulk length"),
        ("*+1\r\n", "invalid multibulk length"),
        ("*01\r\n", "invalid multibulk length"),
        ("*2147483648\r\n", "invalid multibulk length"),
        ("GET \"abc\r\n", "unbalanced quotes in request"),
        ("GET 'abc\r\n", "unbalanced quotes in request"),
        ("GET \"abc\"d\r\n", "unbalanced quotes in request"),
    ];
    // These are refused before their line ends.
    let endless = [
        (&*inline, "too big inline request"),
        (&*format!("*{too_long}"), "too big mbulk count string"),
        (&*format!("*1\r\n${too_long}"), "too big bulk count string"),
    ];
    let rows = rows.map(|(sent, refused)| (format!("{sent}PING\r\n"), refused));
    let endless = endless.map(|(sent, refused)| (sent.to_owned(), refused));
    let server = Server::start(target);
    for (sent, refused) in rows.iter().chain(&endless) {
        let mut client = server.connect();
        // What was right before is answered; nothing after is parsed.
        client.send_bytes(format!("PING\r\n{sent}").as_bytes());
        client.expect(format!("+PONG\r\n-ERR Protocol error: {refused}\r\n"));
        client.expect_closed();
    }
}

fn an_http_request_is_closed_without_a_word(target: Target) {
    let server = Server::start(target);
    for sent in [
        "POST / HTTP/1.1\r\n\r\n",
        "post / HTTP/1.1\r\nPING\r\n",
        "Host: example\r\nPING\r\n",
    ] {
        let mut client = server.connect();
        client.send_bytes(sent.as_bytes());
        client.expect_closed();
    }
}

fn what_only_looks_malformed_is_served(target: Target) {
    let server = Server::start(target);
    for sent in [
        "*-1\r\n*0\r\n*-2\r\nPING\r\n",
        "\r\n\r\n   \r\nPING\r\n",
        "PING\n",
        "  PING  \r\n",
        "*1\r\n$4\r\nPINGxx",
        "'pi\"n'g\r\n",
        "\"P\\x49NG\"\r\n",
    ] {
        let mut client = server.connect();
        let expected = match sent {
            "'pi\"n'g\r\n" => "-ERR Protocol error: unbalanced quotes in request\r\n",
            _ => "+PONG\r\n",
        };
        client.exchange(sent, expected);
    }
    let long = "a".repeat(60_000);
    let shown = "a".repeat(128);
    // An inline request may be long; it is shown shortened.
    server.connect().exchange(
        format!("{long}\r\nPING\r\n"),
        format!("-ERR unknown command '{shown}', with args beginning with: \r\n+PONG\r\n"),
    );
}

fn a_command_that_is_wrong_is_told_so(target: Target) {
    let rows = [
        (
            "NOSUCH a b c",
            "ERR unknown command 'NOSUCH', with args beginning with: 'a' 'b' 'c' ",
        ),
        (
            "nosuch",
            "ERR unknown command 'nosuch', with args beginning with: ",
        ),
        ("GET", "ERR wrong number of arguments for 'get' command"),
        ("gEt a b", "ERR wrong number of arguments for 'get' command"),
        (
            "PING a b",
            "ERR wrong number of arguments for 'ping' command",
        ),
        ("ECHO", "ERR wrong number of arguments for 'echo' command"),
        (
            "SUBSCRIBE",
            "ERR wrong number of arguments for 'subscribe' command",
        ),
        (
            "PSUBSCRIBE",
            "ERR wrong number of arguments for 'psubscribe' command",
        ),
        (
            "SSUBSCRIBE",
            "ERR wrong number of arguments for 'ssubscribe' command",
        ),
        (
            "PUBLISH a",
            "ERR wrong number of arguments for 'publish' command",
        ),
        (
            "SPUBLISH a b c",
            "ERR wrong number of arguments for 'spublish' command",
        ),
        (
            "CLIENT",
            "ERR wrong number of arguments for 'client' command",
        ),
        (
            "CLIENT NOSUCH",
            "ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP.",
        ),
        (
            "CLIENT REPLY",
            "ERR wrong number of arguments for 'client|reply' command",
        ),
        ("CLIENT REPLY FOO", "ERR syntax error"),
        (
            "CLIENT KILL ID abc",
            "ERR client-id should be greater than 0",
        ),
        ("CLIENT KILL 1.2.3.4:5", "ERR No such client"),
        (
            "CLIENT SETNAME \"a b\"",
            "ERR Client names cannot contain spaces, newlines or special characters.",
        ),
        (
            "PUBSUB",
            "ERR wrong number of arguments for 'pubsub' command",
        ),
        (
            "PUBSUB NOSUCH",
            "ERR unknown subcommand 'NOSUCH'. Try PUBSUB HELP.",
        ),
        (
            "PUBSUB NUMPAT x",
            "ERR wrong number of arguments for 'pubsub|numpat' command",
        ),
        (
            "COMMAND NOSUCH",
            "ERR unknown subcommand 'NOSUCH'. Try COMMAND HELP.",
        ),
        (
            "CONFIG GET",
            "ERR wrong number of arguments for 'config|get' command",
        ),
        (
            "CONFIG SET nosuch 1",
            "ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'",
        ),
        ("SET k", "ERR wrong number of arguments for 'set' command"),
        ("SET k v EX", "ERR syntax error"),
        (
            "SET k v EX abc",
            "ERR value is not an integer or out of range",
        ),
        ("SET k v EX 0", "ERR invalid expire time in 'set' command"),
        ("SET k v NX XX", "ERR syntax error"),
        ("SET k v FOO", "ERR syntax error"),
        ("SELECT abc", "ERR value is not an integer or out of range"),
        ("SELECT 99", "ERR DB index is out of range"),
        (
            "EXPIRE k abc",
            "ERR value is not an integer or out of range",
        ),
        ("TTL", "ERR wrong number of arguments for 'ttl' command"),
        (
            "DBSIZE x",
            "ERR wrong number of arguments for 'dbsize' command",
        ),
        ("FLUSHALL FOO", "ERR syntax error"),
        ("EXEC", "ERR EXEC without MULTI"),
        ("DISCARD", "ERR DISCARD without MULTI"),
        (
            "MULTI x",
            "ERR wrong number of arguments for 'multi' command",
        ),
        (
            "RESET a",
            "ERR wrong number of arguments for 'reset' command",
        ),
        (
            "HSET h a",
            "ERR wrong number of arguments for 'hset' command",
        ),
        (
            "HSET h a b c",
            "ERR wrong number of arguments for 'hset' command",
        ),
        ("ZADD z", "ERR wrong number of arguments for 'zadd' command"),
        ("ZADD z abc a", "ERR value is not a valid float"),
        (
            "ZADD z NX XX 1 a",
            "ERR XX and NX options at the same time are not compatible",
        ),
        (
            "ZADD z INCR 1 a 2 b",
            "ERR INCR option supports a single increment-element pair",
        ),
        (
            "AUTH x",
            "ERR AUTH <password> called without any password configured for the default user. Are \
             you sure your configuration is correct?",
        ),
        ("AUTH a b c", "ERR syntax error"),
        (
            "AUTH a b",
            "WRONGPASS invalid username-password pair or user is disabled.",
        ),
    ];
    compare(target, &[], &rows);
}

fn a_value_of_the_wrong_kind_is_told_so(target: Target) {
    const KIND: &str = "WRONGTYPE Operation against a key holding the wrong kind of value";
    const INTEGER: &str = "ERR value is not an integer or out of range";
    let setup = [
        "SET s abc",
        "HSET h a b",
        "ZADD z 1 a",
        "SET n 9223372036854775807",
    ];
    let rows = [
        ("INCR s", INTEGER),
        ("INCRBY n abc", INTEGER),
        ("DECRBY n 1.5", INTEGER),
        ("INCR n", "ERR increment or decrement would overflow"),
        ("INCRBYFLOAT s 1", "ERR value is not a valid float"),
        ("HSET s a b", KIND),
        ("ZADD s 1 a", KIND),
        ("GET h", KIND),
        ("INCR h", KIND),
        ("HGET z a", KIND),
        ("ZSCORE h a", KIND),
        (
            "EXPIRE n 9223372036854775807",
            "ERR invalid expire time in 'expire' command",
        ),
    ];
    compare(target, &setup, &rows);
}

/// Runs every row, so that one run shows everything that differs.
fn compare(target: Target, setup: &[&str], rows: &[(&str, &str)]) {
    let server = Server::start(target);
    let mut client = server.connect();
    for command in setup {
        client.send_bytes(format!("{command}\r\n").as_bytes());
        client.reply();
    }
    let mut different = Vec::new();
    for (command, expected) in rows {
        client.send_bytes(format!("{command}\r\n").as_bytes());
        let reply = client.reply();
        if reply != Reply::Error(expected.as_bytes().to_vec()) {
            different.push(format!("{command}: {reply:?}\n    instead of -{expected}"));
        }
    }
    client.expect_nothing_more();
    assert!(different.is_empty(), "\n{}", different.join("\n"));
}
