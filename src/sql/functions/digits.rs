//! `number_to_char(number, format)`: what `to_char` of PostgreSQL makes of numbers. The PostgreSQL port calls it.

use super::bounded::check_bytes;
use arrow::array::{Array, ArrayRef, AsArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Float64Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// The scale of numbers that are no floating point; digits behind it are rounded away.
const SCALE: i8 = 10;
/// Longest format, bytes.
const MOST: usize = 200;

/// The function.
pub fn number_to_char() -> ScalarUDF {
    ScalarUDF::from(Digits { signature: Signature::any(2, Volatility::Immutable) })
}

/// Whether a format is one of numbers.
pub fn is_of_numbers(format: &str) -> bool {
    let plain: String = format.split('"').step_by(2).collect();
    let mut letters = plain.chars().filter(char::is_ascii_alphabetic);
    plain.contains(['0', '9']) && letters.all(|letter| "FMDGSIPR".contains(letter))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Digits {
    signature: Signature,
}

impl ScalarUDFImpl for Digits {
    fn name(&self) -> &str {
        "number_to_char"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [numbers, formats] = args.args.as_slice() else {
            return Err(DataFusionError::Internal("number_to_char takes a number and a format".to_owned()));
        };
        let numbers = numbers.to_array(args.number_rows)?;
        let is_float =
            matches!(numbers.data_type(), DataType::Float16 | DataType::Float32 | DataType::Float64);
        let wanted = if is_float { DataType::Float64 } else { DataType::Decimal128(38, SCALE) };
        let numbers: ArrayRef = cast(&numbers, &wanted)?;
        let formats: ArrayRef = cast(&formats.to_array(args.number_rows)?, &DataType::Utf8)?;
        let formats = formats.as_string::<i32>();
        let (mut out, mut bytes) = (StringBuilder::new(), 0i128);
        let mut last: Option<(String, Format)> = None;
        for row in 0..args.number_rows {
            if numbers.is_null(row) || formats.is_null(row) {
                out.append_null();
                continue;
            }
            let text = formats.value(row);
            let (_, format) = match last.take().filter(|(known, _)| known == text) {
                Some(known) => last.insert(known),
                None => last.insert((text.to_owned(), Format::read(text)?)),
            };
            let number = match is_float {
                true => Number::of_float(numbers.as_primitive::<Float64Type>().value(row), format.after),
                false => {
                    Number::of_decimal(numbers.as_primitive::<Decimal128Type>().value(row), format.after)
                }
            };
            let text = format.write(&number);
            bytes += text.len() as i128;
            check_bytes("to_char", bytes)?;
            out.append_value(text);
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish())))
    }
}

/// A number in decimal digits.
struct Number {
    is_negative: bool,
    /// Before the point; empty below one.
    whole: String,
    /// Behind it, as many as the format has.
    rest: String,
}

impl Number {
    fn of_float(value: f64, after: usize) -> Self {
        let text = format!("{:.after$}", value.abs());
        let (whole, rest) = text.split_once('.').unwrap_or((text.as_str(), ""));
        Self {
            is_negative: value < 0.0,
            whole: whole.trim_start_matches('0').to_owned(),
            rest: rest.to_owned(),
        }
    }

    /// Of a number in units of 10^-[`SCALE`]; halves are rounded away from zero.
    fn of_decimal(value: i128, after: usize) -> Self {
        let scale = usize::from(SCALE.unsigned_abs());
        let kept = after.min(scale);
        let unit = 10u128.pow((scale - kept) as u32);
        let rounded = (value.unsigned_abs() + unit / 2) / unit;
        let split = 10u128.pow(kept as u32);
        let rest = if after == 0 { String::new() } else { format!("{:0kept$}", rounded % split) };
        let whole = (rounded / split).to_string();
        Self {
            is_negative: value < 0,
            whole: whole.trim_start_matches('0').to_owned(),
            rest: format!("{rest:0<after$}"),
        }
    }
}

/// One part of a format.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    /// `9` and `0`: a digit that may be left out, and one that may not.
    Digit {
        always: bool,
    },
    Comma,
    Point,
    Text(char),
    /// The sign here: `MI` only a minus, `SG` either.
    Sign {
        plus: bool,
    },
}

/// Where the sign goes if it has no place of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Sign {
    /// A minus, or a blank, before the first digit.
    Plain,
    /// `S` at the begin: either sign before the first digit.
    Before,
    /// `S` at the end.
    After,
    /// `PR`: angle brackets.
    Brackets,
    /// It is one of the parts.
    Placed,
}

#[derive(Debug)]
struct Format {
    parts: Vec<Part>,
    sign: Sign,
    /// `FM`: without blanks, and without zeros that nobody asked for.
    is_tight: bool,
    /// Digits before the point, and behind it.
    before: usize,
    after: usize,
}

impl Format {
    fn read(text: &str) -> Result<Self> {
        let wrong = |why: &str| DataFusionError::Execution(format!("to_char: the format {text:?} {why}"));
        if text.len() > MOST {
            return Err(DataFusionError::Execution(format!(
                "to_char: the format is longer than {MOST} bytes"
            )));
        }
        // `D` alone, which is the day of the week in formats of times, would be a point and no error.
        if !is_of_numbers(text) {
            return Err(wrong("has a part that is not supported"));
        }
        let mut format = Self { parts: Vec::new(), sign: Sign::Plain, is_tight: false, before: 0, after: 0 };
        let (mut rest, mut has_point) = (text, false);
        while let Some(letter) = rest.chars().next() {
            let mut length = letter.len_utf8();
            match letter {
                '"' => {
                    let (quoted, _) = rest[1..].split_once('"').ok_or_else(|| wrong("has an open quote"))?;
                    format.parts.extend(quoted.chars().map(Part::Text));
                    length = quoted.len() + 2;
                }
                '9' | '0' => {
                    format.parts.push(Part::Digit { always: letter == '0' });
                    *(if has_point { &mut format.after } else { &mut format.before }) += 1;
                }
                ',' | 'G' => format.parts.push(Part::Comma),
                '.' | 'D' if has_point => return Err(wrong("has two points")),
                '.' | 'D' => {
                    format.parts.push(Part::Point);
                    has_point = true;
                }
                'F' | 'M' | 'S' | 'P' => {
                    length = format.word(rest).ok_or_else(|| wrong("has a part that is not supported"))?
                }
                other if other.is_ascii_alphabetic() => {
                    return Err(wrong("has a part that is not supported"));
                }
                other => format.parts.push(Part::Text(other)),
            }
            rest = &rest[length..];
        }
        Ok(format)
    }

    /// Takes one of the words at the begin of `rest`; its length.
    fn word(&mut self, rest: &str) -> Option<usize> {
        let sign = |format: &mut Self, part: Part| {
            format.parts.push(part);
            format.sign = Sign::Placed;
        };
        match rest.get(..2) {
            Some("FM") => self.is_tight = true,
            Some("MI") => sign(self, Part::Sign { plus: false }),
            Some("SG") => sign(self, Part::Sign { plus: true }),
            Some("PR") => self.sign = Sign::Brackets,
            _ if rest.starts_with('S') && matches!(self.sign, Sign::Plain) => {
                self.sign = if self.before + self.after == 0 { Sign::Before } else { Sign::After };
                return Some(1);
            }
            _ => return None,
        }
        Some(2)
    }

    fn write(&self, number: &Number) -> String {
        let is_over = number.whole.len() > self.before;
        let start = self.start(number, is_over);
        let shown = self.shown(number);
        let (mut out, mut before, mut after) = (String::new(), 0, 0);
        let (mut has_begun, mut has_point) = (false, false);
        let blank = |out: &mut String| out.extend((!self.is_tight).then_some(' '));
        for part in &self.parts {
            let counts = matches!(part, Part::Digit { .. } | Part::Point);
            if counts && !has_begun && (before >= start || *part == Part::Point) {
                has_begun = true;
                out.push_str(self.opening(number.is_negative));
            }
            match part {
                Part::Digit { .. } if !has_point => {
                    match is_over {
                        true => out.push('#'),
                        false if before >= start => out.push(self.digit(number, before)),
                        false => blank(&mut out),
                    }
                    before += 1;
                }
                Part::Digit { .. } => {
                    match number.rest.chars().nth(after).filter(|_| !is_over) {
                        Some(digit) if after < shown => out.push(digit),
                        Some(_) => {}
                        None => out.push('#'),
                    }
                    after += 1;
                }
                Part::Comma if before > start || is_over => out.push(','),
                Part::Comma => blank(&mut out),
                Part::Point => {
                    out.push('.');
                    has_point = true;
                }
                Part::Text(letter) => out.push(*letter),
                Part::Sign { plus } => match (number.is_negative, plus) {
                    (true, _) => out.push('-'),
                    (false, true) => out.push('+'),
                    (false, false) => blank(&mut out),
                },
            }
        }
        out.push_str(self.closing(number.is_negative));
        out
    }

    /// The place of the first digit that is written: that of the number, or of the first `0`.
    fn start(&self, number: &Number, is_over: bool) -> usize {
        if is_over {
            return 0;
        }
        let digits = self.parts.iter().take_while(|part| **part != Part::Point);
        let mut digits = digits.filter(|part| matches!(part, Part::Digit { .. }));
        let always = digits.position(|part| *part == Part::Digit { always: true }).unwrap_or(self.before);
        // Below one, and with digits behind the point, none stands before it.
        let least = usize::from(self.after == 0).min(self.before);
        always.min(self.before - number.whole.len().max(least))
    }

    /// How many digits behind the point are written.
    fn shown(&self, number: &Number) -> usize {
        if !self.is_tight {
            return self.after;
        }
        let digits = self.parts.iter().skip_while(|part| **part != Part::Point);
        let digits = digits.filter(|part| matches!(part, Part::Digit { .. }));
        let asked = digits.enumerate().filter(|(_, part)| **part == Part::Digit { always: true });
        let asked = asked.last().map_or(0, |(at, _)| at + 1);
        number.rest.trim_end_matches('0').len().max(asked)
    }

    /// The digit at a place before the point.
    fn digit(&self, number: &Number, place: usize) -> char {
        let at = (place + number.whole.len()).checked_sub(self.before);
        at.and_then(|at| number.whole.chars().nth(at)).unwrap_or('0')
    }

    fn opening(&self, is_negative: bool) -> &'static str {
        match (self.sign, is_negative) {
            (Sign::Plain | Sign::Before, true) => "-",
            (Sign::Before, false) => "+",
            (Sign::Brackets, true) => "<",
            (Sign::Plain | Sign::Brackets, false) if !self.is_tight => " ",
            _ => "",
        }
    }

    fn closing(&self, is_negative: bool) -> &'static str {
        match (self.sign, is_negative) {
            (Sign::After, true) => "-",
            (Sign::After, false) => "+",
            (Sign::Brackets, true) => ">",
            (Sign::Brackets, false) if !self.is_tight => " ",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(value: f64, format: &str) -> String {
        let format = Format::read(format).unwrap();
        format.write(&Number::of_float(value, format.after))
    }

    /// As the documentation of PostgreSQL has them.
    #[test]
    fn numbers_are_written_as_in_postgresql() {
        for (value, format, text) in [
            (-0.1, "99.99", "  -.10"),
            (-0.1, "FM9.99", "-.1"),
            (-0.1, "FM90.99", "-0.1"),
            (0.1, "0.9", " 0.1"),
            (12.0, "9990999.9", "    0012.0"),
            (12.0, "FM9990999.9", "0012."),
            (485.0, "999", " 485"),
            (-485.0, "999", "-485"),
            (485.0, "9 9 9", " 4 8 5"),
            (1485.0, "9,999", " 1,485"),
            (1485.0, "9G999", " 1,485"),
            (148.5, "999.999", " 148.500"),
            (148.5, "FM999.999", "148.5"),
            (148.5, "FM999.990", "148.500"),
            (3148.5, "9G999D999", " 3,148.500"),
            (-485.0, "999S", "485-"),
            (485.0, "S999", "+485"),
            (-485.0, "999MI", "485-"),
            (485.0, "999MI", "485 "),
            (485.0, "FM999MI", "485"),
            (485.0, "SG999", "+485"),
            (-485.0, "9SG99", "4-85"),
            (-485.0, "999PR", "<485>"),
            (485.0, "\"Good number:\"999", "Good number: 485"),
            (485.8, "\"Pre:\"999\" Post:\" .999", "Pre: 485 Post: .800"),
            (0.0, "999", "   0"),
            (-485.0, "9,999", "  -485"),
            (12345.0, "999", " ###"),
            (0.87, "FM990.0%", "0.9%"),
        ] {
            assert_eq!(float(value, format), text, "{value} {format}");
        }
    }

    #[test]
    fn decimals_are_rounded_away_from_zero() {
        let decimal = |value: i128, format: &str| {
            let format = Format::read(format).unwrap();
            format.write(&Number::of_decimal(value, format.after))
        };
        assert_eq!(decimal(25_000_000_000, "FM999"), "3");
        assert_eq!(decimal(-12_345_000_000, "FM999.00"), "-1.23");
        assert_eq!(decimal(12_350_000_000, "FM999.0"), "1.2");
        assert_eq!(
            decimal(i128::from(i64::MAX) * 10_000_000_000, "FM9999999999999999999"),
            i64::MAX.to_string()
        );
        assert_eq!(decimal(5_000_000_000, "FM0.000000000000"), "0.500000000000");
    }

    #[test]
    fn other_formats_are_told_apart() {
        for format in ["999", "FM9,999.00", "\"n = \"990", "S99PR"] {
            assert!(is_of_numbers(format), "{format}");
        }
        for format in ["YYYY", "HH24:MI", "RN", "9.9EEEE", "FM", "\"9\""] {
            assert!(!is_of_numbers(format), "{format}");
        }
        let long = "9".repeat(MOST + 1);
        for format in ["9.9.9", "99\"x", "FX9", "D", "DD WW", long.as_str()] {
            assert!(Format::read(format).is_err(), "{format}");
        }
    }
}
