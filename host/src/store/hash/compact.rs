//! A small hash: one run of bytes.
//!
//! ```text
//! | field length u8 | field | value length u8 | value | … |
//! ```
//!
//! Holds at most [`FIELDS_MAX`] fields, and no field or value longer than [`BYTES_MAX`]; the caller
//! sees to it with [`Compact::admits`]. Fields keep the order in which they came.

use crate::store::record::allocation_size;

/// Most fields (Redis's `hash-max-listpack-entries`).
pub(crate) const FIELDS_MAX: usize = 128;
/// Longest field or value, in bytes (Redis's `hash-max-listpack-value`).
pub(crate) const BYTES_MAX: usize = 64;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compact {
    bytes: Vec<u8>,
}

/// Where a pair lies.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    value: usize,
    end: usize,
}

impl Compact {
    /// How many fields there are.
    pub(crate) fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there is no field.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Whether a field of that size can be set without passing the bounds.
    pub(crate) fn admits(&self, field: &[u8], value: &[u8]) -> bool {
        field.len() <= BYTES_MAX && value.len() <= BYTES_MAX && {
            // Each pair has two bytes at least: most hashes need not be counted.
            self.bytes.len() < 2 * FIELDS_MAX
                || self.len() < FIELDS_MAX
                || self.find(field).is_some()
        }
    }

    /// The value of a field.
    pub(crate) fn get(&self, field: &[u8]) -> Option<&[u8]> {
        let span = self.find(field)?;
        self.bytes.get(span.value..span.end)
    }

    /// Sets a field and says whether it is new.
    pub(crate) fn set(&mut self, field: &[u8], value: &[u8]) -> bool {
        if let Some(span) = self.find(field) {
            self.set_value(span, value);
            return false;
        }
        self.make_room(2 + field.len() + value.len());
        for part in [field, value] {
            self.bytes.push(part.len() as u8);
            self.bytes.extend_from_slice(part);
        }
        true
    }

    /// Removes a field and says whether it was there.
    pub(crate) fn remove(&mut self, field: &[u8]) -> bool {
        let Some(span) = self.find(field) else {
            return false;
        };
        self.bytes.drain(span.start..span.end);
        if self.bytes.capacity() > 2 * self.bytes.len() {
            self.bytes.shrink_to_fit();
        }
        true
    }

    /// All fields with their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let (field, after) = take_part(rest)?;
            let (value, after) = take_part(after)?;
            rest = after;
            Some((field, value))
        })
    }

    fn set_value(&mut self, span: Span, value: &[u8]) {
        let old = span.end - span.value;
        if old < value.len() {
            self.make_room(value.len() - old);
        }
        if old != value.len() {
            self.bytes
                .splice(span.value..span.end, value.iter().copied());
            if let Some(length) = self.bytes.get_mut(span.value - 1) {
                *length = value.len() as u8;
            }
        } else if let Some(bytes) = self.bytes.get_mut(span.value..span.end) {
            bytes.copy_from_slice(value);
        }
    }

    fn find(&self, field: &[u8]) -> Option<Span> {
        let mut start = 0;
        loop {
            let (found, after) = take_part(self.bytes.get(start..)?)?;
            let (value, _) = take_part(after)?;
            let value_start = start + 2 + found.len();
            let end = value_start + value.len();
            if found == field {
                return Some(Span {
                    start,
                    value: value_start,
                    end,
                });
            }
            start = end;
        }
    }

    /// Grows by what is needed: there are many small hashes, and each is moved a few times only.
    fn make_room(&mut self, additional: usize) {
        let needed = self.bytes.len() + additional;
        if needed > self.bytes.capacity() {
            let size = allocation_size(needed);
            self.bytes.reserve_exact(size - self.bytes.len());
        }
    }
}

/// The first part, and what follows it.
#[inline]
fn take_part(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&length, rest) = bytes.split_first()?;
    rest.split_at_checked(usize::from(length))
}
