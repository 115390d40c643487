//! What the generated codec is made of: how blocks, groups and data are read and written.
//!
//! ```text
//!  0         2           4         6        8
//!  +---------+-----------+---------+--------+-------------------+----------------+---------------+
//!  | block   | template  | schema  | version| block: fields at  | groups: u16    | data: u32     |
//!  | length  | id        | id      |        | their offsets     | block length,  | length, bytes |
//!  |         |           |         |        |                   | u32 entries    |               |
//!  +---------+-----------+---------+--------+-------------------+----------------+---------------+
//! ```
//!
//! Everything read is borrowed from the message. Nothing is believed before it was compared with the
//! bytes that are there, nothing is allocated, and no input panics.
//!
//! What versions do to a message: fields that the block is too short for, or that are younger than
//! the sender's version, are absent; so are groups and data. What the block has beyond the known
//! fields is skipped, and so is what stands behind the last known part, if the sender is newer.

use std::fmt;

use crate::link::{FormatError, Sink};

/// Bytes of the header before a message.
pub const HEADER_BYTES: usize = 8;

/// What can be written.
pub trait Encode {
    /// Appends the message with its header.
    fn write(&self, sink: &mut impl Sink);
}

/// One template's message.
pub trait Message<'a>: Sized {
    /// The template's id.
    const TEMPLATE: u16;
    /// Bytes that the block had in the template's first version.
    const BLOCK_BYTES_MIN: u16;

    /// Reads the fields, groups and data.
    ///
    /// # Errors
    /// [`FormatError`] if a part is cut or a code unknown.
    fn read(block: Block<'a>, rest: &mut Rest<'a>) -> Result<Self, FormatError>;
}

/// A message taken apart: which, the block, the rest.
#[derive(Clone, Copy, Debug)]
pub struct Parts<'a> {
    /// The template's id.
    pub template: u16,
    newest: u16,
    block: Block<'a>,
    rest: Rest<'a>,
}

impl<'a> Parts<'a> {
    /// Reads the header of a message of the schema `schema`, of which we know `version`.
    ///
    /// # Errors
    /// [`FormatError`] if the block is cut, or the message is of another schema.
    #[inline]
    pub fn new(bytes: &'a [u8], schema: u16, version: u16) -> Result<Self, FormatError> {
        let mut rest = Rest { bytes, version: 0 };
        let length = rest.number::<u16>()?;
        let template = rest.number()?;
        let found = rest.number()?;
        rest.version = rest.number()?;
        if found != schema {
            return Err(FormatError::Schema { schema: found });
        }
        let block = rest.block(length)?;
        Ok(Self {
            template,
            newest: version,
            block,
            rest,
        })
    }

    /// Reads the message, which must be of this template.
    ///
    /// # Errors
    /// [`FormatError`] if a part is cut, or something follows that a newer version does not explain.
    #[inline]
    pub fn read<M: Message<'a>>(mut self) -> Result<M, FormatError> {
        let length = self.block.bytes.len() as u16;
        if length < M::BLOCK_BYTES_MIN {
            let template = self.template;
            return Err(FormatError::Block { template, length });
        }
        let message = M::read(self.block, &mut self.rest)?;
        let excess = self.rest.bytes.len();
        if excess > 0 && self.rest.version <= self.newest {
            return Err(FormatError::TrailingBytes { excess });
        }
        Ok(message)
    }
}

/// A number as it stands in a block.
pub trait Primitive: Copy {
    /// What stands for no value in an optional field.
    const NULL: Self;
    /// Its size.
    const BYTES: usize;
    /// Reads it from the front of `bytes`; `None` when they are too few.
    fn take(bytes: &[u8]) -> Option<Self>;
    /// Writes it to `place`, which has its size.
    fn put(self, place: &mut [u8]);
    /// Whether it is the null value.
    fn is_null(self) -> bool;
}

/// What a field can be: a number, or what is coded as one.
pub trait Field: Copy {
    /// The number.
    type Wire: Primitive;
    /// What a number stands for.
    ///
    /// # Errors
    /// [`FormatError::Code`] if it stands for nothing.
    fn from_wire(wire: Self::Wire) -> Result<Self, FormatError>;
    /// Its number.
    fn to_wire(self) -> Self::Wire;
}

macro_rules! primitives {
    ($($name:ident null $null:expr, $is_null:expr;)*) => {
        $(
            impl Primitive for $name {
                const NULL: Self = $null;
                const BYTES: usize = size_of::<$name>();

                #[inline]
                fn take(bytes: &[u8]) -> Option<Self> {
                    bytes.first_chunk().map(|bytes| Self::from_le_bytes(*bytes))
                }

                #[inline]
                fn put(self, place: &mut [u8]) {
                    place.copy_from_slice(&self.to_le_bytes());
                }

                #[inline]
                fn is_null(self) -> bool {
                    let is_null: fn($name) -> bool = $is_null;
                    is_null(self)
                }
            }

            impl Field for $name {
                type Wire = Self;

                #[inline]
                fn from_wire(wire: Self) -> Result<Self, FormatError> {
                    Ok(wire)
                }

                #[inline]
                fn to_wire(self) -> Self {
                    self
                }
            }
        )*
    };
}

primitives! {
    u8 null u8::MAX, |value| value == u8::MAX;
    u16 null u16::MAX, |value| value == u16::MAX;
    u32 null u32::MAX, |value| value == u32::MAX;
    u64 null u64::MAX, |value| value == u64::MAX;
    i64 null i64::MIN, |value| value == i64::MIN;
    f64 null f64::NAN, f64::is_nan;
}

impl Field for bool {
    type Wire = u8;

    #[inline]
    fn from_wire(code: u8) -> Result<Self, FormatError> {
        match code {
            0 => Ok(false),
            1 => Ok(true),
            code => Err(FormatError::Code {
                field: "boolean",
                code,
            }),
        }
    }

    #[inline]
    fn to_wire(self) -> u8 {
        u8::from(self)
    }
}

/// The fixed part of a message or entry, as the sender's version has it.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    bytes: &'a [u8],
    version: u16,
}

impl Block<'_> {
    /// The field at `offset`, which every version has.
    ///
    /// # Errors
    /// [`FormatError`] if the block ends before it, or its code is unknown.
    #[inline]
    pub fn required<T: Field>(self, offset: usize) -> Result<T, FormatError> {
        T::from_wire(self.number(offset).ok_or(FormatError::Truncated)?)
    }

    /// The field at `offset`, which versions from `since` on have and may leave empty.
    ///
    /// # Errors
    /// [`FormatError::Code`] if its code is unknown.
    #[inline]
    pub fn optional<T: Field>(self, offset: usize, since: u16) -> Result<Option<T>, FormatError> {
        match self.number::<T::Wire>(offset) {
            Some(wire) if self.version >= since && !wire.is_null() => T::from_wire(wire).map(Some),
            _ => Ok(None),
        }
    }

    #[inline]
    fn number<P: Primitive>(self, offset: usize) -> Option<P> {
        self.bytes.get(offset..).and_then(P::take)
    }
}

/// What follows the block.
#[derive(Clone, Copy, Debug)]
pub struct Rest<'a> {
    bytes: &'a [u8],
    version: u16,
}

impl<'a> Rest<'a> {
    /// Variable data, which versions from `since` on have; empty when the sender is older.
    ///
    /// # Errors
    /// [`FormatError::Truncated`]
    #[inline]
    pub fn data(&mut self, since: u16) -> Result<&'a [u8], FormatError> {
        if self.version < since {
            return Ok(&[]);
        }
        let length = self.number::<u32>()?;
        self.take(length as usize)
    }

    /// A group, which versions from `since` on have; empty when the sender is older. It is read from
    /// one end to the other, so that iterating it cannot fail.
    ///
    /// # Errors
    /// [`FormatError`] if it is cut, or a code in it unknown.
    #[inline]
    pub fn group<E: Entry<'a>>(&mut self, since: u16) -> Result<Group<'a, E>, FormatError> {
        if self.version < since {
            return Ok(Group::from(&[]));
        }
        let block = self.number::<u16>()?;
        let count = self.number::<u32>()?;
        if block < E::BLOCK_BYTES_MIN {
            return Err(FormatError::Truncated);
        }
        let entry_bytes_min = usize::from(block) + E::DATA_PARTS * 4;
        if count as usize > self.bytes.len() / entry_bytes_min.max(1) {
            return Err(FormatError::Truncated);
        }
        let start = *self;
        for _ in 0..count {
            let block = self.block(block)?;
            E::read(block, self)?;
        }
        Ok(Group(Entries::Encoded {
            block,
            count,
            rest: start,
        }))
    }

    #[inline]
    fn block(&mut self, length: u16) -> Result<Block<'a>, FormatError> {
        Ok(Block {
            bytes: self.take(usize::from(length))?,
            version: self.version,
        })
    }

    #[inline]
    fn number<P: Primitive>(&mut self) -> Result<P, FormatError> {
        let bytes = self.take(P::BYTES)?;
        P::take(bytes).ok_or(FormatError::Truncated)
    }

    #[inline]
    fn take(&mut self, length: usize) -> Result<&'a [u8], FormatError> {
        let taken = self.bytes.split_at_checked(length);
        let (now, later) = taken.ok_or(FormatError::Truncated)?;
        self.bytes = later;
        Ok(now)
    }
}

/// One entry of a group.
pub trait Entry<'a>: Copy + 'a {
    /// Bytes of the block that we write.
    const BLOCK_BYTES: u16;
    /// Bytes of the block that the first version wrote. With no data it is not 0.
    const BLOCK_BYTES_MIN: u16;
    /// How many data follow the block, in every version.
    const DATA_PARTS: usize;

    /// Reads an entry.
    ///
    /// # Errors
    /// [`FormatError`] if a part is cut or a code unknown.
    fn read(block: Block<'a>, rest: &mut Rest<'a>) -> Result<Self, FormatError>;
    /// Appends the entry.
    fn write(&self, sink: &mut impl Sink);
}

impl<'a> Entry<'a> for &'a [u8] {
    const BLOCK_BYTES: u16 = 0;
    const BLOCK_BYTES_MIN: u16 = 0;
    const DATA_PARTS: usize = 1;

    #[inline]
    fn read(_: Block<'a>, rest: &mut Rest<'a>) -> Result<Self, FormatError> {
        rest.data(0)
    }

    #[inline]
    fn write(&self, sink: &mut impl Sink) {
        put_data(sink, self);
    }
}

/// A list of entries: those in a message that was read, or a slice of those to be written.
#[derive(Clone, Copy)]
pub struct Group<'a, E>(Entries<'a, E>);

#[derive(Clone, Copy)]
enum Entries<'a, E> {
    Encoded {
        block: u16,
        count: u32,
        rest: Rest<'a>,
    },
    Slice(&'a [E]),
}

impl<'a, E> From<&'a [E]> for Group<'a, E> {
    fn from(entries: &'a [E]) -> Self {
        Self(Entries::Slice(entries))
    }
}

impl<'a, E, const N: usize> From<&'a [E; N]> for Group<'a, E> {
    fn from(entries: &'a [E; N]) -> Self {
        Self(Entries::Slice(entries))
    }
}

impl<'a, E: Entry<'a>> Group<'a, E> {
    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.0 {
            Entries::Encoded { count, .. } => count as usize,
            Entries::Slice(entries) => entries.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries in order.
    #[must_use]
    pub fn iter(&self) -> GroupIter<'a, E> {
        GroupIter(*self)
    }

    /// Appends the group.
    #[inline]
    pub fn put(&self, sink: &mut impl Sink) {
        put_group_header(sink, E::BLOCK_BYTES, self.len());
        for entry in self.iter() {
            entry.write(sink);
        }
    }
}

impl<'a, E: Entry<'a>> IntoIterator for Group<'a, E> {
    type Item = E;
    type IntoIter = GroupIter<'a, E>;

    fn into_iter(self) -> GroupIter<'a, E> {
        self.iter()
    }
}

impl<'a, E: Entry<'a> + PartialEq> PartialEq for Group<'a, E> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a, E: Entry<'a> + fmt::Debug> fmt::Debug for Group<'a, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Iterates over a [`Group`].
#[derive(Clone)]
pub struct GroupIter<'a, E>(Group<'a, E>);

impl<'a, E: Entry<'a>> Iterator for GroupIter<'a, E> {
    type Item = E;

    #[inline]
    fn next(&mut self) -> Option<E> {
        match &mut self.0.0 {
            Entries::Encoded { count: 0, .. } => None,
            Entries::Encoded { block, count, rest } => {
                *count -= 1;
                let block = rest.block(*block).ok()?;
                E::read(block, rest).ok()
            }
            Entries::Slice(entries) => {
                let (first, others) = entries.split_first()?;
                *entries = others;
                Some(*first)
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.0.len(), Some(self.0.len()))
    }
}

impl<'a, E: Entry<'a>> ExactSizeIterator for GroupIter<'a, E> {}

/// A block under construction.
pub struct BlockOf<const N: usize>([u8; N]);

impl<const N: usize> BlockOf<N> {
    /// A block of zeros.
    #[inline]
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self([0; N])
    }

    /// Sets the field at `offset`, which lies inside: both are constants of the schema.
    #[inline]
    #[must_use]
    pub fn required<T: Field>(mut self, offset: usize, value: T) -> Self {
        value
            .to_wire()
            .put(&mut self.0[offset..offset + T::Wire::BYTES]);
        self
    }

    /// As [`required`](Self::required), with the null value for `None`.
    #[inline]
    #[must_use]
    pub fn optional<T: Field>(mut self, offset: usize, value: Option<T>) -> Self {
        let wire = value.map_or(T::Wire::NULL, Field::to_wire);
        wire.put(&mut self.0[offset..offset + T::Wire::BYTES]);
        self
    }

    /// Appends it.
    #[inline]
    pub fn put(self, sink: &mut impl Sink) {
        sink.put(&self.0);
    }
}

/// Appends a message's header.
#[inline]
pub fn put_header(sink: &mut impl Sink, block: u16, template: u16, schema: u16, version: u16) {
    let header = BlockOf::<HEADER_BYTES>::new()
        .required(0, block)
        .required(2, template)
        .required(4, schema)
        .required(6, version);
    header.put(sink);
}

/// Appends what stands before a group's entries.
#[inline]
pub(super) fn put_group_header(sink: &mut impl Sink, block: u16, entries: usize) {
    let header = BlockOf::<6>::new()
        .required(0, block)
        .required(2, u32::try_from(entries).unwrap_or(u32::MAX));
    header.put(sink);
}

/// Appends variable data. 4 GiB or more would not fit its length;
/// [`put_framed`](super::put_framed) refuses a message that has as much.
#[inline]
pub fn put_data(sink: &mut impl Sink, bytes: &[u8]) {
    sink.put(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    sink.put(bytes);
}
