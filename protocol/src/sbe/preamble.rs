//! Which protocol a new connection speaks, from its first bytes.
//!
//! Decided as soon as the bytes differ from the preamble: `PING` by its first. What was withheld
//! until then is a beginning of the preamble itself, so nothing is kept but its length.

/// What a client sends first to speak SBE.
pub const PREAMBLE: &[u8; 8] = b"GOBLINS!";

/// How much of the preamble a connection has sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preamble {
    matched: u8,
}

/// What a connection speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol<'a> {
    /// Not decided: all received bytes are a beginning of the preamble, and withheld.
    Undecided,
    /// RESP: its bytes are first `withheld`, from earlier calls, then all of this call's.
    Resp {
        /// A beginning of the preamble; usually empty.
        withheld: &'static [u8],
    },
    /// SBE, of which `rest` are the first bytes.
    Sbe {
        /// What was received behind the preamble.
        rest: &'a [u8],
    },
}

impl Preamble {
    /// Takes the next bytes of the connection. Once it has decided it is not asked again.
    #[must_use]
    pub fn handle_received<'a>(&mut self, received: &'a [u8]) -> Protocol<'a> {
        let (withheld, wanted) = PREAMBLE
            .split_at_checked(usize::from(self.matched))
            .unwrap_or((PREAMBLE, &[]));
        if let Some(rest) = received.strip_prefix(wanted) {
            return Protocol::Sbe { rest };
        }
        if wanted.starts_with(received) {
            self.matched += received.len() as u8;
            return Protocol::Undecided;
        }
        Protocol::Resp { withheld }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a connection speaks whose bytes arrive in two pieces, and the bytes for the protocol.
    fn decide(stream: &[u8], cut: usize) -> (&'static str, Vec<u8>) {
        let mut preamble = Preamble::default();
        let (first, second) = stream.split_at(cut);
        for (piece, behind) in [(first, second), (second, &[][..])] {
            match preamble.handle_received(piece) {
                Protocol::Undecided => {}
                Protocol::Resp { withheld } => return ("RESP", [withheld, piece, behind].concat()),
                Protocol::Sbe { rest } => return ("SBE", [rest, behind].concat()),
            }
        }
        ("undecided", Vec::new())
    }

    #[test]
    fn any_cut_decides_the_same_and_loses_nothing() {
        for (stream, protocol, bytes) in [
            (&b"GOBLINS!rest"[..], "SBE", &b"rest"[..]),
            (b"GOBLINS!", "SBE", b""),
            (b"GOBLINS?", "RESP", b"GOBLINS?"),
            (b"GOBLINS\r\n", "RESP", b"GOBLINS\r\n"),
            (b"GET k\r\n", "RESP", b"GET k\r\n"),
            (b"PING\r\n", "RESP", b"PING\r\n"),
            (b"*1\r\n", "RESP", b"*1\r\n"),
            (b"GOB", "undecided", b""),
            (b"", "undecided", b""),
        ] {
            for cut in 0..=stream.len() {
                assert_eq!(decide(stream, cut), (protocol, bytes.to_vec()), "{cut}");
            }
        }
    }

    #[test]
    fn the_first_byte_that_differs_decides() {
        for (at, byte) in PREAMBLE.iter().enumerate() {
            let mut preamble = Preamble::default();
            for early in &PREAMBLE[..at] {
                let protocol = preamble.handle_received(std::slice::from_ref(early));
                assert_eq!(protocol, Protocol::Undecided);
            }
            let withheld = &PREAMBLE[..at];
            let other = [byte ^ 1];
            let protocol = preamble.handle_received(&other);
            assert_eq!(protocol, Protocol::Resp { withheld });
        }
    }
}
