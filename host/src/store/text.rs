//! String values as the outside sees them: bytes, or an integer that stands for its decimal digits.

use std::io::Write;

use goblin_protocol::resp::parse_integer;

/// Digits and sign of the longest integer, `-9223372036854775808`.
const INTEGER_TEXT_BYTES_MAX: usize = 20;

/// A string value.
#[derive(Clone, Copy, Debug)]
pub enum Text<'a> {
    /// As it is.
    Bytes(&'a [u8]),
    /// The canonical decimal digits of this number.
    Integer(i64),
}

/// Room for the digits of an integer.
pub type Digits = [u8; INTEGER_TEXT_BYTES_MAX];

impl<'a> Text<'a> {
    /// The text `bytes`, which becomes an integer where it is the canonical form of one.
    #[inline]
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> Self {
        match parse_integer(bytes) {
            Some(value) => Self::Integer(value),
            None => Self::Bytes(bytes),
        }
    }

    /// The bytes; those of an integer are written to `digits`.
    #[inline]
    #[must_use]
    pub fn bytes<'b>(self, digits: &'b mut Digits) -> &'b [u8]
    where
        'a: 'b,
    {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Integer(value) => write_digits(value, digits),
        }
    }

    /// How many bytes it has.
    #[must_use]
    pub fn len(self) -> usize {
        self.bytes(&mut Digits::default()).len()
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        matches!(self, Self::Bytes([]))
    }

    /// The integer whose canonical form it is.
    #[must_use]
    pub fn integer(self) -> Option<i64> {
        match self {
            Self::Bytes(bytes) => parse_integer(bytes),
            Self::Integer(value) => Some(value),
        }
    }
}

fn write_digits(value: i64, digits: &mut Digits) -> &[u8] {
    let mut unused = digits.as_mut_slice();
    // Every integer fits.
    let left = write!(unused, "{value}").map_or(0, |()| unused.len());
    &digits[..INTEGER_TEXT_BYTES_MAX - left]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_their_texts_are_the_same_value() {
        for value in [0, 7, -1, i64::MAX, i64::MIN] {
            let text = value.to_string();
            let mut digits = Digits::default();
            let found = Text::of(text.as_bytes());
            assert!(matches!(found, Text::Integer(it) if it == value));
            assert_eq!(found.bytes(&mut digits), text.as_bytes());
            assert_eq!(found.len(), text.len());
        }
        for text in [&b""[..], b"01", b"+1", b"9223372036854775808", b"1 "] {
            assert!(matches!(Text::of(text), Text::Bytes(it) if it == text));
            assert_eq!(Text::of(text).integer(), None);
        }
    }
}
