//! Sorted sets.

use super::{NOT_A_FLOAT, NOT_AN_INTEGER, SYNTAX, check, check_resp3};

#[test]
fn zadd_obeys_its_options() {
    check(&[
        ("ZADD z XX 1 a", ":0"),
        ("EXISTS z", ":0"),
        ("ZADD z 1 a 2 b 1 a", ":2"),
        ("ZADD z NX 5 a 3 c", ":1"),
        ("ZADD z XX CH 5 a 4 d", ":1"),
        ("ZADD z GT CH 4 a 6 b 1 e", ":2"),
        ("ZADD z LT CH 6 a 1 b", ":1"),
        (
            "ZRANGE z 0 -1 WITHSCORES",
            "*8 $1 b $1 1 $1 e $1 1 $1 c $1 3 $1 a $1 5",
        ),
        ("ZADD z INCR 2 b", "$1 3"),
        ("ZADD z INCR 0 b", "$1 3"),
        ("ZADD z NX INCR 2 b", "$-1"),
        ("ZADD z GT INCR -1 b", "$-1"),
        ("ZADD z XX INCR 1 absent", "$-1"),
        (
            "ZADD z INCR 1 a 2 b",
            "-ERR INCR option supports a single increment-element pair",
        ),
        (
            "ZADD z NX XX 1 a",
            "-ERR XX and NX options at the same time are not compatible",
        ),
        (
            "ZADD z GT LT 1 a",
            "-ERR GT, LT, and/or NX options at the same time are not compatible",
        ),
        (
            "ZADD z NX GT 1 a",
            "-ERR GT, LT, and/or NX options at the same time are not compatible",
        ),
        ("ZADD z 1 a 2", SYNTAX),
        ("ZADD z NX CH", SYNTAX),
        ("ZADD z 9 a x b", NOT_A_FLOAT),
        ("ZSCORE z a", "$1 5"),
        ("ZREM z a b a", ":2"),
        ("ZREM z c e", ":2"),
        ("ZCARD z", ":0"),
        ("TYPE z", "+none"),
    ]);
}

#[test]
fn scores_are_read_as_redis_reads_them() {
    for text in [
        "nan", "\"\"", "\" 1\"", "\"1 \"", "1e", "1e400", "-1e400", "1e-400", ".",
    ] {
        check(&[(&format!("ZADD z {text} m"), NOT_A_FLOAT)]);
        check(&[(&format!("ZINCRBY z {text} m"), NOT_A_FLOAT)]);
    }
    for (text, score) in [
        ("+inf", "$3 inf"),
        ("-Infinity", "$4 -inf"),
        ("1.", "$1 1"),
        (".5", "$3 0.5"),
        ("1e3", "$4 1000"),
        ("-0", "$1 0"),
        ("0.1", "$3 0.1"),
        ("3.0000000000000004", "$18 3.0000000000000004"),
    ] {
        check(&[(&format!("ZADD z {text} m"), ":1"), ("ZSCORE z m", score)]);
    }
    check(&[
        ("ZADD z inf m", ":1"),
        (
            "ZINCRBY z -inf m",
            "-ERR resulting score is not a number (NaN)",
        ),
        (
            "ZADD z INCR -inf m",
            "-ERR resulting score is not a number (NaN)",
        ),
        ("ZINCRBY z -inf new", "$4 -inf"),
    ]);
}

#[test]
fn scores_and_absent_members_differ_between_the_versions() {
    check(&[
        ("ZADD z 1.5 a", ":1"),
        ("ZSCORE z a", "$3 1.5"),
        ("ZSCORE z b", "$-1"),
        ("ZMSCORE z a b", "*2 $3 1.5 $-1"),
        ("ZINCRBY z 1 a", "$3 2.5"),
        ("ZRANK z a", ":0"),
        ("ZRANK z b", "$-1"),
        ("ZRANK z a WITHSCORE", "*2 :0 $3 2.5"),
        ("ZRANK z b WITHSCORE", "*-1"),
        ("ZRANK z b NONSENSE", SYNTAX),
        (
            "ZRANK z b WITHSCORE x",
            "-ERR wrong number of arguments for 'zrank' command",
        ),
        ("ZRANGE z 0 0 WITHSCORES", "*2 $1 a $3 2.5"),
    ]);
    check_resp3(&[
        ("ZADD z 1.5 a 3 b", ":2"),
        ("ZSCORE z a", ",1.5"),
        ("ZSCORE z c", "_"),
        ("ZMSCORE z a c", "*2 ,1.5 _"),
        ("ZADD z INCR 1 a", ",2.5"),
        ("ZREVRANK z a withscore", "*2 :1 ,2.5"),
        ("ZREVRANK z c withscore", "_"),
        ("ZRANGE z 0 -1 WITHSCORES", "*2 *2 $1 a ,2.5 *2 $1 b ,3"),
        ("ZRANGE z 0 -1", "*2 $1 a $1 b"),
    ]);
}

#[test]
fn zrange_by_rank_counts_from_either_end() {
    check(&[
        ("ZADD z 1 a 2 b 3 c 4 d", ":4"),
        ("ZRANGE z 0 -1", "*4 $1 a $1 b $1 c $1 d"),
        ("ZRANGE z 1 2", "*2 $1 b $1 c"),
        ("ZRANGE z -2 100", "*2 $1 c $1 d"),
        ("ZRANGE z -100 -4", "*1 $1 a"),
        ("ZRANGE z -100 -5", "*0"),
        ("ZRANGE z 2 1", "*0"),
        ("ZRANGE z 4 9223372036854775807", "*0"),
        ("ZRANGE z -9223372036854775808 0", "*1 $1 a"),
        ("ZRANGE z 0 1 REV", "*2 $1 d $1 c"),
        ("ZRANGE z -1 -1 REV", "*1 $1 a"),
        ("ZRANGE absent 0 -1", "*0"),
        ("ZRANGE z a 1", NOT_AN_INTEGER),
        (
            "ZRANGE z 0 1 LIMIT 0 1",
            "-ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
        ),
        ("ZRANGE z 0 1 LIMIT 0 -1", "*2 $1 a $1 b"),
        ("ZRANGE z 0 1 LIMIT 0", SYNTAX),
        ("ZRANGE z 0 1 REV REV", SYNTAX),
        ("ZRANGE z 0 1 BYLEX BYSCORE", SYNTAX),
    ]);
}

#[test]
fn zrange_by_score_takes_bounds_and_a_limit() {
    check(&[
        ("ZADD z 1 a 2 b 2 bb 3 c inf d", ":5"),
        ("ZRANGE z 2 3 BYSCORE", "*3 $1 b $2 bb $1 c"),
        ("ZRANGE z (2 +inf BYSCORE", "*2 $1 c $1 d"),
        ("ZRANGE z (2 (3 BYSCORE", "*0"),
        ("ZRANGE z -inf (inf BYSCORE LIMIT 1 2", "*2 $1 b $2 bb"),
        ("ZRANGE z -inf inf BYSCORE LIMIT 3 -1", "*2 $1 c $1 d"),
        ("ZRANGE z -inf inf BYSCORE LIMIT -1 2", "*0"),
        ("ZRANGE z -inf inf BYSCORE LIMIT 9 2", "*0"),
        ("ZRANGE z -inf inf BYSCORE LIMIT 0 0", "*0"),
        ("ZRANGE z 3 2 BYSCORE REV LIMIT 1 5", "*2 $2 bb $1 b"),
        ("ZRANGE z 3 2 BYSCORE", "*0"),
        ("ZRANGE z x 2 BYSCORE", "-ERR min or max is not a float"),
        ("ZRANGE z nan 2 BYSCORE", "-ERR min or max is not a float"),
        ("ZRANGE z 0 1 BYSCORE LIMIT a 1", NOT_AN_INTEGER),
        ("ZCOUNT z 2 3", ":3"),
        ("ZCOUNT z (2 (inf", ":1"),
        ("ZCOUNT z 3 2", ":0"),
        ("ZCOUNT absent 3 2", ":0"),
        ("ZCOUNT z 3 [2", "-ERR min or max is not a float"),
    ]);
}

#[test]
fn zrange_by_member_takes_bounds_and_a_limit() {
    check(&[
        ("ZADD z 0 a 0 b 0 bb 0 c 0 \"\"", ":5"),
        ("ZRANGE z - + BYLEX", "*5 $0  $1 a $1 b $2 bb $1 c"),
        ("ZRANGE z [b (c BYLEX", "*2 $1 b $2 bb"),
        ("ZRANGE z (b + BYLEX", "*2 $2 bb $1 c"),
        ("ZRANGE z (b [b BYLEX", "*0"),
        ("ZRANGE z + - BYLEX", "*0"),
        ("ZRANGE z + (a BYLEX REV LIMIT 1 1", "*1 $2 bb"),
        ("ZRANGE z [ [a BYLEX", "*2 $0  $1 a"),
        (
            "ZRANGE z a + BYLEX",
            "-ERR min or max not valid string range item",
        ),
        (
            "ZRANGE z - + BYLEX WITHSCORES",
            "-ERR syntax error, WITHSCORES not supported in combination with BYLEX",
        ),
    ]);
}
