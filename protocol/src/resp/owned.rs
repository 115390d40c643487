//! A request that owns its bytes: one that is queued, or that did not arrive as RESP.

use super::Arguments;
use super::arguments::Span;

/// A request with its own bytes.
///
/// Cleared and filled again it keeps its memory. One holds at most 4 GiB; words beyond that are
/// left out, which no transport lets happen.
#[derive(Clone, Debug, Default)]
pub struct OwnedRequest {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

impl OwnedRequest {
    /// A request of these words.
    pub fn from_words<'a>(words: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut request = Self::default();
        for word in words {
            request.push(word);
        }
        request
    }

    /// Appends a word.
    pub fn push(&mut self, word: &[u8]) {
        let start = self.bytes.len();
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(start + word.len())) {
            self.bytes.extend_from_slice(word);
            self.spans.push(Span { start, end });
        }
    }

    /// Forgets the words.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
    }

    /// The words, as a request that was just parsed shows them.
    #[must_use]
    pub fn arguments(&self) -> Arguments<'_> {
        Arguments::new(&self.bytes, &self.spans)
    }

    /// Bytes of memory held.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.bytes.capacity() + self.spans.capacity() * size_of::<Span>()
    }
}

impl From<Arguments<'_>> for OwnedRequest {
    fn from(request: Arguments<'_>) -> Self {
        Self::from_words(request.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_come_back_as_they_went_in() {
        let mut request = OwnedRequest::from_words([b"SET".as_slice(), b"", b"a\0b"]);
        let words: Vec<&[u8]> = request.arguments().iter().collect();
        assert_eq!(words, [b"SET".as_slice(), b"", b"a\0b"]);
        let copy = OwnedRequest::from(request.arguments());
        request.clear();
        assert!(request.arguments().is_empty());
        assert_eq!(copy.arguments().get(2), Some(b"a\0b".as_slice()));
    }
}
