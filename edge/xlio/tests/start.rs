#![allow(unsafe_code)] // Starts libraries of this workspace, and others that are none.

//! Starting: once per process, failure is final, nothing aborts. Each test is a process of its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use goblin_xlio::{StartError, Xlio};

const CHILD: &str = "GOBLIN_XLIO_TEST_CHILD";
const DONE: &str = "the body has run";

fn start(path: &str) -> Result<Arc<Xlio>, StartError> {
    // SAFETY: the emulation, or a file that is no library of this kind and is not started.
    unsafe { Xlio::start(Some(Path::new(path))) }
}

fn emulation() -> String {
    let path: PathBuf = std::env::current_exe()
        .unwrap()
        .with_file_name("libxlio.so");
    path.to_str().unwrap().to_owned()
}

/// Runs `body` in a process with these settings.
fn child(name: &str, settings: &[(&str, &str)], body: fn()) {
    if std::env::var_os(CHILD).is_some() {
        body();
        println!("{DONE}");
        return;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", name, "--nocapture"])
        .env(CHILD, "1");
    let output = command.envs(settings.iter().copied()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains(DONE),
        "{said}{complained}"
    );
}

#[test]
fn a_failed_start_is_final_and_starts_nothing_else() {
    let settings = [("XLIO_EMU_INIT_ERRNO", "19")];
    child(
        "a_failed_start_is_final_and_starts_nothing_else",
        &settings,
        || {
            for _ in 0..3 {
                assert_eq!(
                    start(&emulation()).unwrap_err(),
                    StartError::Initialise(libc::ENODEV)
                );
            }
        },
    );
}

#[test]
fn the_library_runs_while_somebody_holds_it_and_never_again() {
    child(
        "the_library_runs_while_somebody_holds_it_and_never_again",
        &[],
        || {
            let first = start(&emulation()).unwrap();
            let second = start(&emulation()).unwrap();
            drop(first);
            assert!(start(&emulation()).is_ok());
            drop(second);
            assert_eq!(start(&emulation()).unwrap_err(), StartError::Ended);
        },
    );
}

#[test]
fn a_library_that_is_another_one_is_refused() {
    child("a_library_that_is_another_one_is_refused", &[], || {
        assert!(matches!(start("libc.so.6"), Err(StartError::Load(_))));
        // Final: another path is not tried.
        assert!(matches!(start(&emulation()), Err(StartError::Load(_))));
    });
}

#[test]
fn a_library_that_is_not_there_is_refused() {
    child("a_library_that_is_not_there_is_refused", &[], || {
        let error = start("/nonexistent/libxlio.so.3").unwrap_err();
        assert!(
            error.to_string().contains("/nonexistent/libxlio.so.3"),
            "{error}"
        );
    });
}

#[test]
fn a_configuration_that_would_end_the_process_is_refused_before_opening() {
    let settings = [
        ("XLIO_USE_NEW_CONFIG", "1"),
        ("XLIO_CONFIG_FILE", "/nonexistent"),
    ];
    let name = "a_configuration_that_would_end_the_process_is_refused_before_opening";
    child(name, &settings, || {
        let cause = StartError::Configuration("XLIO_USE_NEW_CONFIG");
        assert_eq!(start(&emulation()).unwrap_err(), cause);
    });
}
