//! The channels, patterns and shard channels of the simulated world, and what matches what.
//!
//! The rule for patterns is written down once more here, for patterns with one star: the checkers do
//! not trust the matcher that they check.

use goblin_protocol::table::Kind;

/// A channel, pattern or shard channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// Which of them.
    pub kind: Kind,
    /// Its bytes; no name of the world is anything but text.
    pub text: &'static str,
}

const fn channel(text: &'static str) -> Name {
    Name {
        kind: Kind::Channel,
        text,
    }
}

const fn pattern(text: &'static str) -> Name {
    Name {
        kind: Kind::Pattern,
        text,
    }
}

const fn shard(text: &'static str) -> Name {
    Name {
        kind: Kind::Shard,
        text,
    }
}

/// Channels that match this are delivered by the host where an edge is told so.
pub const ORDERED: &str = "o*";
/// The channel of the large publications.
pub const FLOOD: Name = channel("flood");

/// What is subscribed to.
pub const SUBSCRIBED: &[Name] = &[
    channel("c0"),
    channel("c1"),
    channel("c2"),
    channel("o0"),
    channel("o1"),
    pattern("c*"),
    pattern("c1*"),
    pattern("*0"),
    pattern("o*"),
    shard("c0"),
    shard("s1"),
];

/// Where is published. A shard channel has the name of a channel: they must not be confused.
pub const PUBLISHED: &[Name] = &[
    channel("c0"),
    channel("c1"),
    channel("c2"),
    channel("c3"),
    channel("o0"),
    channel("o1"),
    shard("c0"),
    shard("s1"),
];

impl Name {
    /// Whether a subscription to this gets what is published to `published`.
    #[must_use]
    pub fn matches(self, published: Self) -> bool {
        match self.kind {
            Kind::Channel | Kind::Shard => self == published,
            Kind::Pattern => {
                published.kind == Kind::Channel && star_matches(self.text, published.text)
            }
        }
    }

    /// Whether edges that are told so leave its delivery to the host.
    #[must_use]
    pub fn is_ordered(self) -> bool {
        star_matches(ORDERED, self.text)
    }

    /// The name of the world with these words, as they come back in deliveries and confirmations.
    #[must_use]
    pub fn find(kind: Kind, text: &[u8]) -> Option<Self> {
        let all = SUBSCRIBED.iter().chain(PUBLISHED).chain([&FLOOD]);
        all.copied()
            .find(|name| name.kind == kind && name.text.as_bytes() == text)
    }
}

fn star_matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        }
        None => pattern == name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_globs_do() {
        for subscribed in SUBSCRIBED {
            for published in PUBLISHED {
                let expected = match subscribed.kind {
                    Kind::Pattern => {
                        published.kind == Kind::Channel
                            && goblin_protocol::glob::matches(
                                subscribed.text.as_bytes(),
                                published.text.as_bytes(),
                            )
                    }
                    _ => subscribed == published,
                };
                assert_eq!(subscribed.matches(*published), expected);
            }
        }
    }

    #[test]
    fn nothing_but_its_own_subscribers_matches_the_flood() {
        assert!(!SUBSCRIBED.iter().any(|name| name.matches(FLOOD)));
        assert!(FLOOD.matches(FLOOD));
    }
}
