//! Lists inside messages: a command's arguments, statistics.
//!
//! ```text
//!  u16 block length of an entry   u32 entries   then per entry: block, u32 length, bytes
//! ```
//!
//! A list is checked from one end to the other when its message is decoded, so that iterating it
//! cannot fail.

use std::fmt;

use crate::link::codec::{FormatError, Reader, Sink, put_variable};

/// A list as it stands in a message.
#[derive(Clone, Copy)]
struct List<'a> {
    block: usize,
    entries: usize,
    bytes: Reader<'a>,
}

impl<'a> List<'a> {
    /// Takes a list from the front of `rest`; entries have blocks of at least `block` bytes.
    fn decode(
        rest: &mut Reader<'a>,
        field: &'static str,
        block: usize,
        max: usize,
    ) -> Result<Self, FormatError> {
        let acting = usize::from(rest.u16()?);
        let entries = rest.u32()? as usize;
        if acting < block {
            return Err(FormatError::Truncated);
        }
        if entries > max {
            return Err(FormatError::TooLong { field, max });
        }
        let list = Self {
            block: acting,
            entries,
            bytes: *rest,
        };
        let mut walk = list;
        while walk.entries > 0 {
            walk.take()?;
        }
        *rest = walk.bytes;
        Ok(list)
    }

    fn take(&mut self) -> Result<(Reader<'a>, &'a [u8]), FormatError> {
        let block = Reader(self.bytes.bytes(self.block)?);
        let part = self.bytes.variable()?;
        self.entries = self.entries.saturating_sub(1);
        Ok((block, part))
    }

    fn next(&mut self) -> Option<(Reader<'a>, &'a [u8])> {
        if self.entries == 0 {
            return None;
        }
        self.take().ok()
    }
}

/// A list's header.
fn put_list(sink: &mut impl Sink, block: u16, entries: usize) {
    let mut header = [0; 6];
    let (first, second) = header.split_at_mut(2);
    first.copy_from_slice(&block.to_le_bytes());
    second.copy_from_slice(&(entries as u32).to_le_bytes());
    sink.put(&header);
}

/// The arguments of a passed-through command, its name first.
#[derive(Clone, Copy)]
pub struct Arguments<'a>(List<'a>);

impl<'a> Arguments<'a> {
    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.entries
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.entries == 0
    }

    /// The arguments in order.
    #[must_use]
    pub fn iter(&self) -> ArgumentsIter<'a> {
        ArgumentsIter(self.0)
    }

    pub(super) fn decode(rest: &mut Reader<'a>) -> Result<Self, FormatError> {
        List::decode(rest, "arguments", 0, super::ARGUMENTS_MAX).map(Self)
    }
}

pub(super) fn put_arguments<'a>(
    sink: &mut impl Sink,
    arguments: impl Iterator<Item = &'a [u8]> + Clone,
) {
    put_list(sink, 0, arguments.clone().count());
    for argument in arguments {
        put_variable(sink, argument);
    }
}

impl<'a> IntoIterator for Arguments<'a> {
    type Item = &'a [u8];
    type IntoIter = ArgumentsIter<'a>;

    fn into_iter(self) -> ArgumentsIter<'a> {
        self.iter()
    }
}

impl PartialEq for Arguments<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Arguments<'_> {}

impl fmt::Debug for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterates over [`Arguments`].
#[derive(Clone)]
pub struct ArgumentsIter<'a>(List<'a>);

impl<'a> Iterator for ArgumentsIter<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        self.0.next().map(|(_, argument)| argument)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.entries, Some(self.0.entries))
    }
}

impl ExactSizeIterator for ArgumentsIter<'_> {}

/// Figures about an edge, each with its name.
#[derive(Clone, Copy)]
pub struct Statistics<'a>(List<'a>);

impl<'a> Statistics<'a> {
    /// The figures in order.
    #[must_use]
    pub fn iter(&self) -> StatisticsIter<'a> {
        StatisticsIter(self.0)
    }

    pub(super) fn decode(rest: &mut Reader<'a>) -> Result<Self, FormatError> {
        let list = List::decode(rest, "statistics", 8, super::STATISTICS_MAX)?;
        let mut walk = list;
        while let Some((_, name)) = walk.next() {
            std::str::from_utf8(name).map_err(|_| FormatError::Text {
                field: "statistics",
            })?;
        }
        Ok(Self(list))
    }
}

pub(super) fn put_statistics<'a>(
    sink: &mut impl Sink,
    figures: impl Iterator<Item = (&'a str, u64)> + Clone,
) {
    put_list(sink, 8, figures.clone().count());
    for (name, figure) in figures {
        sink.put(&figure.to_le_bytes());
        put_variable(sink, name.as_bytes());
    }
}

impl<'a> IntoIterator for Statistics<'a> {
    type Item = (&'a str, u64);
    type IntoIter = StatisticsIter<'a>;

    fn into_iter(self) -> StatisticsIter<'a> {
        self.iter()
    }
}

impl PartialEq for Statistics<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Statistics<'_> {}

impl fmt::Debug for Statistics<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Iterates over [`Statistics`].
#[derive(Clone)]
pub struct StatisticsIter<'a>(List<'a>);

impl<'a> Iterator for StatisticsIter<'a> {
    type Item = (&'a str, u64);

    fn next(&mut self) -> Option<(&'a str, u64)> {
        let (mut block, name) = self.0.next()?;
        Some((std::str::from_utf8(name).ok()?, block.u64().ok()?))
    }
}
