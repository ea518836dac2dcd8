//! What the filters of a query say about a time column.

use arrow::datatypes::{DataType, TimeUnit};
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use datafusion::scalar::ScalarValue;

const DAY_NS: i128 = 86_400_000_000_000;

/// An inclusive range of time, nanoseconds since 1970 UTC, that holds every row which the filters can accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// The first nanosecond.
    pub from: i128,
    /// The last nanosecond.
    pub to: i128,
}

impl TimeRange {
    /// All of time.
    pub const ALL: TimeRange = TimeRange { from: i128::MIN, to: i128::MAX };

    /// The range that the conjunction of `filters` leaves for `column`.
    ///
    /// Never too narrow: what is not understood counts as no restriction.
    pub fn of(filters: &[Expr], column: &str) -> Self {
        filters.iter().filter_map(|f| of_expr(f, column)).fold(Self::ALL, Self::and)
    }

    /// Whether a span of time given in microseconds, both ends rounded down, can touch this range.
    pub fn touches_micros(&self, min: i64, max: i64) -> bool {
        i128::from(min) * 1000 <= self.to && i128::from(max) * 1000 + 999 >= self.from
    }

    /// The ends as 64-bit nanoseconds; `None` at an end that restricts nothing.
    pub fn ends_ns(&self) -> (Option<i64>, Option<i64>) {
        // An end beyond what 64 bits can say on the restricting side becomes the outermost value.
        let from = (self.from > i128::from(i64::MIN)).then(|| i64::try_from(self.from).unwrap_or(i64::MAX));
        let to = (self.to < i128::from(i64::MAX)).then(|| i64::try_from(self.to).unwrap_or(i64::MIN));
        (from, to)
    }

    /// The ends as microseconds, for a column that holds those; `None` at an end that restricts nothing.
    pub fn ends_micros(&self) -> (Option<i64>, Option<i64>) {
        let (from, to) = (self.from.div_euclid(1000), self.to.div_euclid(1000));
        let from = (from > i128::from(i64::MIN)).then(|| i64::try_from(from).unwrap_or(i64::MAX));
        let to = (to < i128::from(i64::MAX)).then(|| i64::try_from(to).unwrap_or(i64::MIN));
        (from, to)
    }

    /// What is in both.
    pub fn and(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }

    fn or(self, other: Self) -> Self {
        Self { from: self.from.min(other.from), to: self.to.max(other.to) }
    }
}

fn of_expr(expr: &Expr, column: &str) -> Option<TimeRange> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            match (of_expr(left, column), of_expr(right, column)) {
                (Some(a), Some(b)) => Some(a.and(b)),
                (one, other) => one.or(other),
            }
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            Some(of_expr(left, column)?.or(of_expr(right, column)?))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => {
            if let (Some(slack), Some(at)) = (column_slack(left, column), instant(right)) {
                compared(*op, at, slack)
            } else if let (Some(at), Some(slack)) = (instant(left), column_slack(right, column)) {
                compared(op.swap()?, at, slack)
            } else {
                None
            }
        }
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let slack = column_slack(expr, column)?;
            let from = compared(Operator::GtEq, instant(low)?, slack)?;
            Some(from.and(compared(Operator::LtEq, instant(high)?, slack)?))
        }
        _ => None,
    }
}

/// How far a column's value may lie before and after what is compared in its place, nanoseconds.
#[derive(Clone, Copy)]
struct Slack {
    before: i128,
    after: i128,
}

/// The rows that `column op at` can accept when the column was rounded before comparing.
fn compared(op: Operator, at: i128, slack: Slack) -> Option<TimeRange> {
    let (before, after) = (at - slack.before, at + slack.after);
    match op {
        Operator::Eq => Some(TimeRange { from: before, to: after }),
        Operator::Gt | Operator::GtEq => Some(TimeRange { from: before, to: i128::MAX }),
        Operator::Lt | Operator::LtEq => Some(TimeRange { from: i128::MIN, to: after }),
        _ => None,
    }
}

/// None for the column itself, the unit for the column cast to a time type or cut to a unit; `None` for anything else.
fn column_slack(expr: &Expr, column: &str) -> Option<Slack> {
    match expr {
        Expr::Column(c) if c.name == column => Some(Slack { before: 0, after: 0 }),
        Expr::Cast(cast) => Some(rounded(column_slack(&cast.expr, column)?, width(cast.field.data_type())?)),
        Expr::TryCast(cast) => {
            Some(rounded(column_slack(&cast.expr, column)?, width(cast.field.data_type())?))
        }
        Expr::ScalarFunction(call) if call.name() == "date_trunc" => {
            let [Expr::Literal(unit, _), at] = call.args.as_slice() else { return None };
            let slack = column_slack(at, column)?;
            // It rounds down: what is at an hour or after it came from there or later.
            Some(Slack { after: slack.after + unit_width(unit.try_as_str()??)?, ..slack })
        }
        _ => None,
    }
}

/// A cast rounds toward 1970.
fn rounded(slack: Slack, width: i128) -> Slack {
    Slack { before: slack.before.max(width), after: slack.after.max(width) }
}

/// The longest that a unit of `date_trunc` can be; from days on with the hour that a clock is set back.
fn unit_width(unit: &str) -> Option<i128> {
    match unit.to_ascii_lowercase().as_str() {
        "microsecond" => Some(1_000),
        "millisecond" => Some(1_000_000),
        "second" => Some(1_000_000_000),
        "minute" => Some(60 * 1_000_000_000),
        "hour" => Some(DAY_NS / 24),
        "day" => Some(DAY_NS + DAY_NS / 24),
        "week" => Some(7 * DAY_NS + DAY_NS / 24),
        "month" => Some(32 * DAY_NS),
        "quarter" => Some(93 * DAY_NS),
        "year" => Some(367 * DAY_NS),
        _ => None,
    }
}

fn width(data_type: &DataType) -> Option<i128> {
    match data_type {
        // A cast from another zone to none gives that zone's clock, hours away.
        DataType::Timestamp(_, Some(zone)) if !is_utc(zone) => None,
        DataType::Timestamp(unit, _) => Some(nanos(*unit)),
        DataType::Date32 | DataType::Date64 => Some(DAY_NS),
        _ => None,
    }
}

fn is_utc(zone: &str) -> bool {
    matches!(zone, "UTC" | "Z" | "+00:00" | "Etc/UTC")
}

fn nanos(unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1000,
        TimeUnit::Nanosecond => 1,
    }
}

fn instant(expr: &Expr) -> Option<i128> {
    let Expr::Literal(value, _) = expr else { return None };
    match value {
        ScalarValue::TimestampSecond(Some(t), _) => Some(i128::from(*t) * 1_000_000_000),
        ScalarValue::TimestampMillisecond(Some(t), _) => Some(i128::from(*t) * 1_000_000),
        ScalarValue::TimestampMicrosecond(Some(t), _) => Some(i128::from(*t) * 1000),
        ScalarValue::TimestampNanosecond(Some(t), _) => Some(i128::from(*t)),
        ScalarValue::Date32(Some(days)) => Some(i128::from(*days) * DAY_NS),
        ScalarValue::Date64(Some(millis)) => Some(i128::from(*millis) * 1_000_000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::{cast, col, lit};

    fn at(ns: i64) -> Expr {
        lit(ScalarValue::TimestampNanosecond(Some(ns), Some("UTC".into())))
    }

    fn range(filters: &[Expr]) -> (i128, i128) {
        let r = TimeRange::of(filters, "t");
        (r.from, r.to)
    }

    #[test]
    fn comparisons_both_ways() {
        assert_eq!(range(&[col("t").gt_eq(at(5)), at(9).gt(col("t"))]), (5, 9));
        assert_eq!(range(&[col("t").eq(at(5))]), (5, 5));
        assert_eq!(range(&[col("t").between(at(2), at(3))]), (2, 3));
    }

    #[test]
    fn what_is_not_understood_restricts_nothing() {
        let all = (i128::MIN, i128::MAX);
        assert_eq!(range(&[]), all);
        assert_eq!(range(&[col("u").eq(at(5))]), all);
        assert_eq!(range(&[col("t").not_eq(at(5))]), all);
        assert_eq!(range(&[col("t").not_between(at(2), at(3))]), all);
        assert_eq!(range(&[col("t").gt(at(5)).or(col("u").gt(at(5)))]), all);
        assert_eq!(range(&[col("t").gt(at(5)).and(col("u").gt(at(9)))]), (5, i128::MAX));
        assert_eq!(range(&[col("t").lt(at(1)).or(col("t").lt(at(7)))]), (i128::MIN, 7));
    }

    #[test]
    fn a_cast_to_days_keeps_the_whole_day() {
        let filter = cast(col("t"), DataType::Date32).eq(lit(ScalarValue::Date32(Some(2))));
        let (from, to) = range(&[filter]);
        assert!(from <= 2 * DAY_NS && to >= 3 * DAY_NS - 1);
        assert!(from > 0 && to < 5 * DAY_NS);
    }

    #[test]
    fn what_is_cut_to_an_hour_keeps_the_hour_and_another_zone_restricts_nothing() {
        let hour = 3_600 * 1_000_000_000;
        let cut = datafusion::functions::datetime::expr_fn::date_trunc(lit("hour"), col("t"));
        let (from, to) = range(&[cut.clone().gt_eq(at(10 * hour)), cut.lt(at(12 * hour))]);
        assert!(from == i128::from(10 * hour) && to >= i128::from(12 * hour - 1), "{from} {to}");
        assert!(to < i128::from(14 * hour), "{from} {to}");
        let there = DataType::Timestamp(TimeUnit::Nanosecond, Some("America/New_York".into()));
        let clock = cast(cast(col("t"), there), DataType::Timestamp(TimeUnit::Nanosecond, None));
        let literal = lit(ScalarValue::TimestampNanosecond(Some(5), None));
        assert_eq!(range(&[clock.gt(literal)]), (i128::MIN, i128::MAX));
    }

    #[test]
    fn files_touch_by_rounded_micros() {
        let r = TimeRange { from: 1_999, to: 5_000 };
        assert!(r.touches_micros(0, 1), "the last microsecond of the file may hold 1999 ns");
        assert!(!r.touches_micros(0, 0));
        assert!(r.touches_micros(5, 9));
        assert!(!r.touches_micros(6, 9));
        assert_eq!(r.ends_ns(), (Some(1_999), Some(5_000)));
        assert_eq!(r.ends_micros(), (Some(1), Some(5)));
        assert_eq!(TimeRange::ALL.ends_micros(), (None, None));
        assert_eq!(TimeRange::ALL.ends_ns(), (None, None));
    }
}
