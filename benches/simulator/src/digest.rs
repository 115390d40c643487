//! A number that stands for all that the clients of a run received.

use goblin_protocol::time::Time;

/// FNV-1a over bytes, their receiver and their time: two runs that differ anywhere differ here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xCBF2_9CE4_8422_2325)
    }
}

impl Digest {
    /// A connection received bytes.
    pub fn add(&mut self, at: Time, connection: usize, bytes: &[u8]) {
        self.bytes(&at.as_nanos().to_le_bytes());
        self.bytes(&connection.to_le_bytes());
        self.bytes(bytes);
    }

    /// The number.
    #[must_use]
    pub fn value(self) -> u64 {
        self.0
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        }
    }
}
