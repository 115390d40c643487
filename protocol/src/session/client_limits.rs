//! What one client may take, and how many there may be. The names and defaults are Redis's.

use std::time::Duration;

use crate::limits::{
    ARGUMENTS_MAX, BULK_BYTES_MAX, QUERY_BYTES_MAX, UNAUTHENTICATED_ARGUMENTS_MAX,
    UNAUTHENTICATED_BULK_BYTES_MAX,
};
use crate::resp::RequestLimits;
use crate::session::OutputLimit;

/// The settable limits of client connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// `maxclients`: more are refused.
    pub clients_max: usize,
    /// `timeout`: a client that sends nothing for as long is closed, unless it is subscribed.
    pub idle_timeout: Option<Duration>,
    /// `client-query-buffer-limit`, in bytes.
    pub query_bytes_max: usize,
    /// `proto-max-bulk-len`, in bytes.
    pub bulk_bytes_max: usize,
    /// `client-output-buffer-limit normal`.
    pub output_normal: OutputLimit,
    /// `client-output-buffer-limit pubsub`.
    pub output_subscribers: OutputLimit,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self {
            clients_max: 10_000,
            idle_timeout: None,
            query_bytes_max: QUERY_BYTES_MAX,
            bulk_bytes_max: BULK_BYTES_MAX,
            output_normal: OutputLimit::default(),
            output_subscribers: OutputLimit::SUBSCRIBERS,
        }
    }
}

impl ClientLimits {
    /// The limits of a client's next request.
    #[must_use]
    pub fn requests(&self, authenticated: bool) -> RequestLimits {
        if authenticated {
            RequestLimits {
                arguments_max: ARGUMENTS_MAX,
                bulk_bytes_max: self.bulk_bytes_max,
                query_bytes_max: self.query_bytes_max,
            }
        } else {
            RequestLimits {
                arguments_max: UNAUTHENTICATED_ARGUMENTS_MAX,
                bulk_bytes_max: UNAUTHENTICATED_BULK_BYTES_MAX,
                query_bytes_max: self.query_bytes_max,
            }
        }
    }

    /// The output limit of a client that is or is not subscribed to something.
    #[must_use]
    pub fn output(&self, subscriber: bool) -> &OutputLimit {
        if subscriber {
            &self.output_subscribers
        } else {
            &self.output_normal
        }
    }

    /// Sets the classes that `text` names: `class hard soft seconds`, repeated, as in Redis's
    /// `client-output-buffer-limit`. The class `replica` (or `slave`) is accepted and means nothing
    /// here.
    ///
    /// # Errors
    /// What is wrong with the text; nothing is changed then.
    pub fn set_output_limits(&mut self, text: &str) -> Result<(), &'static str> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        if words.is_empty() || !words.len().is_multiple_of(4) {
            return Err("Wrong number of arguments in buffer limit configuration.");
        }
        let mut changed = *self;
        for class in words.chunks_exact(4) {
            let (Some(hard), Some(soft), Ok(seconds)) = (
                parse_bytes(class[1]),
                parse_bytes(class[2]),
                class[3].parse(),
            ) else {
                return Err(
                    "Error in hard, soft or soft_seconds setting in buffer limit configuration.",
                );
            };
            let limit = OutputLimit {
                hard_bytes: hard,
                soft_bytes: soft,
                soft_duration: Duration::from_secs(seconds),
            };
            match class[0].to_ascii_lowercase().as_str() {
                "normal" => changed.output_normal = limit,
                "pubsub" => changed.output_subscribers = limit,
                "replica" | "slave" => {}
                _ => return Err("Invalid client class specified in buffer limit configuration."),
            }
        }
        *self = changed;
        Ok(())
    }

    /// The output limits as `CONFIG GET` shows them.
    #[must_use]
    pub fn output_limits_text(&self) -> String {
        let class = |name: &str, limit: &OutputLimit| {
            format!(
                "{name} {} {} {}",
                limit.hard_bytes,
                limit.soft_bytes,
                limit.soft_duration.as_secs()
            )
        };
        format!(
            "{} slave 0 0 0 {}",
            class("normal", &self.output_normal),
            class("pubsub", &self.output_subscribers)
        )
    }
}

/// Reads a number of bytes as Redis's configuration writes it: `512`, `64kb` (1,024), `1k` (1,000),
/// `32mb`, `1gb`, in any case.
#[must_use]
pub fn parse_bytes(text: &str) -> Option<usize> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = text.split_at(digits);
    let unit: usize = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1_000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    number.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_redis_writes_them() {
        assert_eq!(parse_bytes("512"), Some(512));
        assert_eq!(parse_bytes("1k"), Some(1_000));
        assert_eq!(parse_bytes("1KB"), Some(1_024));
        assert_eq!(parse_bytes("32mb"), Some(32 << 20));
        assert_eq!(parse_bytes("2gb"), Some(2 << 30));
        for wrong in ["", "mb", "-1", "1tb", "1 mb", "99999999999999999999"] {
            assert_eq!(parse_bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn output_limits_are_set_by_class_or_not_at_all() {
        let mut limits = ClientLimits::default();
        limits.set_output_limits("pubsub 1mb 1kb 5").unwrap();
        assert_eq!(
            limits.output_limits_text(),
            "normal 0 0 0 slave 0 0 0 pubsub 1048576 1024 5"
        );
        let before = limits;
        for wrong in [
            "",
            "pubsub 1",
            "nosuch 1 1 1",
            "pubsub x 1 1",
            "normal 1 1 1 pubsub 1 1 x",
        ] {
            assert!(limits.set_output_limits(wrong).is_err(), "{wrong}");
            assert_eq!(limits, before);
        }
    }
}
