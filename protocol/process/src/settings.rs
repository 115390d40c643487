//! Settings from flags and from a TOML file with the same names; a flag wins over the file.
//!
//! Both are read into the same type. What the flags leave open the file may fill; a key that is no
//! flag is an error.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, ValueEnum};
use goblin_protocol::link::handshake::{Authentication, Key};
use goblin_protocol::link::session;
use goblin_protocol::session::{ClientLimits, parse_bytes};
use goblin_transport::PollMode;
use goblin_transport::kernel::Address;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::Failure;
use crate::logs::LogFormat;
use crate::placement::Placement;
use crate::process::{Listener, parse_tcp};

/// Keys that make sense as flags only.
const FLAGS_ONLY: [&str; 4] = ["config", "check-config", "help", "version"];

/// Reads the flags of this process, and the file that `--config` names. Ends the process after
/// `--help` and `--version`.
///
/// # Errors
/// The flag, file or key that is wrong.
pub fn load<S>() -> Result<S, Failure>
where
    S: Parser + Serialize + DeserializeOwned + AsMut<ProcessSettings>,
{
    let mut flags = S::try_parse().map_err(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => error.exit(),
        _ => Failure::usage(first_lines(&error.to_string())),
    })?;
    let Some(path) = flags.as_mut().config.clone() else {
        return Ok(flags);
    };
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::usage(format_args!("--config {}: {error}", path.display())))?;
    let mut merged = merge(&flags, &text, &path)?;
    merged.as_mut().check_config = flags.as_mut().check_config;
    Ok(merged)
}

/// Fills what `flags` leave open from the text of a file.
fn merge<S>(flags: &S, text: &str, path: &Path) -> Result<S, Failure>
where
    S: Serialize + DeserializeOwned + CommandFactory,
{
    let wrong = |problem: String| {
        Failure::usage(format_args!("{}: {}", path.display(), problem.trim_end()))
    };
    let mut table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| wrong(in_one_line(&error)))?;
    let command = S::command();
    let known = |key: &str| {
        command
            .get_arguments()
            .any(|flag| flag.get_long() == Some(key))
    };
    if let Some(key) = table
        .keys()
        .find(|key| !known(key) || FLAGS_ONLY.contains(&key.as_str()))
    {
        return Err(wrong(format!("unknown key '{key}'")));
    }
    for (key, value) in &table {
        let alone = toml::Table::from_iter([(key.clone(), value.clone())]);
        if let Err(error) = S::deserialize(alone) {
            return Err(wrong(format!("{key}: {}", in_one_line(&error))));
        }
    }
    let given = toml::Table::try_from(flags).map_err(|error| wrong(error.to_string()))?;
    let is_given = |value: &toml::Value| match value {
        toml::Value::Array(values) => !values.is_empty(),
        toml::Value::Boolean(value) => *value,
        _ => true,
    };
    table.extend(given.into_iter().filter(|(_, value)| is_given(value)));
    S::deserialize(table).map_err(|error| wrong(in_one_line(&error)))
}

fn in_one_line(error: &toml::de::Error) -> String {
    let message = error.to_string();
    let lines: Vec<&str> = message
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('|'))
        .collect();
    lines.join(": ")
}

/// The part of clap's message that names what is wrong, in one line.
fn first_lines(message: &str) -> String {
    let lines: Vec<&str> = message
        .lines()
        .map(str::trim)
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .filter(|line| !line.is_empty())
        .collect();
    lines.join(" ").trim_start_matches("error: ").to_owned()
}

/// The flags of a program as a page of its documentation, in Markdown.
#[must_use]
pub fn reference<S: CommandFactory>() -> String {
    let command = S::command();
    let mut page = format!(
        "# {}\n\n{}.\n\nEach flag is also a key of the TOML file that `--config` names, without the dashes in \
         front; a flag wins over the file. A flag that may be repeated is a list there. Numbers of \
         bytes are written as Redis does: `512`, `64kb`, `32mb`.\n\n| flag | value | meaning |\n\
         | --- | --- | --- |\n",
        command.get_name(),
        command
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default(),
    );
    for flag in command.get_arguments() {
        let Some(name) = flag
            .get_long()
            .filter(|name| !matches!(*name, "help" | "version"))
        else {
            continue;
        };
        let choices: Vec<String> = flag
            .get_possible_values()
            .iter()
            .map(|value| format!("`{}`", value.get_name()))
            .collect();
        let takes_value = flag.get_action().takes_values();
        let value = match flag.get_value_names() {
            _ if !takes_value => String::new(),
            _ if !choices.is_empty() => choices.join(", "),
            Some([name, ..]) => format!("`{name}`"),
            _ => String::new(),
        };
        let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
        page.push_str(&format!("| `--{name}` | {value} | {help} |\n"));
    }
    page
}

/// Compares a page of the documentation with what [`reference`] makes of the flags; writes it instead
/// when `GOBLIN_BLESS` is set. For the tests of the programs.
///
/// # Panics
/// The page differs, or cannot be read or written.
pub fn check_reference<S: CommandFactory>(page: &Path) {
    let made = reference::<S>();
    if std::env::var_os("GOBLIN_BLESS").is_some() {
        std::fs::write(page, made).expect("the page can be written");
        return;
    }
    let kept = std::fs::read_to_string(page).expect("the page can be read");
    assert!(
        kept == made,
        "{} is not what the flags say: run the test with GOBLIN_BLESS=1",
        page.display()
    );
}

/// What every process can be told.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ProcessSettings {
    /// TOML file with settings of the same names as the flags
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
    /// Check flags and file, say so, and exit
    #[arg(long)]
    #[serde(skip)]
    pub check_config: bool,
    /// Spin all the time, or sleep when nothing happens [default: adaptive]
    #[arg(long, value_name = "HOW")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poll: Option<Poll>,
    /// Run on this processor
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<usize>,
    /// Run on the processors of this NUMA node, with its memory
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numa: Option<usize>,
    /// Keep all memory resident
    #[arg(long)]
    pub mlock: bool,
    /// Form of the log on standard error [default: text]
    #[arg(long, value_name = "FORM")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<LogFormat>,
}

/// How to wait for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Poll {
    /// Never sleep.
    Busy,
    /// Spin for a short while, then sleep.
    Adaptive,
}

impl ProcessSettings {
    /// How the turn waits.
    #[must_use]
    pub fn poll_mode(&self) -> PollMode {
        match self.poll {
            Some(Poll::Busy) => PollMode::Busy,
            Some(Poll::Adaptive) | None => PollMode::Adaptive,
        }
    }

    /// Where the process runs.
    #[must_use]
    pub fn placement(&self) -> Placement {
        Placement {
            cpu: self.cpu,
            numa: self.numa,
            lock_memory: self.mlock,
        }
    }
}

/// What a process that serves clients can be told about them. Names and values are Redis's.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ClientSettings {
    /// Serve clients on this TCP address; may be repeated; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Vec<String>,
    /// Serve clients on a Unix socket
    #[arg(long, value_name = "PATH")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix: Option<PathBuf>,
    /// Serve clients on addresses that are not loopback although no password is required
    #[arg(long)]
    pub no_auth_tcp: bool,
    /// Most clients at once [default: 10000]
    #[arg(long, value_name = "N")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maxclients: Option<usize>,
    /// Close a client that sends nothing for as long, unless subscribed; 0 never [default: 0]
    #[arg(long, value_name = "SECONDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Ask a silent client's kernel after as long whether it is there; 0 never [default: 300]
    #[arg(long, value_name = "SECONDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp_keepalive: Option<u32>,
    /// Output a client may leave unread: class hard soft seconds, repeated
    /// [default: normal 0 0 0 pubsub 32mb 8mb 60]
    #[arg(long, value_name = "LIMITS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_output_buffer_limit: Option<String>,
    /// Longest request of a client [default: 1gb]
    #[arg(long, value_name = "BYTES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_query_buffer_limit: Option<Bytes>,
    /// Longest argument of a request [default: 512mb]
    #[arg(long, value_name = "BYTES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proto_max_bulk_len: Option<Bytes>,
}

/// A number of bytes, written as Redis does: `512`, `64kb`, `32mb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BytesText", into = "String")]
pub struct Bytes(pub usize);

#[derive(Deserialize)]
#[serde(untagged)]
enum BytesText {
    Number(usize),
    Text(String),
}

impl TryFrom<BytesText> for Bytes {
    type Error = String;

    fn try_from(text: BytesText) -> Result<Self, String> {
        match text {
            BytesText::Number(bytes) => Ok(Self(bytes)),
            BytesText::Text(text) => text.parse(),
        }
    }
}

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        bytes.0.to_string()
    }
}

impl std::str::FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        parse_bytes(text)
            .map(Self)
            .ok_or_else(|| format!("'{text}' is not a number of bytes like 512, 64kb or 32mb"))
    }
}

impl ClientSettings {
    /// Where clients are served.
    ///
    /// # Errors
    /// An address is none.
    pub fn listeners(&self) -> Result<Vec<Listener>, Failure> {
        let tcp = self.listen.iter().map(|text| {
            Ok(Listener {
                purpose: "clients",
                address: Address::Tcp(parse_tcp("listen", text)?),
            })
        });
        let unix = self.unix.iter().map(|path| {
            Ok(Listener {
                purpose: "clients",
                address: Address::Unix(path.clone()),
            })
        });
        tcp.chain(unix).collect()
    }

    /// The limits of clients.
    ///
    /// # Errors
    /// The setting that is wrong.
    pub fn limits(&self) -> Result<ClientLimits, Failure> {
        let mut limits = ClientLimits::default();
        if let Some(count) = self.maxclients {
            limits.clients_max = count;
        }
        if let Some(seconds) = self.timeout {
            limits.idle_timeout = (seconds > 0).then(|| Duration::from_secs(seconds));
        }
        if let Some(text) = &self.client_output_buffer_limit {
            limits.set_output_limits(text).map_err(|problem| {
                Failure::usage(format_args!("client-output-buffer-limit {text}: {problem}"))
            })?;
        }
        if let Some(bytes) = self.client_query_buffer_limit {
            limits.query_bytes_max = bytes.0;
        }
        if let Some(bytes) = self.proto_max_bulk_len {
            limits.bulk_bytes_max = bytes.0;
        }
        Ok(limits)
    }

    /// How long a client may be silent before its kernel is asked, in seconds; 0 never asks.
    #[must_use]
    pub fn keepalive_seconds(&self) -> u32 {
        self.tcp_keepalive.unwrap_or(300)
    }
}

/// What both ends of the link can be told about it.
#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct LinkSettings {
    /// File with the key that edges and host share, at least 32 bytes
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge_key_file: Option<PathBuf>,
    /// Bytes that one side may send before the other acknowledges them [default: 16mb]
    #[arg(long, value_name = "BYTES")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_window_bytes: Option<Bytes>,
    /// Silence after which the other side is taken for dead; 0 turns heartbeats off [default: 3000]
    #[arg(long, value_name = "MILLISECONDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heartbeat_timeout_ms: Option<u64>,
    /// How long a broken link may be resumed [default: 60000]
    #[arg(long, value_name = "MILLISECONDS")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_resume_timeout_ms: Option<u64>,
}

impl LinkSettings {
    /// The parameters of the link, with the key that is read from its file.
    ///
    /// # Errors
    /// There is no key file, it cannot be read, or it is too short.
    pub fn parameters(&self) -> Result<session::Config, Failure> {
        Ok(self.with_authentication(Authentication::SharedKey(self.key()?)))
    }

    /// The parameters of a link that nobody uses, and which therefore needs no key. One that is given
    /// is read all the same: whoever gives it wants to know that it is right.
    ///
    /// # Errors
    /// The key file that is given cannot be read, or is too short.
    pub fn unused(&self) -> Result<session::Config, Failure> {
        if self.edge_key_file.is_some() {
            self.key()?;
        }
        Ok(self.with_authentication(Authentication::Off))
    }

    fn with_authentication(&self, authentication: Authentication) -> session::Config {
        let mut config = session::Config::new(authentication);
        if let Some(bytes) = self.link_window_bytes {
            config.window_bytes = bytes.0;
        }
        if let Some(milliseconds) = self.heartbeat_timeout_ms {
            config.heartbeat_timeout = Duration::from_millis(milliseconds);
        }
        if let Some(milliseconds) = self.link_resume_timeout_ms {
            config.resume_timeout = Duration::from_millis(milliseconds);
        }
        config
    }

    fn key(&self) -> Result<Key, Failure> {
        let path = self.edge_key_file.as_ref().ok_or_else(|| {
            Failure::usage(
                "edge-key-file is missing: edges and host prove to each other that they share a key",
            )
        })?;
        let bytes = std::fs::read(path).map_err(|error| {
            Failure::usage(format_args!("edge-key-file {}: {error}", path.display()))
        })?;
        Key::new(&bytes).ok_or_else(|| {
            Failure::usage(format_args!(
                "edge-key-file {}: {} bytes, and a key has at least {}",
                path.display(),
                bytes.len(),
                Key::BYTES_MIN
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Parser, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Settings {
        #[command(flatten)]
        #[serde(flatten)]
        clients: ClientSettings,
        #[command(flatten)]
        #[serde(flatten)]
        process: ProcessSettings,
    }

    fn merged(flags: &[&str], file: &str) -> Result<Settings, String> {
        let flags = Settings::parse_from(std::iter::once(&"test").chain(flags));
        merge(&flags, file, Path::new("test.toml")).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_flag_wins_over_the_file_and_the_file_over_the_default() {
        let file = "listen = [\"127.0.0.1:1\"]\nmaxclients = 5\ntimeout = 9\npoll = \"busy\"\n\
                    proto-max-bulk-len = \"1mb\"\nmlock = true";
        let settings = merged(&["--maxclients", "7"], file).unwrap();
        assert_eq!(settings.clients.listen, ["127.0.0.1:1"]);
        assert_eq!(settings.clients.maxclients, Some(7));
        assert_eq!(settings.clients.timeout, Some(9));
        assert_eq!(settings.clients.proto_max_bulk_len, Some(Bytes(1 << 20)));
        assert_eq!(settings.clients.tcp_keepalive, None);
        assert_eq!(settings.process.poll, Some(Poll::Busy));
        assert!(settings.process.mlock);
        let settings = merged(&["--listen", "127.0.0.1:2"], file).unwrap();
        assert_eq!(settings.clients.listen, ["127.0.0.1:2"]);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_named_with_its_key() {
        let problem = |file| merged(&[], file).unwrap_err();
        assert_eq!(
            problem("maxclient = 5"),
            "test.toml: unknown key 'maxclient'"
        );
        assert_eq!(problem("config = \"x\""), "test.toml: unknown key 'config'");
        assert!(problem("maxclients = \"5\"").starts_with("test.toml: maxclients: "));
        assert!(problem("poll = \"lazy\"").starts_with("test.toml: poll: "));
        assert!(problem("proto-max-bulk-len = \"1tb\"").contains("proto-max-bulk-len: "));
        assert!(problem("maxclients =").starts_with("test.toml: "));
        assert!(!problem("maxclients =").contains('\n'));
    }
}
