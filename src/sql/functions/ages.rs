//! `age(later, earlier)`: the time between two moments in years, months and days, as PostgreSQL counts it.

use arrow::array::{ArrayRef, AsArray, IntervalMonthDayNanoArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, IntervalMonthDayNano, IntervalUnit, TimeUnit, TimestampMicrosecondType};
use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// Nanoseconds of a day.
const DAY: i64 = 86_400_000_000_000;

/// The function.
pub fn age() -> ScalarUDF {
    ScalarUDF::from(Age { signature: Signature::any(2, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Age {
    signature: Signature,
}

impl ScalarUDFImpl for Age {
    fn name(&self) -> &str {
        "age"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Interval(IntervalUnit::MonthDayNano))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [later, earlier] = args.args.as_slice() else {
            return Err(DataFusionError::Internal("age takes two times".to_owned()));
        };
        let times = |value: &ColumnarValue| -> Result<ArrayRef> {
            let wanted = DataType::Timestamp(TimeUnit::Microsecond, None);
            Ok(cast(&value.to_array(args.number_rows)?, &wanted)?)
        };
        let (later, earlier) = (times(later)?, times(earlier)?);
        let later = later.as_primitive::<TimestampMicrosecondType>().iter();
        let earlier = earlier.as_primitive::<TimestampMicrosecondType>().iter();
        let age =
            |(later, earlier): (Option<i64>, Option<i64>)| Some(between(moment(later?)?, moment(earlier?)?));
        let ages: IntervalMonthDayNanoArray = later.zip(earlier).map(age).collect();
        Ok(ColumnarValue::Array(Arc::new(ages)))
    }
}

fn moment(micros: i64) -> Option<NaiveDateTime> {
    DateTime::from_timestamp_micros(micros).map(|at| at.naive_utc())
}

/// Field by field; what is missing in the days is taken from the month of the earlier one.
fn between(later: NaiveDateTime, earlier: NaiveDateTime) -> IntervalMonthDayNano {
    if later < earlier {
        let age = between(earlier, later);
        return IntervalMonthDayNano::new(-age.months, -age.days, -age.nanoseconds);
    }
    let month = |at: NaiveDateTime| at.year() * 12 + at.month() as i32;
    let mut months = month(later) - month(earlier);
    let mut days = later.day() as i32 - earlier.day() as i32;
    let mut nanos = (later.time() - earlier.time()).num_nanoseconds().unwrap_or_default();
    if nanos < 0 {
        (nanos, days) = (nanos + DAY, days - 1);
    }
    while days < 0 {
        (days, months) = (days + days_of_month(earlier.date()), months - 1);
    }
    IntervalMonthDayNano::new(months, days, nanos)
}

fn days_of_month(at: NaiveDate) -> i32 {
    match at.month() {
        2 if at.leap_year() => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> NaiveDateTime {
        NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").unwrap()
    }

    /// What PostgreSQL 16 answers.
    #[test]
    fn ages_are_those_of_postgresql() {
        for (later, earlier, months, days, hours) in [
            ("2001-04-10 00:00:00", "1957-06-13 00:00:00", 43 * 12 + 9, 27, 0),
            ("2026-03-01 00:00:00", "2024-02-29 00:00:00", 24, 1, 0),
            ("2026-03-31 06:00:00", "2026-02-28 12:00:00", 1, 2, 18),
            ("2026-03-01 00:00:00", "2026-01-31 00:00:00", 1, 1, 0),
            ("2026-01-01 00:00:00", "2026-01-01 00:00:00", 0, 0, 0),
        ] {
            let age = between(at(later), at(earlier));
            let wanted = IntervalMonthDayNano::new(months, days, hours * 3_600_000_000_000);
            assert_eq!(age, wanted, "{later} {earlier}");
            let back = between(at(earlier), at(later));
            let turned = IntervalMonthDayNano::new(-months, -days, -hours * 3_600_000_000_000);
            assert_eq!(back, turned, "{earlier} {later}");
        }
    }
}
