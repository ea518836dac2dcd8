//! What each function takes: types, the cluster, and the constants level, min_n_eff and q.

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::ColumnarValue;
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// Confidence level of the intervals where a query names none.
pub const LEVEL: f64 = 0.95;

/// The functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// `quality_rate(passed, π [, cluster])`.
    Rate,
    /// `quality_mean(value, π [, cluster])`.
    Mean,
    /// `quality_total(value, π)`.
    Total,
    /// `quality_quantile(value, q, π)`.
    Quantile,
    /// `quality_diff(a, b, π [, cluster])`.
    Diff,
    /// `ppi_rate(passed, label, π, π_label)`.
    PpiRate,
    /// `ppi_mean(value, label, π, π_label)`.
    PpiMean,
}

/// What an argument must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ArgumentKind {
    /// A boolean, or an integer of which 0 is false.
    Verdict,
    /// A number, or a boolean as 0 and 1.
    Number,
    /// A boolean if all arguments of this kind are, else a number.
    Either,
    /// A number that is no boolean.
    Constant,
    /// A text, which is what no other argument may be.
    Cluster,
}

/// What may stand after the arguments that a call must have; the first only if it is a text.
static OPTIONAL: [(&str, ArgumentKind); 3] = [
    ("cluster", ArgumentKind::Cluster),
    ("level", ArgumentKind::Constant),
    ("min_n_eff", ArgumentKind::Constant),
];

impl What {
    /// All functions.
    pub const ALL: [What; 7] =
        [What::Rate, What::Mean, What::Total, What::Quantile, What::Diff, What::PpiRate, What::PpiMean];

    /// The name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            What::Rate => "quality_rate",
            What::Mean => "quality_mean",
            What::Total => "quality_total",
            What::Quantile => "quality_quantile",
            What::Diff => "quality_diff",
            What::PpiRate => "ppi_rate",
            What::PpiMean => "ppi_mean",
        }
    }

    /// The arguments that a call must have.
    fn needed(self) -> &'static [(&'static str, ArgumentKind)] {
        const PI: (&str, ArgumentKind) = ("inclusion_probability", ArgumentKind::Constant);
        const PI_LABEL: (&str, ArgumentKind) = ("label_probability", ArgumentKind::Constant);
        match self {
            What::Rate => &[("passed", ArgumentKind::Verdict), PI],
            What::Mean | What::Total => &[("value", ArgumentKind::Number), PI],
            What::Quantile => &[("value", ArgumentKind::Number), ("q", ArgumentKind::Constant), PI],
            What::Diff => &[("a", ArgumentKind::Either), ("b", ArgumentKind::Either), PI],
            What::PpiRate => {
                &[("passed", ArgumentKind::Verdict), ("label", ArgumentKind::Verdict), PI, PI_LABEL]
            }
            What::PpiMean => {
                &[("value", ArgumentKind::Number), ("label", ArgumentKind::Number), PI, PI_LABEL]
            }
        }
    }

    /// How many arguments a call must have; those that may be left out follow.
    pub fn arity(self) -> usize {
        self.needed().len()
    }

    /// Whether rows may be of clusters, within which they are alike.
    fn knows_clusters(self) -> bool {
        matches!(self, What::Rate | What::Mean | What::Diff)
    }

    /// Whether a call with arguments of these types names the cluster of each row, at the place [`What::arity`].
    pub fn is_clustered(self, given: &[FieldRef]) -> bool {
        self.knows_clusters() && given.get(self.arity()).is_some_and(|field| is_text(field.data_type()))
    }

    /// The arguments that may follow in a call with arguments of these types.
    fn optional(self, given: &[DataType]) -> &'static [(&'static str, ArgumentKind)] {
        let clustered = self.knows_clusters() && given.get(self.arity()).is_some_and(is_text);
        if clustered { &OPTIONAL } else { &OPTIONAL[1..] }
    }

    /// The types that the arguments are brought to.
    ///
    /// # Errors
    /// A wrong number of arguments, or one that is no number or verdict; the text shows the call as it should be.
    pub fn coerce(self, given: &[DataType]) -> Result<Vec<DataType>> {
        let needed = self.needed();
        let optional = self.optional(given);
        if given.len() < needed.len() || given.len() > needed.len() + optional.len() {
            return Err(DataFusionError::Plan(format!("{} has {} arguments", self.usage(), given.len())));
        }
        let of =
            |kind: ArgumentKind| needed.iter().zip(given).filter(move |(n, _)| n.1 == kind).map(|(_, g)| g);
        let verdicts = of(ArgumentKind::Either).all(|t| matches!(t, DataType::Boolean | DataType::Null));
        let known = of(ArgumentKind::Either).any(|t| *t == DataType::Boolean);
        needed
            .iter()
            .chain(optional)
            .zip(given)
            .map(|((name, kind), given)| {
                let wanted = kind.coerce(given, verdicts && known);
                wanted.ok_or_else(|| DataFusionError::Plan(format!("{}: {name} is {given}", self.usage())))
            })
            .collect()
    }

    fn usage(self) -> String {
        let names: Vec<&str> = self.needed().iter().map(|(name, _)| *name).collect();
        let cluster = if self.knows_clusters() { " [, cluster]" } else { "" };
        format!("{}({}{cluster} [, level [, min_n_eff]])", self.name(), names.join(", "))
    }
}

fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_text(values),
        kind => kind.is_string(),
    }
}

impl ArgumentKind {
    fn coerce(self, given: &DataType, verdicts: bool) -> Option<DataType> {
        let number = given.is_numeric() || *given == DataType::Null;
        let boolean = *given == DataType::Boolean;
        match self {
            ArgumentKind::Verdict if boolean || given.is_integer() || *given == DataType::Null => {
                Some(DataType::Boolean)
            }
            ArgumentKind::Either if verdicts => Some(DataType::Boolean),
            ArgumentKind::Number | ArgumentKind::Either if number || boolean => Some(DataType::Float64),
            ArgumentKind::Constant if number => Some(DataType::Float64),
            ArgumentKind::Cluster if is_text(given) => Some(DataType::Utf8View),
            _ => None,
        }
    }
}

/// The constants of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// Confidence level, above 0 and below 1.
    pub level: f64,
    /// With less effective items the answer is NULL.
    pub min_n_eff: f64,
    /// Which quantile, above 0 and below 1; one half for the other functions.
    pub q: f64,
    /// Whether the values are verdicts, of which only true and false exist.
    pub verdicts: bool,
}

impl Asked {
    /// Reads the constants of a call of `what`.
    ///
    /// # Errors
    /// DISTINCT; a level, minimum or q that is no constant, NULL, or out of its range.
    pub fn new(what: What, args: &AccumulatorArgs<'_>) -> Result<Self> {
        if args.is_distinct {
            return Err(wrong(format!("{} counts every row: DISTINCT is not supported", what.name())));
        }
        let inside = |x: f64| x > 0.0 && x < 1.0;
        let clustered = what.is_clustered(args.expr_fields);
        if clustered && args.exprs.get(what.arity()).is_some_and(|cluster| value_of(cluster).is_some()) {
            let why = "the cluster is the same text in all rows; name a column, such as trace_id";
            return Err(wrong(format!("{}: {why}", what.name())));
        }
        let first = what.arity() + usize::from(clustered);
        let optional = |at: usize, name: &str| -> Result<Option<f64>> {
            args.exprs.get(first + at).map(|expr| constant(expr, what, name)).transpose()
        };
        let level = optional(0, "level")?.unwrap_or(LEVEL);
        if !inside(level) {
            return Err(wrong(format!("{}: level must be above 0 and below 1, not {level}", what.name())));
        }
        let min_n_eff = optional(1, "min_n_eff")?.unwrap_or(0.0);
        if !(min_n_eff >= 0.0 && min_n_eff.is_finite()) {
            return Err(wrong(format!("{}: min_n_eff must be 0 or more, not {min_n_eff}", what.name())));
        }
        let q = if what == What::Quantile { constant(&args.exprs[1], what, "q")? } else { 0.5 };
        if !inside(q) {
            return Err(wrong(format!("{}: q must be above 0 and below 1, not {q}", what.name())));
        }
        let verdicts = args.expr_fields.first().is_some_and(|field| *field.data_type() == DataType::Boolean);
        Ok(Self { level, min_n_eff, q, verdicts })
    }
}

/// The value of an argument that is the same in all rows.
fn constant(expr: &Arc<dyn PhysicalExpr>, what: What, name: &str) -> Result<f64> {
    match value_of(expr) {
        Some(ScalarValue::Float64(Some(value))) => Ok(value),
        _ => Err(wrong(format!("{}: {name} must be a number that is the same in all rows", what.name()))),
    }
}

/// The value of an expression that is the same in all rows; none of another.
fn value_of(expr: &Arc<dyn PhysicalExpr>) -> Option<ScalarValue> {
    // An expression that reads a column fails on a batch without columns.
    let none = RecordBatch::new_empty(Arc::new(Schema::empty()));
    match expr.evaluate(&none) {
        Ok(ColumnarValue::Scalar(value)) => Some(value),
        _ => None,
    }
}

fn wrong(why: String) -> DataFusionError {
    DataFusionError::Execution(why)
}
