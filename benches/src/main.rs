//! `goblin-bench`: measures the pair, and what it is compared with.

mod instructions;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures the pair, and what it is compared with
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Count the instructions of what the cores do most, and hold them against the figures checked in
    Instructions(instructions::Arguments),
    /// Do what is counted; started by `instructions` under valgrind
    #[command(hide = true)]
    Play(instructions::Play),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Instructions(arguments) => instructions::run(&arguments),
        Command::Play(play) => instructions::play(&play),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("goblin-bench: {problem}");
            ExitCode::FAILURE
        }
    }
}
