//! What a client can do to the SBE reader, and a server to an SBE client.
//!
//! The first byte of the input says how the rest is cut. Checked: nothing panics, the pieces give the
//! requests that the whole gives, and what was decoded is encoded again to what is decoded to the same.

use goblin_protocol::resp::RequestLimits;
use goblin_protocol::sbe::messages::{Request, Response};
use goblin_protocol::sbe::{
    Encode, Inbox, Preamble, Protocol, ProtocolError, Received, Words, put_reply,
};

/// Checks all of the above on one input.
pub(crate) fn check(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else {
        return;
    };
    let piece = 1 + usize::from(*choice);
    for limits in [RequestLimits::default(), RequestLimits::UNAUTHENTICATED] {
        let whole = read([bytes].into_iter(), &limits);
        assert_eq!(read(bytes.chunks(piece), &limits), whole);
    }
    check_message(bytes);
    check_message(bytes.get(4..).unwrap_or_default());
    check_preamble(bytes, piece);
    let mut out = Vec::new();
    if put_reply(bytes, &mut out).is_ok() {
        assert!(Response::decode(&out[4..]).is_ok());
    } else {
        assert!(out.is_empty());
    }
}

fn check_message(bytes: &[u8]) {
    let mut encoded = Vec::new();
    if let Ok(request) = Request::decode(bytes) {
        request.write(&mut encoded);
        let mut again = Vec::new();
        Request::decode(&encoded)
            .expect("we wrote it")
            .write(&mut again);
        assert_eq!(again, encoded);
    } else if let Ok(response) = Response::decode(bytes) {
        response.write(&mut encoded);
        let mut again = Vec::new();
        Response::decode(&encoded)
            .expect("we wrote it")
            .write(&mut again);
        assert_eq!(again, encoded);
    }
}

/// Whether it is SBE does not depend on the cut.
fn check_preamble(bytes: &[u8], piece: usize) {
    let mut preamble = Preamble::default();
    let mut decided = None;
    for received in bytes.chunks(piece) {
        match preamble.handle_received(received) {
            Protocol::Undecided => continue,
            Protocol::Resp { .. } => decided = Some(false),
            Protocol::Sbe { .. } => decided = Some(true),
        }
        break;
    }
    let shown = &bytes[..bytes.len().min(8)];
    let expected = match b"GOBLINS!".starts_with(shown) {
        true if shown.len() < 8 => None,
        is_sbe => Some(is_sbe),
    };
    assert_eq!(decided, expected);
}

/// The requests of a stream, or the ids of unknown templates, and the error that ended it.
type Outcome = (Vec<Result<Vec<Vec<u8>>, u16>>, Option<ProtocolError>);

fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>, limits: &RequestLimits) -> Outcome {
    let (mut inbox, mut words) = (Inbox::new(), Words::default());
    let mut requests = Vec::new();
    for piece in pieces {
        let mut feed = inbox.open(piece, &mut words);
        loop {
            match feed.next(limits) {
                Ok(None) => break,
                Ok(Some(Received::Request(words))) => {
                    requests.push(Ok(words.iter().map(<[u8]>::to_vec).collect()));
                }
                Ok(Some(Received::Unknown { template })) => requests.push(Err(template)),
                Err(error) => {
                    drop(feed);
                    assert!(inbox.is_empty());
                    return (requests, Some(error));
                }
            }
        }
    }
    (requests, None)
}
