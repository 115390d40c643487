//! The text of `INFO`: sections of `name:value` lines.

use std::fmt::{Display, Write};

use crate::resp::Arguments;
use crate::service::ConnectionId;

/// Builds the text, section by section, of those that were asked for.
#[derive(Debug)]
pub struct Info {
    wanted: Vec<String>,
    text: String,
    /// Whether the current section was asked for.
    open: bool,
}

impl Info {
    /// Reads which sections `names` asks for: none means all, as do `all`, `default` and
    /// `everything`.
    #[must_use]
    pub fn new(names: Arguments<'_>) -> Self {
        Self {
            wanted: names
                .iter()
                .map(|name| String::from_utf8_lossy(name).to_ascii_lowercase())
                .collect(),
            text: String::new(),
            open: false,
        }
    }

    /// Whether a section was asked for.
    #[must_use]
    pub fn wants(&self, section: &str) -> bool {
        self.wanted.is_empty()
            || self.wanted.iter().any(|wanted| {
                matches!(wanted.as_str(), "all" | "default" | "everything")
                    || wanted.eq_ignore_ascii_case(section)
            })
    }

    /// Begins a section. Fields are left out until the next section when it was not asked for.
    pub fn section(&mut self, title: &str) -> &mut Self {
        self.open = self.wants(title);
        if self.open {
            let separator = if self.text.is_empty() { "" } else { "\r\n" };
            // Writing to a String cannot fail.
            let _ = write!(self.text, "{separator}# {title}\r\n");
        }
        self
    }

    /// Adds a line to the current section.
    pub fn field(&mut self, name: &str, value: impl Display) -> &mut Self {
        if self.open {
            let _ = write!(self.text, "{name}:{value}\r\n");
        }
        self
    }

    /// Adds sections that somebody else has written.
    pub fn append(&mut self, sections: &str) -> &mut Self {
        if !sections.is_empty() {
            if !self.text.is_empty() {
                self.text.push_str("\r\n");
            }
            self.text.push_str(sections);
        }
        self
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// What only the process around a core can know, and `INFO` shows.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Resident memory.
    pub resident_bytes: usize,
    /// The lines of the section `Transport`.
    pub transport: Vec<(&'static str, u64)>,
}

impl Environment {
    /// Writes the section `Transport`.
    pub fn write_transport(&self, info: &mut Info) {
        info.section("Transport");
        for (name, value) in &self.transport {
            info.field(name, value);
        }
    }
}

/// What a core knows of the process around it, and who waits to know more.
///
/// The process is asked when an `INFO` needs it, not all the time: an idle process makes no system
/// call for figures that nobody reads. A core that nobody ever told about a process (in a simulation)
/// does without.
#[derive(Debug, Default)]
pub struct Surroundings {
    environment: Environment,
    /// There is a process, and it tells when asked.
    available: bool,
    fresh: bool,
    wanted: bool,
    waiting: Vec<ConnectionId>,
}

impl Surroundings {
    /// What is known.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Whether an `INFO` must wait to be told.
    #[must_use]
    pub fn are_needed_for(&self, info: &Info) -> bool {
        self.available && !self.fresh && (info.wants("memory") || info.wants("transport"))
    }

    /// Asks, on behalf of a client that waits.
    pub fn ask(&mut self, client: ConnectionId) {
        self.wanted = true;
        self.waiting.push(client);
    }

    /// Asks for attention without a client that waits: the core's status has changed.
    pub fn ask_for_attention(&mut self) {
        self.wanted = true;
    }

    /// Whether somebody asks.
    #[must_use]
    pub fn are_wanted(&self) -> bool {
        self.wanted
    }

    /// The process tells; yields the clients that waited. It is fresh until [`grow_stale`](Self::grow_stale).
    pub fn tell(&mut self, environment: Environment) -> Vec<ConnectionId> {
        self.environment = environment;
        self.available = true;
        self.fresh = true;
        self.wanted = false;
        std::mem::take(&mut self.waiting)
    }

    /// The turn is over in which what was told is fresh.
    pub fn grow_stale(&mut self) {
        self.fresh = false;
    }
}

/// The resident memory of this process in bytes, from the text of `/proc/self/statm`.
#[must_use]
pub fn resident_bytes(statm: &str, page_bytes: usize) -> Option<usize> {
    let pages: usize = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
    pages.checked_mul(page_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resp::OwnedRequest;

    fn info(names: &[&str]) -> String {
        let request = OwnedRequest::from_words(names.iter().map(|name| name.as_bytes()));
        let mut info = Info::new(request.arguments());
        info.section("Server").field("tcp_port", 6379);
        info.section("Clients").field("connected_clients", 2);
        info.text().to_owned()
    }

    #[test]
    fn all_sections_unless_some_are_named() {
        let all = "# Server\r\ntcp_port:6379\r\n\r\n# Clients\r\nconnected_clients:2\r\n";
        assert_eq!(info(&[]), all);
        assert_eq!(info(&["everything"]), all);
        assert_eq!(info(&["CLIENTS"]), "# Clients\r\nconnected_clients:2\r\n");
        assert_eq!(info(&["nosuch"]), "");
    }

    #[test]
    fn resident_memory_is_the_second_number() {
        assert_eq!(resident_bytes("100 25 3 1 0 9 0\n", 4096), Some(25 * 4096));
        assert_eq!(resident_bytes("100", 4096), None);
    }
}
