//! Today's client libraries, run against the host and through an edge.
//!
//! They live in a folder below the target folder: a Python environment with pinned packages, among
//! them Node.js (the distributions' own is older than what the libraries take) and, beside it, the
//! pinned packages of Node. Both are made anew when what they are made from has changed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use goblin_end_to_end::{Edge, Host, Place, Profile, build, repository};

use crate::steps::{Count, Steps, each_line, succeeds};

/// Runs the suites of Python and Node against both.
pub(crate) fn run(steps: &mut Steps) {
    let mut libraries = None;
    steps.run("client libraries: install", || {
        libraries = Libraries::install();
        Count::one(libraries.is_some())
    });
    let Some(libraries) = libraries else {
        return;
    };
    let mut binaries = None;
    steps.run("client libraries: build the pair", || {
        binaries = build(Profile::Debug)
            .map_err(|problem| println!("{problem}"))
            .ok();
        Count::one(binaries.is_some())
    });
    let Some(binaries) = binaries else {
        return;
    };
    let place = Place::with_binaries(&binaries);
    let host = Host::start(&place, &[]);
    let edge = Edge::start(&place, &host, &[]);
    for (name, address) in [
        ("on the host", &host.clients),
        ("through an edge", &edge.clients),
    ] {
        let port = address.port();
        steps.run(&format!("redis-py {name}"), || libraries.python(port));
        steps.run(&format!("ioredis and node-redis {name}"), || {
            libraries.node(port)
        });
    }
}

/// Where they are installed.
struct Libraries {
    python: PathBuf,
    node: PathBuf,
}

impl Libraries {
    fn install() -> Option<Libraries> {
        let program = std::env::current_exe().ok()?;
        let folder = program.ancestors().nth(2)?.join("client-libraries");
        let libraries = Libraries {
            python: folder.join("python"),
            node: folder.join("node"),
        };
        let installed = libraries.install_python() && libraries.install_node();
        installed.then_some(libraries)
    }

    fn install_python(&self) -> bool {
        let requirements = sources("python").join("requirements.txt");
        made_from(&self.python, &[&requirements], || {
            let pip = self.python.join("bin/pip");
            succeeds(
                Command::new("python3")
                    .args(["-m", "venv"])
                    .arg(&self.python),
            ) && succeeds(
                Command::new(pip)
                    .args([
                        "install",
                        "--quiet",
                        "--no-deps",
                        "--disable-pip-version-check",
                    ])
                    .arg("--requirement")
                    .arg(&requirements),
            )
        })
    }

    fn install_node(&self) -> bool {
        let sources = sources("node");
        let manifests = ["package.json", "package-lock.json"].map(|name| sources.join(name));
        made_from(&self.node, &[&manifests[0], &manifests[1]], || {
            copy(&sources, &self.node)
                && succeeds(self.with_node("npm").args([
                    "ci",
                    "--silent",
                    "--no-audit",
                    "--no-fund",
                ]))
        })
    }

    fn python(&self, port: u16) -> Count {
        // unittest reports on standard error.
        let mut command = Command::new("sh");
        command
            .args(["-c", "exec \"$@\" 2>&1", "sh"])
            .arg(self.python.join("bin/python3"));
        command.args(["-B", "-m", "unittest", "discover", "--pattern", "test_*.py"]);
        command
            .current_dir(sources("python"))
            .env("GOBLIN_PORT", port.to_string());
        let (mut ran, mut failed) = (0, 0);
        let ended_well = each_line(&mut command, |line| {
            ran += number_after(line, "Ran ").unwrap_or(0);
            for kind in ["failures=", "errors=", "skipped="] {
                failed += number_after(line, kind).unwrap_or(0);
            }
        });
        counted(ran, failed, ended_well)
    }

    fn node(&self, port: u16) -> Count {
        // Modules are looked for beside the file that imports them, so the tests go there.
        if !copy(&sources("node"), &self.node) {
            return Count::one(false);
        }
        let mut command = self.with_node("node");
        command.args(["--test", "--test-force-exit", "--test-timeout=60000"]);
        command
            .args(["--test-reporter=tap"])
            .env("GOBLIN_PORT", port.to_string());
        let (mut ran, mut passed) = (0, 0);
        let ended_well = each_line(&mut command, |line| {
            ran += number_after(line, "# tests ").unwrap_or(0);
            passed += number_after(line, "# pass ").unwrap_or(0);
        });
        counted(ran, ran - passed, ended_well)
    }

    /// A program of the Node.js in the Python environment, run where Node's packages are.
    fn with_node(&self, program: &str) -> Command {
        let programs = self.python.join("bin");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::split_paths(&path);
        let path = std::env::join_paths(std::iter::once(programs.clone()).chain(path));
        let mut command = Command::new(programs.join(program));
        command.current_dir(&self.node);
        if let Ok(path) = path {
            command.env("PATH", path);
        }
        command
    }
}

/// A run that found no test, or that ended badly without naming one, has failed.
fn counted(ran: u64, failed: u64, ended_well: bool) -> Count {
    let unexplained = u64::from(ran == 0 || (!ended_well && failed == 0));
    Count {
        passed: ran.saturating_sub(failed),
        failed: failed + unexplained,
    }
}

fn number_after(line: &str, marker: &str) -> Option<u64> {
    let after = line.split(marker).nth(1)?;
    let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn sources(language: &str) -> PathBuf {
    repository()
        .join("benches/end-to-end/clients")
        .join(language)
}

/// Makes a folder with `make`, unless it was made completely from the same files before.
fn made_from(folder: &Path, files: &[&Path], make: impl FnOnce() -> bool) -> bool {
    let stamp = folder.join("made-from");
    let contents: Vec<_> = files.iter().map(fs::read_to_string).collect();
    let Ok(contents) = contents.into_iter().collect::<Result<String, _>>() else {
        println!("unreadable: {files:?}");
        return false;
    };
    if fs::read_to_string(&stamp).is_ok_and(|made| made == contents) {
        return true;
    }
    // Perhaps half made; perhaps not there at all.
    let _ = fs::remove_dir_all(folder);
    make() && fs::write(&stamp, contents).is_ok()
}

/// Copies the files of a folder without folders in it.
fn copy(from: &Path, to: &Path) -> bool {
    let copied = fs::create_dir_all(to).and_then(|()| {
        for file in fs::read_dir(from)? {
            let file = file?;
            if file.file_type()?.is_file() {
                fs::copy(file.path(), to.join(file.file_name()))?;
            }
        }
        Ok(())
    });
    copied
        .map_err(|error| println!("{} could not be copied: {error}", from.display()))
        .is_ok()
}
