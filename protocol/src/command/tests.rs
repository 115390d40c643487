//! The records against redis-server's own description of them, and lookup against a plain scan.
//!
//! `golden.txt` has one line per command, as redis-server 7.0.15 answered `COMMAND INFO`: name,
//! arity, flags, first key, last key, step, categories, tips, flags of the first key specification.
//! Four lines follow Redis 7.2 where it differs: `CLIENT SETINFO` is new, `CLIENT SETNAME` got tips,
//! `ZRANK` and `ZREVRANK` got an option.

use proptest::prelude::*;

use super::*;
use crate::resp::reply::Value;
use crate::resp::{OwnedRequest, Version, Writer};

fn request(line: &str) -> OwnedRequest {
    OwnedRequest::from_words(line.split(' ').map(str::as_bytes))
}

fn written(version: Version, write: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut Writer::new(&mut out, version));
    out
}

/// What a `COMMAND` request answers in RESP2.
fn answered(line: &str) -> String {
    let request = request(line);
    let (command, _) = resolve(request.arguments()).expect("a good request");
    let reply = written(Version::Resp2, |reply| {
        reply::write(command, request.arguments(), reply);
    });
    reply.escape_ascii().to_string()
}

fn error(line: &str) -> String {
    let request = request(line);
    resolve(request.arguments())
        .expect_err("a bad request")
        .to_string()
}

fn joined<'a>(words: impl Iterator<Item = (&'a str, bool)>) -> String {
    let words: Vec<String> = words
        .map(|(word, capitals)| {
            if capitals {
                word.to_owned()
            } else {
                word.to_ascii_lowercase()
            }
        })
        .collect();
    if words.is_empty() {
        "-".to_owned()
    } else {
        words.join(",")
    }
}

fn described(record: &Record) -> String {
    let (first, last, step) = record.key_range();
    let key_flags = record
        .keys
        .first()
        .map_or(KeyFlags::empty(), |spec| spec.flags);
    let categories: Vec<String> = record
        .categories()
        .iter_names()
        .map(|(name, _)| format!("@{}", name.to_ascii_lowercase()))
        .collect();
    format!(
        "{} {} {} {first} {last} {step} {} {} {}",
        record.name,
        record.arity,
        joined(record.flags.iter_names().map(|(name, _)| (name, false))),
        categories.join(","),
        joined(record.tips.iter().map(|tip| (*tip, false))),
        joined(
            key_flags
                .iter_names()
                .map(|(name, _)| (name, name.len() == 2))
        ),
    )
}

fn naive_find(name: &[u8]) -> Option<Command> {
    all()
        .find(|record| record.name.as_bytes().eq_ignore_ascii_case(name))
        .map(|record| record.command)
}

fn found(name: &[u8]) -> Option<Command> {
    find(name).map(|(command, _)| command)
}

#[test]
fn every_record_says_what_redis_says() {
    let mut ours: Vec<String> = all_with_subcommands().map(described).collect();
    let mut theirs: Vec<&str> = include_str!("golden.txt").lines().collect();
    ours.sort();
    theirs.sort_unstable();
    assert_eq!(ours, theirs);
}

#[test]
fn every_record_is_documented_in_full() {
    for record in all_with_subcommands() {
        assert!(record.summary.ends_with('.'), "{}", record.name);
        assert!(!record.summary.contains(['\r', '\n']), "{}", record.name);
        assert!(record.complexity.len() > 2, "{}", record.name);
        assert!(record.arity != 0, "{}", record.name);
        assert_eq!(super::record(record.command).name, record.name);
    }
}

#[test]
fn a_subcommand_is_found_in_its_container_and_by_its_full_name() {
    for top in all() {
        for sub in top.subcommands {
            let upper = sub.short_name().to_ascii_uppercase();
            let (command, _) = subcommand(top.command, upper.as_bytes()).expect("known");
            assert_eq!(command, sub.command);
            let (command, _) = find_full(sub.name.as_bytes()).expect("known");
            assert_eq!(command, sub.command);
            assert_eq!(
                found(sub.short_name().as_bytes()),
                naive_find(sub.short_name().as_bytes())
            );
            assert_eq!(
                container(command).map(|record| record.command),
                Some(top.command)
            );
        }
    }
    assert!(find_full(b"client|nosuch").is_none());
    assert!(find_full(b"get|x").is_none());
    assert!(find_full(b"|").is_none());
    assert!(container(Command::Get).is_none());
}

#[test]
fn a_name_differing_in_any_one_byte_is_found_only_in_another_case() {
    for record in all() {
        let name = record.name.as_bytes();
        for at in 0..name.len() {
            for byte in 0..=u8::MAX {
                let mut changed = name.to_vec();
                changed[at] = byte;
                assert_eq!(
                    found(&changed),
                    naive_find(&changed),
                    "{}",
                    changed.escape_ascii()
                );
            }
            let mut shorter = name.to_vec();
            shorter.remove(at);
            assert_eq!(found(&shorter), naive_find(&shorter));
            let mut longer = name.to_vec();
            longer.insert(at, name[at]);
            assert_eq!(found(&longer), naive_find(&longer));
        }
    }
}

#[test]
fn every_mix_of_cases_of_a_short_name_is_found() {
    for record in all().filter(|record| record.name.len() <= 8) {
        let lower = record.name.as_bytes();
        for mask in 0_u32..1 << lower.len() {
            let mixed: Vec<u8> = lower
                .iter()
                .enumerate()
                .map(|(at, byte)| {
                    if mask >> at & 1 == 1 {
                        byte.to_ascii_uppercase()
                    } else {
                        *byte
                    }
                })
                .collect();
            assert_eq!(found(&mixed), Some(record.command));
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_found_as_by_a_scan(name in prop::collection::vec(any::<u8>(), 0..24)) {
        prop_assert_eq!(found(&name), naive_find(&name));
    }

    #[test]
    fn a_long_name_is_found_in_any_case(at in 0..TOP_LEVEL_COUNT, mask in any::<u32>()) {
        let record = all().nth(at).expect("within the count");
        let mixed: Vec<u8> = record.name.bytes().enumerate()
            .map(|(at, byte)| if mask >> (at % 32) & 1 == 1 { byte.to_ascii_uppercase() } else { byte })
            .collect();
        prop_assert_eq!(found(&mixed), Some(record.command));
    }
}

#[test]
fn the_number_of_words_is_checked_with_the_subcommand_counted() {
    assert_eq!(
        error("get"),
        "ERR wrong number of arguments for 'get' command"
    );
    assert_eq!(
        error("GET a b"),
        "ERR wrong number of arguments for 'get' command"
    );
    assert_eq!(
        error("client"),
        "ERR wrong number of arguments for 'client' command"
    );
    assert_eq!(
        error("CLIENT ID x"),
        "ERR wrong number of arguments for 'client|id' command"
    );
    assert!(resolve(request("client id").arguments()).is_ok());
    assert!(resolve(request("mget a b c").arguments()).is_ok());
    assert!(resolve(request("command").arguments()).is_ok());
}

#[test]
fn unknown_names_are_repeated_as_redis_repeats_them() {
    assert_eq!(
        error("client x"),
        "ERR unknown subcommand 'x'. Try CLIENT HELP."
    );
    assert_eq!(
        error("nosuch"),
        "ERR unknown command 'nosuch', with args beginning with: "
    );
    assert_eq!(
        error("no\r\nsuch a\0b c"),
        "ERR unknown command 'no  such', with args beginning with: 'a' 'c' "
    );
    let long = "x".repeat(300);
    let cut = &long[..128];
    assert_eq!(
        error(&long),
        format!("ERR unknown command '{cut}', with args beginning with: ")
    );
    assert_eq!(
        error(&format!("client {long}")),
        format!("ERR unknown subcommand '{cut}'. Try CLIENT HELP.")
    );
    assert_eq!(
        error(&format!("nosuch a {long} c")),
        format!(
            "ERR unknown command 'nosuch', with args beginning with: 'a' '{}' ",
            &long[..124]
        )
    );
}

#[test]
fn bytes_that_are_no_text_do_not_break_an_error() {
    let request = OwnedRequest::from_words([b"a\xff\xfeb".as_slice(), b"\xc3"]);
    let error = resolve(request.arguments())
        .expect_err("unknown")
        .to_string();
    assert_eq!(
        error,
        "ERR unknown command 'a\u{fffd}\u{fffd}b', with args beginning with: '\u{fffd}' "
    );
}

fn key_positions(line: &str) -> Vec<(usize, KeyFlags)> {
    let request = request(line);
    let (_, record) = resolve(request.arguments()).expect("a good request");
    record.keys(request.arguments()).collect()
}

#[test]
fn keys_are_found_where_the_record_says() {
    assert_eq!(key_positions("get a"), [(1, KeyFlags::READS)]);
    assert_eq!(
        key_positions("mset a 1 b 2 c"),
        [1, 3, 5].map(|position| (position, KeyFlags::REPLACES))
    );
    assert_eq!(
        key_positions("mget a b"),
        [1, 2].map(|position| (position, KeyFlags::READS))
    );
    assert_eq!(key_positions("zadd z 1 a 2 b"), [(1, KeyFlags::UPDATES)]);
    assert_eq!(key_positions("ssubscribe a"), [(1, KeyFlags::NOT_KEY)]);
    assert_eq!(key_positions("ping"), []);
    assert_eq!(key_positions("sunsubscribe"), []);
}

#[test]
fn set_reads_its_key_only_when_asked_for_the_old_value() {
    assert_eq!(key_positions("set get get"), [(1, KeyFlags::REPLACES)]);
    assert_eq!(
        key_positions("set a b EX 1 GeT"),
        [(1, KeyFlags::READS_AND_UPDATES)]
    );
}

#[test]
fn get_keys_answers_as_redis() {
    for (line, reply) in [
        (
            "command getkeys mset a b c d",
            r"*2\r\n$1\r\na\r\n$1\r\nc\r\n",
        ),
        (
            "command getkeysandflags set a b",
            r"*1\r\n*2\r\n$1\r\na\r\n*2\r\n+OW\r\n+update\r\n",
        ),
        (
            "command getkeys nosuch a",
            r"-ERR Invalid command specified\r\n",
        ),
        (
            "command getkeys ping a",
            r"-ERR The command has no key arguments\r\n",
        ),
        (
            "command getkeys ssubscribe a",
            r"-ERR The command has no key arguments\r\n",
        ),
        (
            "command getkeys get a b",
            r"-ERR Invalid number of arguments specified for command\r\n",
        ),
    ] {
        assert_eq!(answered(line), reply, "{line}");
    }
}

#[test]
fn info_answers_as_redis() {
    assert_eq!(
        answered("command info client|id nosuch MGET"),
        concat!(
            r"*3\r\n*10\r\n$9\r\nclient|id\r\n:2\r\n*3\r\n+noscript\r\n+loading\r\n+stale\r\n",
            r":0\r\n:0\r\n:0\r\n*2\r\n+@slow\r\n+@connection\r\n*0\r\n*0\r\n*0\r\n",
            r"$-1\r\n",
            r"*10\r\n$4\r\nmget\r\n:-2\r\n*2\r\n+readonly\r\n+fast\r\n:1\r\n:-1\r\n:1\r\n",
            r"*3\r\n+@read\r\n+@string\r\n+@fast\r\n*1\r\n$26\r\nrequest_policy:multi_shard\r\n",
            r"*1\r\n*6\r\n$5\r\nflags\r\n*2\r\n+RO\r\n+access\r\n",
            r"$12\r\nbegin_search\r\n*4\r\n$4\r\ntype\r\n$5\r\nindex\r\n$4\r\nspec\r\n",
            r"*2\r\n$5\r\nindex\r\n:1\r\n",
            r"$9\r\nfind_keys\r\n*4\r\n$4\r\ntype\r\n$5\r\nrange\r\n$4\r\nspec\r\n",
            r"*6\r\n$7\r\nlastkey\r\n:-1\r\n$7\r\nkeystep\r\n:1\r\n$5\r\nlimit\r\n:0\r\n*0\r\n",
        )
    );
}

#[test]
fn list_filters_by_name_category_and_module() {
    for (line, reply) in [
        ("command list filterby pattern HL*", r"*1\r\n$4\r\nhlen\r\n"),
        (
            "command list filterby pattern client|i*",
            r"*2\r\n$9\r\nclient|id\r\n$11\r\nclient|info\r\n",
        ),
        (
            "command list FILTERBY AclCat TRANSACTION",
            r"*3\r\n$5\r\nmulti\r\n$4\r\nexec\r\n$7\r\ndiscard\r\n",
        ),
        ("command list filterby aclcat nosuch", r"*0\r\n"),
        ("command list filterby module any", r"*0\r\n"),
        ("command list filterby colour red", r"-ERR syntax error\r\n"),
        ("command list filterby pattern", r"-ERR syntax error\r\n"),
        ("command list x", r"-ERR syntax error\r\n"),
    ] {
        assert_eq!(answered(line), reply, "{line}");
    }
}

#[test]
fn documentation_of_what_is_unknown_is_left_out() {
    assert_eq!(answered("command docs nosuch"), r"*0\r\n");
    assert_eq!(
        answered("command docs nosuch persist"),
        concat!(
            r"*2\r\n$7\r\npersist\r\n*10\r\n$7\r\nsummary\r\n$27\r\nTakes the expiry off a key.\r\n",
            r"$5\r\nsince\r\n$5\r\n2.2.0\r\n$5\r\ngroup\r\n$7\r\ngeneric\r\n",
            r"$10\r\ncomplexity\r\n$4\r\nO(1)\r\n$9\r\narguments\r\n*1\r\n*8\r\n",
            r"$4\r\nname\r\n$3\r\nkey\r\n$4\r\ntype\r\n$3\r\nkey\r\n",
            r"$12\r\ndisplay_text\r\n$3\r\nkey\r\n$14\r\nkey_spec_index\r\n:0\r\n",
        )
    );
}

#[test]
fn whole_tables_are_complete_replies_in_both_versions() {
    for version in [Version::Resp2, Version::Resp3] {
        for line in ["command", "command docs", "command list", "command help"] {
            let request = request(line);
            let (command, _) = resolve(request.arguments()).expect("a good request");
            let bytes = written(version, |reply| {
                reply::write(command, request.arguments(), reply);
            });
            let (_, length) = Value::parse(&bytes)
                .expect("well-formed")
                .expect("complete");
            assert_eq!(length, bytes.len(), "{line}");
        }
    }
    assert_eq!(
        answered("command count"),
        format!(r":{TOP_LEVEL_COUNT}\r\n")
    );
    assert!(answered("command").starts_with(&format!(r"*{TOP_LEVEL_COUNT}\r\n")));
    assert!(answered("command list").starts_with(&format!(r"*{}\r\n", Command::COUNT)));
}

#[test]
fn help_has_a_line_of_syntax_and_one_of_explanation_for_each_subcommand() {
    let reply = written(Version::Resp2, |reply| {
        reply::help(Command::PubSubHelp, reply);
    });
    let text = String::from_utf8(reply).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..6],
        [
            "*13",
            "+PUBSUB <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
            "+CHANNELS [pattern]",
            "+    Lists the channels with subscribers.",
            "+NUMSUB [channel [channel ...]]",
            "+    Counts the subscribers of the given channels.",
        ]
    );
    assert_eq!(lines.len(), 14);
}

#[test]
fn syntax_shows_choices_options_and_repetition() {
    let syntax = |command| {
        let arguments = record(command).arguments.iter();
        arguments
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        syntax(Command::Set),
        "key value [NX | XX] [GET] [EX seconds | PX milliseconds | EXAT unix-time-seconds | \
         PXAT unix-time-milliseconds | KEEPTTL]"
    );
    assert_eq!(syntax(Command::HSet), "key field value [field value ...]");
    assert_eq!(syntax(Command::ClientReply), "<ON | OFF | SKIP>");
}

#[test]
fn the_texts_about_who_may_do_what_are_those_of_redis() {
    let get = record(Command::Get);
    for (error, text) in [
        (
            CommandError::NotAuthenticated,
            "NOAUTH Authentication required.",
        ),
        (
            CommandError::HelloNotAuthenticated,
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO \
             <proto> AUTH <user> <pass> option can be used to authenticate the client and select the \
             RESP protocol version at the same time",
        ),
        (
            CommandError::WrongPassword,
            "WRONGPASS invalid username-password pair or user is disabled.",
        ),
        (
            CommandError::Subscribed(get),
            "ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET \
             are allowed in this context",
        ),
        (
            CommandError::InvalidExpiry(get),
            "ERR invalid expire time in 'get' command",
        ),
    ] {
        assert_eq!(error.to_string(), text);
    }
}

#[test]
fn only_what_concerns_subscriptions_is_allowed_while_subscribed() {
    let allowed =
        all_with_subcommands().filter(|record| record.command.is_allowed_while_subscribed());
    let mut names: Vec<&str> = allowed.map(|record| record.name).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "ping",
            "psubscribe",
            "punsubscribe",
            "quit",
            "reset",
            "ssubscribe",
            "subscribe",
            "sunsubscribe",
            "unsubscribe",
        ]
    );
}
