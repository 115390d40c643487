//! What matching and the subscription table are checked against: the slow and obvious way.

#![allow(dead_code, reason = "each test program uses its part")]

use std::collections::{BTreeMap, BTreeSet};

use goblin_protocol::glob;
use goblin_protocol::table::{HashSeed, Kind, Subscribed, SubscriberId, SubscriptionTable};

/// The key of every hash in these tests.
pub(crate) const SEED: HashSeed = HashSeed([1, 2, 3, 4]);

/// Whether `pattern` matches `name`, by keeping for each token the set of places in the name that
/// can be reached with the tokens before it.
pub(crate) fn matches(pattern: &[u8], name: &[u8]) -> bool {
    if name.is_empty() {
        return pattern.is_empty();
    }
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    let mut star_groups = 0;
    let mut at = 0;
    while at < pattern.len() {
        if pattern[at] == b'*' {
            while pattern.get(at) == Some(&b'*') {
                at += 1;
            }
            star_groups += usize::from(at < pattern.len());
            for place in 1..reached.len() {
                reached[place] |= reached[place - 1];
            }
            continue;
        }
        let accepted = accepted_bytes(pattern, &mut at);
        for place in (0..name.len()).rev() {
            reached[place + 1] = reached[place] && accepted.contains(&name[place]);
        }
        reached[0] = false;
    }
    reached[name.len()] && star_groups <= glob::STARS_MAX
}

/// The bytes that the token at `at` accepts; moves `at` behind it.
fn accepted_bytes(pattern: &[u8], at: &mut usize) -> BTreeSet<u8> {
    let first = pattern[*at];
    *at += 1;
    match first {
        b'?' => (0..=255).collect(),
        b'[' => class_bytes(pattern, at),
        b'\\' if *at < pattern.len() => {
            *at += 1;
            BTreeSet::from([pattern[*at - 1]])
        }
        literal => BTreeSet::from([literal]),
    }
}

fn class_bytes(pattern: &[u8], at: &mut usize) -> BTreeSet<u8> {
    let inverted = pattern.get(*at) == Some(&b'^');
    *at += usize::from(inverted);
    let mut listed = BTreeSet::new();
    while *at < pattern.len() {
        let left = pattern.len() - *at;
        if pattern[*at] == b'\\' && left >= 2 {
            listed.insert(pattern[*at + 1]);
            *at += 2;
        } else if pattern[*at] == b']' {
            *at += 1;
            break;
        } else if left >= 3 && pattern[*at + 1] == b'-' {
            let ends = [pattern[*at] as i8, pattern[*at + 2] as i8];
            let (low, high) = (ends[0].min(ends[1]), ends[0].max(ends[1]));
            listed.extend((low..=high).map(|byte| byte as u8));
            *at += 3;
        } else {
            listed.insert(pattern[*at]);
            *at += 1;
        }
    }
    (0..=255)
        .filter(|byte| listed.contains(byte) != inverted)
        .collect()
}

/// A table beside its model; every operation is done on both and compared.
pub(crate) struct Checked {
    table: SubscriptionTable<u32>,
    model: BTreeMap<(Kind, Vec<u8>), BTreeMap<u32, u32>>,
}

impl Checked {
    pub(crate) fn new() -> Self {
        Self {
            table: SubscriptionTable::new(SEED),
            model: BTreeMap::new(),
        }
    }

    pub(crate) fn subscribe(&mut self, who: u32, kind: Kind, name: &[u8], weight: u32) {
        let subscribers = self.model.entry((kind, name.to_vec())).or_default();
        let expected = match subscribers.insert(who, weight) {
            Some(_) => Subscribed::Already,
            None => Subscribed::Added {
                subscribers: subscribers.len(),
            },
        };
        let done = self.table.subscribe(SubscriberId(who), kind, name, weight);
        assert_eq!(done, expected);
    }

    pub(crate) fn unsubscribe(&mut self, who: u32, kind: Kind, name: &[u8]) {
        let expected = self.forget(who, kind, name);
        let left = self.table.unsubscribe(SubscriberId(who), kind, name);
        assert_eq!(left, expected);
    }

    pub(crate) fn remove(&mut self, who: u32) {
        let mut removed = BTreeSet::new();
        self.table.remove(SubscriberId(who), |kind, name, left| {
            assert!(removed.insert((kind, name.to_vec(), left)));
        });
        let own: Vec<_> = self.names_of(who);
        let expected = own.into_iter().map(|(kind, name)| {
            let left = self.forget(who, kind, &name);
            (kind, name, left.unwrap())
        });
        assert_eq!(removed, expected.collect());
    }

    /// Compares what a publication to `channel` finds.
    pub(crate) fn publish(&self, channel: &[u8]) {
        let mut found = Vec::new();
        self.table.matching(channel, &mut found);
        let mut patterns = BTreeSet::new();
        for id in found {
            let (pattern, subscribers) = self.table.pattern(id);
            assert!(
                patterns.insert(pattern.to_vec()),
                "{pattern:?} found twice for {channel:?}"
            );
            let key = (Kind::Pattern, pattern.to_vec());
            assert_eq!(collect(subscribers), self.model[&key]);
        }
        let of_patterns = self.model.keys().filter(|key| key.0 == Kind::Pattern);
        let names = of_patterns.map(|(_, pattern)| pattern);
        let expected = names.filter(|pattern| matches(pattern, channel)).cloned();
        assert_eq!(patterns, expected.collect(), "matching {channel:?}");
    }

    /// Compares everything that can be asked.
    pub(crate) fn compare(&self) {
        for kind in Kind::ALL {
            let of_kind = self.model.iter().filter(|((other, _), _)| *other == kind);
            let mut expected = BTreeMap::new();
            for ((_, name), subscribers) in of_kind {
                let own = self.table.subscribers(kind, name);
                assert_eq!(own.len(), subscribers.len());
                assert_eq!(collect(own), *subscribers);
                expected.insert(name.clone(), subscribers.clone());
            }
            assert_eq!(self.table.distinct(kind), expected.len());
            let names = self.table.names(kind);
            let names = names.map(|(name, subscribers)| (name.to_vec(), collect(subscribers)));
            assert_eq!(names.collect::<BTreeMap<_, _>>(), expected);
            for who in 0..8 {
                let mut own = Vec::new();
                for (name, subscribers) in &expected {
                    let subscribed = subscribers.contains_key(&who);
                    let id = SubscriberId(who);
                    assert_eq!(self.table.is_subscribed(id, kind, name), subscribed);
                    own.extend(subscribed.then_some(name.as_slice()));
                }
                let mut names: Vec<_> = self.table.names_of(SubscriberId(who), kind).collect();
                names.sort_unstable();
                assert_eq!(names, own);
                assert_eq!(self.table.count(SubscriberId(who), kind), own.len());
            }
        }
    }

    fn forget(&mut self, who: u32, kind: Kind, name: &[u8]) -> Option<usize> {
        let key = (kind, name.to_vec());
        let subscribers = self.model.get_mut(&key)?;
        subscribers.remove(&who)?;
        let left = subscribers.len();
        if left == 0 {
            self.model.remove(&key);
        }
        Some(left)
    }

    fn names_of(&self, who: u32) -> Vec<(Kind, Vec<u8>)> {
        let own = self
            .model
            .iter()
            .filter(|(_, subscribers)| subscribers.contains_key(&who));
        own.map(|(key, _)| key.clone()).collect()
    }
}

fn collect(subscribers: impl Iterator<Item = (SubscriberId, u32)>) -> BTreeMap<u32, u32> {
    subscribers.map(|(who, weight)| (who.0, weight)).collect()
}

/// Reads `bytes` as patterns, separated by line feeds, and a channel after the last of them, and
/// checks the matcher and the index on these. This is what the fuzzer runs.
pub(crate) fn check_fuzzed(bytes: &[u8]) {
    let mut lines: Vec<_> = bytes.split(|byte| *byte == b'\n').collect();
    let channel = lines.pop().unwrap_or_default();
    let mut checked = Checked::new();
    for pattern in &lines {
        assert_eq!(
            glob::matches(pattern, channel),
            matches(pattern, channel),
            "{pattern:?} and {channel:?}"
        );
        checked.subscribe(0, Kind::Pattern, pattern, 0);
    }
    checked.publish(channel);
    for pattern in lines.iter().step_by(2) {
        checked.unsubscribe(0, Kind::Pattern, pattern);
    }
    checked.publish(channel);
}
