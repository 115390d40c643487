//! Runs that once broke a promise, each reduced to the plan that it takes.

use std::time::Duration;

use goblin_simulator::Violation;
use goblin_simulator::plan::{Fault, Plan, Storm};
use goblin_simulator::run_plan;

fn violations(plan: Plan) -> Vec<Violation> {
    run_plan(plan, None).violations
}

fn storm(faults: &[(u64, Fault)]) -> Storm {
    let at = |(after, fault): &(u64, Fault)| (Duration::from_millis(*after), *fault);
    Storm {
        length: Duration::from_millis(250),
        faults: faults.iter().map(at).collect(),
    }
}

#[test]
fn an_edge_whose_window_filled_while_it_was_down_is_forgotten() {
    for seed in 0..10 {
        let mut plan = Plan::new(seed);
        plan.window_bytes = 4096;
        let down = Duration::from_millis(100);
        plan.storms = vec![storm(&[
            (50, Fault::RestartEdge { edge: 0, down }),
            (60, Fault::SlowClient),
        ])];
        assert_eq!(violations(plan), [], "seed {seed}");
    }
}
