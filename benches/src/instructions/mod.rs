//! Instructions of what the cores do most, without system calls.
//!
//! `goblin-bench instructions` runs each case twice under callgrind, for `n` and for `2n` rounds; the
//! difference by `n` is what one round takes. Three counts come of it:
//!
//! * *request*: what is done when the client's bytes arrive, until the core has nothing more to do
//!   with them. For `PUBLISH` at the edge: parse, check, match, append to the output of each
//!   subscriber, put into the link's window.
//! * *link*: what is done when bytes arrive over the link. At the edge that is the host's answer,
//!   until the reply is in the publisher's output.
//! * *whole*: these, and all that surrounds them: each turn, handing the output of each connection
//!   to the transport, and the loop that plays the part of the transport.
//!
//! The counts depend on the compiler and on the C library's
//! `memcpy`, hardly on the machine and not on its load. They are held against
//! `benches/instructions.toml`: a count that is off by more than the tolerance, in either direction,
//! is a failure, because a figure that is too high would hide the next regression. What was meant to
//! change is written there with `--write`.

mod cases;
mod figures;

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

use cases::{CASES, Case};
use figures::{Count, Figures};

/// Rounds of the shorter run: many against what happens once in a thousand.
const ROUNDS: usize = 4_000;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Count these cases alone, and compare nothing
    cases: Vec<String>,
    /// Write what was counted into the file of figures
    #[arg(long)]
    write: bool,
    /// Keep the profile of each case in this folder, for callgrind_annotate
    #[arg(long, value_name = "FOLDER")]
    keep: Option<std::path::PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct Play {
    case: String,
    rounds: usize,
}

/// What runs under valgrind.
pub(crate) fn play(play: &Play) -> Result<(), String> {
    let case = Case::find(&play.case).ok_or("no such case")?;
    let written = case.play(play.rounds, 2 * ROUNDS)?;
    println!("{written} bytes");
    Ok(())
}

/// Counts, prints the table, and compares.
pub(crate) fn run(arguments: &Arguments) -> Result<(), String> {
    if cfg!(debug_assertions) {
        return Err("instructions are those of a release build: cargo run --release".to_owned());
    }
    let chosen = chosen(&arguments.cases)?;
    let mut counted = Figures::of_this_toolchain()?;
    println!(
        "{:<26}{:>10}{:>10}{:>10}",
        "instructions of", "request", "link", "whole"
    );
    for case in chosen {
        let count = count(case, arguments.keep.as_deref())?;
        println!("{:<26}{count}", case.name);
        counted.set(case.name, count);
    }
    for line in counted.derived() {
        println!("{line}");
    }
    if arguments.write {
        return counted.write();
    }
    if !arguments.cases.is_empty() {
        return Ok(());
    }
    let wrong = counted.compare(&Figures::read()?);
    for line in &wrong {
        println!("{line}");
    }
    if wrong.is_empty() {
        println!("as checked in");
        Ok(())
    } else {
        Err(format!("{} counts are not as checked in", wrong.len()))
    }
}

fn chosen(names: &[String]) -> Result<Vec<&'static Case>, String> {
    if names.is_empty() {
        return Ok(CASES.iter().collect());
    }
    let find = |name: &String| Case::find(name).ok_or_else(|| format!("no case {name}"));
    names.iter().map(find).collect()
}

/// Instructions of one round.
fn count(case: &Case, keep: Option<&Path>) -> Result<Count, String> {
    let file = match keep {
        Some(folder) => folder.join(format!("{}.callgrind", case.name)),
        None => std::env::temp_dir().join(format!("goblin-{}.callgrind", std::process::id())),
    };
    let few = profile(case, ROUNDS, &file)?;
    let more = profile(case, 2 * ROUNDS, &file)?;
    if keep.is_none() {
        // Nobody reads it any more; one that stays harms nobody.
        let _ = std::fs::remove_file(&file);
    }
    Ok(more.each_beyond(few, ROUNDS as u64))
}

/// Instructions of a whole run.
fn profile(case: &Case, rounds: usize, file: &Path) -> Result<Count, String> {
    let program = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    let mut out = OsString::from("--callgrind-out-file=");
    out.push(file);
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--tool=callgrind").arg(out).arg(program);
    valgrind.args(["play", case.name, &rounds.to_string()]);
    output(&mut valgrind)?;
    let mut annotate = Command::new("callgrind_annotate");
    annotate.args(["--inclusive=yes", "--threshold=100", "--auto=no"]);
    let listed = output(annotate.arg(file))?;
    Count::read(&listed).ok_or_else(|| format!("{}: callgrind counted nothing", case.name))
}

fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{name} did not start: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{name} failed: {said}"))
}
