//! The store as a whole: expiry, watching, giving up.

use super::*;

fn at(unix_ms: u64) -> Now {
    Now {
        monotonic: Time::from_nanos(unix_ms * 1_000_000),
        unix_us: unix_ms * 1_000,
    }
}

fn store() -> Store {
    Store::new(HashSeed([1, 2, 3, 4]))
}

fn set(store: &mut Store, key: &str, value: &str, lifetime: Lifetime, now: Now) {
    store.set_string(key.as_bytes(), Text::of(value.as_bytes()), lifetime, now);
}

fn get(store: &mut Store, key: &str, now: Now) -> Option<String> {
    let text = store.string(key.as_bytes(), now).expect("a string")?;
    Some(String::from_utf8_lossy(text.bytes(&mut Digits::default())).into_owned())
}

fn add_to_set(store: &mut Store, key: &str, members: u32, now: Now) {
    let added = store.update_or_create(key.as_bytes(), now, |set: &mut SortedSet, seeds| {
        for member in 0..members {
            set.update(&member.to_le_bytes(), seeds, |_| Some(f64::from(member)));
        }
        Changed {
            answer: (),
            is_changed: true,
        }
    });
    assert_eq!(added, Ok(()));
}

#[test]
fn a_key_is_gone_from_the_moment_of_its_expiry() {
    let mut store = store();
    set(&mut store, "k", "v", Lifetime::Until(100), at(0));
    assert_eq!(get(&mut store, "k", at(99)).as_deref(), Some("v"));
    assert_eq!(store.keys(at(100)).count(), 0);
    assert_eq!(store.len(), 1);
    assert_eq!(get(&mut store, "k", at(100)), None);
    assert_eq!(
        (store.len(), store.expiring(), store.expired_keys()),
        (0, 0, 1)
    );
}

#[test]
fn a_lifetime_is_kept_replaced_or_dropped() {
    let mut store = store();
    set(&mut store, "k", "1", Lifetime::Until(100), at(0));
    set(&mut store, "k", "2", Lifetime::Kept, at(0));
    assert_eq!(store.expiry(b"k", at(0)), Some(Some(100)));
    set(&mut store, "k", "3", Lifetime::Until(200), at(0));
    assert_eq!(store.expiry(b"k", at(0)), Some(Some(200)));
    set(&mut store, "k", "4", Lifetime::Forever, at(0));
    assert_eq!(store.expiry(b"k", at(0)), Some(None));
    assert_eq!(store.expiring(), 0);
    set(&mut store, "k", "5", Lifetime::Until(300), at(0));
    set(&mut store, "k", "6", Lifetime::Kept, at(300));
    assert_eq!(store.expiry(b"k", at(300)), Some(None));
}

#[test]
fn keys_that_fall_due_together_are_removed_within_the_budget() {
    let mut store = store();
    for key in 0..1_000 {
        set(
            &mut store,
            &key.to_string(),
            "v",
            Lifetime::Until(50),
            at(0),
        );
    }
    set(&mut store, "stays", "v", Lifetime::Until(60), at(0));
    assert_eq!(store.next_expiry_deadline(at(10)), Some(at(50).monotonic));
    assert_eq!(store.expire_some(at(49), 100), 0);
    assert_eq!(store.len(), 1_001);
    for pass in 1..=10 {
        assert_eq!(store.expire_some(at(50), 100), 100);
        assert_eq!(store.len(), 1_001 - pass * 100);
    }
    assert_eq!(store.expire_some(at(50), 100), 0);
    assert_eq!(store.next_expiry_deadline(at(50)), Some(at(60).monotonic));
    assert_eq!(get(&mut store, "stays", at(59)).as_deref(), Some("v"));
    assert_eq!(store.expire_some(at(60), 100), 1);
    assert_eq!((store.len(), store.has_expiries()), (0, false));
}

#[test]
fn whatever_happens_to_a_watched_key_changes_its_stamp() {
    type Change = fn(&mut Store);
    let changes: [(&str, Change); 8] = [
        ("set", |store| set(store, "k", "w", Lifetime::Kept, at(0))),
        ("append", |store| {
            let _ = store.append(b"k", b"w", at(0));
        }),
        ("expiry", |store| {
            let _ = store.set_expiry(b"k", Some(90), at(0));
        }),
        ("removal", |store| {
            let _ = store.remove(b"k", at(0));
        }),
        ("flush", Store::clear),
        ("seen to expire", |store| drop(get(store, "k", at(100)))),
        ("expired", |store| {
            store.expire_some(at(100), 1);
        }),
        ("replaced", |store| {
            store.remove(b"k", at(0));
            add_to_set(store, "k", 1, at(0));
        }),
    ];
    for (name, change) in changes {
        let mut store = store();
        set(&mut store, "k", "v", Lifetime::Until(100), at(0));
        let (before, other) = (store.watch(b"k", at(0)), store.watch(b"other", at(0)));
        assert_eq!(get(&mut store, "k", at(0)).as_deref(), Some("v"));
        set(&mut store, "unwatched", "v", Lifetime::Forever, at(0));
        assert_eq!(store.stamp(b"k", at(0)), Some(before), "{name}");
        change(&mut store);
        assert_ne!(store.stamp(b"k", at(0)), Some(before), "{name}");
        assert_eq!(store.stamp(b"other", at(0)), Some(other), "{name}");
    }
}

#[test]
fn an_expiry_nobody_has_noticed_changes_the_stamp() {
    let mut store = store();
    set(&mut store, "k", "v", Lifetime::Until(100), at(0));
    let before = store.watch(b"k", at(0));
    assert_ne!(store.stamp(b"k", at(100)), Some(before));
    let gone = store.watch(b"k", at(100));
    assert_eq!(store.stamp(b"k", at(200)), Some(gone));
}

#[test]
fn a_key_is_watched_until_its_last_watcher_leaves() {
    let mut store = store();
    store.watch(b"k", at(0));
    store.watch(b"k", at(0));
    store.unwatch(b"k");
    assert!(store.stamp(b"k", at(0)).is_some());
    store.unwatch(b"k");
    assert_eq!(store.stamp(b"k", at(0)), None);
    store.unwatch(b"k");
}

#[test]
fn what_is_flushed_is_freed_bit_by_bit() {
    let mut store = store();
    for key in 0..10_000 {
        set(
            &mut store,
            &key.to_string(),
            "v",
            Lifetime::Until(1_000_000),
            at(0),
        );
    }
    add_to_set(&mut store, "set", 10_000, at(0));
    store.clear();
    assert!(store.is_empty());
    set(&mut store, "new", "v", Lifetime::Forever, at(0));
    let mut passes = 0;
    while store.has_expiries() {
        assert_eq!(store.next_expiry_deadline(at(1)), Some(at(1).monotonic));
        store.expire_some(at(1), 2 * PART_COST);
        passes += 1;
    }
    assert!((100..2_000).contains(&passes), "{passes}");
    assert_eq!(get(&mut store, "new", at(1)).as_deref(), Some("v"));
}

#[test]
fn collections_that_become_empty_are_no_keys() {
    let mut store = store();
    add_to_set(&mut store, "set", 0, at(0));
    assert!(store.is_empty());
    add_to_set(&mut store, "set", 1, at(0));
    store.set_expiry(b"set", Some(5), at(0));
    let changes = store.changes();
    let removed = store.update(b"set", at(0), |set: &mut SortedSet, _| {
        let answer = set.remove(&0_u32.to_le_bytes());
        Changed {
            answer,
            is_changed: true,
        }
    });
    assert_eq!(removed, Ok(Some(true)));
    assert_eq!((store.len(), store.expiring()), (0, 0));
    assert_eq!(store.changes(), changes + 1);
}

#[test]
fn a_value_of_another_type_is_refused_but_can_be_replaced() {
    let mut store = store();
    add_to_set(&mut store, "k", 2_000, at(0));
    assert_eq!(store.string(b"k", at(0)).err(), Some(WrongType));
    assert_eq!(store.append(b"k", b"x", at(0)), Err(WrongType));
    assert_eq!(store.collection::<Hash>(b"k", at(0)).err(), Some(WrongType));
    assert_eq!(store.type_of(b"k", at(0)), Some(Type::SortedSet));
    set(&mut store, "k", "v", Lifetime::Kept, at(0));
    assert_eq!(store.type_of(b"k", at(0)), Some(Type::String));
    assert_eq!(
        store.collection::<SortedSet>(b"k", at(0)).err(),
        Some(WrongType)
    );
}
