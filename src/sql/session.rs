//! The session that all queries share: tables, views, functions, and what it may use.

use super::catalog;
use super::config::Config;
use super::functions;
use super::tables::{LakeTable, LiveRows, LiveTable, PrivateStores, Snapshots, column_docs, latest_rows};
use super::views;
use super::watermarks::Watermarks;
use crate::schema::columns::{Table, queue_schema, watermarks_schema};
use arrow::array::RecordBatch;
use datafusion::error::DataFusionError;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_postgres::datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_postgres::datafusion_pg_catalog::setup_pg_catalog;
use std::sync::{Arc, OnceLock};

/// The name of the database, as `\l` shows it.
pub const DATABASE: &str = "groundline";

/// Footers of Parquet files that are kept, with the index of their pages, bytes.
const FOOTER_CACHE: usize = 64 << 20;

/// A session with every table, view and function.
///
/// # Errors
/// A plan error if a view names what its tables lack.
pub(super) fn session(
    snapshots: &Snapshots,
    config: &Config,
    calibrations: &functions::Calibrations,
    watermarks: &Watermarks,
    queue: &Arc<OnceLock<LiveRows>>,
) -> Result<SessionContext, DataFusionError> {
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(GreedyMemoryPool::new(config.max_memory.in_memory())))
        // Nothing is ever written, not even what does not fit in memory.
        .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(DiskManagerMode::Disabled))
        .with_object_store_registry(Arc::new(PrivateStores::default()))
        .with_metadata_cache_limit(FOOTER_CACHE)
        .build_arc()?;
    let context = SessionContext::new_with_config_rt(settings(config), runtime);
    let spans = Arc::new(LakeTable::new(Table::Spans, snapshots.clone()));
    let items = Arc::new(LakeTable::new(Table::DatasetItems, snapshots.clone()));
    for table in Table::ALL {
        let rows = match table {
            Table::Spans => spans.clone(),
            Table::DatasetItems => items.clone(),
            _ => Arc::new(LakeTable::new(table, snapshots.clone())),
        };
        if let Some((name, view)) = latest_rows(table, &rows)? {
            context.register_table(name, view)?;
        }
        context.register_table(table.name(), rows)?;
    }
    // Views are planned here: they must find the rows that the queue gets later.
    let queue = queue.clone();
    let queue: LiveRows = Arc::new(move |tenant: Option<&str>| match queue.get() {
        Some(rows) => rows(tenant),
        None => Ok(RecordBatch::new_empty(queue_schema())),
    });
    context.register_table("queue", Arc::new(LiveTable::new(queue_schema(), queue)))?;
    let marks = watermarks.clone();
    let marks: LiveRows = Arc::new(move |_| marks.rows());
    context.register_table("watermarks", Arc::new(LiveTable::new(watermarks_schema(), marks)))?;
    context.register_table("table_columns", Arc::new(column_docs()?))?;
    functions::quality().for_each(|function| context.register_udaf(function));
    context.register_udf(functions::attr());
    context.register_udf(functions::is_experiment());
    context.register_udf(functions::rogan_gladen());
    functions::calibrated(calibrations).into_iter().for_each(|f| context.register_udf(f));
    setup_pg_catalog(&context, DATABASE, EmptyContextProvider).map_err(|e| *e)?;
    register_functions(&context);
    functions::guard_patterns(&context)?;
    functions::bound_scalars(&context)?;
    functions::bound_tables(&context)?;
    functions::dataset_at(&context, items)?;
    views::register(&context, spans, config.min_n_eff)?;
    catalog::register(&context, DATABASE, snapshots)?;
    context.add_analyzer_rule(Arc::new(functions::CheckedArithmetic::new()));
    let state = context.state_ref();
    state.write().register_expr_planner(Arc::new(functions::ConcatPlanner::new()))?;
    state.write().register_expr_planner(Arc::new(functions::JsonPlanner::new()))?;
    state.write().register_expr_planner(Arc::new(functions::OperatorPlanner::new()))?;
    Ok(context)
}

/// How statements are read and planned, and how files are.
fn settings(config: &Config) -> SessionConfig {
    let mut settings = SessionConfig::new()
        .with_default_catalog_and_schema(DATABASE, "public")
        // Ours is registered with the catalogue.
        .with_information_schema(false)
        .with_target_partitions(config.target_partitions);
    let options = settings.options_mut();
    options.sql_parser.dialect = datafusion::config::Dialect::PostgreSQL;
    // now(), to_timestamp and casts to timestamptz have a zone, as the times of the tables have.
    options.execution.time_zone = Some("UTC".to_owned());
    options.execution.parquet.pushdown_filters = true;
    options.execution.parquet.reorder_filters = true;
    options.execution.parquet.bloom_filter_on_read = true;
    options.execution.parquet.enable_page_index = true;
    settings
}

/// Registers the functions of a row that need nothing of the server.
fn register_functions(context: &SessionContext) {
    functions::server_functions()
        .into_iter()
        .chain(functions::json_functions())
        .chain(functions::hold_functions())
        .chain(functions::read_functions())
        .chain(functions::path_functions())
        .chain(functions::change_functions())
        .chain(functions::field_functions())
        .chain(functions::make_functions())
        .chain(functions::pair_functions())
        .chain(functions::pattern_functions())
        .chain(functions::like_functions())
        .chain([functions::age(), functions::number_to_char(), functions::list_mode()])
        .chain([functions::similar_to_escape(), functions::jsonb_set(), functions::at_time_zone()])
        .for_each(|f| context.register_udf(f));
}
