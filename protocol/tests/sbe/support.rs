//! What the tests of the schema share: random content, and the decoder in Python.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// A message as bytes and, made from its values, as the decoder prints it.
pub(crate) struct Sample {
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_request: bool,
}

/// Random content from a seed (splitmix64).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn bytes(&mut self) -> Vec<u8> {
        let length = self.below(12);
        (0..length).map(|_| self.next() as u8).collect()
    }

    pub(crate) fn double(&mut self) -> f64 {
        [0.0, -1.5, f64::INFINITY, f64::MAX, self.next() as f64][self.below(5)]
    }
}

/// `bytes` in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::new();
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes any text");
    }
    text
}

/// What the decoder prints for each of `messages` by the schema at `schema`.
pub(crate) fn decode_in_python(
    schema: &str,
    messages: impl Iterator<Item = String>,
) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut python = Command::new("python3")
        .arg(root.join("tests/sbe/decoder.py"))
        .arg(root.join(schema))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is installed");
    let lines: String = messages.map(|line| line + "\n").collect();
    let mut input = python.stdin.take().expect("it is piped");
    let writer = thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = python.wait_with_output().expect("python3 ends");
    writer.join().expect("no panic").expect("all was taken");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("it prints text");
    text.lines().map(str::to_owned).collect()
}
