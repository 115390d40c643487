//! A process around a core.
//!
//! * [`settings`]: flags and a TOML file of the same names become one checked value.
//! * [`descriptors`]: room for a descriptor per client.
//! * [`logs`]: where `tracing` goes.
//! * [`placement`]: which processors and whose memory the process uses.
//! * [`process`]: the core over kernel sockets until a signal ends it.
//!
//! Whatever goes wrong before the process serves is a [`Failure`]: one line that names the culprit,
//! and an exit code.

pub mod descriptors;
pub mod logs;
pub mod placement;
pub mod process;
pub mod settings;

use std::fmt;
use std::process::ExitCode;

/// Why a process ends before it serves. Displays as one line.
#[derive(Debug)]
pub enum Failure {
    /// A flag, a file or a key in it is wrong; exit code 2.
    Usage(String),
    /// The machine does not give what was asked for; exit code 3.
    Unavailable(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(line) | Self::Unavailable(line) => f.write_str(line),
        }
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// A wrong setting.
    pub fn usage(line: impl fmt::Display) -> Self {
        Self::Usage(line.to_string())
    }

    /// Something that the machine does not give.
    pub fn unavailable(line: impl fmt::Display) -> Self {
        Self::Unavailable(line.to_string())
    }

    fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::Unavailable(_) => 3,
        }
    }
}

/// Turns the outcome of a program into its exit code, and tells on standard error why it failed.
#[must_use]
pub fn exit(program: &str, outcome: Result<(), Failure>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{program}: {failure}");
            ExitCode::from(failure.exit_code())
        }
    }
}
