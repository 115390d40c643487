//! Requests to words, replies to frames, frames cut anywhere.

use proptest::prelude::*;

use super::messages::*;
use super::*;
use crate::command;
use crate::limits::{ARGUMENTS_MAX, UNAUTHENTICATED_BULK_BYTES_MAX};
use crate::resp::{RequestLimits, Version, Writer};

type Outcome = (Vec<Vec<Vec<u8>>>, Option<ProtocolError>);

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>, limits: &RequestLimits) -> Outcome {
    let (mut inbox, mut words) = (Inbox::new(), Words::default());
    let mut requests = Vec::new();
    for piece in pieces {
        let mut feed = inbox.open(piece, &mut words);
        loop {
            match feed.next(limits) {
                Ok(None) => break,
                Ok(Some(Received::Request(words))) => {
                    requests.push(words.iter().map(<[u8]>::to_vec).collect());
                }
                Ok(Some(Received::Unknown { template })) => {
                    requests.push(vec![template.to_string().into_bytes()]);
                }
                Err(error) => return (requests, Some(error)),
            }
        }
    }
    (requests, None)
}

fn words(request: &Request<'_>) -> String {
    let mut words = Words::default();
    words.fill(request);
    let words = words.arguments();
    let texts: Vec<_> = words.iter().map(String::from_utf8_lossy).collect();
    texts.join(" ")
}

#[test]
fn requests_become_the_words_of_resp() {
    let set = Set {
        expiry: 5,
        expiry_kind: Expiry::InSeconds,
        condition: Condition::IfAbsent,
        answer_old: true,
        key: b"k",
        value: b"v",
    };
    assert_eq!(words(&Request::Set(set)), "SET k v NX GET EX 5");
    let members = [
        ZAddMembers {
            score: 1.5,
            member: b"a",
        },
        ZAddMembers {
            score: f64::INFINITY,
            member: b"b",
        },
    ];
    let add = ZAdd {
        condition: Condition::IfPresent,
        comparison: Condition::IfGreater,
        count_changed: true,
        increment: false,
        members: Group::from(&members),
        key: b"z",
    };
    assert_eq!(words(&Request::ZAdd(add)), "ZADD z XX GT CH 1.5 a inf b");
    let range = ZRange {
        offset: 1,
        count: -1,
        by: RangeBy::Score,
        reverse: true,
        limited: true,
        with_scores: true,
        key: b"z",
        start: b"(9",
        stop: b"-inf",
    };
    assert_eq!(
        words(&Request::ZRange(range)),
        "ZRANGE z (9 -inf BYSCORE REV LIMIT 1 -1 WITHSCORES"
    );
    let count = ZCount {
        min: 1.0,
        max: 2.0,
        min_exclusive: false,
        max_exclusive: true,
        key: b"z",
    };
    assert_eq!(words(&Request::ZCount(count)), "ZCOUNT z 1 (2");
    let hello = Hello {
        user: b"u",
        password: b"p",
        client_name: b"n",
    };
    assert_eq!(words(&Request::Hello(hello)), "HELLO 3 AUTH u p SETNAME n");
    assert_eq!(
        words(&Request::Auth(Auth {
            user: b"",
            password: b"p"
        })),
        "AUTH p"
    );
    let keys: [&[u8]; 2] = [b"a", b"b"];
    assert_eq!(
        words(&Request::Del(Del {
            keys: Group::from(&keys)
        })),
        "DEL a b"
    );
    assert_eq!(words(&Request::Ping(Ping { message: b"" })), "PING");
}

/// The RESP3 reply as a frame, decoded again, as text.
fn transcoded(write: impl Fn(&mut Writer<'_>)) -> String {
    let mut resp = Vec::new();
    write(&mut Writer::new(&mut resp, Version::Resp3));
    let mut out = b"before".to_vec();
    for cut in 0..resp.len() {
        let result = put_reply(&resp[..cut], &mut out);
        assert_eq!(
            (result, &out[..]),
            (Err(ReplyError::Incomplete), &b"before"[..])
        );
    }
    assert_eq!(put_reply(&resp, &mut out), Ok(resp.len()));
    let (length, message) = out[6..].split_first_chunk().unwrap();
    assert_eq!(u32::from_le_bytes(*length) as usize, message.len());
    format!("{:?}", Response::decode(message).unwrap())
}

#[test]
fn replies_and_pushes_become_messages() {
    let text = |message: Response<'_>| format!("{message:?}");
    assert_eq!(
        transcoded(|w| w.simple("OK")),
        text(Response::OkReply(OkReply {}))
    );
    assert_eq!(
        transcoded(|w| w.simple("PONG")),
        text(Response::SimpleReply(SimpleReply { text: b"PONG" }))
    );
    assert_eq!(
        transcoded(|w| w.error("ERR no")),
        text(Response::ErrorReply(ErrorReply { text: b"ERR no" }))
    );
    assert_eq!(
        transcoded(|w| w.integer(i64::MIN)),
        text(Response::IntegerReply(IntegerReply { value: i64::MIN }))
    );
    assert_eq!(
        transcoded(|w| w.double(-0.1)),
        text(Response::DoubleReply(DoubleReply { value: -0.1 }))
    );
    assert_eq!(
        transcoded(|w| w.boolean(true)),
        text(Response::BooleanReply(BooleanReply { value: true }))
    );
    assert_eq!(
        transcoded(|w| w.bulk(b"a\r\nb")),
        text(Response::BytesReply(BytesReply { value: b"a\r\nb" }))
    );
    assert_eq!(
        transcoded(|w| w.verbatim(b"txt", b"hi")),
        text(Response::BytesReply(BytesReply { value: b"hi" }))
    );
    assert_eq!(
        transcoded(|w| {
            w.null();
        }),
        text(Response::NullReply(NullReply {}))
    );
    let value = |kind, integer, double, data| CompositeReplyValues {
        integer,
        double,
        kind,
        data,
    };
    let values = [
        value(ValueKind::Map, 1, 0.0, &b""[..]),
        value(ValueKind::Bytes, 0, 0.0, b"k"),
        value(ValueKind::Array, 2, 0.0, b""),
        value(ValueKind::Double, 0, 2.5, b""),
        value(ValueKind::Null, 0, 0.0, b""),
    ];
    let reply = transcoded(|w| {
        w.map(1);
        w.bulk(b"k");
        w.array(2);
        w.double(2.5);
        w.null();
    });
    assert_eq!(
        reply,
        text(Response::CompositeReply(CompositeReply {
            values: Group::from(&values)
        }))
    );
    let push = transcoded(|w| {
        w.push(4);
        [&b"pmessage"[..], b"n*", b"news", b"hi"]
            .iter()
            .for_each(|part| w.bulk(part));
    });
    let message = PatternMessagePush {
        pattern: b"n*",
        channel: b"news",
        payload: b"hi",
    };
    assert_eq!(push, text(Response::PatternMessagePush(message)));
    let push = transcoded(|w| crate::session::write_confirmation(w, b"unsubscribe", None, 0));
    let message = SubscriptionPush {
        subscriptions: 0,
        action: SubscriptionAction::Unsubscribe,
        named: false,
        name: b"",
    };
    assert_eq!(push, text(Response::SubscriptionPush(message)));
}

#[test]
fn a_template_of_no_request_is_reported_and_passed_over() {
    let mut stream = Vec::new();
    put_framed(&OkReply {}, &mut stream).unwrap();
    put_framed(&Multi {}, &mut stream).unwrap();
    let expected = vec![vec![b"64".to_vec()], vec![b"MULTI".to_vec()]];
    assert_eq!(
        read([&stream[..]].into_iter(), &RequestLimits::default()),
        (expected, None)
    );
}

#[test]
fn limits_hold_and_a_lying_length_costs_nothing() {
    let (mut inbox, mut words) = (Inbox::new(), Words::default());
    let lie = 600_000_000_u32.to_le_bytes();
    let limits = RequestLimits::default();
    assert!(matches!(
        inbox.open(&lie, &mut words).next(&limits),
        Ok(None)
    ));
    assert_eq!(inbox.len(), 4);
    let strict = RequestLimits::UNAUTHENTICATED;
    let (_, error) = read([&lie[..]].into_iter(), &strict);
    assert!(
        matches!(error, Some(ProtocolError::FrameLength { .. })),
        "{error:?}"
    );
    let (_, error) = read([&7_u32.to_le_bytes()[..]].into_iter(), &limits);
    assert!(
        matches!(error, Some(ProtocolError::FrameLength { length: 7, .. })),
        "{error:?}"
    );
    let mut stream = Vec::new();
    let value = vec![0; UNAUTHENTICATED_BULK_BYTES_MAX + 1];
    put_framed(&Echo { message: &value }, &mut stream).unwrap();
    let max = UNAUTHENTICATED_BULK_BYTES_MAX;
    assert_eq!(
        read([&stream[..]].into_iter(), &strict).1,
        Some(ProtocolError::WordTooLong { max })
    );
    let mut stream = Vec::new();
    let many = vec![&b""[..]; ARGUMENTS_MAX + 1];
    put_framed(
        &AnyCommand {
            words: Group::from(&many[..]),
        },
        &mut stream,
    )
    .unwrap();
    let max = ARGUMENTS_MAX;
    assert_eq!(
        read([&stream[..]].into_iter(), &limits).1,
        Some(ProtocolError::TooManyWords { max })
    );
}

#[test]
fn unread_gives_the_same_request_again() {
    let (mut inbox, mut words) = (Inbox::new(), Words::default());
    let mut stream = Vec::new();
    put_framed(&Get { key: b"k" }, &mut stream).unwrap();
    let mut feed = inbox.open(&stream, &mut words);
    assert!(matches!(feed.next(&RequestLimits::default()), Ok(Some(_))));
    feed.unread();
    drop(feed);
    assert_eq!(inbox.len(), stream.len());
    let mut feed = inbox.open(&[], &mut words);
    assert!(matches!(
        feed.next(&RequestLimits::default()),
        Ok(Some(Received::Request(_)))
    ));
    drop(feed);
    assert_eq!((inbox.len(), inbox.is_empty()), (0, true));
}

#[test]
fn the_schema_is_that_of_the_link() {
    assert_eq!(SCHEMA_ID, crate::link::SCHEMA_ID);
    assert_eq!(SCHEMA_VERSION, crate::link::ProtocolVersion::CURRENT.minor);
    assert!(command::find(PREAMBLE).is_none());
}

#[test]
fn a_buffer_goes_from_the_emptied_inbox_to_the_next() {
    let (mut first, mut second, mut words) = (Inbox::new(), Inbox::new(), Words::default());
    let mut stream = Vec::new();
    put_framed(&Get { key: b"k" }, &mut stream).unwrap();
    drop(first.open(&stream[..5], &mut words));
    let mut feed = first.open(&stream[5..], &mut words);
    assert!(matches!(feed.next(&RequestLimits::default()), Ok(Some(_))));
    drop(feed);
    assert!(first.is_empty() && words.spare.capacity() > 0);
    drop(second.open(&stream[..5], &mut words));
    assert_eq!((second.len(), words.spare.capacity()), (5, 0));
}

proptest! {
    #[test]
    fn a_split_anywhere_gives_the_same_requests(
        parts in prop::collection::vec((any::<Vec<u8>>(), any::<bool>()), 0..6),
        tail in prop::collection::vec(any::<u8>(), 0..20),
        piece in 1_usize..40,
    ) {
        let mut stream = Vec::new();
        for (part, is_pair) in &parts {
            if *is_pair {
                put_framed(&Publish { channel: part, payload: part }, &mut stream).unwrap();
            } else {
                put_framed(&Get { key: part }, &mut stream).unwrap();
            }
        }
        stream.extend_from_slice(&tail);
        let limits = RequestLimits::default();
        let whole = read([&stream[..]].into_iter(), &limits);
        prop_assert!(whole.0.len() >= parts.len());
        prop_assert_eq!(read(stream.chunks(piece), &limits), whole);
    }

    #[test]
    fn any_bytes_are_a_reply_or_refused(bytes: Vec<u8>) {
        let mut out = Vec::new();
        if put_reply(&bytes, &mut out).is_err() {
            prop_assert!(out.is_empty());
        }
    }
}
