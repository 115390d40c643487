//! A small set of integers: one sorted run, each as wide as the widest needs.

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Ints {
    /// Bytes of each: 2, 4 or 8; 0 while there are none.
    width: usize,
    bytes: Vec<u8>,
}

impl Ints {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.bytes.len().checked_div(self.width).unwrap_or(0)
    }

    /// The one at a place, 0 being the lowest.
    pub(super) fn get(&self, at: usize) -> Option<i64> {
        let bytes = self.bytes.get(at * self.width..(at + 1) * self.width)?;
        match *bytes {
            [a, b] => Some(i64::from(i16::from_le_bytes([a, b]))),
            [a, b, c, d] => Some(i64::from(i32::from_le_bytes([a, b, c, d]))),
            _ => bytes.first_chunk().map(|&bytes| i64::from_le_bytes(bytes)),
        }
    }

    /// All, lowest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = i64> {
        (0..self.len()).map_while(|at| self.get(at))
    }

    /// Whether one is there.
    pub(super) fn contains(&self, value: i64) -> bool {
        self.get(self.place(value)) == Some(value)
    }

    /// Adds one and says whether it is new.
    pub(super) fn add(&mut self, value: i64) -> bool {
        let width = width_of(value);
        if width > self.width {
            let widened = self.iter().flat_map(|value| written(value, width));
            self.bytes = widened.collect();
            self.width = width;
        }
        let at = self.place(value);
        if self.get(at) == Some(value) {
            return false;
        }
        let start = at * self.width;
        self.bytes.reserve_exact(self.width);
        self.bytes.splice(start..start, written(value, self.width));
        true
    }

    /// Removes one and says whether it was there.
    pub(super) fn remove(&mut self, value: i64) -> bool {
        let at = self.place(value);
        let is_there = self.get(at) == Some(value);
        if is_there {
            self.bytes.drain(at * self.width..(at + 1) * self.width);
        }
        is_there
    }

    /// How many are lower.
    fn place(&self, value: i64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.get(middle).is_some_and(|it| it < value) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

fn width_of(value: i64) -> usize {
    if i16::try_from(value).is_ok() {
        2
    } else if i32::try_from(value).is_ok() {
        4
    } else {
        8
    }
}

fn written(value: i64, width: usize) -> impl Iterator<Item = u8> {
    value.to_le_bytes().into_iter().take(width)
}
