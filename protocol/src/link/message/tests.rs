use proptest::prelude::*;

use super::*;
use crate::link::{FormatError, ProtocolVersion};

/// Content for a message of any template.
#[derive(Clone, Debug)]
struct Content {
    template: usize,
    numbers: [u64; 3],
    small: u32,
    kind: usize,
    switches: [bool; 2],
    parts: [Vec<u8>; 3],
    texts: [String; 2],
    list: Vec<Vec<u8>>,
    figures: Vec<(String, u64)>,
}

const TEMPLATES: usize = 17;

fn content() -> impl Strategy<Value = Content> {
    let numbers = (0..TEMPLATES, any::<[u64; 3]>(), any::<u32>(), 0..3usize);
    let parts = (
        any::<[bool; 2]>(),
        any::<[Vec<u8>; 3]>(),
        any::<[String; 2]>(),
    );
    let lists = (
        prop::collection::vec(prop::collection::vec(any::<u8>(), 0..20), 0..20),
        prop::collection::vec((any::<String>(), any::<u64>()), 0..10),
    );
    (numbers, parts, lists).prop_map(|(numbers, parts, lists)| Content {
        template: numbers.0,
        numbers: numbers.1,
        small: numbers.2,
        kind: numbers.3,
        switches: parts.0,
        parts: parts.1,
        texts: parts.2,
        list: lists.0,
        figures: lists.1,
    })
}

impl Content {
    fn arguments(&self) -> impl Iterator<Item = &[u8]> + Clone {
        self.list.iter().map(Vec::as_slice)
    }

    fn figures(&self) -> impl Iterator<Item = (&str, u64)> + Clone {
        self.figures
            .iter()
            .map(|(name, figure)| (name.as_str(), *figure))
    }

    fn version(&self) -> Version {
        if self.switches[0] {
            Version::Resp3
        } else {
            Version::Resp2
        }
    }

    /// The message, unless it has a list, which only decoding makes.
    fn message(&self) -> Option<Message<'_>> {
        let [one, two, _] = self.numbers;
        let [first, second, _] = &self.parts;
        let [text, other_text] = &self.texts;
        let kind = Kind::ALL[self.kind];
        Some(match self.template {
            0 => Message::Interest(Interest {
                token: one,
                kind,
                count: self.small,
                name: first,
            }),
            1 => Message::InterestBegin { epoch: one },
            2 => Message::InterestEnd {
                epoch: one,
                token: two,
            },
            3 => Message::Publication(Publication {
                id: one,
                kind,
                delivery: if self.switches[0] {
                    DeliveryBy::Host
                } else {
                    DeliveryBy::Edge
                },
                delivered_here: self.small,
                client: two,
                channel: first,
                payload: second,
            }),
            4 => Message::ClientOpen(ClientOpen {
                client: one,
                user: first,
                address: text,
                local_address: other_text,
                name: second,
            }),
            5 => Message::ClientClose { client: one },
            6 => Message::InterestConfirmed { token: one },
            7 => Message::PublicationResult {
                id: one,
                deliveries: two,
                refused: text,
            },
            8 => Message::Delivery(Delivery {
                kind,
                origin: self.small,
                sequence: one,
                channel: first,
                payload: second,
            }),
            9 => Message::ClientReply(ClientReply {
                client: one,
                last: self.switches[0],
                close: self.switches[1],
                bytes: first,
            }),
            10 => Message::ClientClosed {
                client: one,
                reason: text,
            },
            11 => Message::Rights {
                user: first,
                rules: text.as_bytes(),
            },
            12 => Message::RightsBegin,
            13 => Message::RightsEnd,
            14 => Message::RightsGone { user: first },
            _ => return None,
        })
    }

    fn encoded(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        match (self.message(), self.template) {
            (Some(message), _) => message.encode(&mut bytes),
            (None, 15) => CommandOf {
                client: self.numbers[0],
                version: self.version(),
                arguments: self.arguments(),
            }
            .encode_into(&mut bytes),
            (None, _) => StatisticsOf(self.figures()).encode_into(&mut bytes),
        }
        bytes
    }
}

fn block_length(bytes: &[u8]) -> usize {
    usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(content in content()) {
        let bytes = content.encoded();
        let decoded = Message::decode(&bytes).unwrap();
        match decoded {
            Message::ClientCommand(command) => {
                prop_assert_eq!(command.client, content.numbers[0]);
                prop_assert_eq!(command.version, content.version());
                prop_assert_eq!(command.arguments.len(), content.list.len());
                prop_assert!(command.arguments.iter().eq(content.arguments()));
            }
            Message::Statistics(statistics) => {
                prop_assert!(statistics.iter().eq(content.figures()));
            }
            message => prop_assert_eq!(Some(message), content.message()),
        }
        let mut again = Vec::new();
        decoded.encode(&mut again);
        prop_assert_eq!(decoded.encoded_len(), bytes.len());
        prop_assert_eq!(again, bytes);
    }

    #[test]
    fn what_a_newer_version_appends_is_skipped(
        content in content(),
        block in prop::collection::vec(any::<u8>(), 0..20),
        rest in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let plain = content.encoded();
        let mut bytes = plain.clone();
        let length = block_length(&bytes);
        bytes.splice(8 + length..8 + length, block.iter().copied());
        bytes.extend_from_slice(&rest);
        bytes[..2].copy_from_slice(&((length + block.len()) as u16).to_le_bytes());
        bytes[6..8].copy_from_slice(&(ProtocolVersion::CURRENT.minor + 1).to_le_bytes());
        prop_assert_eq!(Message::decode(&bytes), Message::decode(&plain));
    }

    #[test]
    fn a_message_that_is_cut_or_too_long_is_refused(content in content()) {
        let mut bytes = content.encoded();
        for end in 0..bytes.len() {
            prop_assert!(Message::decode(&bytes[..end]).is_err(), "{} bytes", end);
        }
        bytes.push(0);
        prop_assert_eq!(Message::decode(&bytes), Err(FormatError::TrailingBytes { excess: 1 }));
    }

    #[test]
    fn changed_bytes_are_decoded_or_refused(
        content in content(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = content.encoded();
        for (index, byte) in changes {
            let index = index.index(bytes.len());
            bytes[index] = byte;
        }
        if let Ok(message) = Message::decode(&bytes) {
            prop_assert!(message.encoded_len() <= bytes.len());
        }
    }
}

#[test]
fn entries_of_a_list_may_have_grown() {
    let mut bytes = Vec::new();
    StatisticsOf([("a", 1), ("bc", 2)].into_iter()).encode_into(&mut bytes);
    let (header, _) = bytes.split_at(8);
    let mut newer = header.to_vec();
    newer.extend_from_slice(&10u16.to_le_bytes());
    newer.extend_from_slice(&2u32.to_le_bytes());
    for (name, figure) in [("a", 1u64), ("bc", 2)] {
        newer.extend_from_slice(&figure.to_le_bytes());
        newer.extend_from_slice(&[77, 77]);
        newer.extend_from_slice(&(name.len() as u32).to_le_bytes());
        newer.extend_from_slice(name.as_bytes());
    }
    assert_eq!(Message::decode(&newer), Message::decode(&bytes));
}

#[test]
fn a_list_that_announces_too_many_entries_is_refused_by_the_number() {
    let mut bytes = Vec::new();
    CommandOf {
        client: 1,
        version: Version::Resp2,
        arguments: std::iter::empty(),
    }
    .encode_into(&mut bytes);
    let count = bytes.len() - 4;
    let too_many = ARGUMENTS_MAX as u32 + 1;
    bytes[count..].copy_from_slice(&too_many.to_le_bytes());
    let expected = FormatError::TooLong {
        field: "arguments",
        max: ARGUMENTS_MAX,
    };
    assert_eq!(Message::decode(&bytes), Err(expected));
    bytes[count..].copy_from_slice(&(ARGUMENTS_MAX as u32).to_le_bytes());
    assert_eq!(Message::decode(&bytes), Err(FormatError::Truncated));
}

#[test]
fn wrong_codes_ids_and_texts_are_named() {
    let mut bytes = Vec::new();
    let message = Message::ClientClosed {
        client: 1,
        reason: "x",
    };
    message.encode(&mut bytes);
    let changed = |index: usize, byte: u8| {
        let mut changed = bytes.clone();
        changed[index] = byte;
        Message::decode(&changed).unwrap_err()
    };
    let text = FormatError::Text { field: "reason" };
    assert_eq!(changed(bytes.len() - 1, 0xFF), text);
    assert_eq!(changed(2, 1), FormatError::Template { template: 1 });
    assert_eq!(changed(4, 0), FormatError::Schema { schema: 0x4C00 });
    let mut interest = Vec::new();
    let message = Message::Interest(Interest {
        token: 1,
        kind: Kind::Shard,
        count: 1,
        name: b"n",
    });
    message.encode(&mut interest);
    interest[20] = 3;
    let expected = FormatError::Code {
        field: "kind",
        code: 3,
    };
    assert_eq!(Message::decode(&interest), Err(expected));
}

#[test]
fn a_publication_looks_like_this() {
    let mut bytes = Vec::new();
    let message = Message::Publication(Publication {
        id: 1,
        kind: Kind::Shard,
        delivery: DeliveryBy::Host,
        delivered_here: 3,
        client: 2,
        channel: b"ch",
        payload: b"p",
    });
    message.encode(&mut bytes);
    let expected = [
        22, 0, 19, 0, 0x47, 0x4C, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0,
        2, 1, 2, 0, 0, 0, b'c', b'h', 1, 0, 0, 0, b'p',
    ];
    assert_eq!(bytes, expected);
}
