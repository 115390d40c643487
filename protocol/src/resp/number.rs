//! Numbers as text, the way Redis reads and writes them.

use std::io::Write;

/// Digits of the longest unsigned 64-bit integer.
const INTEGER_DIGITS_MAX: usize = 20;
/// Integers up to this magnitude are written with all their digits even when they are doubles.
const PLAIN_INTEGER_MAX: f64 = (i64::MAX / 2) as f64;

/// The integer that `text` is in canonical form: decimal digits without leading zeros, `-` in front
/// of a negative one, within 64 bits. Anything else (`+1`, `01`, `-0`, ` 1`, nothing) is none.
#[must_use]
pub fn parse_integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [] => return None,
        [b'0', ..] => return (text == b"0").then_some(0),
        _ => {}
    }
    let mut value: i64 = 0;
    for &byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        // Counted downwards, since the negative range reaches further by one.
        value = value.checked_mul(10)?.checked_sub(i64::from(byte - b'0'))?;
    }
    if negative {
        Some(value)
    } else {
        value.checked_neg()
    }
}

/// Appends `value` in decimal. Allocates nothing but what `out` needs to grow.
#[inline]
pub fn format_integer(value: i64, out: &mut Vec<u8>) {
    if let 0..=9 = value {
        out.push(b'0' + value as u8);
        return;
    }
    if value < 0 {
        out.push(b'-');
    }
    format_unsigned(value.unsigned_abs(), out);
}

/// Appends `value` in decimal.
pub(super) fn format_unsigned(mut value: u64, out: &mut Vec<u8>) {
    let mut digits = [0; INTEGER_DIGITS_MAX];
    let mut used = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
        used += 1;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[INTEGER_DIGITS_MAX - used..]);
}

/// Appends `value` as Redis 7.2 writes doubles: the fewest digits that read back as the same
/// number, `inf`, `-inf`, `nan`, `-0`.
///
/// Whole numbers up to 2^62 have no exponent. Of the others those have one that would need more
/// than seven zeros after their digits, or more than six decimals unless they lie between 0.001 and
/// 10,000: `1e+21`, `1e-7`, `1.23456789012e+4`, but `0.000001` and `1234.56789012`.
/// Allocates nothing but what `out` needs to grow.
pub fn format_double(value: f64, out: &mut Vec<u8>) {
    if value.is_nan() {
        out.extend_from_slice(b"nan");
        return;
    }
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        out.extend_from_slice(b"inf");
    } else if magnitude <= PLAIN_INTEGER_MAX && magnitude.fract() == 0.0 {
        format_unsigned(magnitude as u64, out);
    } else {
        format_fraction(magnitude, out);
    }
}

fn format_fraction(magnitude: f64, out: &mut Vec<u8>) {
    let (digits, exponent) = Digits::of(magnitude);
    let digits = digits.as_slice();
    let count = digits.len() as i32;
    // The value is the digits as an integer, times ten to this power.
    let scale = exponent - (count - 1);
    if scale >= 0 && exponent.abs() < count + 7 {
        out.extend_from_slice(digits);
        out.extend(std::iter::repeat_n(b'0', scale as usize));
    } else if scale < 0 && (scale > -7 || exponent.abs() < 4) {
        format_decimals(digits, count + scale, out);
    } else {
        format_exponent(digits, exponent, out);
    }
}

/// Appends `digits` with a point after the first `whole` of them, which may lie before the first.
fn format_decimals(digits: &[u8], whole: i32, out: &mut Vec<u8>) {
    match digits.split_at_checked(usize::try_from(whole).unwrap_or(0)) {
        Some((integer, fraction)) if !integer.is_empty() => {
            out.extend_from_slice(integer);
            out.push(b'.');
            out.extend_from_slice(fraction);
        }
        _ => {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', whole.unsigned_abs() as usize));
            out.extend_from_slice(digits);
        }
    }
}

fn format_exponent(digits: &[u8], exponent: i32, out: &mut Vec<u8>) {
    if let [first, fraction @ ..] = digits {
        out.push(*first);
        if !fraction.is_empty() {
            out.push(b'.');
            out.extend_from_slice(fraction);
        }
    }
    out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
    format_unsigned(u64::from(exponent.unsigned_abs()), out);
}

/// The shortest decimal digits of a double; at most 17.
struct Digits {
    bytes: [u8; 17],
    count: usize,
}

impl Digits {
    /// The digits of a finite, positive number, and the power of ten of the first of them.
    fn of(magnitude: f64) -> (Self, i32) {
        let mut text = [0; 32];
        let mut unused = &mut text[..];
        // A mantissa of 18 bytes and an exponent of 5 always fit.
        let written = write!(unused, "{magnitude:e}").map(|()| unused.len());
        let text = &text[..32 - written.unwrap_or(0)];
        let mut digits = Self {
            bytes: [0; 17],
            count: 0,
        };
        let mut parts = text.split(|&byte| byte == b'e');
        let mantissa = parts
            .next()
            .unwrap_or_default()
            .iter()
            .filter(|&&byte| byte != b'.');
        for (slot, &digit) in digits.bytes.iter_mut().zip(mantissa) {
            *slot = digit;
            digits.count += 1;
        }
        let exponent = parts.next().and_then(parse_integer).unwrap_or(0);
        (digits, exponent as i32)
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.count]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn integer(value: i64) -> String {
        let mut out = Vec::new();
        format_integer(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    fn double(value: f64) -> String {
        let mut out = Vec::new();
        format_double(value, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn only_canonical_integers_are_integers() {
        let wrong: [&[u8]; 14] = [
            b"",
            b"-",
            b"+1",
            b"01",
            b"-01",
            b"-0",
            b" 1",
            b"1 ",
            b"1.0",
            b"1e3",
            b"0x1",
            b"00",
            b"9223372036854775808",
            b"-9223372036854775809",
        ];
        for text in wrong {
            assert_eq!(parse_integer(text), None, "{}", text.escape_ascii());
        }
        for value in [0, 1, -1, 10, i64::MAX, i64::MIN] {
            assert_eq!(parse_integer(value.to_string().as_bytes()), Some(value));
        }
    }

    proptest! {
        #[test]
        fn integers_read_back(value: i64, shift in 0..64) {
            let value = value >> shift;
            prop_assert_eq!(integer(value), value.to_string());
            prop_assert_eq!(parse_integer(integer(value).as_bytes()), Some(value));
        }

        #[test]
        fn a_text_is_an_integer_if_it_is_what_the_integer_is_written_as(text in "[-+0 ]?[0-9]{0,20}") {
            let expected = text.parse().ok().filter(|value: &i64| value.to_string() == text);
            prop_assert_eq!(parse_integer(text.as_bytes()), expected);
        }

        #[test]
        fn doubles_read_back(bits: u64) {
            let value = f64::from_bits(bits);
            prop_assume!(!value.is_nan());
            prop_assert_eq!(double(value).parse::<f64>().unwrap().to_bits(), bits);
        }

        #[test]
        fn doubles_of_ordinary_size_read_back(mantissa in -100_000_000_i64..100_000_000, scale in 0..20) {
            let value = mantissa as f64 / 10_f64.powi(scale);
            let text = double(value);
            prop_assert_eq!(text.parse::<f64>().unwrap(), value);
            prop_assert!(text.len() <= 26);
        }
    }

    #[test]
    fn doubles_have_the_forms_of_redis() {
        let cases: [(f64, &str); 37] = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-1.0, "-1"),
            (3.25, "3.25"),
            (-2.5, "-2.5"),
            (0.1, "0.1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1.0 / 3.0, "0.3333333333333333"),
            (100.0, "100"),
            (1e15, "1000000000000000"),
            (1e18, "1000000000000000000"),
            (4611686018427387904.0, "4611686018427387904"),
            (-4611686018427387904.0, "-4611686018427387904"),
            (5e18, "5e+18"),
            (1e19, "1e+19"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (12345678901234567e3, "12345678901234567000"),
            (1.2345678901234568e22, "12345678901234568000000"),
            (1.2345678901234569e23, "123456789012345690000000"),
            (1.2345678901234568e24, "1.2345678901234568e+24"),
            (123456e20, "1.23456e+25"),
            (1e-5, "0.00001"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-7, "1.5e-7"),
            (1.25e-6, "1.25e-6"),
            (0.0001234, "1.234e-4"),
            (0.001234567, "0.001234567"),
            (1234.56789012, "1234.56789012"),
            (12345.6789012, "1.23456789012e+4"),
            (1700000000.123456, "1700000000.123456"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::from_bits(1), "5e-324"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
        ];
        for (value, text) in cases {
            assert_eq!(double(value), text);
        }
        assert_eq!(double(f64::NAN), "nan");
        assert_eq!(double(-f64::NAN), "nan");
    }
}
