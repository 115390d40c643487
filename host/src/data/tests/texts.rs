//! Strings in part, and strings as numbers.

use super::*;

#[test]
fn getex_answers_and_changes_the_expiry() {
    check(&[
        ("GETEX k EX 10", "$-1"),
        ("SET k v", "+OK"),
        ("GETEX k PXAT 2000000", "$1 v"),
        ("PEXPIRETIME k", ":2000000"),
        ("GETEX k", "$1 v"),
        ("PEXPIRETIME k", ":2000000"),
        ("GETEX k PERSIST EX 1", SYNTAX),
        ("GETEX k PERSIST", "$1 v"),
        ("TTL k", ":-1"),
        (
            "GETEX k EX 0",
            "-ERR invalid expire time in 'getex' command",
        ),
        ("GETEX k PXAT 5", "$1 v"),
        ("EXISTS k", ":0"),
    ]);
}

#[test]
fn a_part_is_read_and_written() {
    check(&[
        ("SETRANGE k 3 abc", ":6"),
        ("SETRANGE k 0 123", ":6"),
        ("GET k", "$6 123abc"),
        ("GETRANGE k 0 2", "$3 123"),
        ("GETRANGE k -2 -1", "$2 bc"),
        ("GETRANGE k -100 -7", "$1 1"),
        ("GETRANGE k -1 -2", "$0"),
        ("SUBSTR k 5 100", "$1 c"),
        ("SETRANGE k -1 x", "-ERR offset is out of range"),
        ("SETRANGE none 5 \"\"", ":0"),
        ("EXISTS none", ":0"),
        ("MSETNX k 1 l 2", ":0"),
        ("MSETNX l 1 m 2", ":1"),
        ("MGET l m", "*2 $1 1 $1 2"),
    ]);
}

#[test]
fn fractions_add_up_without_noise() {
    check(&[
        ("INCRBYFLOAT k 0.1", "$3 0.1"),
        ("INCRBYFLOAT k 0.2", "$3 0.3"),
        ("INCRBYFLOAT k -0.3", "$1 0"),
        ("INCRBYFLOAT k 5.0e3", "$4 5000"),
        ("INCRBYFLOAT k x", "-ERR value is not a valid float"),
        (
            "INCRBYFLOAT k inf",
            "-ERR increment would produce NaN or Infinity",
        ),
    ]);
}

#[test]
fn the_longest_common_subsequence_is_found() {
    check(&[
        ("MSET a ohmytext b mynewtext", "+OK"),
        ("LCS a b", "$6 mytext"),
        ("LCS a b LEN", ":6"),
        (
            "LCS a b IDX",
            "*4 $7 matches *2 *2 *2 :4 :7 *2 :5 :8 *2 *2 :2 :3 *2 :0 :1 $3 len :6",
        ),
        (
            "LCS a b IDX MINMATCHLEN 4 WITHMATCHLEN",
            "*4 $7 matches *1 *3 *2 :4 :7 *2 :5 :8 :4 $3 len :6",
        ),
        ("LCS a none", "$0"),
        (
            "LCS a b IDX LEN",
            "-ERR If you want both the length and indexes, please just use IDX.",
        ),
    ]);
}
