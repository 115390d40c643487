//! The figures that are checked in, and what they promise.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::cases::CASES;

/// How far a count may be from its figure, in per cent. Another release of the compiler or of the C
/// library moves counts by one or two.
const TOLERANCE_PER_CENT: u64 = 3;

/// The aim: publish, match, deliver to one subscriber, forward.
const PUBLISH_AIM: u64 = 600;
/// The aim: each further subscriber.
const FURTHER_SUBSCRIBER_AIM: u64 = 60;
/// Promised: 8,192 patterns cost at most this many per cent of one.
const MANY_PATTERNS_PER_CENT_MAX: u64 = 125;

/// Instructions of one round of a case, or of a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Count {
    /// When a client's bytes arrive.
    request: u64,
    /// When bytes arrive over the link.
    link: u64,
    /// These, all turns, and all that is written.
    whole: u64,
}

impl Count {
    /// Reads what `callgrind_annotate --inclusive=yes` lists.
    pub(super) fn read(listed: &str) -> Option<Self> {
        let of = |name: &str| -> u64 {
            let line = listed.lines().find(|line| line.contains(name));
            line.and_then(first_number).unwrap_or(0)
        };
        let count = Self {
            request: of("::receive_from_client"),
            link: of("::receive_from_link"),
            whole: of("PROGRAM TOTALS"),
        };
        (count.whole > 0).then_some(count)
    }

    /// What each of `rounds` takes that this has more than `fewer`.
    pub(super) fn each_beyond(self, fewer: Self, rounds: u64) -> Self {
        let each = |more: u64, few: u64| (more.saturating_sub(few) + rounds / 2) / rounds;
        Self {
            request: each(self.request, fewer.request),
            link: each(self.link, fewer.link),
            whole: each(self.whole, fewer.whole),
        }
    }

    fn is_near(self, figure: Self) -> bool {
        let near =
            |count: u64, figure: u64| count.abs_diff(figure) * 100 <= figure * TOLERANCE_PER_CENT;
        near(self.request, figure.request)
            && near(self.link, figure.link)
            && near(self.whole, figure.whole)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>10}{:>10}{:>10}", self.request, self.link, self.whole)
    }
}

/// Reads `  12,345 (10.0%)  file:function`.
fn first_number(line: &str) -> Option<u64> {
    let word = line.split_whitespace().next()?;
    word.replace(',', "").parse().ok()
}

/// Counts by case, and what they were counted with.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figures {
    /// What `rustc --version` says.
    toolchain: String,
    /// The architecture of the instructions.
    architecture: String,
    /// Instructions of one round.
    instructions: BTreeMap<String, Count>,
}

impl Figures {
    /// Nothing counted yet.
    pub(super) fn of_this_toolchain() -> Result<Self, String> {
        let output = Command::new("rustc")
            .arg("--version")
            .output()
            .map_err(|error| format!("rustc did not start: {error}"))?;
        Ok(Self {
            toolchain: String::from_utf8_lossy(&output.stdout).trim().to_owned(),
            architecture: std::env::consts::ARCH.to_owned(),
            instructions: BTreeMap::new(),
        })
    }

    /// The figures that are checked in.
    pub(super) fn read() -> Result<Self, String> {
        let path = path();
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Makes these the figures that are checked in.
    pub(super) fn write(&self) -> Result<(), String> {
        let path = path();
        let text = toml::to_string(self).map_err(|error| error.to_string())?;
        let text = format!(
            "# Written by `cargo run --release -p goblin-bench -- instructions --write`.\n{text}"
        );
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(super) fn set(&mut self, case: &str, count: Count) {
        self.instructions.insert(case.to_owned(), count);
    }

    fn get(&self, case: &str) -> Option<Count> {
        self.instructions.get(case).copied()
    }

    /// What each subscriber beyond the first takes, averaged over 63 of them.
    fn further_subscriber(&self, place: &str) -> Option<Count> {
        let one = self.get(&format!("{place}-publish-1"))?;
        let many = self.get(&format!("{place}-publish-64"))?;
        Some(many.each_beyond(one, 63))
    }

    /// What 8,192 patterns cost of one, in per cent.
    fn many_patterns_per_cent(&self) -> Option<u64> {
        let one = self.get("edge-pattern-of-1")?;
        let many = self.get("edge-pattern-of-8192")?;
        Some(many.request * 100 / one.request.max(1))
    }

    /// What follows from the counts, one line each.
    pub(super) fn derived(&self) -> Vec<String> {
        let further = ["edge", "host"].into_iter().filter_map(|place| {
            let count = self.further_subscriber(place)?;
            let name = format!("{place}, further subscriber");
            Some(format!("{name:<26}{count}"))
        });
        let patterns = self
            .many_patterns_per_cent()
            .map(|per_cent| format!("{:<26}{per_cent:>8} %", "8,192 patterns, of one"));
        let aims = [
            ("edge-publish-1", self.get("edge-publish-1"), PUBLISH_AIM),
            (
                "each further subscriber",
                self.further_subscriber("edge"),
                FURTHER_SUBSCRIBER_AIM,
            ),
        ];
        let aims = aims.into_iter().filter_map(|(name, count, aim)| {
            let request = count?.request;
            let state = if request < aim { "reached" } else { "behind" };
            Some(format!(
                "aim: {name} below {aim} on request: {state}, {request}"
            ))
        });
        further.chain(patterns).chain(aims).collect()
    }

    /// What is not as `expected`, or not as promised, one line each.
    pub(super) fn compare(&self, expected: &Self) -> Vec<String> {
        if self.architecture != expected.architecture {
            return vec![format!(
                "the figures are those of {}, not of {}",
                expected.architecture, self.architecture
            )];
        }
        let cases = CASES.iter().map(|case| case.name);
        let mut wrong: Vec<_> = cases
            .filter_map(|case| self.differs(expected, case))
            .collect();
        if !wrong.is_empty() && self.toolchain != expected.toolchain {
            wrong.push(format!(
                "counted with {}, checked in with {}",
                self.toolchain, expected.toolchain
            ));
        }
        wrong.extend(self.broken_promises());
        wrong
    }

    fn differs(&self, expected: &Self, case: &str) -> Option<String> {
        let (Some(counted), Some(figure)) = (self.get(case), expected.get(case)) else {
            return Some(format!("{case}: not counted, or without a figure"));
        };
        (!counted.is_near(figure)).then(|| format!("{case}: {counted}; checked in are {figure}"))
    }

    fn broken_promises(&self) -> Option<String> {
        let per_cent = self.many_patterns_per_cent()?;
        (per_cent > MANY_PATTERNS_PER_CENT_MAX).then(|| {
            format!("8,192 patterns: promised are at most {MANY_PATTERNS_PER_CENT_MAX} % of one")
        })
    }
}

fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(request: u64) -> Count {
        Count {
            request,
            link: 10,
            whole: 1_000,
        }
    }

    fn figures(publish: u64) -> Figures {
        let mut figures = Figures {
            toolchain: "one".to_owned(),
            architecture: "x86_64".to_owned(),
            instructions: CASES
                .iter()
                .map(|case| (case.name.to_owned(), count(100)))
                .collect(),
        };
        figures.set("edge-publish-1", count(publish));
        figures.set("edge-publish-64", count(publish + 63));
        figures
    }

    #[test]
    fn the_list_of_functions_is_read() {
        let listed = "12,345 (100.0%)  PROGRAM TOTALS\n\n 1,234 (1.0%)  src/a.rs:a::receive_from_link<B> [x]\n";
        let count = Count::read(listed).unwrap();
        assert_eq!((count.request, count.link, count.whole), (0, 1_234, 12_345));
        assert_eq!(Count::read(""), None);
    }

    #[test]
    fn a_count_within_the_tolerance_is_as_checked_in() {
        assert_eq!(figures(515).compare(&figures(500)), Vec::<String>::new());
        assert_eq!(figures(485).compare(&figures(500)), Vec::<String>::new());
    }

    #[test]
    fn a_count_beyond_the_tolerance_is_named_in_either_direction() {
        for counted in [520, 480] {
            let wrong = figures(counted).compare(&figures(500));
            assert!(wrong[0].starts_with("edge-publish-1: "), "{wrong:?}");
        }
    }

    #[test]
    fn a_broken_promise_is_named_even_if_it_is_checked_in() {
        let mut slow = figures(500);
        slow.set("edge-pattern-of-8192", count(126));
        let wrong = slow.compare(&slow);
        assert_eq!(wrong, ["8,192 patterns: promised are at most 125 % of one"]);
    }

    #[test]
    fn an_aim_is_told_whether_it_is_reached_or_not() {
        let told = |publish| figures(publish).derived().join(", ");
        assert!(told(599).contains("below 600 on request: reached, 599"));
        assert!(told(600).contains("below 600 on request: behind, 600"));
    }

    #[test]
    fn a_case_without_a_figure_is_named() {
        let mut old = figures(500);
        old.instructions.remove("host-get");
        let wrong = figures(500).compare(&old);
        assert_eq!(wrong, ["host-get: not counted, or without a figure"]);
    }
}
