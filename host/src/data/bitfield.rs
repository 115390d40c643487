//! `BITFIELD`: integers of any width up to 64 bits anywhere in a string.

use goblin_protocol::command::CommandError;
use goblin_protocol::resp::parse_integer;

use super::bitmaps::bit_offset;
use super::error::DataError;
use super::{Call, Outcome, parse};
use crate::store::Digits;

/// What becomes of a number that does not fit.
#[derive(Clone, Copy)]
enum Overflow {
    Wrap,
    Saturate,
    Fail,
}

#[derive(Clone, Copy)]
struct Field {
    is_signed: bool,
    bits: u32,
    offset: usize,
}

#[derive(Clone, Copy)]
enum Operation {
    Get,
    Set(i64),
    Increment(i64),
}

struct Step {
    field: Field,
    operation: Operation,
    overflow: Overflow,
}

/// `BITFIELD key [GET type offset | [OVERFLOW …] SET type offset value | INCRBY type offset
/// increment …]`
pub(super) fn bitfield<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let steps = parse_steps(call)?;
    let written = steps.iter().filter(|step| !step.is_read());
    let length = written.map(|step| step.field.bytes_end()).max();
    match length {
        None => read(call, &steps),
        Some(length) => write(call, &steps, length),
    }
}

/// `BITFIELD_RO key [GET type offset …]`
pub(super) fn bitfield_ro<'a>(call: &mut Call<'a, '_>) -> Outcome<'a> {
    let steps = parse_steps(call)?;
    if !steps.iter().all(Step::is_read) {
        return Err(DataError::BitfieldReadOnly);
    }
    read(call, &steps)
}

fn read<'a>(call: &mut Call<'a, '_>, steps: &[Step]) -> Outcome<'a> {
    let mut digits = Digits::default();
    let text = call.store.string(call.key(), call.now)?;
    let bytes = text.map_or(&b""[..], |text| text.bytes(&mut digits));
    call.reply.array(steps.len());
    for step in steps {
        call.reply.integer(step.field.read(bytes) as i64);
    }
    Ok(())
}

fn write<'a>(call: &mut Call<'a, '_>, steps: &[Step], length: usize) -> Outcome<'a> {
    let (answers, _) = call.store.edit(call.key(), length, call.now, |bytes| {
        steps
            .iter()
            .map(|step| step.execute(bytes))
            .collect::<Vec<_>>()
    })?;
    call.reply.array(answers.len());
    for answer in answers {
        match answer {
            Some(value) => call.reply.integer(value),
            None => call.reply.null(),
        }
    }
    Ok(())
}

fn parse_steps<'a>(call: &Call<'a, '_>) -> Result<Vec<Step>, DataError<'a>> {
    let (mut steps, mut overflow) = (Vec::new(), Overflow::Wrap);
    let mut words = call.arguments.skip(2).iter();
    while let Some(word) = words.next() {
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        if is("overflow") && words.len() >= 1 {
            overflow = parse_overflow(words.next().unwrap_or_default())?;
            continue;
        }
        let is_set = is("set");
        let needed = if is("get") {
            2
        } else if is_set || is("incrby") {
            3
        } else {
            usize::MAX
        };
        if words.len() < needed {
            return Err(CommandError::Syntax.into());
        }
        let kind = words.next().unwrap_or_default();
        let field = Field::parse(kind, words.next().unwrap_or_default())?;
        let operation = if needed == 2 {
            Operation::Get
        } else {
            let value = parse::integer(words.next().unwrap_or_default())?;
            if is_set {
                Operation::Set(value)
            } else {
                Operation::Increment(value)
            }
        };
        steps.push(Step {
            field,
            operation,
            overflow,
        });
    }
    Ok(steps)
}

fn parse_overflow(word: &[u8]) -> Result<Overflow, DataError<'static>> {
    let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    if is("wrap") {
        Ok(Overflow::Wrap)
    } else if is("sat") {
        Ok(Overflow::Saturate)
    } else if is("fail") {
        Ok(Overflow::Fail)
    } else {
        Err(DataError::InvalidOverflow)
    }
}

impl Step {
    fn is_read(&self) -> bool {
        matches!(self.operation, Operation::Get)
    }

    /// The answer; `None` when the result does not fit and the step fails.
    fn execute(&self, bytes: &mut [u8]) -> Option<i64> {
        let present = self.field.read(bytes);
        match self.operation {
            Operation::Get => Some(present as i64),
            Operation::Set(value) => {
                let wide = self.field.given(value);
                let value = self.field.fitted(wide, self.overflow)?;
                self.field.write(bytes, value);
                Some(present as i64)
            }
            Operation::Increment(by) => {
                let value = self.field.fitted(present + i128::from(by), self.overflow)?;
                self.field.write(bytes, value);
                Some(value as i64)
            }
        }
    }
}

impl Field {
    /// `i8`, `u63`, …, and where it begins: a number of bits, or `#` and a number of such fields.
    fn parse(kind: &[u8], offset: &[u8]) -> Result<Self, DataError<'static>> {
        let (is_signed, digits) = match kind {
            [b'i', digits @ ..] => (true, digits),
            [b'u', digits @ ..] => (false, digits),
            _ => return Err(DataError::InvalidBitfieldType),
        };
        let bits_max = if is_signed { 64 } else { 63 };
        let bits = parse_integer(digits).filter(|bits| (1..=bits_max).contains(bits));
        let bits = bits.ok_or(DataError::InvalidBitfieldType)?;
        let offset = match offset {
            [b'#', number @ ..] => {
                parse_integer(number).and_then(|number| number.checked_mul(bits))
            }
            number => parse_integer(number),
        };
        Ok(Self {
            is_signed,
            bits: bits as u32,
            offset: bit_offset(offset)?,
        })
    }

    /// Where the bytes end that it lies in.
    fn bytes_end(self) -> usize {
        (self.offset + self.bits as usize - 1) / 8 + 1
    }

    /// A number as it was given: one without a sign is taken by its bits.
    fn given(self, value: i64) -> i128 {
        if self.is_signed {
            i128::from(value)
        } else {
            i128::from(value as u64)
        }
    }

    fn read(self, bytes: &[u8]) -> i128 {
        let end = self.bytes_end();
        let value = (self.offset / 8..end).fold(0_u128, |value, at| {
            value << 8 | u128::from(bytes.get(at).copied().unwrap_or_default())
        });
        let behind = end * 8 - self.offset - self.bits as usize;
        self.wrapped((value >> behind) as i128)
    }

    fn write(self, bytes: &mut [u8], value: i128) {
        for bit in 0..self.bits as usize {
            let is_set = value >> (self.bits as usize - 1 - bit) & 1 == 1;
            let at = self.offset + bit;
            if let Some(byte) = bytes.get_mut(at / 8) {
                let mask = 0x80 >> (at % 8);
                *byte = if is_set { *byte | mask } else { *byte & !mask };
            }
        }
    }

    /// The lowest bits of a number, as a number.
    fn wrapped(self, value: i128) -> i128 {
        let low = value & ((1 << self.bits) - 1);
        if self.is_signed && low >> (self.bits - 1) & 1 == 1 {
            low - (1 << self.bits)
        } else {
            low
        }
    }

    fn fitted(self, value: i128, overflow: Overflow) -> Option<i128> {
        let (min, max) = if self.is_signed {
            (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1)
        } else {
            (0, (1 << self.bits) - 1)
        };
        if (min..=max).contains(&value) {
            return Some(value);
        }
        match overflow {
            Overflow::Wrap => Some(self.wrapped(value)),
            Overflow::Saturate => Some(value.clamp(min, max)),
            Overflow::Fail => None,
        }
    }
}
