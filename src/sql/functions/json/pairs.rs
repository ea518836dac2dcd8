//! Lists of pairs as JSON objects, which the PostgreSQL port makes `json_object_agg` and `jsonb_object_agg` of.

use crate::sql::format::json_texts;
use crate::sql::functions::bounded::check_bytes;
use arrow::array::{Array, ArrayRef, AsArray, StringBuilder};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Fields};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// `json_object_of(pairs)` keeps what comes twice, in order, as `json` does; `jsonb_object_of` the last of each key, the shortest keys first.
pub fn pair_functions() -> [ScalarUDF; 2] {
    ["json_object_of", "jsonb_object_of"]
        .map(|name| ScalarUDF::from(Pairs { name, signature: Signature::any(1, Volatility::Immutable) }))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Pairs {
    name: &'static str,
    signature: Signature,
}

impl Pairs {
    fn fields<'a>(&self, kind: &'a DataType) -> Result<&'a Fields> {
        if let DataType::List(element) = kind
            && let DataType::Struct(fields) = element.data_type()
            && fields.len() == 2
        {
            return Ok(fields);
        }
        Err(DataFusionError::Plan(format!("{} takes a list of pairs", self.name)))
    }
}

impl ScalarUDFImpl for Pairs {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.fields(types.first().unwrap_or(&DataType::Null)).map(|_| DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(value) = args.args.first() else {
            return Err(DataFusionError::Internal(format!("{} takes one argument", self.name)));
        };
        let lists = value.to_array(args.number_rows)?;
        let fields = self.fields(lists.data_type())?;
        let lists = lists.as_list::<i32>();
        let pairs = lists.values().as_struct();
        let keys = cast(pairs.column(0), &DataType::Utf8)?;
        let keys = keys.as_string::<i32>();
        let column = pairs.column(1);
        let values: ArrayRef = if column.data_type().is_null() {
            arrow::array::new_null_array(&DataType::Utf8, column.len())
        } else {
            json_texts(&fields[1], column).map_err(|why| DataFusionError::External(Box::new(why)))?
        };
        let values = values.as_string::<i32>();
        let (mut out, mut bytes) = (StringBuilder::new(), 0i128);
        for row in 0..lists.len() {
            let span = lists.value_offsets().get(row..=row + 1).filter(|_| lists.is_valid(row));
            let Some(&[from, to]) = span else {
                out.append_null();
                continue;
            };
            let (mut all, mut newest) = (Vec::new(), BTreeMap::new());
            for at in usize::try_from(from).unwrap_or(0)..usize::try_from(to).unwrap_or(0) {
                if keys.is_null(at) {
                    let name = self.name.replace("_of", "_agg");
                    return Err(DataFusionError::Execution(format!("a key of {name} is NULL")));
                }
                let (key, value) =
                    (keys.value(at), if values.is_null(at) { "null" } else { values.value(at) });
                bytes += (key.len() + value.len() + 8) as i128;
                check_bytes(self.name, bytes)?;
                all.push((key, value));
                newest.insert((key.len(), key), value);
            }
            if self.name.starts_with("jsonb") {
                all = newest.into_iter().map(|((_, key), value)| (key, value)).collect();
            }
            let parts: Vec<String> =
                all.iter().map(|(key, value)| format!("{}:{value}", Value::from(*key))).collect();
            out.append_value(format!("{{{}}}", parts.join(",")));
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish())))
    }
}
