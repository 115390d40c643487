//! A name and its string value in one allocation: a key of the store, or a field of a hash.
//!
//! ```text
//! | flags u8 | name length | spare length | [expiry u64] | name | value | spare |
//! ```
//!
//! Lengths are a byte each, or four bytes each in a wide record. The value ends where the spare room
//! begins; an integer is stored as its eight bytes. Spare room comes from the rounding of
//! allocations, from a value that became shorter, and from appending; a new value that fits is
//! written in place. Numbers are little-endian.

use super::text::Text;

/// Lengths have four bytes.
const WIDE: u8 = 1;
/// There is an expiry.
const EXPIRES: u8 = 2;
/// The value is an integer.
const INTEGER: u8 = 4;
/// The value did not come whole: it was appended to or changed in part.
const EDITED: u8 = 8;

/// Spare room that a shorter value may leave whatever its size, in bytes.
const SPARE_BYTES_TOLERATED: usize = 32;
/// Most spare room that appending asks for, in bytes, as in Redis.
const SPARE_BYTES_APPENDED_MAX: usize = 1024 * 1024;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) struct Record(Box<[u8]>);

/// The numbers at the front of a record.
#[derive(Clone, Copy)]
struct Head {
    flags: u8,
    name: usize,
    value: usize,
    spare: usize,
}

impl Record {
    /// A record that expires at `expiry`, in milliseconds since 1970.
    pub(crate) fn new(name: &[u8], value: Text<'_>, expiry: Option<u64>) -> Self {
        match value {
            Text::Bytes(bytes) => Self::build(0, name, [bytes, b""], expiry, 0),
            Text::Integer(value) => {
                Self::build(INTEGER, name, [&value.to_le_bytes(), b""], expiry, 0)
            }
        }
    }

    /// The name.
    #[inline]
    pub(crate) fn name(&self) -> &[u8] {
        let head = self.head();
        self.0.get(head.name..head.value).unwrap_or_default()
    }

    /// The value.
    #[inline]
    pub(crate) fn value(&self) -> Text<'_> {
        let head = self.head();
        let end = self.0.len() - head.spare;
        let bytes = self.0.get(head.value..end).unwrap_or_default();
        match (head.flags & INTEGER, bytes.first_chunk()) {
            (INTEGER, Some(&bytes)) => Text::Integer(i64::from_le_bytes(bytes)),
            _ => Text::Bytes(bytes),
        }
    }

    /// When it expires, in milliseconds since 1970.
    #[inline]
    pub(crate) fn expiry(&self) -> Option<u64> {
        let flags = self.0.first()?;
        if flags & EXPIRES == 0 {
            return None;
        }
        let at = lengths_end(*flags);
        Some(u64::from_le_bytes(*self.0.get(at..)?.first_chunk()?))
    }

    /// Gives it another value and expiry, in place where it fits.
    #[inline]
    pub(crate) fn set(&mut self, value: Text<'_>, expiry: Option<u64>) {
        let integer;
        let (bytes, kind) = match value {
            Text::Bytes(bytes) => (bytes, 0),
            Text::Integer(value) => {
                integer = value.to_le_bytes();
                (&integer[..], INTEGER)
            }
        };
        if !self.set_in_place(bytes, kind, expiry) {
            *self = Self::build(kind, self.name(), [bytes, b""], expiry, 0);
        }
    }

    /// Gives it another expiry.
    pub(crate) fn set_expiry(&mut self, expiry: Option<u64>) {
        if !self.set_expiry_in_place(expiry) {
            let is_edited = self.is_edited();
            *self = Self::new(self.name(), self.value(), expiry);
            if is_edited {
                self.mark_edited();
            }
        }
    }

    /// Adds bytes to the end of the value. Many small additions cost little more than their bytes.
    pub(crate) fn append(&mut self, suffix: &[u8]) {
        let head = self.head();
        if head.flags & INTEGER == 0 && suffix.len() <= head.spare {
            let start = self.0.len() - head.spare;
            if let Some(room) = self.0.get_mut(start..start + suffix.len()) {
                room.copy_from_slice(suffix);
            }
            self.set_spare(head.flags, head.spare - suffix.len());
            self.mark_edited();
            return;
        }
        let mut digits = Default::default();
        let value = self.value().bytes(&mut digits);
        let spare = (value.len() + suffix.len()).min(SPARE_BYTES_APPENDED_MAX);
        if head.flags & (WIDE | INTEGER) == WIDE {
            self.grow(head, suffix, spare);
        } else {
            *self = Self::build(0, self.name(), [value, suffix], self.expiry(), spare);
        }
        self.mark_edited();
    }

    /// The value for changing it in part, lengthened by zeros to at least `length` bytes.
    pub(crate) fn edit(&mut self, length: usize) -> &mut [u8] {
        let missing = length.saturating_sub(self.value().len());
        if missing > 0 || matches!(self.value(), Text::Integer(_)) {
            self.append(&vec![0; missing]);
        }
        self.mark_edited();
        let head = self.head();
        let end = self.0.len() - head.spare;
        self.0.get_mut(head.value..end).unwrap_or_default()
    }

    /// Whether the value did not come whole.
    pub(crate) fn is_edited(&self) -> bool {
        self.0.first().is_some_and(|flags| flags & EDITED != 0)
    }

    /// The same under another name.
    pub(crate) fn named(&self, name: &[u8]) -> Self {
        let mut renamed = Self::new(name, self.value(), self.expiry());
        if self.is_edited() {
            renamed.mark_edited();
        }
        renamed
    }

    fn mark_edited(&mut self) {
        if let Some(flags) = self.0.first_mut() {
            *flags |= EDITED;
        }
    }

    /// Appends to a wide record through a reallocation, which for large ones moves pages rather
    /// than bytes.
    fn grow(&mut self, head: Head, suffix: &[u8], spare: usize) {
        let mut bytes = std::mem::take(&mut self.0).into_vec();
        bytes.truncate(bytes.len() - head.spare);
        bytes.reserve_exact(suffix.len() + spare);
        bytes.extend_from_slice(suffix);
        bytes.resize(bytes.len() + spare, 0);
        self.0 = bytes.into_boxed_slice();
        self.set_spare(head.flags, spare);
    }

    fn set_in_place(&mut self, value: &[u8], kind: u8, expiry: Option<u64>) -> bool {
        let head = self.head();
        let room = self.0.len() - head.value;
        let Some(spare) = room.checked_sub(value.len()) else {
            return false;
        };
        let tolerated = SPARE_BYTES_TOLERATED.max(room / 2);
        let spare_max = if head.flags & WIDE == 0 {
            255
        } else {
            u32::MAX as usize
        };
        if spare > tolerated.min(spare_max) || !self.set_expiry_in_place(expiry) {
            return false;
        }
        let flags = head.flags & !(INTEGER | EDITED) | kind;
        if let (Some(first), true) = (self.0.first_mut(), flags != head.flags) {
            *first = flags;
        }
        if spare != head.spare {
            self.set_spare(flags, spare);
        }
        if let Some(bytes) = self.0.get_mut(head.value..head.value + value.len()) {
            bytes.copy_from_slice(value);
        }
        true
    }

    fn set_expiry_in_place(&mut self, expiry: Option<u64>) -> bool {
        let flags = self.0.first().copied().unwrap_or_default();
        match expiry {
            None => flags & EXPIRES == 0,
            Some(_) if flags & EXPIRES == 0 => false,
            Some(expiry) => {
                let at = lengths_end(flags);
                if let Some(bytes) = self.0.get_mut(at..at + 8) {
                    bytes.copy_from_slice(&expiry.to_le_bytes());
                }
                true
            }
        }
    }

    fn set_spare(&mut self, flags: u8, spare: usize) {
        if flags & WIDE == 0 {
            if let Some(byte) = self.0.get_mut(2) {
                *byte = spare as u8;
            }
        } else if let Some(bytes) = self.0.get_mut(5..9) {
            bytes.copy_from_slice(&(spare as u32).to_le_bytes());
        }
    }

    #[inline]
    fn head(&self) -> Head {
        let flags = self.0.first().copied().unwrap_or_default();
        let (length, spare) = if flags & WIDE == 0 {
            let &[_, length, spare] = self.0.first_chunk().unwrap_or(&[0; 3]);
            (usize::from(length), usize::from(spare))
        } else {
            (self.u32_at(1), self.u32_at(5))
        };
        let name = lengths_end(flags) + if flags & EXPIRES == 0 { 0 } else { 8 };
        let value = name + length;
        Head {
            flags,
            name,
            value,
            spare,
        }
    }

    fn u32_at(&self, at: usize) -> usize {
        let bytes = self.0.get(at..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |&bytes| u32::from_le_bytes(bytes) as usize)
    }

    /// A record whose value is the two parts in a row, with at least `spare` bytes behind it.
    fn build(kind: u8, name: &[u8], value: [&[u8]; 2], expiry: Option<u64>, spare: usize) -> Self {
        // Whether lengths fit a byte must be known before the rounding adds up to 15 to the spare.
        let wide = if name.len() > 255 || spare > 240 {
            WIDE
        } else {
            0
        };
        let flags = kind | wide | if expiry.is_some() { EXPIRES } else { 0 };
        let used = lengths_end(flags)
            + if expiry.is_some() { 8 } else { 0 }
            + name.len()
            + value[0].len()
            + value[1].len();
        let size = allocation_size(used + spare);
        let mut bytes = Vec::with_capacity(size);
        bytes.push(flags);
        if wide == 0 {
            bytes.extend_from_slice(&[name.len() as u8, (size - used) as u8]);
        } else {
            bytes.extend_from_slice(&(name.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&((size - used) as u32).to_le_bytes());
        }
        if let Some(expiry) = expiry {
            bytes.extend_from_slice(&expiry.to_le_bytes());
        }
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(value[0]);
        bytes.extend_from_slice(value[1]);
        bytes.resize(size, 0);
        Self(bytes.into_boxed_slice())
    }
}

/// Where flags and lengths end.
#[inline]
const fn lengths_end(flags: u8) -> usize {
    if flags & WIDE == 0 { 3 } else { 9 }
}

/// The bytes that the allocator (glibc's: multiples of 16, of which it needs 8) hands out anyway.
pub(super) const fn allocation_size(bytes: usize) -> usize {
    let size = (bytes + 8).next_multiple_of(16) - 8;
    if size < 24 { 24 } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes_of(record: &Record) -> Vec<u8> {
        record.value().bytes(&mut Default::default()).to_vec()
    }

    #[test]
    fn a_value_of_the_same_size_is_written_in_place() {
        let mut record = Record::new(b"key", Text::Bytes(b"sixteen bytes 01"), None);
        let before = record.0.as_ptr();
        record.set(Text::Bytes(b"sixteen bytes 02"), None);
        record.set(Text::Bytes(b"shorter"), None);
        record.set(Text::Integer(-5), None);
        record.set(Text::Bytes(b"sixteen bytes 03"), None);
        assert_eq!(record.0.as_ptr(), before);
        assert_eq!(bytes_of(&record), b"sixteen bytes 03");
    }

    #[test]
    fn a_far_shorter_value_gives_the_memory_back() {
        let mut record = Record::new(b"key", Text::Bytes(&[b'x'; 10_000]), None);
        record.set(Text::Bytes(b"short"), None);
        assert!(record.0.len() < 64);
    }

    #[test]
    fn appending_byte_by_byte_reallocates_rarely() {
        let mut record = Record::new(b"key", Text::Bytes(b""), Some(9));
        let mut sizes = std::collections::BTreeSet::new();
        for _ in 0..100_000 {
            record.append(b"x");
            sizes.insert(record.0.len());
        }
        assert_eq!(bytes_of(&record), [b'x'; 100_000]);
        assert!(sizes.len() < 25, "{} sizes", sizes.len());
    }

    #[derive(Clone, Debug)]
    enum Change {
        Set(Vec<u8>, Option<u64>),
        SetExpiry(Option<u64>),
        Append(Vec<u8>),
    }

    fn change() -> impl Strategy<Value = Change> {
        let value = prop_oneof![
            any::<i64>().prop_map(|value| value.to_string().into_bytes()),
            (0_usize..40).prop_map(|length| vec![b'v'; length]),
            (0_usize..2_000).prop_map(|length| vec![b'w'; length]),
        ];
        prop_oneof![
            (value.clone(), any::<Option<u64>>()).prop_map(|(value, at)| Change::Set(value, at)),
            any::<Option<u64>>().prop_map(Change::SetExpiry),
            value.prop_map(Change::Append),
        ]
    }

    proptest! {
        #[test]
        fn a_record_holds_what_was_put_into_it(
            name_bytes in prop_oneof![0_usize..20, 250_usize..260],
            changes in prop::collection::vec(change(), 0..20),
        ) {
            let name = vec![b'n'; name_bytes];
            let mut record = Record::new(&name, Text::of(b"first"), None);
            let (mut value, mut expiry) = (b"first".to_vec(), None);
            for change in changes {
                match change {
                    Change::Set(new, at) => {
                        record.set(Text::of(&new), at);
                        (value, expiry) = (new, at);
                    }
                    Change::SetExpiry(at) => {
                        record.set_expiry(at);
                        expiry = at;
                    }
                    Change::Append(suffix) => {
                        record.append(&suffix);
                        value.extend_from_slice(&suffix);
                    }
                }
                prop_assert_eq!(record.name(), &name);
                prop_assert_eq!(bytes_of(&record), value.clone());
                prop_assert_eq!(record.expiry(), expiry);
            }
        }
    }
}
