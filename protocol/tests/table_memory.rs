//! What a subscription costs in memory, and that publishing allocates nothing.
// A global allocator, which counts what the table asks for, is an unsafe trait.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use goblin_protocol::table::{HashSeed, Kind, Subscribed, SubscriberId, SubscriptionTable};

/// The promise.
const BYTES_PER_SUBSCRIPTION_MAX: f64 = 64.0;

/// What a pattern may cost, the index included.
const BYTES_PER_PATTERN_MAX: f64 = 256.0;

const MILLION: u32 = 1_000_000;
/// A little more than what 64 shards of 16,384 slots hold before they double: the hash table is as
/// empty as it gets, whichever shard doubles first.
const HASH_TABLE_DOUBLED: u32 = 930_000;
/// One more than a power of two: a list of as many has just doubled.
const LIST_DOUBLED: u32 = (1 << 20) + 1;

thread_local! {
    /// What this thread allocated less what it freed, also of what others had allocated.
    static BYTES: Cell<isize> = const { Cell::new(0) };
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every method hands its arguments to `System`, which keeps the contract, and returns what
// that returned. The counters are thread-local cells without destructor or lazy initialisation:
// touching them neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size() as isize);
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller vouches for `layout`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get() - layout.size() as isize);
        // SAFETY: the caller vouches that `alloc` returned `pointer` for `layout`, and `alloc` had
        // it from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn new_table<W: Copy + Default>() -> SubscriptionTable<W> {
    SubscriptionTable::new(HashSeed([1, 2, 3, 4]))
}

/// Fills a table with `count` subscriptions, of which `ends` says subscriber and name, and returns
/// what each costs beyond its share of the names.
fn bytes_each<W: Copy + Default>(
    kind: Kind,
    count: u32,
    ends: impl Fn(u32) -> (u32, String),
) -> f64 {
    let before = BYTES.get();
    let mut table = new_table::<W>();
    for subscription in 0..count {
        let (who, name) = ends(subscription);
        let subscribed = table.subscribe(SubscriberId(who), kind, &name.into_bytes(), W::default());
        assert_ne!(subscribed, Subscribed::Already);
    }
    let names = table.names(kind).map(|(name, _)| name.len());
    let names = names.sum::<usize>();
    let bytes = BYTES.get() - before + size_of_val(&table) as isize - names as isize;
    bytes as f64 / f64::from(count)
}

/// Checks the promise for channels in one shape of the relation: `ends` says subscriber and channel
/// of each subscription.
fn check<W: Copy + Default>(shape: &str, count: u32, ends: impl Fn(u32) -> (u32, u32)) {
    let each = bytes_each::<W>(Kind::Channel, count, |subscription| {
        let (who, channel) = ends(subscription);
        (who, format!("channel:{channel}"))
    });
    let weight = size_of::<W>();
    println!("{each:5.1} bytes: {shape}, {count} in all, weights of {weight}");
    assert!(
        each <= BYTES_PER_SUBSCRIPTION_MAX,
        "{each:.1} bytes for {shape}"
    );
}

#[test]
fn a_subscriber_of_a_million_channels_costs_64_bytes_each() {
    for count in [HASH_TABLE_DOUBLED, LIST_DOUBLED] {
        check::<u32>("one subscriber", count, |subscription| (0, subscription));
    }
    check::<()>("one subscriber", MILLION, |subscription| (0, subscription));
}

#[test]
fn a_channel_of_a_million_subscribers_costs_64_bytes_each() {
    check::<u32>("one channel", LIST_DOUBLED, |subscription| {
        (subscription, 0)
    });
    check::<()>("one channel", MILLION, |subscription| (subscription, 0));
}

#[test]
fn few_channels_of_its_own_for_each_subscriber_cost_64_bytes_each() {
    for own in [1, 2, 3] {
        let shape = format!("{own} channels of each subscriber's own");
        check::<u32>(&shape, HASH_TABLE_DOUBLED, |subscription| {
            (subscription / own, subscription)
        });
    }
}

#[test]
fn channels_that_many_subscribers_share_cost_64_bytes_each() {
    check::<u32>("channels shared by two", MILLION, |subscription| {
        (subscription, subscription / 2)
    });
    let grid = |subscription| (subscription % 1000, subscription / 1000);
    check::<u32>("1000 subscribers of the same 1000 channels", MILLION, grid);
}

#[test]
fn a_pattern_costs_256_bytes_at_most() {
    type Shape = fn(u32) -> String;
    let shapes: [(&str, Shape); 5] = [
        ("prefix.N.*", |number| format!("prefix.{number}.*")),
        ("prefix.HEX.*", |number| {
            format!("prefix.{:08x}.*", number.wrapping_mul(2_654_435_769))
        }),
        ("*.N", |number| format!("*.{number}")),
        ("*.N.*", |number| format!("*.{number}.*")),
        ("N", |number| format!("{number}")),
    ];
    for (shape, pattern) in shapes {
        let each = bytes_each::<()>(Kind::Pattern, 100_000, |number| (0, pattern(number)));
        println!("{each:5.1} bytes: {shape}");
        assert!(each <= BYTES_PER_PATTERN_MAX, "{each:.1} bytes for {shape}");
    }
}

#[test]
fn a_subscriber_that_leaves_gives_the_memory_back() {
    let before = BYTES.get();
    let mut table = new_table::<()>();
    for round in 0..3 {
        for name in 0..100_000_u32 {
            table.subscribe(
                SubscriberId(name % 10),
                Kind::Channel,
                &name.to_le_bytes(),
                (),
            );
            let pattern = format!("{name}.*.?[{name}]");
            table.subscribe(
                SubscriberId(name % 10),
                Kind::Pattern,
                pattern.as_bytes(),
                (),
            );
        }
        let full = BYTES.get() - before;
        assert!(full > 10_000_000, "{full} bytes");
        for who in 0..10 {
            table.remove(SubscriberId(who), |_, _, _| ());
        }
        let left = BYTES.get() - before;
        assert!(left < 50_000, "{left} bytes after round {round}");
    }
}

#[test]
fn a_publication_allocates_nothing() {
    let mut table = new_table::<()>();
    let patterns = [
        "prefix.*",
        "*.suffix",
        "*.in.*",
        "?refix.[a-i]*",
        "pre*fix*.suffix",
        "x",
    ];
    for (who, pattern) in patterns.iter().cycle().take(100).enumerate() {
        let who = SubscriberId(who as u32);
        table.subscribe(who, Kind::Pattern, pattern.as_bytes(), ());
        table.subscribe(who, Kind::Channel, b"prefix.in.suffix", ());
    }
    let mut found = Vec::with_capacity(patterns.len());
    let before = ALLOCATIONS.get();
    let mut deliveries = 0;
    for _ in 0..10 {
        let channel = b"prefix.in.suffix";
        deliveries += table.subscribers(Kind::Channel, channel).count();
        table.matching(channel, &mut found);
        for id in &found {
            deliveries += table.pattern(*id).1.count();
        }
    }
    assert_eq!(ALLOCATIONS.get(), before);
    assert_eq!(deliveries, 10 * (100 + 84));
}
