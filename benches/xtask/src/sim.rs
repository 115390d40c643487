//! `cargo xtask sim`: the simulator, by hand.

use clap::Args;

use crate::steps::{cargo, succeeds};

/// Which simulation to run.
#[derive(Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Arguments {
    /// Run the simulation of this seed; the same seed is the same run.
    #[arg(long)]
    seed: Option<u64>,
    /// Run one seed after another until stopped or until one fails.
    #[arg(long)]
    soak: bool,
}

/// Runs the simulator.
///
/// # Errors
/// When it finds a broken promise, which it has printed with the seed.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    let chosen = match arguments.seed {
        Some(seed) => vec!["--seed".to_owned(), seed.to_string()],
        None => vec!["--soak".to_owned()],
    };
    if simulate(&chosen) {
        Ok(())
    } else {
        Err(format!("the simulation failed: {}", chosen.join(" ")))
    }
}

/// Runs the simulator and says whether every promise was kept. Optimised, because it is the number
/// of simulated events that finds faults; with assertions, because they find them earlier.
pub(crate) fn simulate(arguments: &[String]) -> bool {
    let mut command = cargo(&["run", "--quiet", "--package", "goblin-simulator", "--"]);
    succeeds(command.args(arguments))
}
