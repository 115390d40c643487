//! `golden.txt` is a conversation with redis-server: the words of a call to `ACL` between tabs, the
//! reply in RESP2, and for some in RESP3. It is 7.0.15, made to say `sanitize-payload` where 7.2
//! says it unasked.

use goblin_protocol::command;
use goblin_protocol::resp::{OwnedRequest, Version, Writer};

use super::*;

/// What `ACL` with these words answers.
fn answer(users: &mut Users, version: Version, words: &[Vec<u8>]) -> String {
    let words = std::iter::once(&b"acl"[..]).chain(words.iter().map(Vec::as_slice));
    let request = OwnedRequest::from_words(words);
    let me = users.default_user();
    let mut out = Vec::new();
    let reply = &mut Writer::new(&mut out, version);
    match command::resolve(request.arguments()) {
        Ok((command, _)) => users.answer(command, request.arguments(), &me, reply),
        Err(error) => reply.error(error),
    }
    out.escape_ascii().to_string()
}

fn call(users: &mut Users, line: &str) -> String {
    let words: Vec<Vec<u8>> = line.split(' ').map(Into::into).collect();
    answer(users, Version::Resp2, &words)
}

/// The word that `escape_ascii` made this of.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match (byte, byte == b'\\') {
            (byte, false) => byte,
            (_, true) => match rest.next() {
                Some(b'r') => b'\r',
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                Some(b'x') => {
                    let digits: Vec<u8> = rest.by_ref().take(2).collect();
                    let digits = std::str::from_utf8(&digits).expect("digits");
                    u8::from_str_radix(digits, 16).expect("hexadecimal")
                }
                other => other.expect("a character after a backslash"),
            },
        });
    }
    bytes
}

fn set(users: &mut Users, name: &str, rules: &str) {
    let rules = rules.split(' ').map(str::as_bytes);
    users.set_user(name.as_bytes(), rules).expect("good rules");
}

#[test]
fn acl_answers_byte_for_byte_as_redis() {
    let mut users = Users::new();
    let mut words = Vec::new();
    let mut compared = 0;
    for line in include_str!("golden.txt").lines() {
        let (version, expected) = match line.split_once(' ') {
            Some(("2", reply)) => (Version::Resp2, reply),
            Some(("3", reply)) => (Version::Resp3, reply),
            _ => {
                words = line.split('\t').map(unescaped).collect();
                continue;
            }
        };
        let ours = answer(&mut users, version, &words)
            .replace("\\'", "'")
            .replace("\\\"", "\"");
        assert_eq!(ours, expected, "{line}");
        compared += 1;
    }
    assert!(compared > 90, "{compared}");
}

#[test]
fn a_new_server_lets_everyone_in_as_the_default_user() {
    let users = Users::new();
    assert!(users.default_needs_no_password());
    assert!(users.default_user().account.rights.is_unrestricted());
    assert!(users.authenticate(b"default", b"anything").is_some());
    assert!(users.authenticate(b"nosuch", b"anything").is_none());
}

#[test]
fn a_required_password_is_the_only_one_that_is_right() {
    let mut users = Users::new();
    users.require_password(b"secret");
    assert!(!users.default_needs_no_password());
    for (password, right) in [
        (&b"secret"[..], true),
        (b"Secret", false),
        (b"", false),
        (b"secret2", false),
    ] {
        assert_eq!(users.authenticate(DEFAULT_USER, password).is_some(), right);
    }
    users.require_password(b"other");
    assert!(users.authenticate(DEFAULT_USER, b"secret").is_none());
    users.require_password(b"");
    assert!(users.default_needs_no_password());
}

#[test]
fn a_user_needs_to_be_on_and_one_of_its_passwords() {
    let mut users = Users::new();
    set(&mut users, "ann", ">one >two");
    assert!(users.authenticate(b"ann", b"one").is_none(), "off");
    set(&mut users, "ann", "on");
    for (password, right) in [("one", true), ("two", true), ("three", false), ("", false)] {
        assert_eq!(
            users.authenticate(b"ann", password.as_bytes()).is_some(),
            right,
            "{password}"
        );
    }
    set(&mut users, "ann", "<one");
    assert!(users.authenticate(b"ann", b"one").is_none());
    set(&mut users, "ann", "resetpass");
    assert!(users.authenticate(b"ann", b"two").is_none());
    set(&mut users, "ann", "nopass");
    assert!(users.authenticate(b"ann", b"anything").is_some());
    set(&mut users, "ann", "off");
    assert!(users.authenticate(b"ann", b"anything").is_none());
}

#[test]
fn rules_of_which_one_is_bad_change_nothing() {
    let mut users = Users::new();
    let error = users
        .set_user(b"ann", [&b"on"[..], b"nopass", b"nonsense"])
        .expect_err("nonsense");
    assert_eq!(
        error.to_string(),
        "Error in ACL SETUSER modifier 'nonsense': Syntax error"
    );
    assert!(users.get(b"ann").is_none());
    assert!(users.take_changes().is_empty());
}

fn changed(users: &mut Users) -> Vec<(String, bool)> {
    let changes = users.take_changes().into_iter();
    changes
        .map(|change| match change {
            Change::Changed {
                user,
                loses_channels,
            } => (user.name.escape_ascii().to_string(), loses_channels),
            Change::Removed(name) => (format!("-{}", name.escape_ascii()), true),
        })
        .collect()
}

#[test]
fn channels_that_are_taken_away_concern_that_user_alone() {
    let mut users = Users::new();
    set(&mut users, "ann", "on nopass allchannels +@all");
    set(&mut users, "bob", "on nopass allchannels +@all");
    changed(&mut users);

    let subscriber = users.authenticate(b"ann", b"").expect("no password");
    set(&mut users, "ann", "resetchannels &news.*");
    assert_eq!(changed(&mut users), [("ann".to_owned(), true)]);
    // Whoever holds the old user is given the new one, and asks it about each subscription.
    assert!(subscriber.account.rights.may_use_channel(b"private"));
    let now = users.get(b"ann").expect("ann").clone();
    assert!(!now.account.rights.may_use_channel(b"private"));
    assert!(now.account.rights.may_use_channel(b"news.1"));
    assert!(
        users
            .get(b"bob")
            .expect("bob")
            .account
            .rights
            .may_use_channel(b"private")
    );

    set(&mut users, "ann", "&more");
    set(&mut users, "ann", "allchannels");
    set(&mut users, "ann", "-get");
    let kept = ("ann".to_owned(), false);
    assert_eq!(changed(&mut users), [kept.clone(), kept.clone(), kept]);
}

#[test]
fn removed_users_are_noted_once_and_the_default_user_stays() {
    let mut users = Users::new();
    set(&mut users, "ann", "on");
    changed(&mut users);
    assert_eq!(call(&mut users, "deluser ann ann nosuch"), r":1\r\n");
    assert_eq!(changed(&mut users), [("-ann".to_owned(), true)]);
    assert!(!users.remove_user(b"default"));
    set(&mut users, "ann", "on");
    call(&mut users, "deluser ann default");
    assert!(users.get(b"ann").is_some());
    assert!(users.get(b"default").is_some());
}

#[test]
fn edges_learn_rights_but_no_passwords() {
    let mut users = Users::new();
    set(&mut users, "ann", "on >secret ~a &b +get");
    users.require_password(b"secret");
    let told: Vec<(String, String)> = users
        .snapshot()
        .map(|(name, text)| {
            (
                name.escape_ascii().to_string(),
                text.escape_ascii().to_string(),
            )
        })
        .collect();
    let pair = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    assert_eq!(
        told,
        [
            pair("ann", "on ~a resetchannels &b -@all +get"),
            pair("default", "on ~* &* +@all"),
        ]
    );
    for (user, (_, text)) in users.iter().zip(&told) {
        assert_eq!(Account::parse(text.as_bytes()).as_ref(), Ok(&user.account));
    }
}

#[test]
fn what_is_not_there_yet_is_an_unknown_subcommand() {
    let mut users = Users::new();
    for name in ["log", "load", "save", "dryrun", "genpass"] {
        let expected = format!("-ERR unknown subcommand \\'{name}\\'. Try ACL HELP.\\r\\n");
        assert_eq!(call(&mut users, name), expected);
    }
    let refused = call(&mut users, "setuser ann (~a)");
    assert!(refused.ends_with(r"Syntax error\r\n"), "{refused}");
}

#[test]
fn categories_list_their_commands() {
    let mut users = Users::new();
    assert_eq!(
        call(&mut users, "cat Transaction"),
        r"*3\r\n$5\r\nmulti\r\n$4\r\nexec\r\n$7\r\ndiscard\r\n"
    );
}

#[test]
fn a_user_is_not_printed_with_its_passwords() {
    let mut users = Users::new();
    set(&mut users, "ann", ">secret");
    let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";
    assert!(call(&mut users, "getuser ann").contains(hash));
    let printed = format!("{:?}", users.get(b"ann"));
    assert!(
        !printed.contains("2b, b8") && !printed.contains("43, 184"),
        "{printed}"
    );
}
