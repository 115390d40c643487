//! Sets.

use super::*;

#[test]
fn members_are_added_found_and_removed() {
    check(&[
        ("SADD s 1 2 3 2", ":3"),
        ("OBJECT ENCODING s", "$6 intset"),
        ("TYPE s", "+set"),
        ("SMEMBERS s", "*3 $1 1 $1 2 $1 3"),
        ("SISMEMBER s 2", ":1"),
        ("SISMEMBER s 02", ":0"),
        ("SADD s a", ":1"),
        ("OBJECT ENCODING s", "$8 listpack"),
        ("SMISMEMBER s a 1 x", "*3 :1 :1 :0"),
        ("SREM s 1 2 x", ":2"),
        ("SCARD s", ":2"),
        ("SSCAN s 0 MATCH a", "*2 $1 0 *1 $1 a"),
        ("SMOVE s t a", ":1"),
        ("SMOVE s t a", ":0"),
        ("SMOVE s s 3", ":1"),
        ("SMOVE s t 3", ":1"),
        ("EXISTS s", ":0"),
        ("SET k v", "+OK"),
        ("SMOVE t k a", WRONG_TYPE),
        ("SMOVE none k a", ":0"),
        ("SADD k a", WRONG_TYPE),
    ]);
}

#[test]
fn chance_chooses_and_takes_members() {
    check(&[
        ("SADD s a", ":1"),
        ("SRANDMEMBER s", "$1 a"),
        ("SRANDMEMBER s -2", "*2 $1 a $1 a"),
        ("SRANDMEMBER s 2", "*1 $1 a"),
        ("SPOP s 0", "*0"),
        ("SPOP s -1", "-ERR value is out of range, must be positive"),
        ("SPOP s", "$1 a"),
        ("SPOP s", "$-1"),
        ("EXISTS s", ":0"),
    ]);
    let mut client = Client::new(Version::Resp2);
    for member in 0..1_000 {
        client.run(&format!("SADD s {member}"));
    }
    client.run("SPOP s 400");
    client.check(&[("SCARD s", ":600"), ("SPOP s 600 x", SYNTAX)]);
    client.run("SPOP s 1000");
    client.check(&[("EXISTS s", ":0")]);
}

#[test]
fn sets_are_combined() {
    check(&[
        ("SADD a 1 2 3", ":3"),
        ("SADD b 2 3 4", ":3"),
        ("SINTER a b", "*2 $1 2 $1 3"),
        ("SUNION a b none", "*4 $1 1 $1 2 $1 3 $1 4"),
        ("SDIFF a b none", "*1 $1 1"),
        ("SINTER a none", "*0"),
        ("SINTERCARD 2 a b", ":2"),
        ("SINTERCARD 2 a b LIMIT 1", ":1"),
        ("SINTERCARD 0 a", "-ERR numkeys should be greater than 0"),
        (
            "SINTERCARD 3 a b",
            "-ERR Number of keys can't be greater than number of args",
        ),
        ("SINTERSTORE a a b", ":2"),
        ("SMEMBERS a", "*2 $1 2 $1 3"),
        ("SDIFFSTORE c a b", ":0"),
        ("EXISTS c", ":0"),
        ("SET k v EX 10", "+OK"),
        ("SUNION a k", WRONG_TYPE),
        ("SUNIONSTORE k a b", ":3"),
        ("TTL k", ":-1"),
    ]);
    Client::new(Version::Resp3).check(&[("SADD a 1", ":1"), ("SMEMBERS a", "~1 $1 1")]);
}
