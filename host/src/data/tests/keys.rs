//! Whole keys.

use super::*;

#[test]
fn a_key_takes_its_value_and_expiry_along() {
    check(&[
        ("SET a 1 PXAT 2000000", "+OK"),
        ("SET b 2", "+OK"),
        ("RENAME a b", "+OK"),
        ("EXISTS a", ":0"),
        ("GET b", "$1 1"),
        ("PEXPIRETIME b", ":2000000"),
        ("RENAME a b", "-ERR no such key"),
        ("RENAME b b", "+OK"),
        ("RENAMENX b b", ":0"),
        ("RENAMENX a b", "-ERR no such key"),
        ("RENAMENX b c", ":1"),
        ("HSET h f v", ":1"),
        ("RENAME h c", "+OK"),
        ("TTL c", ":-1"),
        ("HGET c f", "$1 v"),
    ]);
}

#[test]
fn a_copy_is_another_value() {
    check(&[
        ("HSET a f 1", ":1"),
        ("PEXPIREAT a 2000000", ":1"),
        ("COPY a b", ":1"),
        ("HSET b f 2", ":0"),
        ("HGET a f", "$1 1"),
        ("PEXPIRETIME b", ":2000000"),
        ("COPY a b", ":0"),
        ("COPY a b REPLACE DB 0", ":1"),
        ("HGET b f", "$1 1"),
        ("COPY none b REPLACE", ":0"),
        (
            "COPY a a",
            "-ERR source and destination objects are the same",
        ),
        ("COPY a b DB 1", "-ERR DB index is out of range"),
        ("COPY a b DB", SYNTAX),
        ("UNLINK a b none", ":2"),
        ("TOUCH a b", ":0"),
        ("RANDOMKEY", "$-1"),
    ]);
}

#[test]
fn a_renamed_key_is_changed_for_whoever_watches_either_name() {
    let mut client = Client::new(Version::Resp2);
    client.run("SET a 1");
    let now = client.now;
    let stamps = ["a", "b"].map(|key| client.store.watch(key.as_bytes(), now));
    client.run("RENAME a b");
    let after = ["a", "b"].map(|key| client.store.stamp(key.as_bytes(), now));
    assert!(
        after
            .iter()
            .zip(stamps)
            .all(|(after, before)| *after != Some(before))
    );
}

#[test]
fn scanning_answers_every_key_that_matches() {
    let mut client = Client::new(Version::Resp2);
    for key in 0..1_000 {
        client.run(&format!("SET key:{key} 1"));
    }
    client.run("HSET key:hash f v");
    let (mut cursor, mut found) = ("0".to_owned(), std::collections::HashSet::new());
    loop {
        let reply = client.run(&format!("SCAN {cursor} COUNT 50 MATCH key:* TYPE string"));
        let mut words = reply.split(' ').skip(2).map(str::to_owned);
        cursor = words.next().unwrap_or_default();
        found.extend(words.filter(|word| word.starts_with("key:")));
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(found.len(), 1_000);
    client.check(&[
        ("SCAN x", "-ERR invalid cursor"),
        ("SCAN 0 COUNT 0", SYNTAX),
        ("SCAN 0 COUNT x", NOT_AN_INTEGER),
        ("SCAN 0 FOO 1", SYNTAX),
        ("HSCAN key:hash 0 TYPE hash", SYNTAX),
        ("HSCAN key:hash 0 COUNT 1", "*2 $1 0 *2 $1 f $1 v"),
        ("HSCAN none 0 FOO", "*2 $1 0 *0"),
        ("HSCAN key:1 0", WRONG_TYPE),
    ]);
}

#[test]
fn values_are_called_what_redis_calls_them() {
    check(&[
        ("SET n 12", "+OK"),
        ("OBJECT ENCODING n", "$3 int"),
        ("OBJECT REFCOUNT n", ":2147483647"),
        ("APPEND n 3", ":3"),
        ("OBJECT ENCODING n", "$3 raw"),
        ("OBJECT REFCOUNT n", ":1"),
        ("SET n abc", "+OK"),
        ("OBJECT ENCODING n", "$6 embstr"),
        ("RENAME n m", "+OK"),
        ("SETRANGE m 0 x", ":3"),
        ("EXPIRE m 10", ":1"),
        ("OBJECT ENCODING m", "$3 raw"),
        ("HSET h f v", ":1"),
        ("OBJECT ENCODING h", "$8 listpack"),
        ("ZADD z 1 m", ":1"),
        ("OBJECT ENCODING z", "$8 listpack"),
        ("OBJECT ENCODING none", "$-1"),
        ("OBJECT IDLETIME h", ":0"),
    ]);
}
