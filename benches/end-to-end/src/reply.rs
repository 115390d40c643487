//! What a server sends, read a second time: this reader was written apart from the product's, so
//! that a mistake in the one cannot hide in the other.

use std::fmt;

/// One reply or push of RESP2 or RESP3.
#[derive(Clone, PartialEq)]
pub enum Reply {
    /// `+`
    Simple(Vec<u8>),
    /// `-`
    Error(Vec<u8>),
    /// `:`
    Integer(i64),
    /// `$`, and `=` without its three letters of format.
    Bulk(Vec<u8>),
    /// `$-1`, `*-1` or `_`
    Nil,
    /// `*`
    Array(Vec<Reply>),
    /// `%`: keys and values in turn.
    Map(Vec<Reply>),
    /// `~`
    Set(Vec<Reply>),
    /// `>`
    Push(Vec<Reply>),
    /// `,` or `(`, as written.
    Number(Vec<u8>),
    /// `#`
    Boolean(bool),
}

impl Reply {
    /// A bulk string.
    pub fn bulk(text: impl AsRef<[u8]>) -> Reply {
        Reply::Bulk(text.as_ref().to_vec())
    }

    /// The simple string `OK`.
    pub fn ok() -> Reply {
        Reply::Simple(b"OK".to_vec())
    }

    /// The elements of whatever has elements.
    pub fn elements(&self) -> &[Reply] {
        match self {
            Reply::Array(all) | Reply::Map(all) | Reply::Set(all) | Reply::Push(all) => all,
            _ => &[],
        }
    }

    /// The bytes of a string or an error; empty for anything else.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Reply::Simple(bytes) | Reply::Error(bytes) | Reply::Bulk(bytes) => bytes,
            Reply::Number(bytes) => bytes,
            _ => &[],
        }
    }

    /// The bytes of a string or an error as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }

    /// The number of an integer reply.
    #[track_caller]
    pub fn integer(&self) -> i64 {
        match self {
            Reply::Integer(number) => *number,
            other => panic!("an integer was expected, this came: {other:?}"),
        }
    }

    /// Reads the reply at the start of `bytes`: the reply and its length, or nothing when more bytes
    /// have to come.
    #[track_caller]
    pub fn parse(bytes: &[u8]) -> Option<(Reply, usize)> {
        let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
        let (kind, line) = (bytes[0], &bytes[1..end]);
        let next = end + 2;
        let several = |each: i64, wrap: fn(Vec<Reply>) -> Reply| {
            let count = number(line);
            if count < 0 {
                return Some((Reply::Nil, next));
            }
            let (elements, length) = Reply::parse_several(&bytes[next..], count * each)?;
            Some((wrap(elements), next + length))
        };
        let whole = |reply| Some((reply, next));
        match kind {
            b'+' => whole(Reply::Simple(line.to_vec())),
            b'-' => whole(Reply::Error(line.to_vec())),
            b':' => whole(Reply::Integer(number(line))),
            b',' | b'(' => whole(Reply::Number(line.to_vec())),
            b'#' => whole(Reply::Boolean(line == b"t")),
            b'_' => whole(Reply::Nil),
            b'*' => several(1, Reply::Array),
            b'%' => several(2, Reply::Map),
            b'~' => several(1, Reply::Set),
            b'>' => several(1, Reply::Push),
            b'$' | b'=' => {
                let Ok(length) = usize::try_from(number(line)) else {
                    return whole(Reply::Nil);
                };
                let body = bytes.get(next..next + length)?;
                let after = bytes.get(next + length..next + length + 2)?;
                assert_eq!(after, b"\r\n", "a bulk string of {length} bytes ends");
                let body = if kind == b'=' { &body[4..] } else { body };
                Some((Reply::Bulk(body.to_vec()), next + length + 2))
            }
            _ => panic!("no reply starts like this: {}", bytes.escape_ascii()),
        }
    }

    fn parse_several(bytes: &[u8], count: i64) -> Option<(Vec<Reply>, usize)> {
        let mut elements = Vec::new();
        let mut length = 0;
        for _ in 0..count {
            let (element, used) = Reply::parse(&bytes[length..])?;
            elements.push(element);
            length += used;
        }
        Some((elements, length))
    }
}

#[track_caller]
fn number(line: &[u8]) -> i64 {
    std::str::from_utf8(line)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or_else(|| panic!("no number: {}", line.escape_ascii()))
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reply::Simple(bytes) => write!(f, "+{}", bytes.escape_ascii()),
            Reply::Error(bytes) => write!(f, "-{}", bytes.escape_ascii()),
            Reply::Integer(number) => write!(f, ":{number}"),
            Reply::Bulk(bytes) => write!(f, "\"{}\"", bytes.escape_ascii()),
            Reply::Number(bytes) => write!(f, ",{}", bytes.escape_ascii()),
            Reply::Boolean(value) => write!(f, "#{value}"),
            Reply::Nil => write!(f, "nil"),
            Reply::Array(all) => f.debug_list().entries(all).finish(),
            Reply::Map(all) => write!(f, "%{all:?}"),
            Reply::Set(all) => write!(f, "~{all:?}"),
            Reply::Push(all) => write!(f, ">{all:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Reply;

    const NESTED: &[u8] = b">3\r\n*1\r\n:-7\r\n%1\r\n+a\r\n=5\r\ntxt:b\r\n_\r\n";

    #[test]
    fn a_reply_is_read_only_when_it_is_whole() {
        for end in 0..NESTED.len() {
            assert_eq!(Reply::parse(&NESTED[..end]), None);
        }
        let map = Reply::Map(vec![Reply::Simple(b"a".to_vec()), Reply::bulk("b")]);
        let array = Reply::Array(vec![Reply::Integer(-7)]);
        let push = Reply::Push(vec![array, map, Reply::Nil]);
        assert_eq!(Reply::parse(NESTED), Some((push, NESTED.len())));
    }

    #[test]
    #[should_panic(expected = "no reply starts like this")]
    fn what_is_no_reply_is_refused() {
        Reply::parse(b"HTTP/1.1 200\r\n");
    }
}
