//! What the table of keys holds: a string beside its name in one record, or a collection.

use std::num::NonZeroU64;

use super::hash::Hash;
use super::list::List;
use super::record::Record;
use super::set::Set;
use super::sorted_set::SortedSet;
use super::text::Text;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Bytes.
    String,
    /// Fields with values.
    Hash,
    /// Elements in a row.
    List,
    /// Members.
    Set,
    /// Members with scores.
    SortedSet,
}

/// How a value is represented, in the terms of Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// A string that is a number.
    Int,
    /// A short string that came whole.
    EmbStr,
    /// Any other string.
    Raw,
    /// A small set of numbers.
    IntSet,
    /// A small collection in one run of bytes.
    ListPack,
    /// A long list.
    QuickList,
    /// A large hash or set.
    HashTable,
    /// A large sorted set.
    SkipList,
}

impl Encoding {
    /// The name that `OBJECT ENCODING` answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::EmbStr => "embstr",
            Self::Raw => "raw",
            Self::IntSet => "intset",
            Self::ListPack => "listpack",
            Self::QuickList => "quicklist",
            Self::HashTable => "hashtable",
            Self::SkipList => "skiplist",
        }
    }
}

/// Longest string that Redis stores beside its header.
const EMBEDDED_BYTES_MAX: usize = 44;

/// A key with its value and expiry.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    String(Record),
    Collection(Box<Collection>),
}

/// The table of keys has a slot for every key and many empty ones.
const _: () = assert!(size_of::<Slot>() == 16);

/// A key whose value is no string.
#[derive(Clone, Debug)]
pub(super) struct Collection {
    pub(super) name: Box<[u8]>,
    /// In milliseconds since 1970.
    pub(super) expiry: Option<NonZeroU64>,
    pub(super) value: Value,
}

/// A value that is no string.
#[derive(Clone, Debug)]
pub enum Value {
    /// Fields with values.
    Hash(Hash),
    /// Elements in a row.
    List(List),
    /// Members.
    Set(Set),
    /// Members with scores.
    SortedSet(SortedSet),
}

/// A type of collection. A collection without elements is not kept: its key ceases to exist.
pub trait Kind: Sized {
    /// A collection without elements.
    fn empty() -> Self;
    /// Whether it has no elements.
    fn is_empty(&self) -> bool;
    /// As a value of any type.
    fn into_value(self) -> Value;
    /// The value, if it is of this type.
    fn of(value: &Value) -> Option<&Self>;
    /// The value, if it is of this type.
    fn of_mut(value: &mut Value) -> Option<&mut Self>;
}

/// The types of collections have the same names as their variants of [`Value`].
macro_rules! kinds {
    ($($kind:ident)*) => {
        $(impl Kind for $kind {
            fn empty() -> Self {
                Self::new()
            }

            fn is_empty(&self) -> bool {
                self.is_empty()
            }

            fn into_value(self) -> Value {
                Value::$kind(self)
            }

            fn of(value: &Value) -> Option<&Self> {
                match value {
                    Value::$kind(value) => Some(value),
                    _ => None,
                }
            }

            fn of_mut(value: &mut Value) -> Option<&mut Self> {
                match value {
                    Value::$kind(value) => Some(value),
                    _ => None,
                }
            }
        })*
    };
}

kinds! { Hash List Set SortedSet }

impl Slot {
    #[inline]
    pub(super) fn name(&self) -> &[u8] {
        match self {
            Self::String(record) => record.name(),
            Self::Collection(collection) => &collection.name,
        }
    }

    /// When it expires, in milliseconds since 1970.
    #[inline]
    pub(super) fn expiry(&self) -> Option<u64> {
        match self {
            Self::String(record) => record.expiry(),
            Self::Collection(collection) => collection.expiry.map(NonZeroU64::get),
        }
    }

    /// A moment of 0 is for no one to give: it is long past.
    pub(super) fn set_expiry(&mut self, expiry: Option<u64>) {
        match self {
            Self::String(record) => record.set_expiry(expiry),
            Self::Collection(collection) => collection.expiry = expiry.and_then(NonZeroU64::new),
        }
    }

    /// The same under another name.
    pub(super) fn named(self, name: &[u8]) -> Self {
        match self {
            Self::String(record) => Self::String(record.named(name)),
            Self::Collection(mut collection) => {
                collection.name = name.into();
                Self::Collection(collection)
            }
        }
    }

    pub(super) fn encoding(&self) -> Encoding {
        let compact_or = |is_compact, large| {
            if is_compact {
                Encoding::ListPack
            } else {
                large
            }
        };
        match self {
            Self::String(record) => match record.value() {
                Text::Integer(_) => Encoding::Int,
                Text::Bytes(bytes) if bytes.len() > EMBEDDED_BYTES_MAX => Encoding::Raw,
                Text::Bytes(_) if record.is_edited() => Encoding::Raw,
                Text::Bytes(_) => Encoding::EmbStr,
            },
            Self::Collection(collection) => match &collection.value {
                Value::Hash(hash) => compact_or(hash.is_compact(), Encoding::HashTable),
                Value::List(list) => compact_or(list.is_compact(), Encoding::QuickList),
                Value::Set(set) => set.encoding(),
                Value::SortedSet(set) => compact_or(set.is_compact(), Encoding::SkipList),
            },
        }
    }

    pub(super) fn type_of(&self) -> Type {
        match self {
            Self::String(_) => Type::String,
            Self::Collection(collection) => match collection.value {
                Value::Hash(_) => Type::Hash,
                Value::List(_) => Type::List,
                Value::Set(_) => Type::Set,
                Value::SortedSet(_) => Type::SortedSet,
            },
        }
    }

    #[inline]
    pub(super) fn text(&self) -> Option<Text<'_>> {
        match self {
            Self::String(record) => Some(record.value()),
            Self::Collection(_) => None,
        }
    }

    pub(super) fn into_value(self) -> Option<Value> {
        match self {
            Self::String(_) => None,
            Self::Collection(collection) => Some(collection.value),
        }
    }
}
