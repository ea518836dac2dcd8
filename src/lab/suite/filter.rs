//! Which tests of a suite, or items of a dataset, are asked, by a condition in SQL.

use super::item::asked;
use super::load::{Case, Suite};
use crate::lab::template::plain;
use crate::schema::batch::ItemRow;
use crate::sql::SqlError;
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
use std::collections::{BTreeMap, BTreeSet, HashSet};
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
        let rows: Vec<Filtered> = self.cases.iter().map(Filtered::of_case).collect();
        let kept = kept(condition, &rows).await.map_err(|why| format!("--filter {why}"))?;
        let before = self.cases.len();
        let mut at = 0;
        self.cases.retain(|_| {
            at += 1;
            kept.contains(&(at - 1))
        });
        Ok(before - self.cases.len())
    }
}

/// The items of a dataset of which `condition` is true, over the same columns as the tests of a suite.
///
/// # Errors
/// When it is no condition over these columns, or leaves no item.
pub async fn filtered(condition: &str, items: Vec<ItemRow>) -> Result<Vec<ItemRow>, String> {
    let rows: Vec<Filtered> = items.iter().map(Filtered::of_item).collect();
    let kept = kept(condition, &rows).await.map_err(|why| format!("filter {why}"))?;
    Ok((0..).zip(items).filter(|(at, _)| kept.contains(at)).map(|(_, item)| item).collect())
}

/// What a condition sees of a test or an item.
struct Filtered {
    id: String,
    question: Option<String>,
    input: String,
    expected: Option<String>,
    tags: Vec<String>,
    group: String,
    weight: Option<f64>,
    metadata: BTreeMap<String, String>,
}

impl Filtered {
    fn of_case(case: &Case) -> Self {
        let spec = &case.item.spec;
        Self {
            id: spec.id.clone(),
            question: case.item.question.clone(),
            input: spec.input.to_string(),
            expected: spec.right_answer.as_ref().map(Json::to_string),
            tags: spec.tags.clone(),
            group: spec.group.clone(),
            weight: spec.weight,
            metadata: spec.metadata.iter().map(|(key, value)| (key.clone(), plain(value))).collect(),
        }
    }

    fn of_item(item: &ItemRow) -> Self {
        let json = |text: &Option<String>| text.as_deref().and_then(|t| serde_json::from_str::<Json>(t).ok());
        let metadata = json(&item.metadata);
        let metadata = metadata.as_ref().and_then(Json::as_object).into_iter().flatten();
        Self {
            id: item.external_id.clone().unwrap_or_else(|| item.item_id.clone()),
            question: json(&item.input).as_ref().and_then(asked),
            input: item.input.clone().unwrap_or_default(),
            expected: item.expected.clone(),
            tags: item.tags.clone(),
            group: item.group_id.clone().unwrap_or_default(),
            weight: item.weight,
            metadata: metadata.map(|(key, value)| (key.clone(), plain(value))).collect(),
        }
    }
}

/// The places of the rows of which `condition` is true; at least one.
async fn kept(condition: &str, all: &[Filtered]) -> Result<HashSet<u64>, String> {
    // The table has no name that anybody knows.
    let told = |e: DataFusionError| {
        let why = SqlError::from(e).to_string();
        format!("{condition:?}: {}", why.replace("\"?table?\".\"#\", ", "").replace("\"?table?\".", ""))
    };
    let rows = rows(all).map_err(|e| e.to_string())?;
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
    if kept.is_empty() {
        return Err(format!("{condition:?} leaves none of {} tests", all.len()));
    }
    Ok(kept)
}

/// Nothing may stand behind a condition: the planner would not read it.
fn one_expression(condition: &str) -> Result<(), String> {
    let told = |e: ParserError| format!("{condition:?}: {}", SqlError::syntax(&e));
    let mut parser = Parser::new(&GenericDialect {}).try_with_sql(condition).map_err(told)?;
    parser.parse_expr().map_err(told)?;
    match parser.peek_token().token {
        Token::EOF => Ok(()),
        other => Err(format!("{condition:?}: it is one condition, and {other} stands behind it")),
    }
}

/// The rows as a table; `#` is their place.
fn rows(all: &[Filtered]) -> Result<RecordBatch, ArrowError> {
    let texts = |of: &dyn Fn(&Filtered) -> Option<String>| -> ArrayRef {
        Arc::new(all.iter().map(of).collect::<StringArray>())
    };
    let mut tags = ListBuilder::new(StringBuilder::new());
    for one in all {
        one.tags.iter().for_each(|tag| tags.values().append_value(tag));
        tags.append(true);
    }
    let weights: Float64Array = all.iter().map(|one| Some(one.weight.unwrap_or(1.0))).collect();
    let places: UInt64Array = (0..all.len() as u64).map(Some).collect();
    let mut columns: Vec<(String, ArrayRef)> = vec![
        ("#".to_owned(), Arc::new(places)),
        ("id".to_owned(), texts(&|one| Some(one.id.clone()))),
        ("question".to_owned(), texts(&|one| one.question.clone())),
        ("input".to_owned(), texts(&|one| Some(one.input.clone()))),
        ("expected".to_owned(), texts(&|one| one.expected.clone())),
        ("tags".to_owned(), Arc::new(tags.finish())),
        ("group_id".to_owned(), texts(&|one| Some(one.group.clone()).filter(|group| !group.is_empty()))),
        ("weight".to_owned(), Arc::new(weights)),
    ];
    let keys: BTreeSet<&String> = all.iter().flat_map(|one| one.metadata.keys()).collect();
    for key in keys.into_iter().filter(|key| !COLUMNS.contains(&key.as_str()) && *key != "#").take(MAX_KEYS) {
        columns.push((key.clone(), texts(&|one| one.metadata.get(key).cloned())));
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
        let item = |id: &str, lang: &str| super::ItemRow {
            item_id: format!("i-{id}"),
            external_id: Some(id.to_owned()),
            input: Some("{\"question\": \"How long?\"}".to_owned()),
            metadata: Some(format!("{{\"lang\": \"{lang}\"}}")),
            ..super::ItemRow::default()
        };
        let items = vec![item("a", "de"), item("b", "en")];
        let kept = super::filtered("lang = 'en' AND question = 'How long?'", items.clone()).await.unwrap();
        assert_eq!(kept, items[1..]);
        assert!(super::filtered("lang = 'it'", items).await.unwrap_err().contains("leaves none of 2"));
        assert!(left("weight > 7").await.unwrap_err().contains("leaves none of 2 tests"));
        let told = left("colour = 'red'").await.unwrap_err();
        assert!(told.contains("fields are id, question, input") && !told.contains("?table?"), "{told}");
        let told = left("weight >").await.unwrap_err();
        assert!(told.contains("\"weight >\": syntax error: Expected"), "{told}");
        for wrong in ["colour = 'red'", "SELECT 1", "1 = 1; DROP TABLE t", ""] {
            assert!(left(wrong).await.unwrap_err().starts_with("--filter"), "{wrong}");
        }
    }
}
