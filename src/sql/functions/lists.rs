//! The function on lists that the PostgreSQL port makes an aggregate of: `list_mode`.

use arrow::array::{Array, AsArray, UInt64Array, make_comparator};
use arrow::compute::{SortOptions, take};
use arrow::datatypes::DataType;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::cmp::Ordering;

/// The function.
pub fn list_mode() -> ScalarUDF {
    ScalarUDF::from(Mode { signature: Signature::any(1, Volatility::Immutable) })
}

/// `list_mode(list)`: of a list in order the first of the most frequent values.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Mode {
    signature: Signature,
}

impl ScalarUDFImpl for Mode {
    fn name(&self) -> &str {
        "list_mode"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [DataType::List(element)] => Ok(element.data_type().clone()),
            _ => Err(DataFusionError::Plan("list_mode takes a list".to_owned())),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(value) = args.args.first() else {
            return Err(DataFusionError::Internal("list_mode takes one argument".to_owned()));
        };
        let lists = value.to_array(args.number_rows)?;
        let lists = lists.as_list::<i32>();
        let values = lists.values();
        let compare = make_comparator(values.as_ref(), values.as_ref(), SortOptions::default())?;
        let mode = |row: usize| {
            let span = lists.value_offsets().get(row..=row + 1)?;
            let (from, to) = (usize::try_from(span[0]).ok()?, usize::try_from(span[1]).ok()?);
            (lists.is_valid(row) && from < to).then(|| longest(from, to, &compare) as u64)
        };
        let at: UInt64Array = (0..lists.len()).map(mode).collect();
        Ok(ColumnarValue::Array(take(values.as_ref(), &at, None)?))
    }
}

/// Where the first of the longest runs of equal values begins.
fn longest(from: usize, to: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> usize {
    let (mut best, mut most, mut start) = (from, 0, from);
    for end in from + 1..=to {
        if end == to || compare(start, end).is_ne() {
            if end - start > most {
                (best, most) = (start, end - start);
            }
            start = end;
        }
    }
    best
}
