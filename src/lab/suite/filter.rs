//! Which tests run, by a condition in SQL.

use super::load::{Case, Suite};
use arrow::array::{
    ArrayRef, Float64Array, ListBuilder, RecordBatch, StringArray, StringBuilder, UInt64Array,
};
use arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use datafusion::prelude::SessionContext;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use datafusion::sql::sqlparser::tokenizer::Token;
use serde_json::Value as Json;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

/// The columns that every test has.
const COLUMNS: &[&str] = &["id", "question", "input", "expected", "tags", "group_id", "weight"];
/// Most keys of metadata that are columns.
const MAX_KEYS: usize = 500;

impl Suite {
    /// Keeps the tests of which `condition` is true, such as `array_has(tags, 'returns') AND lang = 'de'`: over id,
    /// question, input and expected (JSON text), tags, group_id, weight, and each key of the metadata as text. Answers how
    /// many are left out.
    ///
    /// # Errors
    /// When it is no condition over these columns, or leaves no test.
    pub async fn filter(&mut self, condition: &str) -> Result<usize, String> {
        let told = |e: DataFusionError| format!("--filter {condition:?}: {}", e.strip_backtrace());
        let rows = rows(&self.cases).map_err(|e| format!("--filter: {e}"))?;
        let context = SessionContext::new();
        let table = context.read_batch(rows).map_err(told)?;
        one_expression(condition)?;
        let holds = table.parse_sql_expr(condition).map_err(told)?;
        let found = table.filter(holds).and_then(|rows| rows.select_columns(&["#"])).map_err(told)?;
        let found = found.collect().await.map_err(told)?;
        let mut kept = HashSet::new();
        for batch in &found {
            let places = batch.column(0).as_any().downcast_ref::<UInt64Array>();
            kept.extend(places.into_iter().flat_map(|places| places.values().iter().copied()));
        }
        let before = self.cases.len();
        let mut at = 0;
        self.cases.retain(|_| {
            at += 1;
            kept.contains(&(at - 1))
        });
        if self.cases.is_empty() {
            return Err(format!("--filter {condition:?} leaves none of {before} tests"));
        }
        Ok(before - self.cases.len())
    }
}

/// Nothing may stand behind a condition: the planner would not read it.
fn one_expression(condition: &str) -> Result<(), String> {
    let told = |e: ParserError| format!("--filter {condition:?}: {e}");
    let mut parser = Parser::new(&GenericDialect {}).try_with_sql(condition).map_err(told)?;
    parser.parse_expr().map_err(told)?;
    match parser.peek_token().token {
        Token::EOF => Ok(()),
        other => Err(format!("--filter {condition:?}: it is one condition, and {other} stands behind it")),
    }
}

/// The tests as a table; `#` is their place.
fn rows(cases: &[Case]) -> Result<RecordBatch, ArrowError> {
    let texts = |of: &dyn Fn(&Case) -> Option<String>| -> ArrayRef {
        Arc::new(cases.iter().map(of).collect::<StringArray>())
    };
    let mut tags = ListBuilder::new(StringBuilder::new());
    for case in cases {
        case.item.spec.tags.iter().for_each(|tag| tags.values().append_value(tag));
        tags.append(true);
    }
    let weights: Float64Array = cases.iter().map(|case| Some(case.item.spec.weight.unwrap_or(1.0))).collect();
    let places: UInt64Array = (0..cases.len() as u64).map(Some).collect();
    let mut columns: Vec<(String, ArrayRef)> = vec![
        ("#".to_owned(), Arc::new(places)),
        ("id".to_owned(), texts(&|case| Some(case.item.spec.id.clone()))),
        ("question".to_owned(), texts(&|case| case.item.question.clone())),
        ("input".to_owned(), texts(&|case| Some(case.item.spec.input.to_string()))),
        ("expected".to_owned(), texts(&|case| case.item.spec.right_answer.as_ref().map(Json::to_string))),
        ("tags".to_owned(), Arc::new(tags.finish())),
        ("group_id".to_owned(), texts(&|case| Some(case.item.spec.group.clone()).filter(|g| !g.is_empty()))),
        ("weight".to_owned(), Arc::new(weights)),
    ];
    let keys: BTreeSet<&String> = cases.iter().flat_map(|case| case.item.spec.metadata.keys()).collect();
    for key in keys.into_iter().filter(|key| !COLUMNS.contains(&key.as_str()) && *key != "#").take(MAX_KEYS) {
        let text = |case: &Case| case.item.spec.metadata.get(key).map(crate::lab::template::plain);
        columns.push((key.clone(), texts(&text)));
    }
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
}

#[cfg(test)]
mod tests {
    use super::super::load::read;

    const SUITE: &str = "[suite]\nname = \"s\"\n[[check]]\noperator = \"contains\"\ncriteria = \"a\"\n\
        [[test]]\nid = \"a\"\ninput = { question = \"How long?\" }\ntags = [\"returns\"]\nmetadata = { lang = \"de\" }\n\
        [[test]]\nid = \"b\"\ninput = \"Where?\"\nweight = 3\n";

    async fn left(condition: &str) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("suite.toml");
        std::fs::write(&path, SUITE).unwrap();
        let (mut suite, _) = read(&path, false, &Default::default()).unwrap();
        suite.filter(condition).await?;
        Ok(suite.cases.iter().map(|case| case.item.spec.id.clone()).collect())
    }

    #[tokio::test]
    async fn a_condition_leaves_tests() {
        assert_eq!(left("array_has(tags, 'returns')").await.unwrap(), ["a"]);
        assert_eq!(left("lang = 'de' OR weight > 2").await.unwrap(), ["a", "b"]);
        assert_eq!(left("question LIKE 'Where%'").await.unwrap(), ["b"]);
        assert_eq!(left("lang IS NULL").await.unwrap(), ["b"]);
        assert!(left("weight > 7").await.unwrap_err().contains("leaves none of 2 tests"));
        for wrong in ["colour = 'red'", "SELECT 1", "1 = 1; DROP TABLE t", ""] {
            assert!(left(wrong).await.unwrap_err().starts_with("--filter"), "{wrong}");
        }
    }
}
