//! Commands as bytes, and what payloads say.

use crate::history::Ask;
use goblin_protocol::table::Kind;

/// Appends a request.
pub(crate) fn write(out: &mut Vec<u8>, words: &[&[u8]]) {
    out.extend_from_slice(format!("*{}\r\n", words.len()).as_bytes());
    for word in words {
        out.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        out.extend_from_slice(word);
        out.extend_from_slice(b"\r\n");
    }
}

/// The first words of a kind's commands: to subscribe, to unsubscribe.
pub(crate) fn subscribing(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Channel => ("SUBSCRIBE", "UNSUBSCRIBE"),
        Kind::Pattern => ("PSUBSCRIBE", "PUNSUBSCRIBE"),
        Kind::Shard => ("SSUBSCRIBE", "SUNSUBSCRIBE"),
    }
}

/// The payload of a publication: its number, what it tells, and padding.
pub(crate) fn payload(publication: usize, tells: Option<u64>, bytes: usize) -> Vec<u8> {
    let mut payload = format!("{publication}:{}:", tells.unwrap_or(0)).into_bytes();
    if payload.len() < bytes {
        payload.resize(bytes, b'x');
    }
    payload
}

/// The number in a payload.
pub(crate) fn publication(payload: &[u8]) -> Option<usize> {
    let end = payload.iter().position(|byte| *byte == b':')?;
    std::str::from_utf8(payload.get(..end)?).ok()?.parse().ok()
}

/// The key of a connection.
pub(crate) fn key(connection: usize) -> Vec<u8> {
    format!("key:{connection}").into_bytes()
}

/// Appends the request of a command that says everything itself.
pub(crate) fn write_plain(out: &mut Vec<u8>, connection: usize, ask: &Ask) {
    match ask {
        Ask::Hello => write(out, &[b"HELLO", b"3"]),
        Ask::Ping => write(out, &[b"PING"]),
        Ask::Echo(token) => write(out, &[b"ECHO", token.to_string().as_bytes()]),
        Ask::Token(token) => write(
            out,
            &[b"COMMAND", b"GETKEYS", b"GET", token.to_string().as_bytes()],
        ),
        Ask::Set { version } => write(
            out,
            &[b"SET", &key(connection), version.to_string().as_bytes()],
        ),
        Ask::Get { owner, .. } => write(out, &[b"GET", &key(*owner)]),
        Ask::Unsubscribe(name) => {
            let word = subscribing(name.kind).1;
            write(out, &[word.as_bytes(), name.text.as_bytes()]);
        }
        Ask::UnsubscribeAll { kind, .. } => write(out, &[subscribing(*kind).1.as_bytes()]),
        Ask::Reset => write(out, &[b"RESET"]),
        Ask::Quit => write(out, &[b"QUIT"]),
        Ask::Multi => write(out, &[b"MULTI"]),
        Ask::Exec(_) => write(out, &[b"EXEC"]),
        Ask::Discard(_) => write(out, &[b"DISCARD"]),
        Ask::NumSub(name) => {
            let word: &[u8] = match name.kind {
                Kind::Shard => b"SHARDNUMSUB",
                _ => b"NUMSUB",
            };
            write(out, &[b"PUBSUB", word, name.text.as_bytes()]);
        }
        Ask::SetUser(token) => {
            let key = format!("~{token}");
            write(
                out,
                &[
                    b"ACL",
                    b"SETUSER",
                    b"nobody",
                    b"off",
                    b"resetkeys",
                    key.as_bytes(),
                ],
            );
        }
        Ask::Publish(_) | Ask::Subscribe { .. } => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payload_names_its_publication_whatever_its_size() {
        for bytes in [0, 3, 40] {
            let payload = payload(17, Some(4), bytes);
            assert!(payload.len() >= bytes);
            assert_eq!(publication(&payload), Some(17));
        }
        assert_eq!(publication(b"nothing"), None);
    }
}
