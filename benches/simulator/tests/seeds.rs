//! Seeds: each reproduces its run, and none breaks a promise.

use goblin_simulator::{Counts, run};

#[test]
fn the_same_seed_gives_the_same_run_byte_for_byte() {
    for seed in [3, 61, 314] {
        let (one, other) = (run(seed), run(seed));
        assert_eq!(one.history.digest, other.history.digest);
        assert_eq!(one.history.story, other.history.story);
        assert_eq!(one.counts, other.counts);
    }
}

#[test]
fn other_seeds_give_other_runs() {
    assert_ne!(run(3).history.digest, run(4).history.digest);
}

#[test]
fn no_seed_breaks_a_promise_and_every_promise_is_put_to_the_test() {
    let mut counts = Counts::default();
    for seed in 1000..1040 {
        let outcome = run(seed);
        assert_eq!(outcome.violations, [], "seed {seed}");
        counts.add(&outcome.counts);
    }
    for (what, count) in counts.named() {
        assert!(count > 0, "no {what} in any of the runs");
    }
}
