//! One publication, encoded at most once per wire format, however many receive it.
//!
//! ```text
//! RESP2  *3 message  <channel> <payload>     RESP3  the same with > in place of *
//!        *3 smessage <channel> <payload>
//!        *4 pmessage <pattern> <channel> <payload>
//! ```

use bytes::Bytes;

use crate::limits::SHARED_PAYLOAD_BYTES_MIN;
use crate::outbox::Outbox;
use crate::resp::{Version, Writer};
use crate::table::Kind;

/// What is being delivered.
#[derive(Clone, Copy, Debug)]
pub struct Publication<'a> {
    /// `Kind::Channel` for `PUBLISH`, `Kind::Shard` for `SPUBLISH`.
    pub kind: Kind,
    /// Where it was published.
    pub channel: &'a [u8],
    /// What was published.
    pub payload: &'a [u8],
}

/// The encodings of one publication for the subscribers of one name. Its buffers are kept from one
/// publication to the next.
#[derive(Debug, Default)]
pub struct Fanout {
    encodings: [Encoding; 2],
}

#[derive(Debug, Default)]
struct Encoding {
    bytes: Vec<u8>,
    shared: Option<Bytes>,
}

impl Fanout {
    /// Forgets the encodings of the publication before.
    pub fn clear(&mut self) {
        for encoding in &mut self.encodings {
            encoding.bytes.clear();
            encoding.shared = None;
        }
    }

    /// Appends the delivery to `outbox` in the subscriber's format. `pattern` is the pattern that
    /// matched, if it was one. Between two calls of `clear` all calls must be for the same
    /// publication and pattern.
    #[inline]
    pub fn deliver(
        &mut self,
        outbox: &mut Outbox,
        version: Version,
        publication: Publication<'_>,
        pattern: Option<&[u8]>,
    ) {
        let encoding = &mut self.encodings[format(version)];
        if encoding.bytes.is_empty() && encoding.shared.is_none() {
            encoding.encode(version, publication, pattern);
        }
        match &encoding.shared {
            None => outbox.tail().extend_from_slice(&encoding.bytes),
            Some(shared) => outbox.push_shared(shared.clone()),
        }
    }
}

impl Encoding {
    #[cold]
    #[inline(never)]
    fn encode(&mut self, version: Version, publication: Publication<'_>, pattern: Option<&[u8]>) {
        if publication.payload.len() < SHARED_PAYLOAD_BYTES_MIN {
            return encode(&mut self.bytes, version, publication, pattern);
        }
        let mut bytes = Vec::with_capacity(publication.payload.len() + 256);
        encode(&mut bytes, version, publication, pattern);
        self.shared = Some(bytes.into());
    }
}

fn format(version: Version) -> usize {
    match version {
        Version::Resp2 => 0,
        Version::Resp3 => 1,
    }
}

fn encode(
    out: &mut Vec<u8>,
    version: Version,
    publication: Publication<'_>,
    pattern: Option<&[u8]>,
) {
    let heads: [&[u8]; 2] = match (pattern, publication.kind) {
        (Some(_), _) => [b"*4\r\n$8\r\npmessage\r\n", b">4\r\n$8\r\npmessage\r\n"],
        (None, Kind::Shard) => [b"*3\r\n$8\r\nsmessage\r\n", b">3\r\n$8\r\nsmessage\r\n"],
        (None, Kind::Channel | Kind::Pattern) => {
            [b"*3\r\n$7\r\nmessage\r\n", b">3\r\n$7\r\nmessage\r\n"]
        }
    };
    out.extend_from_slice(heads[format(version)]);
    let mut writer = Writer::new(out, version);
    if let Some(pattern) = pattern {
        writer.bulk(pattern);
    }
    writer.bulk(publication.channel);
    writer.bulk(publication.payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLICATION: Publication<'static> = Publication {
        kind: Kind::Channel,
        channel: b"news",
        payload: b"hi",
    };

    fn delivered(fanout: &mut Fanout, version: Version, pattern: Option<&[u8]>) -> Vec<u8> {
        let mut outbox = Outbox::new();
        fanout.deliver(&mut outbox, version, PUBLICATION, pattern);
        outbox.tail().clone()
    }

    #[test]
    fn both_formats_side_by_side() {
        let mut fanout = Fanout::default();
        let resp2 = b"*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n";
        let resp3 = b">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n";
        for _ in 0..2 {
            assert_eq!(delivered(&mut fanout, Version::Resp2, None), resp2);
            assert_eq!(delivered(&mut fanout, Version::Resp3, None), resp3);
        }
    }

    #[test]
    fn a_cleared_fanout_encodes_afresh() {
        let mut fanout = Fanout::default();
        delivered(&mut fanout, Version::Resp2, None);
        fanout.clear();
        assert_eq!(
            delivered(&mut fanout, Version::Resp2, Some(b"n*")),
            b"*4\r\n$8\r\npmessage\r\n$2\r\nn*\r\n$4\r\nnews\r\n$2\r\nhi\r\n"
        );
    }

    #[test]
    fn a_large_payload_is_shared() {
        let payload = vec![b'x'; SHARED_PAYLOAD_BYTES_MIN];
        let publication = Publication {
            payload: &payload,
            ..PUBLICATION
        };
        let (mut fanout, mut one, mut two) = (Fanout::default(), Outbox::new(), Outbox::new());
        for outbox in [&mut one, &mut two] {
            fanout.deliver(outbox, Version::Resp2, publication, None);
            assert!(outbox.tail().is_empty());
            assert_eq!(outbox.len(), payload.len() + 37);
        }
    }
}
