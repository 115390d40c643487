//! Strings as runs of bits.

use super::*;

#[test]
fn bits_are_set_read_counted_and_found() {
    check(&[
        ("SETBIT k 7 1", ":0"),
        ("SETBIT k 7 1", ":1"),
        ("SETBIT k 23 1", ":0"),
        ("STRLEN k", ":3"),
        ("GETBIT k 7", ":1"),
        ("GETBIT k 8", ":0"),
        ("GETBIT k 999", ":0"),
        ("BITCOUNT k", ":2"),
        ("BITCOUNT k 1 -1", ":1"),
        ("BITCOUNT k 7 22 BIT", ":1"),
        ("BITCOUNT k 0", SYNTAX),
        ("BITPOS k 1", ":7"),
        ("BITPOS k 1 1", ":23"),
        ("BITPOS k 1 8 22 BIT", ":-1"),
        ("BITPOS k 0", ":0"),
        ("BITPOS none 0", ":0"),
        ("BITPOS none 1", ":-1"),
        ("BITPOS k 2", "-ERR The bit argument must be 1 or 0."),
        (
            "SETBIT k -1 1",
            "-ERR bit offset is not an integer or out of range",
        ),
        ("SETBIT k 1 2", "-ERR bit is not an integer or out of range"),
    ]);
}

#[test]
fn strings_are_combined_bit_by_bit() {
    check(&[
        ("MSET a abc b ab", "+OK"),
        ("BITOP AND r a b", ":3"),
        ("GETRANGE r 0 1", "$2 ab"),
        ("BITOP XOR r a a", ":3"),
        ("BITCOUNT r", ":0"),
        ("BITOP NOT r r", ":3"),
        ("BITCOUNT r", ":24"),
        ("BITOP OR r none", ":0"),
        ("EXISTS r", ":0"),
        (
            "BITOP NOT r a b",
            "-ERR BITOP NOT must be called with a single source key.",
        ),
    ]);
}

#[test]
fn fields_of_bits_wrap_saturate_or_fail() {
    check(&[
        ("BITFIELD k SET u8 0 255 GET i8 0", "*2 :0 :-1"),
        ("BITFIELD k INCRBY u8 0 10", "*1 :9"),
        ("BITFIELD k OVERFLOW SAT INCRBY u8 0 1000", "*1 :255"),
        ("BITFIELD k OVERFLOW FAIL INCRBY u8 0 1", "*1 $-1"),
        ("BITFIELD k SET i5 #1 -3 GET i5 5", "*2 :-4 :-3"),
        ("BITFIELD_RO k GET u4 0", "*1 :15"),
        (
            "BITFIELD_RO k SET u4 0 1",
            "-ERR BITFIELD_RO only supports the GET subcommand",
        ),
    ]);
}
