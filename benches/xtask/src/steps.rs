//! Steps with a heading, a duration and a count each; totals at the end.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::ops::AddAssign;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use goblin_end_to_end::repository;

/// How many checks passed and how many did not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Count {
    /// One check.
    pub(crate) fn one(passed: bool) -> Count {
        Count {
            passed: u64::from(passed),
            failed: u64::from(!passed),
        }
    }

    /// One check, which passes when nothing is wrong; what is wrong is printed.
    pub(crate) fn of(wrong: &[String]) -> Count {
        for wrong in wrong {
            println!("{wrong}");
        }
        Count::one(wrong.is_empty())
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

/// The steps of one run, in order.
#[derive(Default)]
pub(crate) struct Steps {
    total: Count,
    failed: Vec<String>,
}

impl Steps {
    /// Runs one step.
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce() -> Count) {
        println!("\n== {name}");
        let start = Instant::now();
        let count = step();
        println!("== {name}: {count}, {:.1} s", start.elapsed().as_secs_f64());
        self.total += count;
        if count.failed > 0 {
            self.failed.push(name.to_owned());
        }
    }

    /// Prints the line of totals, the last of the run.
    ///
    /// # Errors
    /// Names the steps that failed.
    pub(crate) fn finish(self) -> Result<(), String> {
        println!("\n{}", self.total);
        if self.failed.is_empty() {
            Ok(())
        } else {
            Err(format!("failed: {}", self.failed.join("; ")))
        }
    }
}

/// This run's cargo, at the root of the repository.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(repository()).args(arguments);
    command
}

/// Whether a command ended well. Its output goes where ours goes.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    match command.status() {
        Ok(status) => status.success(),
        Err(error) => {
            println!("{} did not start: {error}", name(command));
            false
        }
    }
}

/// Runs a command, shows each line of its output, and hands each to `look`. Whether it ended well.
/// Standard error goes where ours goes.
pub(crate) fn each_line(command: &mut Command, mut look: impl FnMut(&str)) -> bool {
    let child = command.stdout(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            println!("{} did not start: {error}", name(command));
            return false;
        }
    };
    let lines = child.stdout.take().into_iter();
    for line in lines
        .flat_map(|output| BufReader::new(output).split(b'\n'))
        .map_while(Result::ok)
    {
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        look(&line);
    }
    child.wait().is_ok_and(|status| status.success())
}

/// The first line that a program prints about its version; empty when it does not start.
pub(crate) fn version(program: &str) -> String {
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let text = text.unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

fn name(command: &Command) -> String {
    let program = Path::new(command.get_program());
    program.display().to_string()
}
