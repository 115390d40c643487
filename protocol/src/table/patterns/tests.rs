use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use proptest::sample::select;

use super::{PatternIndex, WILDS_MAX};
use crate::glob;
use crate::table::PatternId;

fn index(patterns: &[&[u8]]) -> PatternIndex {
    let mut index = PatternIndex::new();
    for (id, pattern) in patterns.iter().enumerate() {
        index.insert(id as u32, pattern);
    }
    index
}

fn found(index: &PatternIndex, name: &[u8]) -> Vec<u32> {
    let mut found = Vec::new();
    index.matching(name, &mut found);
    let mut found: Vec<_> = found.into_iter().map(|PatternId(id)| id).collect();
    found.sort_unstable();
    found
}

fn nodes(index: &PatternIndex) -> usize {
    index.nodes.len() - index.vacant.len()
}

#[test]
fn nodes_and_references_are_as_small_as_the_table_expects() {
    assert_eq!(size_of::<super::node::Ref>(), 4);
    assert_eq!(size_of::<super::node::Node>(), 32);
}

#[test]
fn the_empty_name_is_matched_by_the_empty_pattern_only() {
    let index = index(&[b"", b"*", b"**", b"[^", b"?"]);
    assert_eq!(found(&index, b""), [0]);
    assert_eq!(found(&index, b"x"), [1, 2, 3, 4]);
}

#[test]
fn patterns_that_differ_in_their_text_only_are_all_found_until_they_go() {
    let patterns: [&[u8]; 5] = [b"*a*", b"**a*", b"*a***", b"*\\a*", b"***\\a**"];
    let mut index = index(&patterns);
    assert_eq!(found(&index, b"banana"), [0, 1, 2, 3, 4]);
    index.remove(4, patterns[4]);
    index.remove(1, patterns[1]);
    assert_eq!(found(&index, b"banana"), [0, 2, 3]);
    index.remove(0, patterns[0]);
    assert_eq!(found(&index, b"banana"), [2, 3]);
    index.remove(3, patterns[3]);
    assert_eq!(found(&index, b"banana"), [2]);
}

#[test]
fn a_star_pattern_is_found_once_however_often_its_text_occurs() {
    let index = index(&[b"*.a.*", b"*.a.*b", b"*a", b"*.*.*"]);
    assert_eq!(found(&index, b"x.a.a.a.a.b.a"), [0, 2, 3]);
    assert_eq!(found(&index, b"x.a.a.a.b"), [0, 1, 3]);
}

#[test]
fn one_of_thousands_of_patterns_is_found_and_few_take_more_than_a_node() {
    let mut index = PatternIndex::new();
    for id in 0..8192 {
        index.insert(id, format!("prefix.{id}.*").as_bytes());
    }
    assert_eq!(found(&index, b"prefix.77.x"), [77]);
    assert_eq!(found(&index, b"prefix.8192.x"), []);
    assert_eq!(found(&index, b"prefix.77"), []);
    assert!(nodes(&index) < 9000, "{} nodes", nodes(&index));
}

#[test]
fn patterns_beyond_what_the_trie_takes_are_found_all_the_same() {
    let deep = |wilds: usize, end: &str| format!("{}{end}", "?x".repeat(wilds)).into_bytes();
    let starred = |end: &str| format!("*{}{end}", "[xy]".repeat(WILDS_MAX)).into_bytes();
    let patterns = [
        deep(WILDS_MAX, "?b"),
        deep(WILDS_MAX, "*b"),
        deep(WILDS_MAX, "*c*"),
        deep(WILDS_MAX, "*"),
        starred("?"),
        starred("*x"),
        starred("b"),
    ];
    let patterns: Vec<&[u8]> = patterns.iter().map(Vec::as_slice).collect();
    let mut index = index(&patterns);
    for name in [deep(WILDS_MAX, "ab").as_slice(), &[b'x'; 200]] {
        let matching = (0..7_u32).filter(|id| glob::matches(patterns[*id as usize], name));
        assert_eq!(found(&index, name), matching.collect::<Vec<_>>());
    }
    let mut left: Vec<u32> = (0..7).collect();
    for id in [0, 4, 3, 1, 5, 2] {
        index.remove(id, patterns[id as usize]);
        left.retain(|other| *other != id);
        let name = [b'x'; 200];
        let matching = left.iter().copied();
        let matching = matching.filter(|id| glob::matches(patterns[*id as usize], &name));
        assert_eq!(found(&index, &name), matching.collect::<Vec<_>>());
    }
}

#[test]
fn stars_that_overlap_cost_no_more_than_the_name_each() {
    let name = vec![b'a'; 1 << 20];
    let index = index(&[
        b"a*a*a*a*a*a*a*a*a*a*b",
        b"*a*a*a*a*a*a*a*a*a*a*",
        b"*aaaa*aaaa*aaaab",
        b"************************************************************",
        b"**************************************************************b",
        b"*?*?*?*?*?*a",
    ]);
    assert_eq!(found(&index, &name), [1, 3, 5]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn the_nodes_depend_on_the_patterns_alone(
        patterns in btree_set(vec(select(b"aab.*?[]\\".as_slice()), 0..7), 1..40),
        gone in vec(any::<bool>(), 40),
    ) {
        let mut index = PatternIndex::new();
        for (id, pattern) in patterns.iter().enumerate() {
            index.insert(id as u32, pattern);
        }
        let mut fresh = PatternIndex::new();
        for (id, pattern) in patterns.iter().enumerate().rev() {
            if gone[id] {
                index.remove(id as u32, pattern);
            } else {
                fresh.insert(id as u32, pattern);
            }
        }
        prop_assert_eq!(nodes(&index), nodes(&fresh));
        for (id, pattern) in patterns.iter().enumerate().filter(|(id, _)| !gone[*id]) {
            index.remove(id as u32, pattern);
        }
        prop_assert_eq!(nodes(&index), 0);
    }
}
