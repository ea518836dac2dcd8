//! The functions of SQL that take a path.

use super::evaluate::Asked;
use super::fault::{Fault, Steps};
use super::items::Item;
use super::parse::parse;
use super::tree::Path;
use crate::sql::error::SqlError;
use crate::sql::functions::json::read::{Bounded, list_of_texts};
use crate::sql::functions::json::texts::Texts;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, BooleanBuilder, ListArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility,
};
use datafusion::scalar::ScalarValue;
use serde_json::Value;
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a function gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum What {
    /// Whether the path has a value.
    Exists,
    /// What its condition gives.
    Match,
    /// Its values as an array of JSON.
    Array,
    /// The first of them.
    First,
    /// A list of them, for `unnest`.
    Items,
}

/// `jsonb_path_exists`, `jsonb_path_match`, `jsonb_path_query_array` and `jsonb_path_query_first`; `json_path_items` gives the
/// rows of `jsonb_path_query` as a list. A text that is no JSON gives NULL.
pub fn path_functions() -> Vec<ScalarUDF> {
    let known = [
        ("jsonb_path_exists", What::Exists),
        ("jsonb_path_match", What::Match),
        ("jsonb_path_query_array", What::Array),
        ("jsonb_path_query_first", What::First),
        ("json_path_items", What::Items),
    ];
    let function = |(name, what)| {
        let all = [DataType::Utf8, DataType::Utf8, DataType::Utf8, DataType::Boolean];
        let taken = |count: usize| TypeSignature::Exact(all.iter().take(count).cloned().collect());
        let signature = Signature::one_of([2, 3, 4].map(taken).to_vec(), Volatility::Immutable);
        ScalarUDF::from(PathFunction { name, what, silent: false, known: None, signature })
    };
    known.map(function).into_iter().chain(path_operators()).collect()
}

/// The functions behind `@?` and `@@`, by the names that PostgreSQL has for them: what does not fit the path is NULL.
pub fn path_operators() -> [ScalarUDF; 2] {
    [("jsonb_path_exists_opr", What::Exists), ("jsonb_path_match_opr", What::Match)].map(|(name, what)| {
        let signature = Signature::exact(vec![DataType::Utf8, DataType::Utf8], Volatility::Immutable);
        ScalarUDF::from(PathFunction { name, what, silent: true, known: None, signature })
    })
}

/// A path with the text that it was read from.
#[derive(Debug, Clone)]
struct Known {
    text: String,
    path: Arc<Path>,
}

impl Known {
    fn new(text: &str) -> Result<Self, SqlError> {
        Ok(Self { text: text.to_owned(), path: Arc::new(parse(text)?) })
    }
}

impl PartialEq for Known {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Known {}

impl Hash for Known {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct PathFunction {
    name: &'static str,
    what: What,
    /// Whether it is silent without being told.
    silent: bool,
    /// The path, if it is the same in all rows: it is read once, when the query is planned.
    known: Option<Known>,
    signature: Signature,
}

fn told(why: SqlError) -> DataFusionError {
    DataFusionError::External(Box::new(why))
}

impl ScalarUDFImpl for PathFunction {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.what {
            What::Exists | What::Match => DataType::Boolean,
            What::Array | What::First => DataType::Utf8,
            What::Items => list_of_texts(),
        })
    }

    fn simplify(&self, args: Vec<Expr>, _: &SimplifyContext) -> Result<ExprSimplifyResult> {
        let literal = match args.get(1) {
            Some(Expr::Literal(value, _)) => value.try_as_str().flatten().map(str::to_owned),
            _ => None,
        };
        let Some(text) = literal.filter(|_| self.known.is_none()) else {
            return Ok(ExprSimplifyResult::Original(args));
        };
        let known = Some(Known::new(&text).map_err(told)?);
        let own = ScalarUDF::from(Self { known, ..self.clone() });
        Ok(ExprSimplifyResult::Simplified(own.call(args)))
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let all_constant = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if all_constant { 1 } else { args.number_rows };
        let mut call = Call::new(self, &args)?;
        let out: ArrayRef = match self.what {
            What::Exists | What::Match => {
                let mut out = BooleanBuilder::with_capacity(rows);
                for row in 0..rows {
                    out.append_option(call.truth(row)?);
                }
                Arc::new(out.finish())
            }
            What::Array | What::First => {
                let mut out = Bounded::new(self.name);
                for row in 0..rows {
                    out.push(call.text(row)?)?;
                }
                Arc::new(out.finish())
            }
            What::Items => call.lists(rows)?,
        };
        if all_constant {
            return Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&out, 0)?));
        }
        Ok(ColumnarValue::Array(out))
    }
}

/// One batch of rows.
struct Call<'a> {
    function: &'a PathFunction,
    json: Texts,
    paths: Texts,
    variables: Option<Texts>,
    silent: Option<(bool, BooleanArray)>,
    /// The path of the row before, which mostly is that of the next.
    known: Option<Known>,
    steps: Steps,
}

impl<'a> Call<'a> {
    fn new(function: &'a PathFunction, args: &ScalarFunctionArgs) -> Result<Self> {
        let rows = args.number_rows;
        let [json, path, others @ ..] = args.args.as_slice() else {
            return Err(DataFusionError::Internal(format!("{} takes two arguments", function.name)));
        };
        let silent = match others.get(1) {
            Some(value) => {
                let is_one = matches!(value, ColumnarValue::Scalar(_));
                let array = cast(&value.to_array(if is_one { 1 } else { rows })?, &DataType::Boolean)?;
                Some((is_one, array.as_boolean().clone()))
            }
            None => None,
        };
        Ok(Self {
            function,
            json: Texts::new(json, rows)?,
            paths: Texts::new(path, rows)?,
            variables: others.first().map(|value| Texts::new(value, rows)).transpose()?,
            silent,
            known: function.known.clone(),
            steps: Steps::default(),
        })
    }

    /// Gives `ask` what is asked of one row, and whether it is silent; none where an argument is NULL or the text is no JSON.
    fn of_row<T>(
        &mut self,
        row: usize,
        ask: impl FnOnce(&Asked<'_>, bool) -> Result<Option<T>, Fault>,
    ) -> Result<Option<T>> {
        let Some((json, text)) = self.json.at(row).zip(self.paths.at(row)) else { return Ok(None) };
        let silent = match &self.silent {
            None => self.function.silent,
            Some((is_one, values)) => {
                let at = if *is_one { 0 } else { row };
                if values.is_null(at) {
                    return Ok(None);
                }
                values.value(at)
            }
        };
        let variables: Option<Value> = match &self.variables {
            None => None,
            Some(texts) => {
                let Some(text) = texts.at(row) else { return Ok(None) };
                let value = serde_json::from_str(text).ok().filter(Value::is_object);
                let why =
                    || told(SqlError::Wrong("\"vars\" argument of jsonpath is not an object".to_owned()));
                Some(value.ok_or_else(why)?)
            }
        };
        let known = match self.known.take().filter(|known| known.text == text) {
            Some(known) => known,
            None => {
                let known = Known::new(text).map_err(told)?;
                self.steps.next_value();
                let taken = self.steps.parse(text, known.path.patterns);
                taken.map_err(|fault| told(fault.told(self.function.name)))?;
                known
            }
        };
        let Ok(value) = serde_json::from_str::<Value>(json) else {
            self.known = Some(known);
            return Ok(None);
        };
        self.steps.next_value();
        let asked = Asked {
            path: &known.path,
            root: &value,
            variables: variables.as_ref(),
            steps: &self.steps,
            numbered: Cell::new(0),
        };
        let answer = ask(&asked, silent).map_err(|fault| told(fault.told(self.function.name)))?;
        self.known = Some(known);
        Ok(answer)
    }

    fn truth(&mut self, row: usize) -> Result<Option<bool>> {
        match self.function.what {
            What::Match => self.of_row(row, |asked, silent| asked.holds(silent)),
            _ => self.of_row(row, |asked, silent| asked.exists(silent)),
        }
    }

    fn text(&mut self, row: usize) -> Result<Option<String>> {
        let is_first = self.function.what == What::First;
        self.of_row(row, |asked, silent| {
            let items = asked.items(silent)?;
            Ok(match is_first {
                true => items.first().map(spelled),
                false => {
                    for item in &items {
                        asked.steps.copy(item.value())?;
                    }
                    let items: Vec<String> = items.iter().map(spelled).collect();
                    Some(format!("[{}]", items.join(",")))
                }
            })
        })
    }

    /// A list of each row's values; what is no JSON has no list.
    fn lists(&mut self, rows: usize) -> Result<ArrayRef> {
        let (mut lengths, mut valid) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
        let mut out = Bounded::new(self.function.name);
        for row in 0..rows {
            let found = self.of_row(row, |asked, silent| {
                let items = asked.items(silent)?;
                for item in &items {
                    asked.steps.copy(item.value())?;
                }
                Ok(Some(items.iter().map(spelled).collect::<Vec<String>>()))
            })?;
            valid.push(found.is_some());
            let found = found.unwrap_or_default();
            lengths.push(found.len());
            found.into_iter().try_for_each(|text| out.push(Some(text)))?;
        }
        let element = Arc::new(Field::new_list_field(DataType::Utf8, true));
        let (offsets, valid) = (OffsetBuffer::from_lengths(lengths), Some(NullBuffer::from(valid)));
        Ok(Arc::new(ListArray::try_new(element, offsets, Arc::new(out.finish()), valid)?))
    }
}

fn spelled(item: &Item<'_>) -> String {
    item.value().to_string()
}
