//! Rights to channels, and what happens to subscribers that lose them.

use goblin_end_to_end::{Client, Reply, Server, Target, on_every_server};

on_every_server!(
    a_revoked_channel_closes_that_users_subscribers_alone,
    a_deleted_user_is_closed,
    rights_hold_for_channels_patterns_and_publications,
);

fn a_revoked_channel_closes_that_users_subscribers_alone(target: Target) {
    let server = Server::start(target);
    let mut admin = server.connect_elsewhere();
    user(&mut admin, "alice", "allchannels");
    user(&mut admin, "bob", "allchannels");
    let mut revoked = [log_in(&server, "alice"), log_in(&server, "alice")];
    revoked[0].subscribe(&["b", "a"]);
    revoked[1].psubscribe(&["*"]);
    let mut kept = log_in(&server, "alice");
    kept.subscribe(&["b"]);
    let mut silent = log_in(&server, "alice");
    let mut others = [log_in(&server, "bob"), server.connect()];
    for other in &mut others {
        other.subscribe(&["a"]);
    }
    // Behind the subscriptions that the edge confirmed without asking, so that the host counts them.
    server.connect().exchange("GET nosuch\r\n", "$-1\r\n");
    assert_eq!(admin.publish("a", "before"), 4);
    for client in &mut revoked {
        assert_eq!(
            client.reply().elements().last(),
            Some(&Reply::bulk("before"))
        );
    }
    admin.exchange("ACL SETUSER alice resetchannels &b\r\n", "+OK\r\n");
    for client in &mut revoked {
        client.expect_closed();
    }
    refused(&mut silent, "SUBSCRIBE a");
    silent.subscribe(&["b"]);
    let mut publisher = server.connect();
    assert_eq!(publisher.publish("b", "x"), 2);
    kept.expect_message("b", "x");
    assert_eq!(publisher.publish("a", "after"), 2);
    for other in &mut others {
        other.expect_message("a", "before");
        other.expect_message("a", "after");
    }
}

fn a_deleted_user_is_closed(target: Target) {
    let server = Server::start(target);
    let mut admin = server.connect_elsewhere();
    user(&mut admin, "alice", "allchannels");
    let (mut subscriber, mut silent) = (log_in(&server, "alice"), log_in(&server, "alice"));
    subscriber.subscribe(&["a"]);
    let mut other = server.connect();
    other.subscribe(&["a"]);
    admin.exchange("ACL DELUSER alice\r\n", ":1\r\n");
    subscriber.expect_closed();
    silent.expect_closed();
    assert_eq!(server.connect().publish("a", "x"), 1);
    other.expect_message("a", "x");
}

fn rights_hold_for_channels_patterns_and_publications(target: Target) {
    let server = Server::start(target);
    let mut admin = server.connect_elsewhere();
    user(&mut admin, "alice", "resetchannels &news.* -get");
    let mut client = log_in(&server, "alice");
    for command in [
        "SUBSCRIBE sports",
        "SUBSCRIBE news.a sports",
        "PSUBSCRIBE *",
        // A pattern has to be one of those granted, to the letter.
        "PSUBSCRIBE news.a*",
        "SSUBSCRIBE sports",
        "PUBLISH sports x",
        "SPUBLISH sports x",
        "GET k",
    ] {
        refused(&mut client, command);
    }
    client.exchange("PUBLISH news.a x\r\nSET k v\r\n", ":0\r\n+OK\r\n");
    client.subscribe(&["news.a"]);
    client.psubscribe(&["news.*"]);
    server.connect().exchange("GET nosuch\r\n", "$-1\r\n");
    assert_eq!(admin.publish("news.a", "x"), 2);
    client.expect_message("news.a", "x");
}

/// A user with a password that is its name, all commands and keys, and what `channels` says.
fn user(admin: &mut Client, name: &str, channels: &str) {
    let rules = format!("ACL SETUSER {name} on >{name} +@all ~* {channels}\r\n");
    admin.exchange(rules, "+OK\r\n");
}

fn log_in(server: &Server, name: &str) -> Client {
    let mut client = server.connect();
    client.exchange(format!("AUTH {name} {name}\r\n"), "+OK\r\n");
    client
}

#[track_caller]
fn refused(client: &mut Client, command: &str) {
    client.send_bytes(format!("{command}\r\n").as_bytes());
    let reply = client.reply();
    let is_refusal = matches!(reply, Reply::Error(_)) && reply.text().starts_with("NOPERM ");
    assert!(is_refusal, "{command}: {reply:?}");
}
