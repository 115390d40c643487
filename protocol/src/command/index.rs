//! Finding a command by name without regard to case: a hash table made by the compiler.
//!
//! A name is read as two overlapping words with bit 5 of every byte set, which is what lower-casing
//! does to letters. Names consist of letters and underscores (checked when the table is made), so two
//! names of one length fold to the same words exactly when they differ in case only, but for one
//! thing: what is found under a name with a delete (0x7f) may have an underscore there.

/// Shortest and longest name that the folding can tell apart.
const LENGTH_MAX: usize = 16;

/// A name regardless of case.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Folded {
    head: u64,
    tail: u64,
    length: usize,
}

impl Folded {
    const CASE: u64 = 0x2020_2020_2020_2020;

    /// Folds a name; one that no command can have gives `None`.
    #[inline]
    pub(super) const fn of(name: &[u8]) -> Option<Self> {
        let length = name.len();
        if length > LENGTH_MAX {
            return None;
        }
        let (head, tail) = if let (Some(first), Some(last)) =
            (name.first_chunk::<8>(), name.last_chunk::<8>())
        {
            (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
        } else if let (Some(first), Some(last)) = (name.first_chunk::<4>(), name.last_chunk::<4>())
        {
            (
                u32::from_le_bytes(*first) as u64,
                u32::from_le_bytes(*last) as u64,
            )
        } else if let (Some(first), Some(last)) = (name.first_chunk::<2>(), name.last_chunk::<2>())
        {
            (
                u16::from_le_bytes(*first) as u64,
                u16::from_le_bytes(*last) as u64,
            )
        } else {
            return None;
        };
        Some(Self {
            head: head | Self::CASE,
            tail: tail | Self::CASE,
            length,
        })
    }

    /// Compares two names; `==` cannot be used by the compiler's own evaluation.
    #[inline]
    const fn is(&self, other: &Self) -> bool {
        self.head == other.head && self.tail == other.tail && self.length == other.length
    }

    #[inline]
    const fn hash(&self) -> usize {
        let mixed = (self.head ^ self.tail.rotate_left(29) ^ self.length as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 40) as usize
    }
}

/// Marks a slot that holds no name.
const VACANT: u16 = u16::MAX;

/// `N` names in `SLOTS` slots, a power of two well above `N`.
pub(super) struct Index<const N: usize, const SLOTS: usize> {
    slots: [u16; SLOTS],
    names: [Folded; N],
}

impl<const N: usize, const SLOTS: usize> Index<N, SLOTS> {
    /// Made by the compiler; refuses to compile for names it cannot hold.
    pub(super) const fn new(names: &[&str; N]) -> Self {
        assert!(SLOTS.is_power_of_two() && SLOTS >= 2 * N && N < VACANT as usize);
        let vacant = Folded {
            head: 0,
            tail: 0,
            length: 0,
        };
        let mut index = Self {
            slots: [VACANT; SLOTS],
            names: [vacant; N],
        };
        let mut position = 0;
        while position < N {
            assert_letters(names[position]);
            let Some(folded) = Folded::of(names[position].as_bytes()) else {
                panic!("a command's name is too short or too long");
            };
            let mut slot = folded.hash() % SLOTS;
            while index.slots[slot] != VACANT {
                assert!(
                    !index.names[index.slots[slot] as usize].is(&folded),
                    "two commands have the same name"
                );
                slot = (slot + 1) % SLOTS;
            }
            index.slots[slot] = position as u16;
            index.names[position] = folded;
            position += 1;
        }
        index
    }

    /// The position of a name in the list that the index was made of.
    #[inline]
    pub(super) fn find(&self, name: &[u8]) -> Option<usize> {
        let folded = Folded::of(name)?;
        let mut slot = folded.hash() % SLOTS;
        loop {
            let position = usize::from(*self.slots.get(slot)?);
            if self.names.get(position)?.is(&folded) {
                return Some(position);
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

const fn assert_letters(name: &str) {
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        assert!(
            bytes[at].is_ascii_lowercase() || bytes[at] == b'_',
            "a command's name is not lower-case letters and underscores"
        );
        at += 1;
    }
}
