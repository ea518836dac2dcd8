//! The engine's functions on regular expressions: the same answers, within bounds.
//!
//! Each row's pattern is read and weighed before the engine gets it, and the engine gets so few rows at a time that a query which
//! should stop does.

use super::compiled::{Compiled, Last};
use super::operators::PatternOperators;
use super::watch::Watch;
use crate::sql::functions::wrapped::{Around, Wrapped};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, LargeStringArray, StringArray, StringViewArray};
use arrow::compute::concat;
use arrow::datatypes::Int64Type;
use datafusion::error::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF};
use datafusion::prelude::SessionContext;
use datafusion::scalar::ScalarValue;
use std::sync::Arc;

/// What the rows may cost that the engine gets at once: some tenths of a second.
const AT_ONCE: u64 = 1 << 30;

/// What a pattern counts that no row before had: the engine keeps all that it gets at once, some megabytes each.
const OF_NEW: u64 = AT_ONCE / 16;

/// Bytes of a pattern that the engine may make LIKE of.
const MAX_PLAIN: usize = 256;

/// Whether a function looks for more than one match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum All {
    Never,
    /// With the flag `g`.
    Global,
    /// From the character on that the third argument tells.
    Always,
}

/// The functions, the places of their flags, and whether they look for more than one match.
const GUARDED: [(&str, usize, All); 5] = [
    ("regexp_like", 2, All::Never),
    ("regexp_match", 2, All::Never),
    ("regexp_replace", 3, All::Global),
    ("regexp_count", 3, All::Always),
    ("regexp_instr", 4, All::Always),
];

/// Replaces the functions of `context` on regular expressions by bounded ones, and the operators by those.
///
/// # Errors
/// None are expected; the type is that of the registry.
pub fn guard_patterns(context: &SessionContext) -> Result<()> {
    for (name, flags, all) in GUARDED {
        let inner = context.udf(name)?;
        let guarded = Wrapped::new(inner, Guarded { name, flags, all });
        context.register_udf(ScalarUDF::from(guarded));
    }
    let operators = Arc::new(PatternOperators::new(context.udf("regexp_like")?));
    let state = context.state_ref();
    state.write().register_function_rewrite(operators)?;
    Ok(())
}

#[derive(Debug)]
struct Guarded {
    name: &'static str,
    flags: usize,
    all: All,
}

impl Guarded {
    /// Where each part of the rows ends that the engine may get at once, but for the last.
    fn ends(&self, args: &ScalarFunctionArgs) -> Result<Vec<usize>> {
        let cells = |at: usize| args.args.get(at).map(Cells::of);
        let (Some(texts), Some(patterns)) = (cells(0), cells(1)) else { return Ok(vec![]) };
        let (flags, starts) = (cells(self.flags), args.args.get(2).filter(|_| self.all == All::Always));
        let is_constant = args.args.iter().all(|value| matches!(value, ColumnarValue::Scalar(_)));
        let rows = if is_constant { 1 } else { args.number_rows };
        let (mut last, mut watch) = (Last::default(), Watch::new(self.name, &args.config_options));
        let (mut ends, mut cost) = (vec![], 0u64);
        for row in 0..rows {
            let Some(pattern) = patterns.at(row) else { continue };
            let flags = flags.as_ref().and_then(|flags| flags.at(row)).unwrap_or_default();
            // The engine reads a pattern even where there is no text.
            let (known, is_new) = last.get(pattern, flags)?;
            if is_new {
                watch.look()?;
                cost = cost.saturating_add(OF_NEW);
            }
            let is_all = self.all == All::Always || self.all == All::Global && flags.contains('g');
            let taken = match texts.at(row) {
                Some(text) if is_all => watch.all(known, from(text, start(starts, row)))?,
                Some(text) => watch.once(known, text)?,
                None => 0,
            };
            cost = cost.saturating_add(taken);
            if cost > AT_ONCE && row + 1 < rows {
                ends.push(row + 1);
                cost = 0;
            }
        }
        Ok(ends)
    }

    /// The call without flags that are an empty text, which the engine takes for a fault in the pattern.
    fn without_empty_flags(&self, mut args: ScalarFunctionArgs) -> ScalarFunctionArgs {
        let is_empty = match args.args.get(self.flags) {
            Some(ColumnarValue::Scalar(flags)) => flags.try_as_str() == Some(Some("")),
            _ => false,
        };
        if is_empty && args.args.len() == self.flags + 1 {
            args.args.truncate(self.flags);
            args.arg_fields.truncate(self.flags);
        }
        args
    }
}

/// The answers of `inner` to some of the rows.
fn part(inner: &ScalarUDF, args: &ScalarFunctionArgs, begin: usize, end: usize) -> Result<ArrayRef> {
    let rows = end - begin;
    let cut = |value: &ColumnarValue| match value {
        ColumnarValue::Array(array) => ColumnarValue::Array(array.slice(begin, rows)),
        ColumnarValue::Scalar(scalar) => ColumnarValue::Scalar(scalar.clone()),
    };
    let part = ScalarFunctionArgs {
        args: args.args.iter().map(cut).collect(),
        arg_fields: args.arg_fields.clone(),
        number_rows: rows,
        return_field: args.return_field.clone(),
        config_options: args.config_options.clone(),
    };
    inner.invoke_with_args(part)?.to_array(rows)
}

impl Around for Guarded {
    fn name(&self) -> &'static str {
        self.name
    }

    /// The engine makes an operator of `regexp_like`, and of that LIKE, which skips files. What it cannot make LIKE of stays here.
    fn simplify(
        &self,
        inner: &ScalarUDF,
        args: Vec<Expr>,
        info: &SimplifyContext,
    ) -> Result<ExprSimplifyResult> {
        let constant = |at: usize| match args.get(at) {
            Some(Expr::Literal(value, _)) => value.try_as_str().flatten(),
            _ => None,
        };
        let Some(pattern) = constant(1) else { return Ok(ExprSimplifyResult::Original(args)) };
        // Many large ones take long to read.
        Watch::new(self.name, info.config_options()).look()?;
        // Told before the first row, and where there is none.
        Compiled::new(pattern, constant(self.flags).unwrap_or_default())?;
        match self.name == "regexp_like" && is_plain(pattern) {
            true => inner.simplify(args, info),
            false => Ok(ExprSimplifyResult::Original(args)),
        }
    }

    fn invoke(&self, inner: &ScalarUDF, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let args = self.without_empty_flags(args);
        let mut ends = self.ends(&args)?;
        if ends.is_empty() {
            return inner.invoke_with_args(args);
        }
        ends.push(args.number_rows);
        let watch = Watch::new(self.name, &args.config_options);
        let (mut parts, mut begin) = (vec![], 0);
        for end in ends {
            watch.look()?;
            parts.push(part(inner, &args, begin, end)?);
            begin = end;
        }
        let parts: Vec<&dyn Array> = parts.iter().map(AsRef::as_ref).collect();
        Ok(ColumnarValue::Array(concat(&parts)?))
    }
}

/// Whether a pattern is so plain that the engine may compare with it as it does with LIKE: letters, `.*`, `^`, `$` and `|`.
fn is_plain(pattern: &str) -> bool {
    let plain = |letter: char| {
        letter.is_alphanumeric() || letter.is_whitespace() || "\\^$.*|()_-:/,;=@#%&'\"<>!~".contains(letter)
    };
    let mut escaped = pattern.split('\\').skip(1).map(|rest| rest.chars().next());
    let is_class = |letter: Option<char>| letter.is_none_or(char::is_alphanumeric);
    pattern.len() <= MAX_PLAIN && pattern.chars().all(plain) && !escaped.any(is_class)
}

/// The third argument of a row, if it is a number.
fn start(starts: Option<&ColumnarValue>, row: usize) -> i64 {
    let number = match starts {
        Some(ColumnarValue::Scalar(ScalarValue::Int64(number))) => *number,
        Some(ColumnarValue::Array(array)) => {
            let numbers: Option<&Int64Array> = array.as_primitive_opt::<Int64Type>();
            numbers.filter(|numbers| numbers.is_valid(row)).map(|numbers| numbers.value(row))
        }
        _ => None,
    };
    number.unwrap_or(1)
}

/// `text` from a character on, counted from one.
fn from(text: &str, start: i64) -> &str {
    let skipped = usize::try_from(start.saturating_sub(1)).unwrap_or_default();
    text.char_indices().nth(skipped).and_then(|(at, _)| text.get(at..)).unwrap_or_default()
}

/// The texts of an argument.
enum Cells<'a> {
    One(Option<&'a str>),
    Texts(&'a StringArray),
    Long(&'a LargeStringArray),
    Views(&'a StringViewArray),
    /// The engine takes no other type.
    Other,
}

impl<'a> Cells<'a> {
    fn of(value: &'a ColumnarValue) -> Self {
        let array = match value {
            ColumnarValue::Scalar(scalar) => return Self::One(scalar.try_as_str().flatten()),
            ColumnarValue::Array(array) => array,
        };
        if let Some(texts) = array.as_string_opt::<i32>() {
            Self::Texts(texts)
        } else if let Some(texts) = array.as_string_opt::<i64>() {
            Self::Long(texts)
        } else {
            array.as_string_view_opt().map_or(Self::Other, Self::Views)
        }
    }

    fn at(&self, row: usize) -> Option<&'a str> {
        match *self {
            Self::One(text) => text,
            Self::Texts(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Self::Long(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Self::Views(texts) => texts.is_valid(row).then(|| texts.value(row)),
            Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::RecordBatch;
    use arrow::datatypes::{DataType, Field};
    use arrow::util::display::array_value_to_string;
    use datafusion::config::ConfigOptions;
    use datafusion::execution::session_state::SessionState;

    fn context() -> SessionContext {
        let context = SessionContext::new();
        guard_patterns(&context).unwrap();
        let texts: StringArray = (0..40).map(|n| Some(format!("{n}{}", "ab1".repeat(400)))).collect();
        let rows = RecordBatch::try_from_iter([("t", Arc::new(texts) as ArrayRef)]).unwrap();
        context.register_batch("rows", rows).unwrap();
        context
    }

    async fn first(context: &SessionContext, sql: &str) -> Result<String> {
        let batches = context.sql(sql).await?.collect().await?;
        Ok(array_value_to_string(batches[0].column(0), 0)?)
    }

    #[tokio::test]
    async fn answers_are_those_of_the_engine() {
        let context = context();
        for (sql, answer) in [
            ("SELECT 'aB' ~ 'ab'", "false"),
            ("SELECT 'aB' ~* 'a[b]'", "true"),
            ("SELECT 'aB' !~ 'a[b]'", "true"),
            ("SELECT 'aB' !~* 'a[b]'", "false"),
            ("SELECT 'abc' SIMILAR TO 'a[b]c'", "true"),
            ("SELECT 'abc' NOT SIMILAR TO 'a[b]c'", "false"),
            ("SELECT 'abc' SIMILAR TO 'b|c'", "false"),
            ("SELECT 'abc' SIMILAR TO '(a|b)%'", "true"),
            ("SELECT 'a_c' SIMILAR TO 'a#_(c|d)' ESCAPE '#'", "true"),
            ("SELECT 'a_c' SIMILAR TO 'a#%c' ESCAPE '#'", "false"),
            ("SELECT ('a' SIMILAR TO NULL) IS NULL AND (NULL SIMILAR TO 'a|b') IS NULL", "true"),
            ("SELECT count(*) FROM rows WHERE t SIMILAR TO split_part(t, 'a', 1) || '(ab1)+'", "40"),
            (
                "SELECT count(*) FROM rows WHERE t NOT SIMILAR TO split_part(t, 'a', 1) || '#(ab1#)+' ESCAPE '#'",
                "40",
            ),
            ("SELECT (NULL ~ 'a') IS NULL", "true"),
            ("SELECT ('a' ~ NULL) IS NULL", "true"),
            ("SELECT regexp_like('aB', 'A[b]', 'i')", "true"),
            ("SELECT regexp_like('ab', 'a[b]', '')", "true"),
            ("SELECT count(*) FROM rows WHERE regexp_like(t, '^1[a]', '')", "1"),
            // A pattern a row.
            ("SELECT count(*) FROM rows WHERE t ~ ('^' || split_part(t, 'a', 1) || '[a]')", "40"),
            ("SELECT regexp_replace('a1b22', '[0-9]+', '<\\0>', 'g')", "a<1>b<22>"),
            ("SELECT regexp_count('a1b22', '[0-9]', 3)", "2"),
            ("SELECT array_to_string(regexp_match('a1b22', '([a-z])([0-9]{2})'), ',')", "b,22"),
            // Many parts, in the order of the rows.
            ("SELECT count(*) FROM rows WHERE t ~ '^[0-9]+(ab1){400}$'", "40"),
            ("SELECT sum(regexp_count(t, '[ab]+1')) FROM rows", "16000"),
            (
                "SELECT count(*) FROM rows WHERE regexp_replace(t, '(?:[ab]+1)+', '', 'g') = split_part(t, 'a', 1)",
                "40",
            ),
        ] {
            assert_eq!(first(&context, sql).await.unwrap(), answer, "{sql}");
        }
    }

    #[tokio::test]
    async fn hostile_patterns_end_with_an_error() {
        let context = context();
        for (sql, part) in [
            ("SELECT 'aaaaaaaa' ~ '(a{1000}){1000}'", "takes more than"),
            ("SELECT repeat('a', 1000000) ~ '([ab]{100}){100}c'", "too long for a regular expression"),
            (
                "SELECT repeat('a', 1000000) SIMILAR TO '([ab]{100}){100}c'",
                "too long for a regular expression",
            ),
            ("SELECT regexp_match(repeat(t, 1000), '([ab]{100}){100}c') FROM rows", "too long for"),
            ("SELECT count(*) FROM rows WHERE t !~* '('", "invalid regular expression"),
            ("SELECT count(*) FROM rows WHERE t ~ (t || '(')", "invalid regular expression"),
        ] {
            let why = first(&context, sql).await.unwrap_err().to_string();
            assert!(why.contains(part), "{sql}: {why}");
        }
    }

    #[test]
    fn the_engine_gets_few_patterns_at_once() {
        let guarded = Guarded { name: "regexp_like", flags: 2, all: All::Never };
        let patterns: StringArray = (0..100).map(|n| Some(format!("[a]{{{n}}}"))).collect();
        let ends = |text: ScalarValue| {
            let args = vec![ColumnarValue::Scalar(text), ColumnarValue::Array(Arc::new(patterns.clone()))];
            let call = ScalarFunctionArgs {
                args,
                arg_fields: vec![],
                number_rows: 100,
                return_field: Arc::new(Field::new("f", DataType::Boolean, true)),
                config_options: Arc::new(ConfigOptions::new()),
            };
            guarded.ends(&call).unwrap()
        };
        assert_eq!(ends(ScalarValue::from("a")), [16, 32, 48, 64, 80, 96]);
        assert_eq!(ends(ScalarValue::Utf8(None)).len(), 5, "it reads those without a text too");
    }

    #[tokio::test]
    async fn plain_patterns_stay_comparisons() {
        let context = context();
        let state: SessionState = context.state();
        for (condition, is_like) in
            [("t ~ '^1ab'", true), ("t ~ 'a[b]'", false), ("t SIMILAR TO '1a_%'", true)]
        {
            let sql = format!("SELECT t FROM rows WHERE {condition}");
            let plan = state.create_logical_plan(&sql).await.unwrap();
            let plan = state.optimize(&plan).unwrap().display_indent().to_string();
            assert_eq!(plan.contains("LIKE"), is_like, "{plan}");
            assert_eq!(plan.contains("regexp_like"), !is_like, "{plan}");
        }
        assert!(is_plain("^gpt\\.4.*$|x y") && !is_plain("a{9}") && !is_plain("\\d") && !is_plain("a\\"));
    }
}
