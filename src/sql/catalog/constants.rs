//! Functions of PostgreSQL's catalogue that have one answer here.

use arrow::datatypes::{DataType, Field, Fields};
use datafusion::common::scalar::ScalarStructBuilder;
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;

/// There is one schema to see, and every token that may query may see it.
const TRUE: &[&str] = &[
    "has_any_column_privilege",
    "has_column_privilege",
    "has_foreign_data_wrapper_privilege",
    "has_function_privilege",
    "has_language_privilege",
    "has_sequence_privilege",
    "has_server_privilege",
    "has_tablespace_privilege",
    "has_type_privilege",
    "pg_collation_is_visible",
    "pg_conversion_is_visible",
    "pg_function_is_visible",
    "pg_has_role",
    "pg_opclass_is_visible",
    "pg_operator_is_visible",
    "pg_opfamily_is_visible",
    "pg_statistics_obj_is_visible",
    "pg_ts_config_is_visible",
    "pg_ts_dict_is_visible",
    "pg_ts_parser_is_visible",
    "pg_ts_template_is_visible",
    "pg_type_is_visible",
];

const FALSE: &[&str] = &["pg_is_in_recovery", "pg_is_other_temp_schema"];

/// There are no indexes, triggers, sequences, locks and so on to tell of.
const NULL: &[&str] = &[
    "inet_client_addr",
    "inet_server_addr",
    "pg_relation_filepath",
    "pg_get_function_arg_default",
    "pg_advisory_unlock_all",
    "pg_describe_object",
    "pg_get_function_sqlbody",
    "pg_get_indexdef",
    "pg_get_partition_constraintdef",
    "pg_get_ruledef",
    "pg_get_serial_sequence",
    "pg_get_statisticsobjdef",
    "pg_get_triggerdef",
    "pg_tablespace_location",
    "shobj_description",
];

/// There are no indexes, and no temporary tables.
const ZERO: &[&str] = &["pg_indexes_size", "pg_my_temp_schema"];

/// The number of the one encoding.
const UTF8: &[&str] = &["pg_char_to_encoding"];

/// Its name.
const ENCODING: &[&str] = &["getdatabaseencoding"];

/// The elements of a list with their places: lists of the catalogue are empty.
const PLACES: &[&str] = &["_pg_expandarray"];

/// Adds them to `context`.
pub fn register(context: &SessionContext) {
    let answers = [
        (TRUE, ScalarValue::Boolean(Some(true))),
        (FALSE, ScalarValue::Boolean(Some(false))),
        (NULL, ScalarValue::Utf8(None)),
        (ZERO, ScalarValue::Int64(Some(0))),
        (UTF8, ScalarValue::Int32(Some(6))),
        (ENCODING, ScalarValue::from("UTF8")),
        (PLACES, no_place()),
    ];
    for (names, answer) in answers {
        for name in names {
            let of_any = TypeSignature::OneOf(vec![TypeSignature::Nullary, TypeSignature::VariadicAny]);
            let signature = Signature::new(of_any, Volatility::Stable);
            context.register_udf(ScalarUDF::from(Constant { name, answer: answer.clone(), signature }));
        }
    }
}

fn no_place() -> ScalarValue {
    let fields: Vec<Field> = ["x", "n"].map(|name| Field::new(name, DataType::Int32, true)).into();
    ScalarStructBuilder::new_null(Fields::from(fields))
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Constant {
    name: &'static str,
    answer: ScalarValue,
    signature: Signature,
}

impl ScalarUDFImpl for Constant {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.answer.data_type())
    }

    fn invoke_with_args(&self, _: ScalarFunctionArgs) -> Result<ColumnarValue> {
        Ok(ColumnarValue::Scalar(self.answer.clone()))
    }
}
