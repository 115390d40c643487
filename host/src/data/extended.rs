//! Numbers of 64 significant bits, as the processor's long doubles are with which Redis adds
//! fractions: sums come out with the very digits that Redis answers.
//!
//! A number is `mantissa * 2^exponent`, the mantissa's highest bit being set unless it is zero.

use std::fmt;

/// Most digits that are read, and the largest power of ten: whatever is longer is no number for us.
const DIGITS_MAX: usize = 5_000;
/// The exponents of a long double's highest bit.
const EXPONENT_MAX: i32 = 16_383;
/// Digits behind the point that are written.
const FRACTION_DIGITS: u32 = 17;
const FRACTION_UNIT: u128 = 10_u128.pow(FRACTION_DIGITS);

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extended {
    Infinite,
    Finite {
        is_negative: bool,
        mantissa: u64,
        exponent: i32,
    },
}

impl Extended {
    pub(super) const ZERO: Self = Self::Finite {
        is_negative: false,
        mantissa: 0,
        exponent: 0,
    };

    /// A decimal number, with a fraction or a power of ten or without; or an infinity.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let (is_negative, text) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        if text.eq_ignore_ascii_case(b"inf") || text.eq_ignore_ascii_case(b"infinity") {
            return Some(Self::Infinite);
        }
        let exponent_at = text
            .iter()
            .position(|byte| byte.eq_ignore_ascii_case(&b'e'));
        let (digits, power) = match exponent_at {
            Some(at) => (&text[..at], exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let mut number = Big::default();
        let (mut digit_count, mut decimals, mut has_point) = (0, 0, false);
        for &byte in digits {
            match byte {
                b'.' if !has_point => has_point = true,
                b'0'..=b'9' => {
                    number.multiply_and_add(10, u32::from(byte - b'0'));
                    digit_count += 1;
                    decimals += i32::from(has_point);
                }
                _ => return None,
            }
        }
        if digit_count == 0 || digit_count > DIGITS_MAX {
            return None;
        }
        let (mantissa, exponent) = number.scaled(power - decimals);
        let is_representable =
            mantissa == 0 || (-EXPONENT_MAX..=EXPONENT_MAX).contains(&(exponent + 63));
        is_representable.then_some(Self::Finite {
            is_negative,
            mantissa,
            exponent,
        })
    }

    /// The sum, unless it is not finite.
    pub(super) fn sum(self, other: Self) -> Option<Self> {
        let (
            Self::Finite {
                is_negative: a_negative,
                mantissa: a,
                exponent: a_exponent,
            },
            Self::Finite {
                is_negative: b_negative,
                mantissa: b,
                exponent: b_exponent,
            },
        ) = (self, other)
        else {
            return None;
        };
        if b == 0 || a != 0 && a_exponent < b_exponent {
            return if b == 0 { Some(self) } else { other.sum(self) };
        }
        if a == 0 {
            return Some(other);
        }
        // The larger one has 63 bits of room below it; what the smaller has below that only decides
        // about rounding.
        let shift = (a_exponent - b_exponent).unsigned_abs();
        let large = u128::from(a) << 63;
        let small = shift_down(u128::from(b) << 63, shift);
        let (is_negative, magnitude) = if a_negative == b_negative {
            (a_negative, large + small)
        } else if large >= small {
            (a_negative, large - small)
        } else {
            (b_negative, small - large)
        };
        let (mantissa, exponent) = rounded(magnitude, a_exponent - 63);
        (exponent + 63 <= EXPONENT_MAX).then_some(Self::Finite {
            is_negative: is_negative && mantissa != 0,
            mantissa,
            exponent,
        })
    }
}

/// Seventeen digits behind the point, without the zeros at their end.
impl fmt::Display for Extended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Finite {
            is_negative,
            mantissa,
            exponent,
        } = *self
        else {
            return f.write_str("inf");
        };
        if exponent >= 0 {
            let mut number = Big::from(mantissa);
            number.shift_up(exponent.unsigned_abs());
            return write!(
                f,
                "{}{}",
                if is_negative { "-" } else { "" },
                number.decimal()
            );
        }
        let scaled = round_down(
            u128::from(mantissa) * FRACTION_UNIT,
            exponent.unsigned_abs(),
        );
        let (whole, fraction) = (scaled / FRACTION_UNIT, scaled % FRACTION_UNIT);
        let sign = if is_negative && scaled != 0 { "-" } else { "" };
        let digits = format!("{fraction:017}");
        let digits = digits.trim_end_matches('0');
        let point = if digits.is_empty() { "" } else { "." };
        write!(f, "{sign}{whole}{point}{digits}")
    }
}

fn exponent(text: &[u8]) -> Option<i32> {
    let text = std::str::from_utf8(text).ok()?;
    let exponent: i32 = text.parse().ok()?;
    (exponent.unsigned_abs() as usize <= DIGITS_MAX).then_some(exponent)
}

/// Divided by a power of two; the lowest bit is set if anything was lost.
fn shift_down(value: u128, bits: u32) -> u128 {
    match value.checked_shr(bits) {
        Some(shifted) => shifted | u128::from(shifted << bits != value),
        None => u128::from(value != 0),
    }
}

/// Divided by a power of two and rounded to the nearest, an even one of two.
fn round_down(value: u128, bits: u32) -> u128 {
    let Some(quotient) = value.checked_shr(bits) else {
        return 0;
    };
    if bits == 0 {
        return quotient;
    }
    let (rest, half) = (value - (quotient << bits), 1 << (bits - 1));
    quotient + u128::from(rest > half || rest == half && quotient & 1 == 1)
}

/// 64 bits of a number, rounded to the nearest, and its exponent.
fn rounded(value: u128, exponent: i32) -> (u64, i32) {
    let excess = 64_i32 - value.leading_zeros() as i32;
    if value == 0 {
        return (0, 0);
    }
    if excess <= 0 {
        return ((value << excess.unsigned_abs()) as u64, exponent + excess);
    }
    match u64::try_from(round_down(value, excess.unsigned_abs())) {
        Ok(mantissa) => (mantissa, exponent + excess),
        // Rounded up to the next power of two.
        Err(_) => (1 << 63, exponent + excess + 1),
    }
}

/// A natural number of any size, its lowest 32 bits first, without zeros at the end.
#[derive(Clone, Debug, Default)]
struct Big(Vec<u32>);

impl From<u64> for Big {
    fn from(value: u64) -> Self {
        let mut number = Self(vec![value as u32, (value >> 32) as u32]);
        number.trim();
        number
    }
}

impl Big {
    fn multiply_and_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for part in &mut self.0 {
            let product = u64::from(*part) * u64::from(factor) + carry;
            *part = product as u32;
            carry = product >> 32;
        }
        if carry > 0 {
            self.0.push(carry as u32);
        }
    }

    /// Divides and returns what is left over.
    fn divide(&mut self, divisor: u32) -> u32 {
        let mut rest = 0;
        for part in self.0.iter_mut().rev() {
            let value = rest << 32 | u64::from(*part);
            *part = (value / u64::from(divisor)) as u32;
            rest = value % u64::from(divisor);
        }
        self.trim();
        rest as u32
    }

    fn shift_up(&mut self, bits: u32) {
        for _ in 0..bits / 16 {
            self.multiply_and_add(1 << 16, 0);
        }
        self.multiply_and_add(1 << (bits % 16), 0);
    }

    fn trim(&mut self) {
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }

    fn decimal(mut self) -> String {
        let mut parts = Vec::new();
        while !self.0.is_empty() {
            parts.push(self.divide(1_000_000_000));
        }
        let mut text = parts.pop().unwrap_or(0).to_string();
        for part in parts.iter().rev() {
            text.push_str(&format!("{part:09}"));
        }
        text
    }

    /// 64 bits of this times a power of ten, rounded to the nearest, and their exponent.
    fn scaled(mut self, power: i32) -> (u64, i32) {
        let (mut shift, mut is_inexact) = (0, false);
        for _ in 0..power {
            self.multiply_and_add(10, 0);
        }
        if power < 0 {
            // Enough bits for the quotient to have 96 at least.
            shift = power.unsigned_abs() * 4 + 96;
            self.shift_up(shift);
        }
        for _ in power..0 {
            is_inexact |= self.divide(10) != 0;
        }
        let dropped = self.0.len().saturating_sub(4);
        is_inexact |= self.0.iter().take(dropped).any(|&part| part != 0);
        let top = self.0.iter().skip(dropped).rev();
        let top = top.fold(0_u128, |value, &part| value << 32 | u128::from(part));
        let exponent = dropped as i32 * 32 - shift as i32;
        rounded(top | u128::from(is_inexact), exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sum(a: &str, b: &str) -> Option<String> {
        let (a, b) = (
            Extended::parse(a.as_bytes())?,
            Extended::parse(b.as_bytes())?,
        );
        a.sum(b).map(|sum| sum.to_string())
    }

    #[test]
    fn sums_have_the_digits_of_redis() {
        let cases = [
            ("0.1", "0.2", "0.3"),
            ("3", "1e2", "103"),
            ("-1.5", "1.5", "0"),
            ("5.0e3", "2.0e2", "5200"),
            ("1e30", "0", "1000000000000000000024696061952"),
            ("1e-20", "0", "0"),
        ];
        for (a, b, expected) in cases {
            assert_eq!(sum(a, b).as_deref(), Some(expected), "{a} + {b}");
        }
        for wrong in ["", ".", "e1", "1e", "1x", " 1", "0.1.", "--1", "nan"] {
            assert_eq!(Extended::parse(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(sum("inf", "1"), None);
    }

    proptest! {
        #[test]
        fn whole_numbers_add_up(a in -1_i64 << 60..1 << 60, b in -1_i64 << 60..1 << 60) {
            prop_assert_eq!(sum(&a.to_string(), &b.to_string()), Some((a + b).to_string()));
        }

        #[test]
        fn short_fractions_add_up(a in -100_000_i64..100_000, b in -100_000_i64..100_000) {
            let text = |value: i64| format!("{}{}.{:03}", if value < 0 { "-" } else { "" },
                value.abs() / 1_000, value.abs() % 1_000);
            let found = sum(&text(a), &text(b)).and_then(|found| found.parse::<f64>().ok());
            let expected: f64 = text(a + b).parse().expect("a number");
            prop_assert_eq!(found, Some(expected));
        }
    }
}
