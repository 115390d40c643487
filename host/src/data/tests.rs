//! Commands and what they must answer, as found with redis-server where it has the command in that
//! form, and after Redis 7.2's documentation where it has not.
//!
//! Commands are written as inline requests, replies on one line with blanks for line ends.

mod bits;
mod fields;
mod keys;
mod lists;
mod sets;
mod sorted_sets;
mod texts;

use goblin_protocol::command;
use goblin_protocol::resp::{Inbox, RequestLimits, Spans, Version, Writer};
use goblin_protocol::table::HashSeed;
use goblin_protocol::time::{Now, Time};

use super::execute;
use crate::store::Store;

struct Client {
    store: Store,
    now: Now,
    version: Version,
}

impl Client {
    fn new(version: Version) -> Self {
        let mut client = Self {
            store: Store::new(HashSeed([1, 2, 3, 4])),
            now: Now::default(),
            version,
        };
        client.set_clock(1_000_000);
        client
    }

    fn set_clock(&mut self, unix_ms: u64) {
        self.now = Now {
            monotonic: Time::from_nanos(unix_ms * 1_000_000),
            unix_us: unix_ms * 1_000,
        };
    }

    fn run(&mut self, line: &str) -> String {
        let request = format!("{line}\r\n");
        let (mut inbox, mut spans) = (Inbox::default(), Spans::default());
        let mut feed = inbox.open(request.as_bytes(), &mut spans);
        let arguments = feed.next(&RequestLimits::default());
        let arguments = arguments.expect("a request").expect("a whole one");
        let (command, _) = command::resolve(arguments).expect("a command");
        let mut reply = Vec::new();
        let mut writer = Writer::new(&mut reply, self.version);
        execute(command, arguments, &mut self.store, self.now, &mut writer);
        let reply = String::from_utf8(reply).expect("readable");
        reply.trim_end().replace("\r\n", " ")
    }

    fn check(&mut self, dialogue: &[(&str, &str)]) {
        for (line, expected) in dialogue {
            assert_eq!(self.run(line), *expected, "{line}");
        }
    }
}

fn check(dialogue: &[(&str, &str)]) {
    Client::new(Version::Resp2).check(dialogue);
}

fn check_resp3(dialogue: &[(&str, &str)]) {
    Client::new(Version::Resp3).check(dialogue);
}

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value";
const SYNTAX: &str = "-ERR syntax error";
const NOT_AN_INTEGER: &str = "-ERR value is not an integer or out of range";
const NOT_A_FLOAT: &str = "-ERR value is not a valid float";
const OVERFLOW: &str = "-ERR increment or decrement would overflow";

#[test]
fn set_obeys_its_conditions() {
    check(&[
        ("SET k 1 XX", "$-1"),
        ("SET k 1 NX", "+OK"),
        ("SET k 2 nx", "$-1"),
        ("SET k 2 NX GET", "$1 1"),
        ("SET k 3 XX GET", "$1 1"),
        ("GET k", "$1 3"),
        ("SET other 1 XX GET", "$-1"),
        ("EXISTS other k k", ":2"),
        ("SET k 1 NX XX", SYNTAX),
        ("SET k 1 NX NX", "$-1"),
        ("SET k 1 EX", SYNTAX),
        ("SET k 1 KEEPTTL EX 1", SYNTAX),
        ("SET k 1 EX 1 KEEPTTL", SYNTAX),
        ("SET k 1 EX 1 PX 1", SYNTAX),
        ("SET k 1 EX 1 EX 2", "+OK"),
        ("TTL k", ":2"),
        ("HSET h f v", ":1"),
        ("SET h v GET", WRONG_TYPE),
        ("SET h v XX", "+OK"),
        ("TYPE h", "+string"),
    ]);
}

#[test]
fn set_refuses_expiries_that_are_not_ahead() {
    let invalid = "-ERR invalid expire time in 'set' command";
    check(&[
        ("SET k v EX 0", invalid),
        ("SET k v PX -1", invalid),
        ("SET k v EX 9223372036854775807", invalid),
        ("SET k v EX 9223372036854775", invalid),
        ("SET k v PX 9223372036854775807", invalid),
        ("SET k v EX 1x", NOT_AN_INTEGER),
        ("SETEX k 0 v", "-ERR invalid expire time in 'setex' command"),
        (
            "PSETEX k -5 v",
            "-ERR invalid expire time in 'psetex' command",
        ),
        ("SETEX k x v", NOT_AN_INTEGER),
        ("EXISTS k", ":0"),
        ("SET k v EXAT 1", "+OK"),
        ("EXISTS k", ":0"),
        ("SET k v PXAT 9223372036854775807", "+OK"),
        ("PEXPIRETIME k", ":9223372036854775807"),
    ]);
}

#[test]
fn expiries_are_answered_rounded_and_kept_where_redis_keeps_them() {
    check(&[
        ("SET k 1 PX 1500", "+OK"),
        ("PTTL k", ":1500"),
        ("TTL k", ":2"),
        ("EXPIRETIME k", ":1002"),
        ("PEXPIRETIME k", ":1001500"),
        ("INCR k", ":2"),
        ("APPEND k 0", ":2"),
        ("PTTL k", ":1500"),
        ("SET k 1 KEEPTTL", "+OK"),
        ("PTTL k", ":1500"),
        ("PERSIST k", ":1"),
        ("PERSIST k", ":0"),
        ("TTL k", ":-1"),
        ("TTL absent", ":-2"),
        ("SETEX k 7 v", "+OK"),
        ("TTL k", ":7"),
        ("GETSET k w", "$1 v"),
        ("TTL k", ":-1"),
    ]);
}

#[test]
fn expire_obeys_its_conditions() {
    check(&[
        ("EXPIRE k 10", ":0"),
        ("SET k v", "+OK"),
        ("EXPIRE k 10 XX", ":0"),
        ("EXPIRE k 10 GT", ":0"),
        ("EXPIRE k 10 LT", ":1"),
        ("EXPIRE k 20 NX", ":0"),
        ("EXPIRE k 10 GT", ":0"),
        ("EXPIRE k 11 XX GT", ":1"),
        ("EXPIRE k 11 LT", ":0"),
        ("TTL k", ":11"),
        (
            "EXPIRE k 1 NX XX",
            "-ERR NX and XX, GT or LT options at the same time are not compatible",
        ),
        (
            "EXPIRE k 1 GT LT",
            "-ERR GT and LT options at the same time are not compatible",
        ),
        ("EXPIRE k x FOO", "-ERR Unsupported option FOO"),
        ("EXPIRE k x", NOT_AN_INTEGER),
        (
            "EXPIRE k 9223372036854775",
            "-ERR invalid expire time in 'expire' command",
        ),
        (
            "PEXPIRE k 9223372036854775807",
            "-ERR invalid expire time in 'pexpire' command",
        ),
        (
            "EXPIREAT k -9223372036854776",
            "-ERR invalid expire time in 'expireat' command",
        ),
        ("EXPIRE k -1", ":1"),
        ("EXISTS k", ":0"),
    ]);
}

#[test]
fn a_key_that_has_expired_is_as_if_it_had_never_been() {
    let mut client = Client::new(Version::Resp2);
    client.check(&[
        ("SET k v PX 10", "+OK"),
        ("HSET h f v", ":1"),
        ("PEXPIRE h 10", ":1"),
    ]);
    client.set_clock(1_000_009);
    client.check(&[("PTTL k", ":1"), ("EXISTS k h", ":2"), ("DBSIZE", ":2")]);
    client.set_clock(1_000_010);
    client.check(&[
        ("KEYS *", "*0"),
        ("SET k w XX", "$-1"),
        ("ZADD h 1 m", ":1"),
        ("TTL h", ":-1"),
        ("DBSIZE", ":1"),
    ]);
}

#[test]
fn integers_are_counted_within_their_range() {
    check(&[
        ("INCR n", ":1"),
        ("DECRBY n 11", ":-10"),
        ("INCRBY n 9223372036854775807", ":9223372036854775797"),
        ("INCRBY n 11", OVERFLOW),
        (
            "DECRBY n -9223372036854775808",
            "-ERR decrement would overflow",
        ),
        ("INCRBY n 01", NOT_AN_INTEGER),
        ("GET n", "$19 9223372036854775797"),
        ("STRLEN n", ":19"),
        ("SET n 01", "+OK"),
        ("INCR n", NOT_AN_INTEGER),
        ("SET n \"\"", "+OK"),
        ("INCR n", NOT_AN_INTEGER),
        ("SET n -0", "+OK"),
        ("DECR n", NOT_AN_INTEGER),
        ("HINCRBY h f 5", ":5"),
        ("HINCRBY h f 9223372036854775807", OVERFLOW),
        ("HINCRBY h f x", NOT_AN_INTEGER),
        ("HSET h g x", ":1"),
        ("HINCRBY h g 1", "-ERR hash value is not an integer"),
        ("HGET h f", "$1 5"),
    ]);
}

#[test]
fn strings_are_set_read_and_extended_together() {
    check(&[
        ("MSET a 1 b 2 a 3", "+OK"),
        (
            "MSET a 1 b",
            "-ERR wrong number of arguments for 'mset' command",
        ),
        ("HSET h f v", ":1"),
        ("MGET a b h absent", "*4 $1 3 $1 2 $-1 $-1"),
        ("SETNX a 9", ":0"),
        ("SETNX c 9", ":1"),
        ("APPEND c 5", ":2"),
        ("INCR c", ":96"),
        ("APPEND new \"\"", ":0"),
        ("EXISTS new", ":1"),
        ("GETDEL c", "$2 96"),
        ("GETDEL c", "$-1"),
        ("DEL a b a", ":2"),
        ("FLUSHALL nonsense", SYNTAX),
        ("FLUSHDB ASYNC SYNC", SYNTAX),
        ("FLUSHDB async", "+OK"),
        ("DBSIZE", ":0"),
    ]);
}

#[test]
fn keys_matches_patterns_and_a_lone_star_all_names() {
    check(&[
        ("SET \"\" v", "+OK"),
        ("KEYS *", "*1 $0"),
        ("KEYS **", "*0"),
        ("SET ab v", "+OK"),
        ("KEYS a?", "*1 $2 ab"),
        ("KEYS [^a]*", "*0"),
    ]);
}

#[test]
fn hashes_are_answered_as_arrays_and_in_resp3_as_maps() {
    let steps = [
        ("HSET h f v g 1 f w", ":2"),
        (
            "HSET h f v g",
            "-ERR wrong number of arguments for 'hset' command",
        ),
        ("HKEYS h", "*2 $1 f $1 g"),
        ("HVALS h", "*2 $1 w $1 1"),
        ("HLEN h", ":2"),
        ("HEXISTS h g", ":1"),
        ("HMSET h e x", "+OK"),
        ("HDEL h g g nothing", ":1"),
    ];
    check(&steps);
    check_resp3(&steps);
    check(&[
        ("HMGET h f", "*1 $-1"),
        ("HGETALL h", "*0"),
        ("HMSET h f v", "+OK"),
        ("HGETALL h", "*2 $1 f $1 v"),
        ("HGET h g", "$-1"),
        ("HDEL h f", ":1"),
        ("EXISTS h", ":0"),
    ]);
    check_resp3(&[
        ("HMGET h f", "*1 _"),
        ("HGETALL h", "%0"),
        ("HMSET h f v", "+OK"),
        ("HGETALL h", "%1 $1 f $1 v"),
        ("HGET h g", "_"),
    ]);
}

#[test]
fn every_command_refuses_a_value_of_another_type() {
    let on_strings = [
        "GET k",
        "GETDEL k",
        "GETSET k v",
        "STRLEN k",
        "APPEND k v",
        "INCR k",
        "DECRBY k 1",
        "SET k v GET",
    ];
    let on_hashes = [
        "HSET k f v",
        "HMSET k f v",
        "HGET k f",
        "HMGET k f",
        "HDEL k f",
        "HGETALL k",
        "HKEYS k",
        "HVALS k",
        "HLEN k",
        "HEXISTS k f",
        "HINCRBY k f 1",
    ];
    let on_sorted_sets = [
        "ZADD k 1 m",
        "ZADD k XX 1 m",
        "ZINCRBY k 1 m",
        "ZSCORE k m",
        "ZMSCORE k m",
        "ZREM k m",
        "ZCARD k",
        "ZRANK k m",
        "ZREVRANK k m WITHSCORE",
        "ZCOUNT k 0 1",
        "ZRANGE k 0 1",
    ];
    for line in on_strings.iter().chain(&on_hashes) {
        check(&[("ZADD k 1 m", ":1"), (line, WRONG_TYPE), ("ZCARD k", ":1")]);
    }
    for line in on_strings.iter().chain(&on_sorted_sets) {
        check(&[("HSET k f v", ":1"), (line, WRONG_TYPE), ("HLEN k", ":1")]);
    }
    for line in on_hashes.iter().chain(&on_sorted_sets) {
        check(&[("SET k v", "+OK"), (line, WRONG_TYPE), ("GET k", "$1 v")]);
    }
}

#[test]
fn refused_commands_change_nothing_that_someone_watches() {
    let mut client = Client::new(Version::Resp2);
    client.check(&[
        ("SET s v", "+OK"),
        ("HSET h f v", ":1"),
        ("ZADD z 1 m inf i", ":2"),
    ]);
    let changes = client.store.changes();
    for line in [
        "SET s w NX",
        "INCR s",
        "SETNX s w",
        "PERSIST s",
        "EXPIRE s 1 XX",
        "DEL absent",
        "GETDEL absent",
        "HDEL h g",
        "HDEL absent f",
        "HINCRBY h f 1",
        "HINCRBY s f 1",
        "ZADD z 1 m",
        "ZADD z NX 2 m",
        "ZADD z XX 2 n",
        "ZADD z 2 m x n",
        "ZINCRBY z -inf i",
        "ZREM z n",
        "ZADD new XX 1 m",
        "EXPIRE absent 1",
    ] {
        client.run(line);
        assert_eq!(client.store.changes(), changes, "{line}");
    }
}
