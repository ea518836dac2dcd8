//! Functions that name what a number stands for, and the other way round.

use super::relations::{PG_CATALOG, PUBLIC, Relation};
use super::tables::{FUNCTIONS, function_oid, schema_name};
use arrow::array::{
    Array, AsArray, BooleanArray, Int32Array, ListBuilder, RecordBatch, StringArray, StringBuilder,
};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int32Type};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
    create_udf,
};
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Adds them to `context`.
pub fn register(context: &SessionContext, relations: &[Relation], types: &[RecordBatch]) {
    let mut comments = BTreeMap::new();
    let mut column_comments = BTreeMap::new();
    for relation in relations {
        comments.extend(relation.comment.map(|text| ((relation.oid, 0), text.to_owned())));
        for (place, column) in (1..).zip(&relation.columns) {
            column_comments.extend(column.comment.map(|text| ((relation.oid, place), text.to_owned())));
        }
    }
    let definitions = relations.iter().filter_map(|r| Some(((r.oid, 0), r.definition.clone()?)));
    let names = relations.iter().map(|r| ((r.oid, 0), shown_name(r)));
    let functions = |part: fn(&(&str, &str, &str, &str)) -> String| {
        let numbered = FUNCTIONS.iter().enumerate();
        numbered.map(|(place, function)| ((function_oid(place), 0), part(function))).collect()
    };
    let arguments: BTreeMap<_, _> = functions(|(_, _, _, arguments)| (*arguments).to_owned());
    for (name, answers) in [
        ("obj_description", comments),
        ("pg_get_viewdef", definitions.collect()),
        ("regclassout", names.collect()),
        ("pg_get_functiondef", functions(definition)),
        ("pg_get_function_result", functions(|(_, _, result, _)| (*result).to_owned())),
        ("pg_get_function_arguments", arguments.clone()),
        ("pg_get_function_identity_arguments", arguments),
    ] {
        add(context, name, By::Object, answers);
    }
    add(context, "col_description", By::Column, column_comments);
    // Names of information_schema need their schema: it is not in the search path.
    let unseen = relations.iter().filter(|r| !matches!(r.namespace, PUBLIC | PG_CATALOG));
    let signature = Signature::any(1, Volatility::Stable);
    let visible = Visible { unseen: unseen.map(|r| r.oid).collect(), signature };
    context.register_udf(ScalarUDF::from(visible));
    context.register_udf(ScalarUDF::from(TypeNames::new(types)));
    context.register_udf(oids());
    for (name, numbers) in [("to_regclass", numbers(relations)), ("to_regtype", type_numbers(types))] {
        let signature = Signature::uniform(1, vec![DataType::Utf8], Volatility::Stable);
        context.register_udf(ScalarUDF::from(ToNumber { name, numbers, signature }));
    }
}

/// `oids(numbers)`: the same list. A parameter in it is told to clients as a list of numbers of the catalogue.
fn oids() -> ScalarUDF {
    let same = |args: &[ColumnarValue]| match args {
        [numbers] => Ok(numbers.clone()),
        _ => Err(DataFusionError::Internal("oids takes one argument".to_owned())),
    };
    let numbers = DataType::new_list(DataType::Int32, true);
    create_udf("oids", vec![numbers.clone()], numbers, Volatility::Stable, Arc::new(same))
}

fn add(context: &SessionContext, name: &'static str, by: By, answers: BTreeMap<(i32, i32), String>) {
    let of_any = TypeSignature::OneOf(vec![TypeSignature::Any(1), TypeSignature::Any(2)]);
    let signature = Signature::new(of_any, Volatility::Stable);
    context.register_udf(ScalarUDF::from(Lookup { name, by, answers, signature }));
}

/// A function as a statement that would make it.
fn definition((name, _, result, arguments): &(&str, &str, &str, &str)) -> String {
    let head = format!("CREATE OR REPLACE FUNCTION public.{name}({arguments})");
    format!("{head}\n RETURNS {result}\n LANGUAGE internal\nAS $function${name}$function$\n")
}

/// The name that needs no schema where the search path has it.
fn shown_name(relation: &Relation) -> String {
    match relation.namespace {
        PUBLIC | PG_CATALOG => relation.name.clone(),
        other => format!("{}.{}", schema_name(other), relation.name),
    }
}

fn numbers(relations: &[Relation]) -> BTreeMap<String, i32> {
    let mut numbers = BTreeMap::new();
    for relation in relations {
        numbers.insert(shown_name(relation), relation.oid);
        numbers.insert(format!("{}.{}", schema_name(relation.namespace), relation.name), relation.oid);
    }
    numbers
}

/// What a text is looked up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum By {
    /// The number of an object, whatever else is said.
    Object,
    /// The number of a table and the place of a column.
    Column,
}

/// A text by the number of an object, and the place of a column in it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Lookup {
    name: &'static str,
    by: By,
    answers: BTreeMap<(i32, i32), String>,
    signature: Signature,
}

impl ScalarUDFImpl for Lookup {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(object) = args.args.first() else { return Ok(ColumnarValue::from(ScalarValue::Utf8(None))) };
        let objects = ints(object, args.number_rows)?;
        let places = match args.args.get(1).filter(|_| self.by == By::Column) {
            Some(place) => Some(ints(place, args.number_rows)?),
            None => None,
        };
        let found = (0..objects.len()).map(|row| {
            let place = places.as_ref().map_or(Some(0), |p| p.is_valid(row).then(|| p.value(row)))?;
            let object = objects.is_valid(row).then(|| objects.value(row))?;
            self.answers.get(&(object, place)).map(String::as_str)
        });
        Ok(ColumnarValue::Array(Arc::new(found.collect::<StringArray>())))
    }
}

fn ints(value: &ColumnarValue, rows: usize) -> Result<Int32Array> {
    let array = cast(&value.to_array(rows)?, &DataType::Int32)?;
    Ok(array.as_primitive::<Int32Type>().clone())
}

/// Whether the name of a table needs no schema.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Visible {
    unseen: BTreeSet<i32>,
    signature: Signature,
}

impl ScalarUDFImpl for Visible {
    fn name(&self) -> &str {
        "pg_table_is_visible"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(object) = args.args.first() else {
            return Ok(ColumnarValue::from(ScalarValue::Boolean(None)));
        };
        let objects = ints(object, args.number_rows)?;
        let seen = objects.iter().map(|oid| oid.map(|oid| !self.unseen.contains(&oid)));
        Ok(ColumnarValue::Array(Arc::new(seen.collect::<BooleanArray>())))
    }
}

/// Types by what SQL calls them, beside what the catalogue does.
const ALIASES: &[(&str, i32)] = &[
    ("bigint", 20),
    ("boolean", 16),
    ("double precision", 701),
    ("int", 23),
    ("integer", 23),
    ("real", 700),
    ("smallint", 21),
    ("timestamp with time zone", 1184),
    ("timestamp without time zone", 1114),
];

/// The names of types by their numbers, from a text such as `25 16` or a list: what a cast to `regtype[]` gives.
#[derive(Debug, PartialEq, Eq, Hash)]
struct TypeNames {
    names: BTreeMap<i32, String>,
    signature: Signature,
}

impl TypeNames {
    fn new(types: &[RecordBatch]) -> Self {
        let mut names: BTreeMap<i32, String> =
            type_numbers(types).into_iter().map(|(name, oid)| (oid, name)).collect();
        // What SQL calls a type goes before what the catalogue does.
        names.extend(ALIASES.iter().map(|(name, oid)| (*oid, (*name).to_owned())));
        Self { names, signature: Signature::any(1, Volatility::Stable) }
    }

    fn of(&self, oid: i32) -> Option<String> {
        Some(self.names.get(&oid).cloned().unwrap_or_else(|| oid.to_string()))
    }
}

impl ScalarUDFImpl for TypeNames {
    fn name(&self) -> &str {
        "regtypes"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true))))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [numbers] = args.args.as_slice() else {
            return Err(DataFusionError::Internal("regtypes takes one argument".to_owned()));
        };
        let numbers = numbers.to_array(args.number_rows)?;
        let mut out = ListBuilder::new(StringBuilder::new());
        if let Some(lists) = numbers.as_list_opt::<i32>() {
            for list in lists.iter() {
                match list {
                    Some(list) => {
                        let oids = cast(&list, &DataType::Int32)?;
                        let oids = oids.as_primitive::<Int32Type>().iter();
                        out.append_value(oids.map(|oid| self.of(oid?)));
                    }
                    None => out.append_null(),
                }
            }
        } else {
            let texts = cast(&numbers, &DataType::Utf8)?;
            for text in texts.as_string::<i32>().iter() {
                match text {
                    Some(text) => {
                        let oids = text.split_whitespace().filter_map(|oid| oid.parse().ok());
                        out.append_value(oids.map(|oid| self.of(oid)));
                    }
                    None => out.append_null(),
                }
            }
        }
        Ok(ColumnarValue::Array(Arc::new(out.finish())))
    }
}

/// The numbers of the rows of `pg_type`.
fn type_numbers(types: &[RecordBatch]) -> BTreeMap<String, i32> {
    let mut numbers: BTreeMap<String, i32> =
        ALIASES.iter().map(|(name, oid)| ((*name).to_owned(), *oid)).collect();
    for batch in types {
        let names = batch.column_by_name("typname").and_then(|c| c.as_string_opt::<i32>());
        let oids = batch.column_by_name("oid").and_then(|c| c.as_primitive_opt::<Int32Type>());
        let rows = names.into_iter().flatten().zip(oids.into_iter().flatten());
        numbers.extend(rows.filter_map(|(name, oid)| Some((name?.to_owned(), oid?))));
    }
    numbers
}

/// The number of a table or type by its name, NULL if there is none.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ToNumber {
    name: &'static str,
    numbers: BTreeMap<String, i32>,
    signature: Signature,
}

impl ScalarUDFImpl for ToNumber {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int32)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let Some(name) = args.args.first() else {
            return Ok(ColumnarValue::from(ScalarValue::Int32(None)));
        };
        let names = name.to_array(args.number_rows)?;
        let found = names.as_string::<i32>().iter().map(|name| {
            let name = name?;
            let plain = name.replace('"', "");
            let folded = if plain.len() == name.len() { plain.to_lowercase() } else { plain };
            // The number itself is a name too.
            self.numbers.get(&folded).copied().or_else(|| folded.parse().ok())
        });
        Ok(ColumnarValue::Array(Arc::new(found.collect::<Int32Array>())))
    }
}
