//! Neighbouring versions of the schema: a peer with the next one (`tests/sbe/next.xml`) and one with
//! ours understand what both know.

use crate::support::{decode_in_python, hex};
use goblin_protocol::link::FormatError;
use goblin_protocol::sbe::messages as ours;
use goblin_protocol::sbe::wire::{Encode, Group};

#[allow(missing_docs, unreachable_pub, dead_code)]
mod next {
    //! The codec of the next version.
    use goblin_protocol::link::{FormatError, Sink};
    use goblin_protocol::sbe::wire;

    include!(concat!(env!("OUT_DIR"), "/next.rs"));
}

fn encoded(message: &impl Encode) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.write(&mut bytes);
    bytes
}

#[test]
fn what_a_newer_peer_appends_is_skipped() {
    let expire = next::Expire {
        seconds: 7,
        condition: next::Condition::IfLess,
        fraction: Some(0.5),
        second: None,
        key: b"k",
        reason: b"why",
    };
    let known = ours::Expire {
        seconds: 7,
        condition: ours::Condition::IfLess,
        key: b"k",
    };
    let decoded = encoded(&expire);
    assert_eq!(
        ours::Request::decode(&decoded),
        Ok(ours::Request::Expire(known))
    );
    let keys = [
        next::DelKeys {
            expected: Some(1),
            key: b"a",
        },
        next::DelKeys {
            expected: None,
            key: b"b",
        },
    ];
    let tags: [&[u8]; 1] = [b"tag"];
    let del = encoded(&next::Del {
        limit: Some(3),
        keys: Group::from(&keys),
        tags: Group::from(&tags),
    });
    let keys: [&[u8]; 2] = [b"a", b"b"];
    let known = ours::Del {
        keys: Group::from(&keys),
    };
    assert_eq!(ours::Request::decode(&del), Ok(ours::Request::Del(known)));
    let rename = encoded(&next::Rename {
        key: b"a",
        new_key: b"b",
    });
    let unknown = FormatError::Template { template: 173 };
    assert_eq!(ours::Request::decode(&rename), Err(unknown));
}

#[test]
fn what_an_older_peer_lacks_is_absent() {
    let expire = encoded(&ours::Expire {
        seconds: 7,
        condition: ours::Condition::Always,
        key: b"k",
    });
    let known = next::Expire {
        seconds: 7,
        condition: next::Condition::Always,
        fraction: None,
        second: None,
        key: b"k",
        reason: b"",
    };
    assert_eq!(
        next::Request::decode(&expire),
        Ok(next::Request::Expire(known))
    );
    let keys: [&[u8]; 1] = [b"a"];
    let del = encoded(&ours::Del {
        keys: Group::from(&keys),
    });
    let keys = [next::DelKeys {
        expected: None,
        key: b"a",
    }];
    let known = next::Del {
        limit: None,
        keys: Group::from(&keys),
        tags: Group::from(&[]),
    };
    assert_eq!(next::Request::decode(&del), Ok(next::Request::Del(known)));
}

#[test]
fn what_a_peer_may_leave_empty_comes_back_empty_or_full() {
    for (fraction, second) in [(None, Some(next::Condition::IfAbsent)), (Some(2.0), None)] {
        let expire = next::Expire {
            seconds: i64::MIN,
            condition: next::Condition::Always,
            fraction,
            second,
            key: b"",
            reason: b"r",
        };
        assert_eq!(
            next::Request::decode(&encoded(&expire)),
            Ok(next::Request::Expire(expire))
        );
    }
}

#[test]
fn the_decoder_in_python_agrees_in_both_directions() {
    let newer = encoded(&next::Expire {
        seconds: 7,
        condition: next::Condition::IfLess,
        fraction: Some(0.5),
        second: None,
        key: b"k",
        reason: b"why",
    });
    let older = encoded(&ours::Expire {
        seconds: 7,
        condition: ours::Condition::IfLess,
        key: b"k",
    });
    assert_eq!(
        decode_in_python("schema/goblin.xml", [hex(&newer)].into_iter()),
        ["Expire seconds=7 condition=IfLess key=6b"]
    );
    assert_eq!(
        decode_in_python("tests/sbe/next.xml", [hex(&older), hex(&newer)].into_iter()),
        [
            "Expire seconds=7 condition=IfLess fraction=- second=- key=6b reason=",
            "Expire seconds=7 condition=IfLess fraction=3fe0000000000000 second=- key=6b reason=776879",
        ]
    );
}
