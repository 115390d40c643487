//! Unsafe code stands only in files that say why they need it, and each block says why it is sound.

use super::sources::File;

/// What opts a file in; the workspace denies unsafe code otherwise.
const OPT_IN: &str = "#![allow(unsafe_code)]";
/// How far above its block an argument may begin, in lines.
const ARGUMENT_LINES_MAX: usize = 12;

/// What is wrong, one line each.
pub(crate) fn violations(files: &[File]) -> Vec<String> {
    files
        .iter()
        .filter(|file| file.is_rust())
        .flat_map(of_file)
        .collect()
}

fn of_file(file: &File) -> Vec<String> {
    let lines: Vec<_> = file.text.lines().collect();
    let code: Vec<_> = file.code().collect();
    let mut wrong = Vec::new();
    let opted_in = code
        .iter()
        .find(|(_, code)| code.contains(OPT_IN))
        .map(|(line, _)| *line);
    if let Some(line) = opted_in
        && !gives_reason(&lines, line)
    {
        wrong.push(format!(
            "{}:{line}: {OPT_IN} without a reason in a comment above or beside it",
            file.path
        ));
    }
    for (line, code) in &code {
        let is_lint = code.contains("unsafe_code") || code.contains("unsafe_op");
        if is_lint && code.contains("allow") && !code.contains(OPT_IN) {
            wrong.push(format!(
                "{}:{line}: unsafe code is allowed per file, by {OPT_IN}",
                file.path
            ));
        }
        if !is_unsafe(code) {
            continue;
        }
        if opted_in.is_none() {
            wrong.push(format!(
                "{}:{line}: unsafe code in a file without {OPT_IN}",
                file.path
            ));
        }
        let needs_argument = code.contains("unsafe {") || code.contains("unsafe impl");
        if needs_argument && !is_argued(&lines, *line) {
            wrong.push(format!("{}:{line}: no SAFETY argument", file.path));
        }
    }
    wrong
}

/// A comment on the line itself or on the one above.
fn gives_reason(lines: &[&str], line: usize) -> bool {
    let above = line.checked_sub(2).and_then(|index| lines.get(index));
    let beside = lines.get(line - 1).is_some_and(|text| text.contains("//"));
    beside || above.is_some_and(|text| text.trim_start().starts_with("//"))
}

/// A comment with an argument directly above, or beginning on the line itself.
fn is_argued(lines: &[&str], line: usize) -> bool {
    lines[..line]
        .iter()
        .rev()
        .take(ARGUMENT_LINES_MAX)
        .enumerate()
        .take_while(|(distance, text)| *distance < 3 || text.trim_start().starts_with("//"))
        .any(|(_, text)| text.contains("SAFETY:"))
}

/// Whether a line has the keyword, other than in the type of a function: to name such a type is safe,
/// to call what has it is not.
fn is_unsafe(code: &str) -> bool {
    let is_in_word = |character: char| character.is_alphanumeric() || character == '_';
    code.match_indices("unsafe").any(|(start, word)| {
        let (before, after) = (&code[..start], &code[start + word.len()..]);
        let is_word = !before.ends_with(is_in_word) && !after.starts_with(is_in_word);
        let after = after.trim_start();
        let after = after.strip_prefix("extern").map_or(after, str::trim_start);
        is_word && !after.starts_with("fn(")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> usize {
        let file = File {
            path: "a.rs".to_owned(),
            text: text.to_owned(),
        };
        violations(&[file]).len()
    }

    const ARGUED: &str = "// The kernel's interface.\n#![allow(unsafe_code)]\n\n// SAFETY: `a` is open.\n\
                          let b = unsafe { c(a) };\n";

    #[test]
    fn argued_code_in_a_file_that_says_why_is_right() {
        assert_eq!(wrong(ARGUED), 0);
        assert_eq!(wrong("fn a() {} // nothing unsafe here\n"), 0);
        assert_eq!(wrong("type A = unsafe extern \"C\" fn(u8) -> u8;\n"), 0);
    }

    #[test]
    fn what_is_missing_is_found() {
        assert_eq!(
            wrong(&ARGUED.replace("// The kernel's interface.\n", "\n")),
            1
        );
        assert_eq!(wrong(&ARGUED.replace("SAFETY", "NOTE")), 1);
        assert_eq!(wrong(&ARGUED.replace("#![allow(unsafe_code)]", "")), 1);
        assert_eq!(wrong("#[allow(unsafe_code)]\nfn a() {}\n"), 1);
        assert_eq!(wrong("unsafe fn a() {}\n"), 1);
        assert_eq!(wrong("unsafe extern \"C\" fn a() {}\n"), 1);
    }
}
