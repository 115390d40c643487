//! `goblin-bench`: measures the pair, and what it is compared with.

mod instructions;
mod latency;

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
    /// Measure one operation of a server that runs
    Latency(latency::Latency),
    /// Measure what the sockets alone take
    Floor(latency::Floor),
    /// Measure the floor, the edge, the host and redis-server in one run, on two processors
    SideBySide(latency::SideBySide),
    /// Answer as the floor; started by the others
    #[command(hide = true)]
    FloorServer(latency::FloorServer),
    /// Do what is counted; started by `instructions` under valgrind
    #[command(hide = true)]
    Play(instructions::Play),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Instructions(arguments) => instructions::run(&arguments),
        Command::Latency(arguments) => latency::latency(&arguments),
        Command::Floor(arguments) => latency::floor(&arguments),
        Command::SideBySide(arguments) => latency::side_by_side(&arguments),
        Command::FloorServer(arguments) => latency::floor_server(&arguments),
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
