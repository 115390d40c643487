//! Sorted sets beside a sorted list of pairs.

use super::*;
use proptest::prelude::*;

type Oracle = Vec<(f64, Vec<u8>)>;

fn seeds() -> RandomState {
    RandomState::with_seeds(1, 2, 3, 4)
}

fn put(set: &mut SortedSet, score: f64, member: &[u8]) {
    set.update(member, &seeds(), |_| Some(score));
}

fn check(set: &SortedSet) {
    if let Form::Tree(tree) = &set.0 {
        tree.check();
    }
}

fn contents(entries: Entries<'_>) -> Oracle {
    entries
        .map(|entry| (entry.score(), entry.member().to_vec()))
        .collect()
}

fn put_in_oracle(oracle: &mut Oracle, score: f64, member: &[u8]) {
    oracle.retain(|(_, known)| known != member);
    let at = oracle.partition_point(|(other, known)| (*other, known.as_slice()) < (score, member));
    oracle.insert(at, (score, member.to_vec()));
}

#[derive(Clone, Debug)]
enum Step {
    Put(i8, u16),
    Increment(i8, u16),
    Remove(u16),
    RemoveBelow(i8),
}

fn step(members: u16) -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => (-9_i8..9, 0..members).prop_map(|(score, member)| Step::Put(score, member)),
        10 => (-9_i8..9, 0..members).prop_map(|(by, member)| Step::Increment(by, member)),
        10 => (0..members).prop_map(Step::Remove),
        1 => (-9_i8..9).prop_map(Step::RemoveBelow),
    ]
}

/// Members of various lengths; some are too long for a compact set.
fn member(number: u16) -> Vec<u8> {
    match number % 150 {
        0 => vec![b'l'; usize::from(number)],
        1 => Vec::new(),
        _ => number.to_string().into_bytes(),
    }
}

fn apply(set: &mut SortedSet, oracle: &mut Oracle, step: &Step) {
    match *step {
        Step::Put(score, number) => {
            put(set, f64::from(score), &member(number));
            put_in_oracle(oracle, f64::from(score), &member(number));
        }
        Step::Increment(by, number) => {
            let member = member(number);
            let known = oracle
                .iter()
                .find(|(_, known)| *known == member)
                .map(|(score, _)| *score);
            set.update(&member, &seeds(), |score| {
                assert_eq!(score, known);
                score.map(|score| score + f64::from(by))
            });
            if let Some(score) = known {
                put_in_oracle(oracle, score + f64::from(by), &member);
            }
        }
        Step::Remove(number) => {
            let was_there = oracle.iter().any(|(_, known)| *known == member(number));
            assert_eq!(set.remove(&member(number)), was_there);
            oracle.retain(|(_, known)| *known != member(number));
        }
        Step::RemoveBelow(bound) => {
            let bound = f64::from(bound);
            let count = set.count_before(|entry| entry.score() < bound);
            for (_, member) in contents(set.range(0..count)) {
                assert!(set.remove(&member));
            }
            oracle.retain(|(score, _)| *score >= bound);
        }
    }
}

fn compare(set: &SortedSet, oracle: &Oracle) {
    assert_eq!(set.len(), oracle.len());
    assert_eq!(&contents(set.range(0..oracle.len())), oracle);
    for (rank, (score, member)) in oracle.iter().enumerate() {
        assert_eq!(set.score(member), Some(*score));
        assert_eq!(set.rank(member), Some((rank, *score)));
    }
    for bound in -20..20 {
        let bound = f64::from(bound);
        let below = oracle.iter().filter(|(score, _)| *score < bound).count();
        assert_eq!(set.count_before(|entry| entry.score() < bound), below);
    }
    assert_eq!((set.score(b"absent"), set.rank(b"absent")), (None, None));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_sorted_set_is_like_a_sorted_list(
        steps in prop_oneof![
            prop::collection::vec(step(1_000), 0..1_500),
            prop::collection::vec(step(160), 0..300),
        ],
        from in 0_usize..1_000,
        count in 0_usize..1_000,
    ) {
        let (mut set, mut oracle) = (SortedSet::new(), Oracle::new());
        for (at, step) in steps.iter().enumerate() {
            apply(&mut set, &mut oracle, step);
            if at % 100 == 0 {
                check(&set);
            }
        }
        check(&set);
        compare(&set, &oracle);
        let from = from.min(oracle.len());
        let to = (from + count).min(oracle.len());
        let mut expected = oracle[from..to].to_vec();
        prop_assert_eq!(&contents(set.range(from..to)), &expected);
        expected.reverse();
        prop_assert_eq!(&contents(set.range_reversed(from..to)), &expected);
    }
}

/// Deep enough for inner nodes to be split and joined.
#[test]
fn a_large_set_keeps_its_shape_whatever_the_order_of_its_changes() {
    const COUNT: u32 = 40_000;
    let scattered = |number: u32| number * 7_919 % COUNT;
    let ascending = |number: u32| number;
    let descending = |number: u32| COUNT - 1 - number;
    let orders: [&dyn Fn(u32) -> u32; 3] = [&ascending, &descending, &scattered];
    for insertion in orders {
        for removal in orders {
            let mut set = SortedSet::new();
            for number in (0..COUNT).map(insertion) {
                put(&mut set, f64::from(number), &number.to_le_bytes());
            }
            check(&set);
            let count = set.len();
            assert_eq!(set.range(0..count).count(), count);
            for (step, number) in (0..COUNT).map(removal).enumerate() {
                set.remove(&number.to_le_bytes());
                if step % 9_973 == 0 {
                    check(&set);
                }
            }
            check(&set);
            assert!(set.is_empty());
            put(&mut set, 1.0, b"again");
            assert_eq!(set.rank(b"again"), Some((0, 1.0)));
        }
    }
}

#[test]
fn a_set_becomes_a_tree_with_its_129th_member_or_a_long_one() {
    let mut set = SortedSet::new();
    for number in 0..COMPACT_ENTRIES_MAX {
        put(&mut set, 0.0, number.to_string().as_bytes());
    }
    put(&mut set, 1.0, b"7");
    assert!(matches!(set.0, Form::Compact(_)));
    put(&mut set, 1.0, b"one more");
    assert!(matches!(set.0, Form::Tree(_)));

    let mut set = SortedSet::new();
    put(&mut set, 0.0, &[b'm'; COMPACT_BYTES_MAX]);
    assert!(matches!(set.0, Form::Compact(_)));
    put(&mut set, 0.0, &[b'm'; COMPACT_BYTES_MAX + 1]);
    assert!(matches!(set.0, Form::Tree(_)));
    assert_eq!(set.len(), 2);
}

#[test]
fn long_members_split_leaves_by_their_bytes() {
    let mut set = SortedSet::new();
    for number in 0..50_u8 {
        put(&mut set, f64::from(number % 5), &vec![number; 5_000]);
        check(&set);
    }
    for number in 0..50_u8 {
        assert_eq!(set.score(&vec![number; 5_000]), Some(f64::from(number % 5)));
        assert!(set.remove(&vec![number; 5_000]));
        check(&set);
    }
}

#[test]
fn zeros_of_either_sign_are_equal_in_the_order() {
    let mut set = SortedSet::new();
    for (score, member) in [(0.0, "b"), (-0.0, "c"), (0.0, "a"), (-0.0, "d")] {
        put(&mut set, score, member.as_bytes());
    }
    let members: Vec<_> = set
        .range(0..4)
        .map(|entry| entry.member().to_vec())
        .collect();
    assert_eq!(members, [b"a", b"b", b"c", b"d"]);
}

#[test]
fn a_set_that_is_given_up_in_parts_ends() {
    let mut set = SortedSet::new();
    (0..10_000_u32).for_each(|number| put(&mut set, f64::from(number), &number.to_le_bytes()));
    let parts = std::iter::from_fn(|| set.drop_some().then_some(())).count();
    assert!((200..600).contains(&parts), "{parts}");
}
