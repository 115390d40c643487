//! `cargo xtask test`: every check of the repository, in the order in which failing is cheapest.

use std::process::Command;

use crate::checks;
use crate::libraries;
use crate::sim::simulate;
use crate::steps::{Count, Steps, cargo, each_line, succeeds, version};
use crate::tools::{self, For};

/// The seeds that every change has to survive.
const SEEDS: &str = "300";

/// Runs everything; the last line printed to standard output is that of the totals.
///
/// # Errors
/// Names what is missing or which steps failed.
pub(crate) fn run(no_install: bool) -> Result<(), String> {
    tools::ensure(For::Test, no_install)?;
    let mut steps = Steps::default();
    steps.run("format", || {
        Count::one(succeeds(&mut cargo(&["fmt", "--all", "--check"])))
    });
    checks::run(&mut steps);
    steps.run("clippy", || {
        let arguments = [
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "--deny",
            "warnings",
        ];
        Count::one(succeeds(&mut cargo(&arguments)))
    });
    steps.run("tests", || {
        let mut command = cargo(&["test", "--workspace", "--no-fail-fast"]);
        let redis = version("redis-server");
        if is_old(&redis) {
            println!(
                "{redis}: too old to say what Redis 7 does, so that is not asked (tests `on_redis` \
                 and `redis_7`)"
            );
            command.args(["--", "--skip", "on_redis", "--skip", "redis_7"]);
        }
        run_tests(&mut command)
    });
    steps.run("simulator", || {
        Count::one(simulate(&["--seeds".to_owned(), SEEDS.to_owned()]))
    });
    steps.run("instructions", || {
        let arguments = [
            "run",
            "--release",
            "-p",
            "goblin-bench",
            "--",
            "instructions",
        ];
        Count::one(succeeds(&mut cargo(&arguments)))
    });
    libraries::run(&mut steps);
    steps.finish()
}

/// Whether this is a redis-server before 7.0: with other words for errors and without shard channels.
fn is_old(version: &str) -> bool {
    let number = version
        .split("v=")
        .nth(1)
        .and_then(|text| text.split('.').next());
    number
        .and_then(|number| number.parse::<u32>().ok())
        .is_some_and(|major| major < 7)
}

/// Counts the tests of all programs. A test that is ignored does not count as passed, and a run that
/// found none or was cut short has failed.
fn run_tests(command: &mut Command) -> Count {
    let mut count = Count::default();
    let mut ignored = 0;
    let ended_well = each_line(command, |line| {
        if let Some(result) = result_of_tests(line) {
            count += result.0;
            ignored += result.1;
        }
    });
    if ignored > 0 {
        println!("{ignored} tests are ignored, which counts as one failure");
        count.failed += 1;
    }
    if count.passed == 0 || (!ended_well && count.failed == 0) {
        println!("not all tests ran, which counts as one failure");
        count.failed += 1;
    }
    count
}

/// Reads `test result: ok. 5 passed; 1 failed; 2 ignored; …`: the count, and the ignored.
fn result_of_tests(line: &str) -> Option<(Count, u64)> {
    let line = line.strip_prefix("test result: ")?;
    let number = |what: &str| {
        let before = line.split(what).next()?;
        before.split_whitespace().last()?.parse().ok()
    };
    let count = Count {
        passed: number(" passed;")?,
        failed: number(" failed;")?,
    };
    Some((count, number(" ignored;")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_a_test_program_is_read() {
        let line = "test result: FAILED. 12 passed; 3 failed; 4 ignored; 0 measured; 7 filtered out; \
                    finished in 2.41s";
        let count = Count {
            passed: 12,
            failed: 3,
        };
        assert_eq!(result_of_tests(line), Some((count, 4)));
        assert_eq!(result_of_tests("running 12 tests"), None);
    }

    #[test]
    fn an_old_redis_is_told_from_a_new_one() {
        assert!(is_old(
            "Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64"
        ));
        assert!(!is_old(
            "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64"
        ));
        assert!(!is_old("Redis server v=10.0.1"));
    }

    #[test]
    fn tests_that_did_not_run_are_a_failure() {
        let count = |script: &str| run_tests(Command::new("sh").args(["-c", script]));
        let line = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured";
        assert_eq!(count(&format!("echo '{line}'")).failed, 0);
        assert_eq!(count(&format!("echo '{line}'; exit 1")).failed, 1);
        assert_eq!(count("true").failed, 1);
        let ignored = line.replace("0 ignored", "1 ignored");
        assert_eq!(count(&format!("echo '{ignored}'")).failed, 1);
    }
}
