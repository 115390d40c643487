//! Requests cut anywhere, Redis's error texts, and what a feed keeps.

use proptest::prelude::*;

use super::{Inbox, ProtocolError, RequestLimits, Spans, Writer};
use crate::limits::{ARGUMENTS_MAX, BULK_BYTES_MAX, INLINE_BYTES_MAX};

type Request = Vec<Vec<u8>>;

/// Reads `pieces` one after the other until an error.
fn read(pieces: &[&[u8]], limits: &RequestLimits) -> (Vec<Request>, Option<ProtocolError>, usize) {
    let (mut inbox, mut spans, mut requests) = (Inbox::new(), Spans::default(), Vec::new());
    for piece in pieces {
        let mut feed = inbox.open(piece, &mut spans);
        loop {
            match feed.next(limits) {
                Ok(Some(arguments)) => {
                    requests.push(arguments.iter().map(<[u8]>::to_vec).collect());
                }
                Ok(None) => break,
                Err(error) => {
                    assert!(
                        feed.next(limits).unwrap().is_none(),
                        "nothing is read after an error"
                    );
                    drop(feed);
                    return (requests, Some(error), inbox.len());
                }
            }
        }
    }
    (requests, None, inbox.len())
}

fn bytes_of(stream: &[u8]) -> Vec<&[u8]> {
    stream.chunks(1).collect()
}

fn encode(requests: &[Request]) -> Vec<u8> {
    let mut stream = Vec::new();
    for request in requests {
        stream.extend_from_slice(format!("*{}\r\n", request.len()).as_bytes());
        for argument in request {
            stream.extend_from_slice(format!("${}\r\n", argument.len()).as_bytes());
            stream.extend_from_slice(argument);
            stream.extend_from_slice(b"\r\n");
        }
    }
    stream
}

/// `None` when the client is not told.
fn told(error: ProtocolError) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    Writer::new(&mut out, super::Version::Resp2).error(error.reply()?);
    Some(out)
}

#[test]
fn a_split_anywhere_gives_the_same_requests() {
    let streams: [&[u8]; 7] = [
        b"*3\r\n$7\r\nPUBLISH\r\n$4\r\nnews\r\n$2\r\nhi\r\n*1\r\n$4\r\nPING\r\n",
        b"PING\r\n*2\r\n$4\r\nECHO\r\n$0\r\n\r\n\r\nPING\n",
        b"*0\r\n*-1\r\n \r\nSET \"a b\" 'c\\'d' \"\\x41\\n\"\r\nPING\r\n",
        b"*1\r\n$12\r\nabcdefghijkl\r\n*1\r\n$abc\r\n",
        b"*1\r\n$4\r\nPING\r\n*1\r\nXY\r\nPING\r\n",
        b"ECHO one\r\nECHO \"two\r\nECHO three\r\n",
        b"PING\r\nPOST / HTTP/1.1\r\nHost: a\r\n",
    ];
    let limits = RequestLimits::default();
    for stream in streams {
        let whole = read(&[stream], &limits);
        assert!(!whole.0.is_empty());
        assert_eq!(read(&bytes_of(stream), &limits), whole);
        for first in 0..=stream.len() {
            for second in first..=stream.len() {
                let pieces = [&stream[..first], &stream[first..second], &stream[second..]];
                assert_eq!(read(&pieces, &limits), whole, "cut at {first} and {second}");
            }
        }
    }
}

proptest! {
    #[test]
    fn random_requests_cut_at_random_come_back(
        requests in prop::collection::vec(
            prop::collection::vec(prop::collection::vec(any::<u8>(), 0..130), 1..12),
            0..8,
        ),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        tail in 0_usize..20,
    ) {
        // A name that a web server would understand ends the connection.
        prop_assume!(requests.iter().all(|request| !super::is_cross_protocol(&request[0])));
        let mut stream = encode(&requests);
        let whole = stream.len();
        let next = b"*2\r\n$4\r\nECHO\r\n$100\r\n";
        stream.extend_from_slice(&next[..tail]);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.sort_unstable();
        let mut pieces = Vec::new();
        let mut start = 0;
        for cut in cuts.into_iter().chain([stream.len()]) {
            pieces.push(&stream[start..cut]);
            start = cut;
        }
        let expected = (requests, None, stream.len() - whole);
        prop_assert_eq!(read(&pieces, &RequestLimits::default()), expected);
    }

    #[test]
    fn what_a_word_is_quoted_to_is_read_back(words in prop::collection::vec(
        prop::collection::vec(any::<u8>(), 0..20), 1..6)
    ) {
        prop_assume!(!super::is_cross_protocol(&words[0]));
        let mut line = String::new();
        for word in &words {
            let hex: String = word.iter().map(|byte| format!("\\x{byte:02X}")).collect();
            line.push_str(&format!("\"{hex}\" "));
        }
        line.push_str("\r\n");
        prop_assert_eq!(
            read(&[line.as_bytes()], &RequestLimits::default()),
            (vec![words], None, 0)
        );
    }
}

#[test]
fn inline_words_are_those_of_redis() {
    let cases: [(&[u8], &[&[u8]]); 13] = [
        (b"PING\n", &[b"PING"]),
        (b"  PING \t a  \r\n", &[b"PING", b"a"]),
        (b"ECHO a\"b c\"\r\n", &[b"ECHO", b"ab c"]),
        (
            b"ECHO \"\\x41\\x4g\\n\\r\\t\\b\\a\\q\\\\\\\"\"\r\n",
            &[b"ECHO", b"Ax4g\n\r\t\x08\x07q\\\""],
        ),
        (b"ECHO 'a\\'b\\n\\\\c'\r\n", &[b"ECHO", b"a'b\\n\\\\c"]),
        (b"ECHO \"\" ''\r\n", &[b"ECHO", b"", b""]),
        (b"ECHO a\rb\r\r\n", &[b"ECHO", b"a", b"b"]),
        (b"ECHO a\\nb\r\n", &[b"ECHO", b"a\\nb"]),
        // Blanks before a word, but not behind one.
        (b"\x0b\x0cECHO a\x0bb\x0c\r\n", &[b"ECHO", b"a\x0bb\x0c"]),
        // A closing quote may be followed by any blank.
        (b"ECHO \"a\"\x0bb\r\n", &[b"ECHO", b"a", b"b"]),
        (b"$4\r\n", &[b"$4"]),
        (b"\xff\xfe\r\n", &[b"\xff\xfe"]),
        (
            b"post\x01 / HTTP/1.1\r\n",
            &[b"post\x01", b"/", b"HTTP/1.1"],
        ),
    ];
    for (line, words) in cases {
        let words: Request = words.iter().map(|word| word.to_vec()).collect();
        assert_eq!(
            read(&[line], &RequestLimits::default()),
            (vec![words], None, 0),
            "{}",
            line.escape_ascii()
        );
    }
}

#[test]
fn line_ends_are_skipped_without_a_look_as_in_redis() {
    let ping = vec![b"PING".to_vec()];
    let (requests, error, kept) = read(&[b"*1\rX$4\rXPINGXXPING\r\n"], &RequestLimits::default());
    assert_eq!((requests, error, kept), (vec![ping.clone(), ping], None, 0));
}

#[test]
fn a_nul_in_a_line_hides_its_end_as_in_redis() {
    for stream in [
        &b"PING\0\r\nPING\r\n"[..],
        b"*1\0\r\n$4\r\nPING\r\n",
        b"*1\r\n\0$4\r\nPING\r\n",
    ] {
        let (requests, error, kept) = read(&[stream], &RequestLimits::default());
        assert_eq!((requests, error, kept), (vec![], None, stream.len()));
    }
}

#[test]
fn errors_have_the_texts_of_redis_and_end_the_stream() {
    let cases: [(&[u8], &str); 25] = [
        (b"*x\r\n", "invalid multibulk length"),
        (b"*\r\n", "invalid multibulk length"),
        (b"*01\r\n", "invalid multibulk length"),
        (b"*+1\r\n", "invalid multibulk length"),
        (b"*-0\r\n", "invalid multibulk length"),
        (b"*1 \r\n", "invalid multibulk length"),
        (b"*1048577\r\n", "invalid multibulk length"),
        (b"*2147483648\r\n", "invalid multibulk length"),
        (b"*9223372036854775808\r\n", "invalid multibulk length"),
        (b"*-9223372036854775809\r\n", "invalid multibulk length"),
        (b"*1\r\nX\r\n", "expected '$', got 'X'"),
        (b"*1\r\nX\ra", "expected '$', got 'X'"),
        (b"*1\r\n\r\n", "expected '$', got ' '"),
        (b"*1\r\n\n\r\n", "expected '$', got ' '"),
        (b"*2\r\n$1\r\na\r\n:5\r\n", "expected '$', got ':'"),
        (
            b"*1\r\n$4\r\nPI\r\nNG\r\n*1\r\n*4\r\n",
            "expected '$', got '*'",
        ),
        (b"*1\r\n$-5\r\n", "invalid bulk length"),
        (b"*1\r\n$abc\r\n", "invalid bulk length"),
        (b"*1\r\n$\r\n", "invalid bulk length"),
        (b"*1\r\n$01\r\n", "invalid bulk length"),
        (b"*1\r\n$536870913\r\n", "invalid bulk length"),
        (b"ECHO \"a\r\n", "unbalanced quotes in request"),
        (b"ECHO 'a\r\n", "unbalanced quotes in request"),
        (b"ECHO \"a\"b\r\n", "unbalanced quotes in request"),
        (b"ECHO 'a''b'\r\n", "unbalanced quotes in request"),
    ];
    for (stream, text) in cases {
        let mut stream = stream.to_vec();
        stream.extend_from_slice(b"PING\r\n*1\r\n$4\r\nPING\r\n");
        let limits = RequestLimits::default();
        let (requests, error, kept) = read(&[&stream], &limits);
        let reply = format!("-ERR Protocol error: {text}\r\n").into_bytes();
        assert_eq!(
            error.map(told),
            Some(Some(reply)),
            "{}",
            stream.escape_ascii()
        );
        assert_eq!(kept, 0);
        assert_eq!(read(&bytes_of(&stream), &limits), (requests, error, 0));
    }
}

#[test]
fn before_authentication_the_limits_are_lower_and_say_so() {
    let cases: [(&[u8], Option<&str>); 8] = [
        (b"*10\r\n", None),
        (b"*11\r\n", Some("unauthenticated multibulk length")),
        (b"*1048576\r\n", Some("unauthenticated multibulk length")),
        (b"*1048577\r\n", Some("invalid multibulk length")),
        (b"*1\r\n$16384\r\n", None),
        (b"*1\r\n$16385\r\n", Some("unauthenticated bulk length")),
        (b"*1\r\n$536870912\r\n", Some("unauthenticated bulk length")),
        (b"*1\r\n$536870913\r\n", Some("invalid bulk length")),
    ];
    for (stream, text) in cases {
        let (_, error, _) = read(&[stream], &RequestLimits::UNAUTHENTICATED);
        let text = text.map(|text| format!("-ERR Protocol error: {text}\r\n").into_bytes());
        assert_eq!(error.and_then(told), text, "{}", stream.escape_ascii());
    }
}

#[test]
fn a_lower_limit_for_arguments_is_an_invalid_length() {
    let limits = RequestLimits {
        bulk_bytes_max: 8,
        ..RequestLimits::default()
    };
    assert_eq!(read(&[b"*1\r\n$8\r\n12345678\r\n"], &limits).1, None);
    assert_eq!(
        read(&[b"*1\r\n$9\r\n"], &limits).1,
        Some(ProtocolError::InvalidLength)
    );
}

#[test]
fn web_requests_are_closed_without_a_word() {
    let streams: [&[u8]; 5] = [
        b"PING\r\nPOST / HTTP/1.1\r\nPING\r\n",
        b"PING\r\nhOsT: a\r\nPING\r\n",
        b"PING\r\n\"POST\"\r\nPING\r\n",
        b"PING\r\n*2\r\n$4\r\npost\r\n$1\r\na\r\nPING\r\n",
        b"PING\r\n*1\r\n$5\r\nHost:\r\nPING\r\n",
    ];
    for stream in streams {
        let (requests, error, kept) = read(&[stream], &RequestLimits::default());
        assert_eq!(
            (requests.len(), error, kept),
            (1, Some(ProtocolError::CrossProtocol), 0)
        );
        assert_eq!(error.and_then(told), None);
    }
}

#[test]
fn lines_may_have_64_kib_and_no_byte_more() {
    let cases: [(&[u8], u8, ProtocolError, &str); 3] = [
        (
            b"",
            b'A',
            ProtocolError::InlineTooLong,
            "too big inline request",
        ),
        (
            b"*",
            b'1',
            ProtocolError::CountLineTooLong,
            "too big mbulk count string",
        ),
        (
            b"*1\r\n$",
            b'1',
            ProtocolError::LengthLineTooLong,
            "too big bulk count string",
        ),
    ];
    for (start, fill, expected, text) in cases {
        let mut stream = start.to_vec();
        let line = start
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |feed| feed + 1);
        stream.resize(line + INLINE_BYTES_MAX, fill);
        let limits = RequestLimits::default();
        assert_eq!(read(&[&stream], &limits), (vec![], None, stream.len()));
        assert_eq!(
            read(&bytes_of(&stream), &limits),
            (vec![], None, stream.len())
        );
        stream.push(fill);
        stream.extend_from_slice(b"\r\n");
        assert_eq!(read(&[&stream], &limits), (vec![], Some(expected), 0));
        assert_eq!(
            read(&bytes_of(&stream), &limits),
            (vec![], Some(expected), 0)
        );
        let reply = format!("-ERR Protocol error: {text}\r\n").into_bytes();
        assert_eq!(told(expected), Some(reply));
    }
    let mut longest = vec![b'A'; INLINE_BYTES_MAX];
    longest.push(b'\n');
    assert_eq!(read(&[&longest], &RequestLimits::default()).0.len(), 1);
}

#[test]
fn a_request_beyond_the_query_limit_is_closed_without_a_word() {
    let stream = encode(&[vec![b"ECHO".to_vec(), vec![b'a'; 100]]]);
    let limits = |query_bytes_max| RequestLimits {
        query_bytes_max,
        ..RequestLimits::default()
    };
    for pieces in [vec![&stream[..]], bytes_of(&stream)] {
        assert_eq!(read(&pieces, &limits(stream.len())).0.len(), 1);
        let (requests, error, kept) = read(&pieces, &limits(stream.len() - 1));
        assert_eq!(
            (requests.len(), error, kept),
            (0, Some(ProtocolError::QueryTooLong), 0)
        );
        assert_eq!(error.and_then(told), None);
    }
    // Nothing is wrong with what may still be completed.
    let limit = stream.len();
    assert_eq!(read(&[&b"A".repeat(limit)], &limits(limit)).1, None);
    assert_eq!(
        read(&[&b"A".repeat(limit + 1)], &limits(limit)).1,
        Some(ProtocolError::QueryTooLong)
    );
    // It counts for each request, not for what is received at once.
    let pipeline = stream.repeat(10);
    assert_eq!(read(&[&pipeline], &limits(stream.len())).0.len(), 10);
}

#[test]
fn the_limits_themselves_are_accepted() {
    let count = format!("*{ARGUMENTS_MAX}\r\n$1\r\na\r\n");
    assert_eq!(read(&[count.as_bytes()], &RequestLimits::default()).1, None);
    let length = format!("*1\r\n${BULK_BYTES_MAX}\r\na");
    assert_eq!(
        read(&[length.as_bytes()], &RequestLimits::default()).1,
        None
    );
}

#[test]
fn arguments_are_reached_by_position() {
    let (mut inbox, mut spans) = (Inbox::new(), Spans::default());
    let mut feed = inbox.open(b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nvv\r\n", &mut spans);
    let arguments = feed.next(&RequestLimits::default()).unwrap().unwrap();
    assert_eq!((arguments.len(), arguments.is_empty()), (3, false));
    assert_eq!(&arguments[2], b"vv");
    assert_eq!(
        (arguments.get(0), arguments.get(3)),
        (Some(&b"SET"[..]), None)
    );
    let rest = arguments.skip(1);
    assert_eq!(rest.iter().collect::<Vec<_>>(), [&b"k"[..], b"vv"]);
    assert!(arguments.skip(3).is_empty() && arguments.skip(4).is_empty());
    assert_eq!(format!("{arguments:?}"), r#"["SET", "k", "vv"]"#);
}

#[test]
fn a_request_put_back_is_the_next_one_again() {
    let limits = RequestLimits::default();
    let stream = b"*1\r\n$1\r\na\r\nb\r\n*1\r\n$1\r\nc\r\n*2\r\n$1\r\nd";
    for cut in 0..=stream.len() {
        let (mut inbox, mut spans, mut names) = (Inbox::new(), Spans::default(), Vec::new());
        for piece in [&stream[..cut], &stream[cut..], b"\r\n$1\r\ne\r\n"] {
            let mut received = piece;
            // Each request is put back once, as for a client that has to wait.
            while let Some(name) = {
                let mut feed = inbox.open(received, &mut spans);
                received = b"";
                let first = feed
                    .next(&limits)
                    .unwrap()
                    .map(|request| request[0].to_vec());
                feed.unread();
                let again = feed
                    .next(&limits)
                    .unwrap()
                    .map(|request| request[0].to_vec());
                assert_eq!(first, again);
                feed.unread();
                drop(feed);
                let again = inbox
                    .open(b"", &mut spans)
                    .next(&limits)
                    .unwrap()
                    .map(|request| request[0].to_vec());
                assert_eq!(first, again);
                again
            } {
                names.push(name);
            }
        }
        assert_eq!(names, [b"a", b"b", b"c", b"d"], "cut at {cut}");
        assert!(inbox.is_empty());
    }
}

#[test]
fn putting_back_reaches_over_a_look_that_found_nothing() {
    let (mut inbox, mut spans) = (Inbox::new(), Spans::default());
    let limits = RequestLimits::default();
    let mut feed = inbox.open(b"a\r\n\r\n*2\r\n$1\r\nb\r\n", &mut spans);
    assert_eq!(&feed.next(&limits).unwrap().unwrap()[0], b"a");
    assert!(feed.next(&limits).unwrap().is_none());
    feed.unread();
    feed.unread();
    assert_eq!(&feed.next(&limits).unwrap().unwrap()[0], b"a");
    drop(feed);
    let mut feed = inbox.open(b"$1\r\nc\r\n", &mut spans);
    assert_eq!(feed.next(&limits).unwrap().unwrap().len(), 2);
}

#[test]
fn discarding_drops_what_is_left() {
    let (mut inbox, mut spans) = (Inbox::new(), Spans::default());
    inbox.open(b"PING\r\nPING\r\nPI", &mut spans).discard();
    assert!(inbox.is_empty());
    drop(inbox.open(b"PING\r\nPI", &mut spans));
    assert_eq!(inbox.len(), 8);
    let mut feed = inbox.open(b"NG\r\n", &mut spans);
    assert!(feed.next(&RequestLimits::default()).unwrap().is_some());
    feed.discard();
    assert!(inbox.is_empty());
    let mut feed = inbox.open(b"ECHO a\r\n", &mut spans);
    assert_eq!(
        feed.next(&RequestLimits::default()).unwrap().unwrap().len(),
        2
    );
}
