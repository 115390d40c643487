//! Words that do not belong in some files.

use super::sources::File;

/// What one rule forbids, and where.
pub(crate) struct Rule {
    /// What the step is called.
    pub(crate) name: &'static str,
    word: &'static str,
    /// Whether only code counts, or comments and strings too.
    code_only: bool,
    applies: fn(&File) -> bool,
    /// Only the lines from here on count.
    from: fn(&File) -> usize,
}

/// The rules. The words are written in halves where this file would break its own rule.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        name: "tokio in the host's control plane only",
        word: "tokio",
        code_only: true,
        applies: |file| {
            let is_manifest = file.path.ends_with("Cargo.toml");
            let is_allowed = ["Cargo.toml", "host/Cargo.toml"].contains(&file.path.as_str());
            let is_control = file.path.starts_with("host/src/control");
            (file.is_rust() || is_manifest) && !is_allowed && !is_control
        },
        from: |_| 1,
    },
    Rule {
        name: "no path of a developer's machine",
        word: concat!("/wo", "rk/"),
        code_only: false,
        applies: |_| true,
        from: |_| 1,
    },
    Rule {
        name: "no path of a user's home",
        word: concat!("/ro", "ot/"),
        code_only: false,
        applies: |_| true,
        from: |_| 1,
    },
    Rule {
        name: "tests wait for events, not for time",
        word: "sleep(",
        code_only: true,
        applies: |file| {
            let is_suite = file.path.starts_with("benches/end-to-end/");
            let is_test = file.path.contains("/tests/") || file.path.ends_with("/tests.rs");
            file.is_rust() || ((is_suite || is_test) && !file.path.ends_with(".md"))
        },
        from: first_line_of_tests,
    },
];

impl Rule {
    /// Where it is broken, one line each.
    pub(crate) fn violations(&self, files: &[File]) -> Vec<String> {
        let files = files.iter().filter(|file| (self.applies)(file));
        files.flat_map(|file| self.of_file(file)).collect()
    }

    fn of_file(&self, file: &File) -> Vec<String> {
        let from = (self.from)(file);
        let whole = file
            .text
            .lines()
            .enumerate()
            .map(|(index, line)| (index + 1, line.to_owned()));
        let lines: Vec<_> = if self.code_only {
            file.code().collect()
        } else {
            whole.collect()
        };
        lines
            .into_iter()
            .filter(|(line, text)| *line >= from && text.contains(self.word))
            .map(|(line, text)| format!("{}:{line}: {}", file.path, text.trim()))
            .collect()
    }
}

/// Where the tests begin in a file that has others things too.
fn first_line_of_tests(file: &File) -> usize {
    let is_all_tests = file.path.contains("/tests/")
        || file.path.ends_with("/tests.rs")
        || file.path.starts_with("benches/end-to-end/");
    if is_all_tests {
        return 1;
    }
    let tests = file.code().find(|(_, code)| code.contains("#[cfg(test)]"));
    tests.map_or(usize::MAX, |(line, _)| line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(path: &str, text: &str) -> usize {
        let files = [File {
            path: path.to_owned(),
            text: text.to_owned(),
        }];
        RULES.iter().map(|rule| rule.violations(&files).len()).sum()
    }

    #[test]
    fn the_runtime_is_the_control_planes() {
        let line = concat!("use tok", "io::net;\n");
        assert_eq!(broken("edge/src/lib.rs", line), 1);
        assert_eq!(broken("host/src/host.rs", line), 1);
        assert_eq!(broken("host/src/control/mod.rs", line), 0);
        assert_eq!(broken("edge/src/lib.rs", "// unlike tokio\n"), 0);
        assert_eq!(
            broken("edge/Cargo.toml", concat!("tok", "io.workspace = true\n")),
            1
        );
    }

    #[test]
    fn a_machines_paths_are_found_everywhere() {
        let line = concat!("see /wo", "rk/here\n");
        assert_eq!(broken("README.md", line), 1);
        assert_eq!(broken("a.toml", concat!("a = \"/ro", "ot/.cargo\"\n")), 1);
        assert_eq!(broken("README.md", "see network/here\n"), 0);
    }

    #[test]
    fn a_test_that_waits_for_time_is_found() {
        let line = "thread::sleep(a);\n";
        assert_eq!(broken("edge/src/a.rs", line), 0);
        assert_eq!(
            broken(
                "edge/src/a.rs",
                &format!("{line}#[cfg(test)]\nmod tests {{\n{line}")
            ),
            1
        );
        assert_eq!(broken("edge/src/a/tests.rs", line), 1);
        assert_eq!(broken("edge/tests/a.rs", line), 1);
        assert_eq!(
            broken("benches/end-to-end/clients/python/a.py", "time.sleep(1)\n"),
            1
        );
        assert_eq!(
            broken(
                "benches/end-to-end/clients/python/a.py",
                "# time.sleep(1)\n"
            ),
            0
        );
    }
}
