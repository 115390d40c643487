//! The repository's commands: `cargo xtask demo`, `cargo xtask test`, `cargo xtask sim`.
//!
//! Each ends with exit code 0 only if everything that it stands for was done and was right. What is
//! missing on the machine is installed through the system's package manager, or named and refused
//! with `--no-install`; nothing is skipped.

mod checks;
mod demo;
mod libraries;
mod sim;
mod steps;
mod test;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The repository's commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Start a host and an edge on loopback, and show what they do and how fast.
    Demo {
        /// Leave them running until Ctrl-C.
        #[arg(long)]
        keep: bool,
        /// Install nothing; fail and list what is missing.
        #[arg(long)]
        no_install: bool,
    },
    /// Run every check of the repository; what continuous integration runs.
    Test {
        /// Install nothing; fail and list what is missing.
        #[arg(long)]
        no_install: bool,
    },
    /// Run the simulator: one seed, or seeds until stopped.
    Sim(sim::Arguments),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Task::Demo { keep, no_install } => demo::run(keep, no_install),
        Task::Test { no_install } => test::run(no_install),
        Task::Sim(arguments) => sim::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}
