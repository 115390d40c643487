//! Lists.

use super::*;

#[test]
fn elements_come_and_go_at_either_end() {
    check(&[
        ("LPUSHX l a", ":0"),
        ("RPUSH l a b", ":2"),
        ("LPUSH l 2 1", ":4"),
        ("RPUSHX l c", ":5"),
        ("LRANGE l 0 -1", "*5 $1 1 $1 2 $1 a $1 b $1 c"),
        ("TYPE l", "+list"),
        ("OBJECT ENCODING l", "$8 listpack"),
        ("LPOP l", "$1 1"),
        ("RPOP l 2", "*2 $1 c $1 b"),
        ("RPOP l 0", "*0"),
        ("LPOP l -1", "-ERR value is out of range, must be positive"),
        ("LMOVE l m LEFT RIGHT", "$1 2"),
        ("RPOPLPUSH l l", "$1 a"),
        ("RPOPLPUSH l m", "$1 a"),
        ("EXISTS l", ":0"),
        ("LPOP l", "$-1"),
        ("LPOP l 1", "*-1"),
        ("LMPOP 2 l m LEFT COUNT 5", "*2 $1 m *2 $1 a $1 2"),
        ("LMPOP 2 l m LEFT", "*-1"),
        (
            "LMPOP 2 l m LEFT COUNT 0",
            "-ERR count should be greater than 0",
        ),
    ]);
}

#[test]
fn elements_are_found_and_changed_by_position() {
    check(&[
        ("RPUSH l a b a c a", ":5"),
        ("LINDEX l -1", "$1 a"),
        ("LINDEX l 5", "$-1"),
        ("LSET l 1 B", "+OK"),
        ("LSET l 5 B", "-ERR index out of range"),
        ("LSET none 0 B", "-ERR no such key"),
        ("LINSERT l AFTER B x", ":6"),
        ("LINSERT l before none x", ":-1"),
        ("LINSERT l beside B x", SYNTAX),
        ("LPOS l a RANK 2", ":3"),
        ("LPOS l a COUNT 0 RANK -1", "*3 :5 :3 :0"),
        ("LPOS l a MAXLEN 1 RANK 2", "$-1"),
        ("LREM l -2 a", ":2"),
        ("LRANGE l 0 -1", "*4 $1 a $1 B $1 x $1 c"),
        ("LTRIM l 1 -2", "+OK"),
        ("LRANGE l -100 100", "*2 $1 B $1 x"),
        ("LTRIM l 5 6", "+OK"),
        ("EXISTS l", ":0"),
    ]);
}
