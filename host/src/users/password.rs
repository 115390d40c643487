//! Passwords as digests.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::{Choice, ConstantTimeEq as _};

/// The SHA-256 digest of a password.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Digest([u8; 32]);

impl fmt::Debug for Digest {
    /// Nothing that a log could give away.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digest")
    }
}

impl Digest {
    /// The digest of a password.
    pub(super) fn of(password: &[u8]) -> Self {
        Self(Sha256::digest(password).into())
    }

    /// Reads 64 lower-case hexadecimal digits.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let (pairs, rest) = text.as_chunks::<2>();
        if pairs.len() != 32 || !rest.is_empty() {
            return None;
        }
        let mut digest = [0; 32];
        for (byte, [high, low]) in digest.iter_mut().zip(pairs) {
            *byte = digit(*high)? << 4 | digit(*low)?;
        }
        Some(Self(digest))
    }

    /// 64 lower-case hexadecimal digits.
    pub(super) fn to_hex(self) -> [u8; 64] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 64];
        for (pair, byte) in text.as_chunks_mut::<2>().0.iter_mut().zip(self.0) {
            *pair = [
                DIGITS[usize::from(byte >> 4)],
                DIGITS[usize::from(byte & 15)],
            ];
        }
        text
    }

    /// Whether one of the digests is this one. The time it takes tells nothing but their number.
    pub(super) fn is_among(self, known: &[Self]) -> bool {
        known
            .iter()
            .fold(Choice::from(0), |found, other| {
                found | self.0.ct_eq(&other.0)
            })
            .into()
    }
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}
