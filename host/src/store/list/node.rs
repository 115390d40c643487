//! Some elements of a list in one run of bytes, which can be walked from either end.
//!
//! ```text
//! | length | element | length | …
//! ```
//!
//! A length is one byte below 255; otherwise 255 and four bytes, or behind the element four bytes
//! and 255. Numbers are little-endian.

/// Announces a length of four bytes.
const LONG: u8 = u8::MAX;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    count: usize,
    bytes: Vec<u8>,
}

impl Node {
    pub(super) const fn len(&self) -> usize {
        self.count
    }

    /// How many bytes it takes.
    pub(super) fn size(&self) -> usize {
        self.bytes.len()
    }

    /// All elements, first to last or the other way round.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        Elements { bytes: &self.bytes }
    }

    /// Adds an element before the one at `at`.
    pub(super) fn insert(&mut self, at: usize, element: &[u8]) {
        let start = self.start(at);
        let encoded = encoded(element);
        self.bytes.splice(start..start, encoded);
        self.count += 1;
    }

    /// Removes `count` elements from the one at `at` on.
    pub(super) fn remove(&mut self, at: usize, count: usize) {
        let (start, end) = (self.start(at), self.start(at + count));
        self.bytes.drain(start..end);
        self.count -= count;
        if self.bytes.capacity() > 2 * self.bytes.len() + 64 {
            self.bytes.shrink_to_fit();
        }
    }

    /// Takes away the elements from the one at `at` on.
    pub(super) fn split_off(&mut self, at: usize) -> Self {
        let rest = Self {
            bytes: self.bytes.split_off(self.start(at)),
            count: self.count - at,
        };
        self.count = at;
        rest
    }

    /// Where an element begins, found from the nearer end.
    fn start(&self, at: usize) -> usize {
        let mut elements = Elements { bytes: &self.bytes };
        if at < self.count / 2 {
            for _ in 0..at {
                elements.next();
            }
            self.bytes.len() - elements.bytes.len()
        } else {
            for _ in at..self.count {
                elements.next_back();
            }
            elements.bytes.len()
        }
    }
}

fn encoded(element: &[u8]) -> impl Iterator<Item = u8> {
    let length = (element.len() as u32).to_le_bytes();
    let is_long = element.len() >= usize::from(LONG);
    let short = [element.len() as u8];
    let (front, back): (Vec<u8>, Vec<u8>) = if is_long {
        (
            [&[LONG], &length[..]].concat(),
            [&length[..], &[LONG]].concat(),
        )
    } else {
        (short.to_vec(), short.to_vec())
    };
    front.into_iter().chain(element.iter().copied()).chain(back)
}

struct Elements<'a> {
    bytes: &'a [u8],
}

/// The bytes that the length of an element of that length takes, at either side.
const fn head_bytes(length: usize) -> usize {
    if length < LONG as usize { 1 } else { 5 }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (&first, rest) = self.bytes.split_first()?;
        let length = match first {
            LONG => u32::from_le_bytes(*rest.first_chunk()?) as usize,
            short => usize::from(short),
        };
        let head = head_bytes(length);
        let element = self.bytes.get(head..head + length)?;
        self.bytes = self.bytes.get(head + length + head..)?;
        Some(element)
    }
}

impl DoubleEndedIterator for Elements<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (&last, rest) = self.bytes.split_last()?;
        let length = match last {
            LONG => u32::from_le_bytes(*rest.last_chunk()?) as usize,
            short => usize::from(short),
        };
        let head = head_bytes(length);
        let start = self.bytes.len().checked_sub(head + length + head)?;
        let element = self.bytes.get(start + head..start + head + length)?;
        self.bytes = self.bytes.get(..start)?;
        Some(element)
    }
}
