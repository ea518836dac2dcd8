//! `is_experiment(trace_id)`: whether a trace is of a run of an experiment.

use crate::schema::columns::experiment_prefix;
use arrow::array::{BooleanArray, Scalar, StringArray};
use arrow::compute::kernels::comparison::starts_with;
use arrow::datatypes::DataType;
use datafusion::common::cast::as_string_array;
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;

/// `is_experiment(trace_id)`: true where the trace id is one that a run of an experiment was given, so that its spans are
/// not production's. NULL for NULL.
pub fn is_experiment() -> ScalarUDF {
    ScalarUDF::from(IsExperiment { signature: Signature::exact(vec![DataType::Utf8], Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct IsExperiment {
    signature: Signature,
}

impl ScalarUDFImpl for IsExperiment {
    fn name(&self) -> &str {
        "is_experiment"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arg_types: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [ids] = args.args.as_slice() else {
            return Err(DataFusionError::Internal("is_experiment takes one argument".to_owned()));
        };
        let ids = ids.to_array(args.number_rows)?;
        let prefix = Scalar::new(StringArray::from(vec![experiment_prefix()]));
        let is: BooleanArray = starts_with(as_string_array(&ids)?, &prefix)?;
        Ok(ColumnarValue::Array(Arc::new(is)))
    }
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::SessionContext;

    #[tokio::test]
    async fn the_mark_is_found_in_columns_and_constants() {
        let context = SessionContext::new();
        context.register_udf(super::is_experiment());
        let sql = "SELECT count(*) FILTER (WHERE is_experiment(t)) = 1 \
                   AND count(*) FILTER (WHERE is_experiment(t) IS NULL) = 1 AND NOT is_experiment('abc') AS ok \
                   FROM (VALUES ('e1ab5e7ac71d00000000000000000001'), ('0af7651916cd43dd8448eb211c80319c'), (NULL)) AS v(t)";
        let rows = context.sql(sql).await.unwrap().collect().await.unwrap();
        let text = arrow::util::pretty::pretty_format_batches(&rows).unwrap().to_string();
        assert!(text.contains("true"), "{text}");
    }
}
