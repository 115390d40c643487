//! What the table of keys holds: a string beside its name in one record, or a collection.

use std::num::NonZeroU64;

use super::hash::Hash;
use super::record::Record;
use super::sorted_set::SortedSet;
use super::text::Text;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Bytes.
    String,
    /// Fields with values.
    Hash,
    /// Members with scores.
    SortedSet,
}

/// A key with its value and expiry.
#[derive(Debug)]
pub(super) enum Slot {
    String(Record),
    Collection(Box<Collection>),
}

/// The table of keys has a slot for every key and many empty ones.
const _: () = assert!(size_of::<Slot>() == 16);

/// A key whose value is no string.
#[derive(Debug)]
pub(super) struct Collection {
    pub(super) name: Box<[u8]>,
    /// In milliseconds since 1970.
    pub(super) expiry: Option<NonZeroU64>,
    pub(super) value: Value,
}

/// A value that is no string.
#[derive(Debug)]
pub enum Value {
    /// Fields with values.
    Hash(Hash),
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

kinds! { Hash SortedSet }

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

    pub(super) fn type_of(&self) -> Type {
        match self {
            Self::String(_) => Type::String,
            Self::Collection(collection) => match collection.value {
                Value::Hash(_) => Type::Hash,
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
