//! The proof that the other end holds the same key.

use std::fmt;
use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::link::Role;

/// 32 random bytes, drawn anew for every connection by each end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nonce(pub [u8; 32]);

/// The secret that edge and host share. Does not print itself.
#[derive(Clone)]
pub struct Key(Arc<[u8]>);

impl Key {
    /// Shortest key that is accepted, in bytes.
    pub const BYTES_MIN: usize = 32;

    /// A key of these bytes; `None` if there are fewer than [`BYTES_MIN`](Self::BYTES_MIN).
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (bytes.len() >= Self::BYTES_MIN).then(|| Self(bytes.into()))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(..)")
    }
}

/// Whether the ends prove who they are.
#[derive(Clone, Debug)]
pub enum Authentication {
    /// Both prove that they hold this key.
    SharedKey(Key),
    /// Neither proves anything: for networks where whoever can connect is trusted.
    Off,
}

/// The proof that the end `role` of a connection holds `key`.
pub(in crate::link) fn proof(
    key: &Key,
    role: Role,
    edge: &Nonce,
    host: &Nonce,
    session: u64,
) -> [u8; 32] {
    let role: &[u8; 4] = match role {
        Role::Edge => b"edge",
        Role::Host => b"host",
    };
    let mut mac = Hmac::<Sha256>::new_from_slice(&key.0).expect("HMAC takes a key of any length");
    mac.update(role);
    mac.update(&edge.0);
    mac.update(&host.0);
    mac.update(&session.to_le_bytes());
    mac.finalize().into_bytes().into()
}

/// Whether two proofs are the same, in a time that does not depend on where they differ.
pub(in crate::link) fn is_proof(expected: &[u8; 32], received: &[u8; 32]) -> bool {
    expected.ct_eq(received).into()
}
