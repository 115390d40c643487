//! The matcher, the pattern index and the table against the obvious way, under random operations.

#[path = "../fuzz/checks/glob.rs"]
mod oracle;

use goblin_protocol::glob;
use goblin_protocol::table::Kind;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use oracle::{Checked, matches};

/// Bytes that mean something in a pattern, and a few to be matched.
const PATTERN_BYTES: &[u8] = b"aaabb.***??[]^-\\\0\xff";
const NAME_BYTES: &[u8] = b"aaabb..]^-\\*\0\xff";

fn pattern() -> impl Strategy<Value = Vec<u8>> {
    vec(select(PATTERN_BYTES), 0..10)
}

fn name() -> impl Strategy<Value = Vec<u8>> {
    vec(select(NAME_BYTES), 0..9)
}

/// Fewer patterns, so that the same ones come and go.
fn short_pattern() -> impl Strategy<Value = Vec<u8>> {
    vec(select(b"ab*?".as_slice()), 0..5)
}

#[derive(Clone, Debug)]
enum Operation {
    Subscribe(u32, Kind, Vec<u8>),
    Unsubscribe(u32, Kind, Vec<u8>),
    Remove(u32),
    Publish(Vec<u8>),
}

fn operation() -> impl Strategy<Value = Operation> {
    let who = 0..5_u32;
    let kind = prop_oneof![
        3 => Just(Kind::Pattern),
        1 => Just(Kind::Channel),
        1 => Just(Kind::Shard),
    ];
    let name = prop_oneof![pattern(), short_pattern()];
    let subscription = (who.clone(), kind, name);
    prop_oneof![
        8 => subscription.clone().prop_map(|(who, kind, name)| Operation::Subscribe(who, kind, name)),
        4 => subscription.prop_map(|(who, kind, name)| Operation::Unsubscribe(who, kind, name)),
        1 => who.prop_map(Operation::Remove),
        4 => prop_oneof![self::name(), short_pattern()].prop_map(Operation::Publish),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4096, ..ProptestConfig::default() })]

    #[test]
    fn the_matcher_agrees_with_the_obvious_one(pattern in pattern(), name in name()) {
        prop_assert_eq!(glob::matches(&pattern, &name), matches(&pattern, &name));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn many_patterns_at_once_find_what_each_alone_matches(
        patterns in vec(prop_oneof![pattern(), short_pattern()], 0..60),
        names in vec(prop_oneof![name(), vec(select(b"ab".as_slice()), 0..12)], 20),
    ) {
        let mut checked = Checked::new();
        for pattern in &patterns {
            checked.subscribe(0, Kind::Pattern, pattern, 7);
        }
        for name in &names {
            checked.publish(name);
        }
    }

    #[test]
    fn the_table_agrees_with_a_map_of_subscriptions(operations in vec(operation(), 0..120)) {
        let mut checked = Checked::new();
        for (weight, operation) in operations.into_iter().enumerate() {
            match operation {
                Operation::Subscribe(who, kind, name) => {
                    checked.subscribe(who, kind, &name, weight as u32);
                }
                Operation::Unsubscribe(who, kind, name) => checked.unsubscribe(who, kind, &name),
                Operation::Remove(who) => checked.remove(who),
                Operation::Publish(name) => checked.publish(&name),
            }
        }
        checked.compare();
    }
}
