//! The files of the repository, and what in them is code.

use std::fs;
use std::path::Path;

use goblin_end_to_end::repository;

/// A text file of the repository.
#[derive(Debug)]
pub(crate) struct File {
    /// Its path from the root, with `/`.
    pub(crate) path: String,
    /// Its text.
    pub(crate) text: String,
}

impl File {
    /// Whether it is Rust.
    pub(crate) fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Its lines from 1, without comments and without what stands between quotes.
    pub(crate) fn code(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        let comment = if self.is_rust() || self.path.ends_with(".js") {
            "//"
        } else {
            "#"
        };
        let mut open = None;
        let lines = self.text.lines().enumerate();
        lines.map(move |(index, line)| (index + 1, code(line, comment, &mut open)))
    }
}

/// Every text file that belongs to the repository: not what is built, and not what git keeps.
pub(crate) fn all() -> Vec<File> {
    let mut files = Vec::new();
    collect(repository(), "", &mut files);
    files
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<File>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && !["target", ".git", "node_modules"].contains(&name.as_str()) {
            collect(&entry.path(), &format!("{path}/"), files);
        } else if !is_folder && let Ok(text) = fs::read_to_string(entry.path()) {
            files.push(File { path, text });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
}

/// The code of one line. `open` is what closes the string that is open at its start, and then at its
/// end.
fn code(line: &str, comment: &str, open: &mut Option<String>) -> String {
    let mut code = String::new();
    let mut rest = line;
    while let Some(character) = rest.chars().next() {
        let mut step = character.len_utf8();
        if let Some(closing) = open {
            if rest.starts_with(closing.as_str()) {
                step = closing.len();
                *open = None;
            } else if character == '\\' && closing == "\"" {
                step = rest.chars().take(2).map(char::len_utf8).sum();
            }
        } else if rest.starts_with(comment) {
            break;
        } else if let Some((opening, closing)) = string_start(rest) {
            step = opening;
            *open = closing;
        } else {
            code.push(character);
        }
        rest = &rest[step..];
    }
    code
}

/// What opens a string here: its length, and what closes it. A quotation mark as a character is
/// closed already.
fn string_start(rest: &str) -> Option<(usize, Option<String>)> {
    for character in ["'\"'", "'\\\"'"] {
        if rest.starts_with(character) {
            return Some((character.len(), None));
        }
    }
    let hashes = rest.strip_prefix('r').map_or("", |raw| {
        &raw[..raw.len() - raw.trim_start_matches('#').len()]
    });
    let opening = if hashes.is_empty() {
        0
    } else {
        1 + hashes.len()
    };
    rest[opening..]
        .starts_with('"')
        .then(|| (opening + 1, Some(format!("\"{hashes}"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(text: &str) -> Vec<String> {
        let file = File {
            path: "a.rs".to_owned(),
            text: text.to_owned(),
        };
        file.code().map(|(_, code)| code).collect()
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        assert_eq!(code_of("a(\"b // c\"); // d"), ["a(); "]);
        assert_eq!(code_of("a(\"b \\\" c\") d"), ["a() d"]);
        assert_eq!(code_of("a('\"', b'\\\"') c"), ["a(, b) c"]);
        assert_eq!(code_of("a(r#\"b \" c\"#) r#d"), ["a() r#d"]);
    }

    #[test]
    fn a_string_may_span_lines() {
        assert_eq!(code_of("a(\"b\nc\nd\") e"), ["a(", "", ") e"]);
    }

    #[test]
    fn the_repository_has_files_and_none_of_them_is_built() {
        let files = all();
        assert!(files.iter().any(|file| file.path == "Cargo.toml"));
        assert!(
            files
                .iter()
                .any(|file| file.path == "benches/xtask/src/checks/sources.rs")
        );
        assert!(!files.iter().any(|file| file.path.starts_with("target/")));
    }
}
