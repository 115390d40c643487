//! Checkers that cannot fail check nothing: each planted fault is found by the checker of the promise
//! that it breaks, in some of a few runs that are clean without it.

use std::time::Duration;

use goblin_edge::{Delivery, OnGap, OnUpstreamLoss};
use goblin_simulator::plan::{EdgePlan, Fault, Plan, Storm, WIDE_WINDOW_BYTES};
use goblin_simulator::plant::Plant;
use goblin_simulator::{Outcome, run_plan};

/// Runs to try: chance decides whether the fault meets anybody in one of them.
const SEEDS: u64 = 8;

/// A plan in which every planted fault has its chance: a link that breaks and comes back, one that
/// stands still, a flood.
fn plan(seed: u64) -> Plan {
    let mut plan = Plan::new(seed);
    plan.window_bytes = WIDE_WINDOW_BYTES;
    plan.resume_timeout = Duration::from_secs(1);
    let edge = EdgePlan {
        delivery: Delivery::Local,
        host_ordered: false,
        on_upstream_loss: OnUpstreamLoss::Reject,
        on_gap: OnGap::Close,
    };
    plan.edges = vec![edge; 2];
    plan.clients = 24;
    let stall = Fault::Stall {
        edge: 1,
        toward_host: true,
        toward_edge: false,
        lasts: Duration::from_millis(60),
    };
    let faults = [
        (60, Fault::Cut { edge: 0 }),
        (150, stall),
        (250, Fault::SlowClient),
    ];
    plan.storms = vec![Storm {
        length: Duration::from_millis(450),
        faults: faults
            .map(|(at, fault)| (Duration::from_millis(at), fault))
            .to_vec(),
    }];
    plan
}

fn runs(plant: Option<Plant>) -> impl Iterator<Item = Outcome> {
    (0..SEEDS).map(move |seed| run_plan(plan(seed), plant))
}

fn is_caught(plant: Plant) -> bool {
    runs(Some(plant)).any(|outcome| {
        let mut violations = outcome.violations.iter();
        violations.any(|violation| {
            violation.promise == plant.breaks() && violation.text.contains(plant.sign())
        })
    })
}

#[test]
fn without_a_planted_fault_there_is_nothing_to_find() {
    for outcome in runs(None) {
        assert_eq!(outcome.violations, [], "seed {}", outcome.plan.seed);
    }
}

#[test]
fn a_lost_resume_frame_is_caught() {
    assert!(is_caught(Plant::LostResume));
}

#[test]
fn a_duplicate_after_replay_is_caught() {
    assert!(is_caught(Plant::Duplicate));
}

#[test]
fn a_swapped_order_is_caught() {
    assert!(is_caught(Plant::Swapped));
}

#[test]
fn a_confirmation_sent_early_is_caught() {
    assert!(is_caught(Plant::EarlyConfirmation));
}

#[test]
fn a_wrong_count_is_caught() {
    assert!(is_caught(Plant::WrongCount));
}

#[test]
fn a_publication_delivered_and_refused_is_caught() {
    assert!(is_caught(Plant::DeliveredOnReject));
}

#[test]
fn a_lost_answer_is_caught() {
    assert!(is_caught(Plant::AnswerLost));
}

#[test]
fn a_reply_in_the_place_of_another_is_caught() {
    assert!(is_caught(Plant::RepeatedReply));
}

#[test]
fn an_edge_that_keeps_everything_for_a_slow_client_is_caught() {
    assert!(is_caught(Plant::NoOutputLimit));
}

#[test]
fn an_edge_that_waits_for_the_host_is_caught() {
    assert!(is_caught(Plant::WaitsForHost));
}
