//! The newest rows of tables in which nothing is ever changed: `scores_latest`, `datasets_latest` and its like, and the items of
//! a dataset as they were at a version.
//!
//! Of what the lab keeps a filter on what all rows of a thing have in common goes below the choice, so that the runs of one
//! experiment are chosen from its rows alone. Everything else stays above: what differs between versions must not let an older
//! one win. `latest` tells what of scores goes below.

use super::chosen::{Choice, Newest, Rank};
use super::lake_table::{LakeTable, Several};
use super::latest::{is_of, of_scores};
use super::newest::{ALL_SCORES, SCORES, SINGLE_SCORES, newest_of};
use super::time_range::TimeRange;
use crate::schema::columns::Table;
use arrow::datatypes::{Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::datasource::{TableType, ViewTable, provider_as_source};
use datafusion::error::Result;
use datafusion::logical_expr::{
    Expr, JoinType, LogicalPlan, LogicalPlanBuilder, TableProviderFilterPushDown, col, lit,
};
use datafusion::physical_plan::ExecutionPlan;
use std::fmt;
use std::sync::Arc;

const DATASET: &[&str] = &["tenant", "dataset_id"];
const ITEM: &[&str] = &["tenant", "dataset_id", "item_id"];
const EXPERIMENT: &[&str] = &["tenant", "experiment_id"];
const RUN: &[&str] = &["tenant", "experiment_id", "item_id", "repetition"];
const QUEUE: &[&str] = &["tenant", "queue_id"];

static DATASETS: Newest =
    Newest { choices: &[Choice { key: DATASET, by: &[Rank::High("version")] }], together: DATASET };
static ITEMS: Newest =
    Newest { choices: &[Choice { key: ITEM, by: &[Rank::High("version")] }], together: ITEM };
static EXPERIMENTS: Newest =
    Newest { choices: &[Choice { key: EXPERIMENT, by: &[Rank::High("revision")] }], together: EXPERIMENT };
static RUNS: Newest = Newest { choices: &[Choice { key: RUN, by: &[Rank::High("attempt")] }], together: RUN };
static QUEUES: Newest = Newest {
    choices: &[Choice { key: QUEUE, by: &[Rank::High("revision"), Rank::Low("created_at")] }],
    together: QUEUE,
};

/// What the datasets of a name are called where their items are looked for.
const NAMED: &str = "named";

/// The view of the newest rows of `table` with its name, where it has one; `rows` are all of them.
///
/// # Errors
/// A plan error if the table lacks a column.
pub fn latest_rows(
    table: Table,
    rows: &Arc<LakeTable>,
) -> Result<Option<(&'static str, Arc<dyn TableProvider>)>> {
    let newest = |how, definition| -> Result<Arc<dyn TableProvider>> {
        let (among, definition) = (scanned(table.name(), rows)?, Some(definition));
        let view = LatestRows { table: rows.clone(), among, how, fewer: None, below: together, definition };
        Ok(Arc::new(view))
    };
    Ok(Some(match table {
        Table::Scores => {
            let of_production = LogicalPlanBuilder::from(scanned(table.name(), rows)?)
                .filter(col("source").eq(lit("rule")))?
                .build()?;
            let view = LatestRows {
                table: rows.clone(),
                among: of_production,
                how: &SCORES,
                fewer: Some([&SINGLE_SCORES, &ALL_SCORES]),
                below: |_, filters| of_scores(filters),
                definition: Some(include_str!("../views/scores_latest.sql")),
            };
            let view: Arc<dyn TableProvider> = Arc::new(view);
            ("scores_latest", view)
        }
        Table::Datasets => {
            ("datasets_latest", newest(&DATASETS, include_str!("../views/datasets_latest.sql"))?)
        }
        Table::DatasetItems => {
            let definition = include_str!("../views/dataset_items_latest.sql");
            let items = ViewTable::new(put(newest(&ITEMS, definition)?)?, Some(definition.to_owned()));
            let items: Arc<dyn TableProvider> = Arc::new(items);
            ("dataset_items_latest", items)
        }
        Table::Experiments => {
            ("experiments_latest", newest(&EXPERIMENTS, include_str!("../views/experiments_latest.sql"))?)
        }
        Table::Runs => ("runs_latest", newest(&RUNS, include_str!("../views/runs_latest.sql"))?),
        Table::ReviewQueues => {
            ("review_queues_latest", newest(&QUEUES, include_str!("../views/review_queues_latest.sql"))?)
        }
        _ => return Ok(None),
    }))
}

/// The items of the datasets that are called `name` now, as they were at `version`, over `datasets_latest` and all rows of
/// items.
///
/// # Errors
/// A plan error if a table lacks a column.
pub fn items_at(
    datasets: Arc<dyn TableProvider>,
    items: &Arc<LakeTable>,
    (name, version): (&str, i64),
) -> Result<LogicalPlan> {
    let named = LogicalPlanBuilder::scan("datasets_latest", provider_as_source(datasets), None)?
        .filter(col("name").eq(lit(name)))?
        .project(DATASET.iter().map(|column| col(*column)))?
        .alias(NAMED)?;
    let until = LogicalPlanBuilder::from(scanned(Table::DatasetItems.name(), items)?)
        .filter(col("version").lt_eq(lit(version)))?
        .build()?;
    let of = |relation: &str| -> Vec<String> {
        DATASET.iter().map(|column| format!("{relation}.{column}")).collect()
    };
    let keys = (of(NAMED), of(Table::DatasetItems.name()));
    // Which datasets they are is read first, and the items of others are not kept.
    let among = named.join(until, JoinType::RightSemi, keys, None)?.build()?;
    put(Arc::new(LatestRows {
        table: items.clone(),
        among,
        how: &ITEMS,
        fewer: None,
        below: together,
        definition: None,
    }))
}

fn scanned(name: &str, rows: &Arc<LakeTable>) -> Result<LogicalPlan> {
    LogicalPlanBuilder::scan(name, provider_as_source(rows.clone()), None)?.build()
}

/// Those of the newest revisions of items that say something; the others say that the item is gone.
fn put(newest: Arc<dyn TableProvider>) -> Result<LogicalPlan> {
    let name = Table::DatasetItems.name();
    LogicalPlanBuilder::scan(name, provider_as_source(newest), None)?
        .filter(col("op").eq(lit("put")))?
        .build()
}

/// What of a query's filters may go below the choice, and about when the rows are that pass them: a guess, by which a join
/// decides what it reads first.
type Below = fn(&Newest, &[Expr]) -> (Vec<Expr>, TimeRange);

/// Rows that are compared with each other have the same in these columns.
fn together(how: &Newest, filters: &[Expr]) -> (Vec<Expr>, TimeRange) {
    (filters.iter().filter(|filter| is_of(filter, how.together)).cloned().collect(), TimeRange::ALL)
}

/// The names of the columns that a scan is asked for.
fn asked(schema: &Schema, projection: Option<&Vec<usize>>) -> Vec<String> {
    match projection {
        Some(indices) => indices.iter().map(|at| schema.field(*at).name().clone()).collect(),
        None => schema.fields().iter().map(|field| field.name().clone()).collect(),
    }
}

/// The newest rows of some of the rows of a table.
struct LatestRows {
    table: Arc<LakeTable>,
    /// Those that are chosen from, with all columns of the table.
    among: LogicalPlan,
    how: &'static Newest,
    /// The same where no row is a version of another, and where none is a repeat either, which cost less; only of scores of
    /// production.
    fewer: Option<[&'static Newest; 2]>,
    below: Below,
    /// What it is, as SQL, where it has a name.
    definition: Option<&'static str>,
}

impl fmt::Debug for LatestRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LatestRows")
    }
}

#[async_trait]
impl TableProvider for LatestRows {
    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    fn get_table_definition(&self) -> Option<&str> {
        self.definition
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mut rows = LogicalPlanBuilder::from(self.among.clone());
        let (below, about) = (self.below)(self.how, filters);
        if let Some(below) = below.into_iter().reduce(Expr::and) {
            rows = rows.filter(below)?;
        }
        let about = self.table.rows_about(state, about);
        let how = match self.fewer {
            None => self.how,
            Some([of_repeats, all]) => match self.table.several(state, filters).await {
                Several::Versions => self.how,
                Several::Repeats => of_repeats,
                Several::Single => all,
            },
        };
        newest_of(state, rows, how, asked(&self.schema(), projection), about).await
    }
}
