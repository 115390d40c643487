//! Where `tracing` goes: standard error, as text or as JSON, one line an event.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;

/// The form of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// Starts logging. `GOBLIN_LOG` chooses what is logged, in the syntax of `tracing`'s filters; without
/// it everything from `info` on.
pub fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_env("GOBLIN_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => builder.with_ansi(false).init(),
        LogFormat::Json => builder.json().init(),
    }
}
