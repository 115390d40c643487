//! Redis's glob on bytes: `*`, `?`, `[a-z]`, `[^…]` and `\`, with the results that Redis gives for
//! every pattern, well formed or not.
//!
//! A pattern is a sequence of tokens, and where a token ends never depends on the name, so
//! [`next_token`] serves the matcher here and the pattern index alike. Every token but the star
//! takes exactly one byte of the name.
//!
//! What surprises:
//! * The empty name matches the empty pattern and nothing else, not even `*`.
//! * A class without its `]` ends with the pattern. `[` and `[]` accept no byte, `[^` and `[^]` any.
//! * A range takes whatever follows its `-`: `[a-]` is a range to `]` and still open. Turned round,
//!   it means the same. Its ends compare as signed bytes, as Redis built for x86 does, so `[a-\xff]`
//!   accepts `\xff` and `\x00` to `a`. Fixed here, so that an edge on Arm and its host agree.
//! * `\` at the end is a backslash.
//! * A pattern with more than [`STARS_MAX`] groups of stars before its last other token matches
//!   nothing; Redis bounds its recursion so.

/// Most groups of adjacent stars, one at the very end not counted, that a pattern can have and
/// still match something.
pub const STARS_MAX: usize = 1000;

/// Whether `pattern` matches the whole of `name`.
///
/// Takes time proportional to pattern × name at worst, keeps one place to return to, and allocates
/// nothing.
#[must_use]
pub fn matches(pattern: &[u8], name: &[u8]) -> bool {
    if name.is_empty() {
        return pattern.is_empty();
    }
    let (mut pattern, mut name) = (pattern, name);
    let mut stars = 0;
    // What follows the latest star, and where in the name it was tried last. Earlier stars need no
    // place of their own: whatever they could give up, the latest can take.
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        let token = next_token(pattern);
        if let Some((Token::Star, rest)) = token {
            if rest.is_empty() {
                return true;
            }
            stars += 1;
            if stars > STARS_MAX {
                return false;
            }
            retry = Some((rest, name));
            pattern = rest;
            continue;
        }
        match (token, name) {
            (None, []) => return true,
            (Some((token, rest)), [byte, left @ ..]) if token.accepts(*byte) => {
                pattern = rest;
                name = left;
                continue;
            }
            // A later start would leave even less of the name.
            (Some(_), []) => return false,
            _ => {}
        }
        let Some((after, [_, left @ ..])) = retry else {
            return false;
        };
        retry = Some((after, left));
        pattern = after;
        name = left;
    }
}

/// One element of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    /// This byte, escaped or not.
    Literal(u8),
    /// `?`: any byte.
    Any,
    /// `[…]`: the text from the bracket's inside on; it may reach past the end of the class.
    Class(&'a [u8]),
    /// One or more `*`: any number of bytes, also none.
    Star,
}

impl Token<'_> {
    /// Whether a token other than the star accepts `byte`.
    pub(crate) fn accepts(self, byte: u8) -> bool {
        match self {
            Self::Literal(literal) => literal == byte,
            Self::Any => true,
            Self::Class(inside) => class(inside, byte).0,
            Self::Star => false,
        }
    }
}

/// The first token of `pattern` and what follows it; `None` when nothing is left.
pub(crate) fn next_token(pattern: &[u8]) -> Option<(Token<'_>, &[u8])> {
    Some(match pattern {
        [] => return None,
        [b'*', rest @ ..] => {
            let mut rest = rest;
            while let [b'*', after @ ..] = rest {
                rest = after;
            }
            (Token::Star, rest)
        }
        [b'?', rest @ ..] => (Token::Any, rest),
        [b'[', inside @ ..] => {
            let (_, rest) = class(inside, 0);
            (Token::Class(&inside[..inside.len() - rest.len()]), rest)
        }
        [b'\\', literal, rest @ ..] | [literal, rest @ ..] => (Token::Literal(*literal), rest),
    })
}

/// Whether the class whose inside `text` begins with accepts `byte`, and what follows the class.
fn class(text: &[u8], byte: u8) -> (bool, &[u8]) {
    let (inverted, mut text) = match text {
        [b'^', rest @ ..] => (true, rest),
        _ => (false, text),
    };
    let mut listed = false;
    loop {
        text = match text {
            [] => return (listed != inverted, text),
            [b'\\', member, rest @ ..] => {
                listed |= *member == byte;
                rest
            }
            [b']', rest @ ..] => return (listed != inverted, rest),
            [one, b'-', other, rest @ ..] => {
                listed |= range_contains(*one, *other, byte);
                rest
            }
            [member, rest @ ..] => {
                listed |= *member == byte;
                rest
            }
        };
    }
}

fn range_contains(one: u8, other: u8, byte: u8) -> bool {
    let [one, other, byte] = [one, other, byte].map(u8::cast_signed);
    (one.min(other)..=one.max(other)).contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::{STARS_MAX, matches};

    const NAMES: [&[u8]; 24] = [
        b"", b"a", b"b", b"c", b"-", b"^", b"]", b"[", b"\\", b"*", b"?", b"\0", b"\x7f", b"\x80",
        b"\xff", b"_", b"aa", b"ab", b"ba", b"a\\", b"a]", b"[a]", b"a\0", b"\0a",
    ];

    /// What Redis answers for each of `NAMES`.
    const ANSWERS: [(&[u8], &[&[u8]]); 32] = [
        (b"", &[b""]),
        (b"[", &[]),
        (b"[]", &[]),
        (b"[]a]", &[]),
        (b"[]-a]", &[]),
        (b"[^]a]", &[b"[a]"]),
        (b"\\", &[b"\\"]),
        (b"a\\", &[b"a\\"]),
        (b"[\\", &[b"\\"]),
        (b"[a", &[b"a"]),
        (b"[a-", &[b"a", b"-"]),
        (b"[a-b", &[b"a", b"b"]),
        (b"[a-]", &[b"a", b"^", b"]", b"_"]),
        (b"[b-a]", &[b"a", b"b"]),
        (b"[a-\\]]", &[b"a]"]),
        (b"[\\a-c]", &[b"a", b"c", b"-"]),
        (b"[\\]]", &[b"]"]),
        (b"[-a]", &[b"a", b"-"]),
        (b"[a-c-e]", &[b"a", b"b", b"c", b"-"]),
        (b"[a^]", &[b"a", b"^"]),
        (b"[--a]", &[b"a", b"-", b"^", b"]", b"[", b"\\", b"?", b"_"]),
        (
            b"[a-\xff]",
            &[
                b"a", b"-", b"^", b"]", b"[", b"\\", b"*", b"?", b"\0", b"\xff", b"_",
            ],
        ),
        (b"[\x80-\xff]", &[b"\x80", b"\xff"]),
        (b"\\*", &[b"*"]),
        (b"\\[a]", &[b"[a]"]),
        (b"[*]", &[b"*"]),
        (b"*\\", &[b"\\", b"a\\"]),
        (b"*[", &[]),
        (b"\0*", &[b"\0", b"\0a"]),
        (b"a**", &[b"a", b"aa", b"ab", b"a\\", b"a]", b"a\0"]),
        (b"*a", &[b"a", b"aa", b"ba", b"\0a"]),
        (
            b"**a**",
            &[
                b"a", b"aa", b"ab", b"ba", b"a\\", b"a]", b"[a]", b"a\0", b"\0a",
            ],
        ),
    ];

    #[test]
    fn odd_patterns_match_what_redis_matches() {
        for (pattern, matched) in ANSWERS {
            for name in NAMES {
                assert_eq!(
                    matches(pattern, name),
                    matched.contains(&name),
                    "{:?} and {:?}",
                    pattern.escape_ascii().to_string(),
                    name.escape_ascii().to_string()
                );
            }
        }
    }

    #[test]
    fn a_star_matches_every_name_but_the_empty_one() {
        for pattern in [
            b"*".as_slice(),
            b"**",
            &[b'*'; 60],
            b"*[^",
            b"*[^]",
            b"?*",
            b"*?*",
        ] {
            for name in NAMES {
                assert_eq!(matches(pattern, name), !name.is_empty());
            }
        }
    }

    #[test]
    fn an_inverted_class_without_end_matches_any_one_byte() {
        for pattern in [b"[^".as_slice(), b"[^]", b"?", b"[\x7f-\x80]"] {
            for name in NAMES {
                assert_eq!(matches(pattern, name), name.len() == 1);
            }
        }
    }

    #[test]
    fn more_stars_than_redis_follows_match_nothing() {
        let name = [b'a'; STARS_MAX + 5];
        for end in ["", "*"] {
            let most = "*a".repeat(STARS_MAX) + end;
            assert!(matches(most.as_bytes(), &name));
            let more = "*a".repeat(STARS_MAX + 1) + end;
            assert!(!matches(more.as_bytes(), &name));
        }
    }

    #[test]
    fn stars_that_overlap_do_not_multiply() {
        let name = vec![b'a'; 1 << 20];
        assert!(!matches(b"a*a*a*a*a*a*a*a*a*a*b", &name));
        assert!(matches(b"a*a*a*a*a*a*a*a*a*a*", &name));
    }
}
