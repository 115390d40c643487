//! What the commands need besides Rust, and where it comes from.

use std::process::{Command, Stdio};

/// A program (or what a program can do), and the package of Debian and Ubuntu that has it.
struct Tool {
    name: &'static str,
    package: &'static str,
}

const fn tool(name: &'static str, package: &'static str) -> Tool {
    Tool { name, package }
}

/// For trying things by hand.
const DEMO: &[Tool] = &[
    tool("redis-cli", "redis-tools"),
    tool("setpriv", "util-linux"),
];

/// For every check.
const TEST: &[Tool] = &[
    tool("redis-cli", "redis-tools"),
    tool("redis-benchmark", "redis-tools"),
    tool("redis-server", "redis-server"),
    tool("valgrind", "valgrind"),
    tool("ip", "iproute2"),
    tool("ss", "iproute2"),
    tool("strace", "strace"),
    tool("prlimit", "util-linux"),
    tool("setpriv", "util-linux"),
    tool("stdbuf", "coreutils"),
    tool("python3", "python3"),
    tool(PYTHON_ENVIRONMENTS, "python3-venv"),
    // The tests of network namespaces and of system calls run as root.
    tool("sudo", "sudo"),
];

/// Not a program: whether Python can make an environment with pip in it, which Debian packages apart.
const PYTHON_ENVIRONMENTS: &str = "python3 -m venv";

/// Which command is about to run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    /// `demo`
    Demo,
    /// `test`
    Test,
}

/// Makes sure that everything is there, and installs what is not.
///
/// # Errors
/// Lists what is missing, when it must not or cannot be installed.
pub(crate) fn ensure(purpose: For, no_install: bool) -> Result<(), String> {
    let tools = match purpose {
        For::Demo => DEMO,
        For::Test => TEST,
    };
    if purpose == For::Test {
        ensure_components(no_install)?;
    }
    let missing = missing(tools);
    if missing.is_empty() {
        return Ok(());
    }
    let list = described(&missing);
    if no_install {
        return Err(format!("missing: {list}"));
    }
    println!("installing what is missing: {list}");
    let mut packages: Vec<_> = missing.iter().map(|tool| tool.package).collect();
    packages.dedup();
    install(&packages)?;
    match self::missing(tools) {
        still if still.is_empty() => Ok(()),
        still => Err(format!(
            "still missing after installing: {}",
            described(&still)
        )),
    }
}

/// The parts of the Rust toolchain that a minimal one lacks.
fn ensure_components(no_install: bool) -> Result<(), String> {
    for (component, command) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if quiet(crate::steps::cargo(&[command, "--version"])) {
            continue;
        }
        if no_install {
            return Err(format!(
                "missing: {component} (rustup component add {component})"
            ));
        }
        let mut rustup = Command::new("rustup");
        rustup.args(["component", "add", component]);
        run(&mut rustup)?;
    }
    Ok(())
}

fn missing(tools: &'static [Tool]) -> Vec<&'static Tool> {
    tools.iter().filter(|tool| !present(tool)).collect()
}

fn present(tool: &Tool) -> bool {
    match tool.name {
        PYTHON_ENVIRONMENTS => {
            let mut python = Command::new("python3");
            python.args(["-c", "import ensurepip, venv"]);
            quiet(python)
        }
        // Only who is not root needs it.
        "sudo" if is_root() => true,
        name => on_path(name),
    }
}

fn on_path(name: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

fn described(tools: &[&Tool]) -> String {
    let each: Vec<_> = tools
        .iter()
        .map(|tool| format!("{} (package {})", tool.name, tool.package))
        .collect();
    each.join(", ")
}

fn install(packages: &[&str]) -> Result<(), String> {
    if !on_path("apt-get") {
        return Err(format!(
            "this system has no apt-get; install these by hand: {}",
            packages.join(" ")
        ));
    }
    run(&mut as_root(&["apt-get", "update", "--quiet"]))?;
    let install = [
        "apt-get",
        "install",
        "--yes",
        "--quiet",
        "--no-install-recommends",
    ];
    run(&mut as_root(&[&install, packages].concat()))
}

/// The command itself for root, through sudo for anybody else.
fn as_root(words: &[&str]) -> Command {
    let mut command = if is_root() {
        Command::new("env")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.arg("env");
        sudo
    };
    command.arg("DEBIAN_FRONTEND=noninteractive").args(words);
    command
}

/// The owner of what this process is, as the kernel shows it.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|status| status.uid() == 0)
}

fn run(command: &mut Command) -> Result<(), String> {
    if crate::steps::succeeds(command) {
        Ok(())
    } else {
        Err(format!("failed: {command:?}"))
    }
}

fn quiet(mut command: Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
