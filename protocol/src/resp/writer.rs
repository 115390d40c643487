//! Replies as bytes, in the version that the client speaks.

use std::fmt;
use std::io::{self, Write};

use super::Version;
use super::number::{format_double, format_integer, format_unsigned};

/// Room reserved beside a bulk string for its length and line ends, in bytes.
const BULK_FRAME_BYTES_MAX: usize = 32;

/// Appends replies to a byte vector.
///
/// Aggregates announce their number of elements and are followed by them. What RESP2 lacks is
/// written as Redis writes it for RESP2 clients.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    version: Version,
}

impl<'a> Writer<'a> {
    /// A writer at the end of `out`.
    #[must_use]
    pub const fn new(out: &'a mut Vec<u8>, version: Version) -> Self {
        Self { out, version }
    }

    /// The version that is written.
    #[must_use]
    pub const fn version(&self) -> Version {
        self.version
    }

    /// Writes what follows in another version, as the reply to the command that chose it is.
    pub const fn in_version(&mut self, version: Version) -> Writer<'_> {
        Writer::new(self.out, version)
    }

    /// A status, such as `OK`. `text` is ours: it has no line breaks.
    pub fn simple(&mut self, text: &str) {
        self.out.push(b'+');
        self.out.extend_from_slice(text.as_bytes());
        self.end_line();
    }

    /// An error; `error` begins with its code, such as `ERR `. Line breaks in it become spaces.
    pub fn error(&mut self, error: impl fmt::Display) {
        self.out.push(b'-');
        // Writing to memory does not fail, and a `Display` that does has written its part.
        let _ = write!(SingleLine(self.out), "{error}");
        self.end_line();
    }

    /// An integer.
    #[inline]
    pub fn integer(&mut self, value: i64) {
        self.out.push(b':');
        format_integer(value, self.out);
        self.end_line();
    }

    /// A string of any bytes.
    #[inline]
    pub fn bulk(&mut self, bytes: &[u8]) {
        self.out.reserve(bytes.len() + BULK_FRAME_BYTES_MAX);
        self.line(b'$', bytes.len());
        self.out.extend_from_slice(bytes);
        self.end_line();
    }

    /// The absence of a value.
    pub fn null(&mut self) {
        self.out.extend_from_slice(match self.version {
            Version::Resp2 => b"$-1\r\n",
            Version::Resp3 => b"_\r\n",
        });
    }

    /// The absence of an array.
    pub fn null_array(&mut self) {
        self.out.extend_from_slice(match self.version {
            Version::Resp2 => b"*-1\r\n",
            Version::Resp3 => b"_\r\n",
        });
    }

    /// An array of `count` elements.
    #[inline]
    pub fn array(&mut self, count: usize) {
        self.line(b'*', count);
    }

    /// A map of `pairs` keys and values, which follow in turn; in RESP2 an array of both.
    pub fn map(&mut self, pairs: usize) {
        match self.version {
            Version::Resp2 => self.line(b'*', pairs * 2),
            Version::Resp3 => self.line(b'%', pairs),
        }
    }

    /// A set of `count` elements; in RESP2 an array.
    pub fn set(&mut self, count: usize) {
        self.aggregate(b'~', count);
    }

    /// A push of `count` elements, which answers no command; in RESP2 an array.
    #[inline]
    pub fn push(&mut self, count: usize) {
        self.aggregate(b'>', count);
    }

    /// A double, as [`format_double`] writes it; in RESP2 a bulk string.
    pub fn double(&mut self, value: f64) {
        match self.version {
            Version::Resp2 => {
                let start = self.out.len();
                format_double(value, self.out);
                // The length is known only now: append it, then swap the two.
                let length = self.out.len() - start;
                self.line(b'$', length);
                self.out[start..].rotate_left(length);
                self.end_line();
            }
            Version::Resp3 => {
                self.out.push(b',');
                format_double(value, self.out);
                self.end_line();
            }
        }
    }

    /// A boolean; in RESP2 the integer 1 or 0.
    pub fn boolean(&mut self, value: bool) {
        self.out.extend_from_slice(match (self.version, value) {
            (Version::Resp2, false) => b":0\r\n",
            (Version::Resp2, true) => b":1\r\n",
            (Version::Resp3, false) => b"#f\r\n",
            (Version::Resp3, true) => b"#t\r\n",
        });
    }

    /// A text in a format, such as `txt`; in RESP2 a bulk string without it.
    pub fn verbatim(&mut self, format: &[u8; 3], bytes: &[u8]) {
        match self.version {
            Version::Resp2 => self.bulk(bytes),
            Version::Resp3 => {
                self.line(b'=', format.len() + 1 + bytes.len());
                self.out.extend_from_slice(format);
                self.out.push(b':');
                self.out.extend_from_slice(bytes);
                self.end_line();
            }
        }
    }

    /// Bytes that are encoded already, in this version.
    pub fn raw(&mut self, encoded: &[u8]) {
        self.out.extend_from_slice(encoded);
    }

    fn aggregate(&mut self, resp3: u8, count: usize) {
        match self.version {
            Version::Resp2 => self.line(b'*', count),
            Version::Resp3 => self.line(resp3, count),
        }
    }

    #[inline]
    fn line(&mut self, marker: u8, number: usize) {
        // Fixed sizes are appended without a call.
        match number {
            0..=9 => self
                .out
                .extend_from_slice(&[marker, b'0' + number as u8, b'\r', b'\n']),
            10..=99 => {
                let (tens, ones) = (b'0' + (number / 10) as u8, b'0' + (number % 10) as u8);
                self.out
                    .extend_from_slice(&[marker, tens, ones, b'\r', b'\n']);
            }
            _ => {
                self.out.push(marker);
                format_unsigned(number as u64, self.out);
                self.end_line();
            }
        }
    }

    #[inline]
    fn end_line(&mut self) {
        self.out.extend_from_slice(b"\r\n");
    }
}

/// Writes text to a byte vector with its line breaks as spaces.
struct SingleLine<'a>(&'a mut Vec<u8>);

impl Write for SingleLine<'_> {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        let breaks = |byte: &u8| matches!(*byte, b'\r' | b'\n');
        self.0.extend(
            text.iter()
                .map(|byte| if breaks(byte) { b' ' } else { *byte }),
        );
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(version: Version, write: impl Fn(&mut Writer<'_>)) -> String {
        // What the vector holds already stays.
        let mut out = b"before".to_vec();
        write(&mut Writer::new(&mut out, version));
        let text = String::from_utf8(out).unwrap();
        text.strip_prefix("before").unwrap().to_owned()
    }

    #[test]
    fn every_reply_has_its_form_in_both_versions() {
        type Write = fn(&mut Writer<'_>);
        let cases: [(Write, &str, &str); 19] = [
            (|writer| writer.simple("OK"), "+OK\r\n", "+OK\r\n"),
            (
                |writer| writer.error("ERR no"),
                "-ERR no\r\n",
                "-ERR no\r\n",
            ),
            (|writer| writer.integer(-42), ":-42\r\n", ":-42\r\n"),
            (|writer| writer.bulk(b""), "$0\r\n\r\n", "$0\r\n\r\n"),
            (
                |writer| writer.bulk(b"a\r\nb"),
                "$4\r\na\r\nb\r\n",
                "$4\r\na\r\nb\r\n",
            ),
            (
                |writer| writer.bulk(&[b'x'; 12]),
                "$12\r\nxxxxxxxxxxxx\r\n",
                "$12\r\nxxxxxxxxxxxx\r\n",
            ),
            (|writer| writer.null(), "$-1\r\n", "_\r\n"),
            (|writer| writer.null_array(), "*-1\r\n", "_\r\n"),
            (|writer| writer.array(0), "*0\r\n", "*0\r\n"),
            (|writer| writer.array(1234), "*1234\r\n", "*1234\r\n"),
            (|writer| writer.map(5), "*10\r\n", "%5\r\n"),
            (|writer| writer.set(3), "*3\r\n", "~3\r\n"),
            (|writer| writer.push(3), "*3\r\n", ">3\r\n"),
            (
                |writer| writer.double(-1.25),
                "$5\r\n-1.25\r\n",
                ",-1.25\r\n",
            ),
            (
                |writer| writer.double(f64::INFINITY),
                "$3\r\ninf\r\n",
                ",inf\r\n",
            ),
            (|writer| writer.boolean(true), ":1\r\n", "#t\r\n"),
            (|writer| writer.boolean(false), ":0\r\n", "#f\r\n"),
            (
                |writer| writer.verbatim(b"txt", b"hi"),
                "$2\r\nhi\r\n",
                "=6\r\ntxt:hi\r\n",
            ),
            (|writer| writer.raw(b":1\r\n"), ":1\r\n", ":1\r\n"),
        ];
        for (write, resp2, resp3) in cases {
            assert_eq!(written(Version::Resp2, write), resp2);
            assert_eq!(written(Version::Resp3, write), resp3);
        }
    }

    #[test]
    fn line_breaks_in_an_error_become_spaces() {
        let name = "a\r\nb\n";
        let text = written(Version::Resp2, |writer| {
            writer.error(format_args!("ERR unknown command '{name}'"));
        });
        assert_eq!(text, "-ERR unknown command 'a  b '\r\n");
    }

    #[test]
    fn a_double_in_resp2_has_the_length_of_its_digits() {
        for value in [0.1 + 0.2, -1.2345678901234567e-300, 1.0] {
            let text = written(Version::Resp2, |writer| writer.double(value));
            let (length, digits) = text.split_once("\r\n").unwrap();
            assert_eq!(length, format!("${}", digits.len() - 2));
            assert_eq!(digits.trim_end().parse(), Ok(value));
        }
    }
}
