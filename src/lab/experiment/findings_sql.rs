//! `findings('v2')`: what stands out in an experiment, a row a finding.

use super::super::error::LabError;
use super::super::store::{Restores, Store, Who, text};
use super::beside::{Loaded, line};
use super::experiments::Experiments;
use super::findings::{Finding, findings};
use super::reading;
use crate::domain::time::Clock;
use crate::eval::Registry;
use crate::journal::Journal;
use crate::lab::dataset::Datasets;
use crate::lab::{Config, Production};
use crate::lake::Lake;
use crate::net::Scope;
use crate::sql::{QuerySnapshots, Sql, SqlError};
use arrow::array::{ArrayRef, Float64Array, ListBuilder, RecordBatch, StringArray, StringBuilder};
use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::common::ScalarValue;
use datafusion::datasource::TableType;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::stream;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};

/// The name of the function.
const NAME: &str = "findings";
/// Queries by which an experiment is read at once.
const AT_ONCE: usize = 3;

/// Gives queries the function, over the experiments of `datasets`, with the thresholds of `registry`.
///
/// # Errors
/// When memory does.
pub fn register(datasets: &Datasets, registry: &Arc<Registry>) -> Result<()> {
    let source = Arc::new(Source::of(datasets, registry));
    let schema = batch("", &[])?.schema();
    datasets.store().sql.session().register_udtf(NAME, Arc::new(OfExperiments { source, schema }));
    Ok(())
}

struct OfExperiments {
    source: Arc<Source>,
    schema: SchemaRef,
}

impl fmt::Debug for OfExperiments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAME)
    }
}

impl TableFunctionImpl for OfExperiments {
    fn call_with_args(&self, args: TableFunctionArgs) -> Result<Arc<dyn TableProvider>> {
        let named = match args.exprs() {
            [Expr::Literal(ScalarValue::Utf8(Some(named)) | ScalarValue::Utf8View(Some(named)), _)] => named,
            _ => {
                let why = "findings takes the name or the id of an experiment: findings('v2')".to_owned();
                return Err(DataFusionError::External(Box::new(SqlError::Wrong(why))));
            }
        };
        let (source, schema) = (self.source.clone(), self.schema.clone());
        Ok(Arc::new(OfExperiment { source, schema, named: named.clone() }))
    }
}

/// The findings of one experiment. Each scan makes them anew when it is executed: a plan reads nothing.
#[derive(Clone)]
struct OfExperiment {
    source: Arc<Source>,
    schema: SchemaRef,
    named: String,
}

impl fmt::Debug for OfExperiment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME}({:?})", self.named)
    }
}

#[async_trait]
impl TableProvider for OfExperiment {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let parts: Vec<Arc<dyn PartitionStream>> = vec![Arc::new(self.clone())];
        let schema = self.schema.clone();
        Ok(Arc::new(StreamingTableExec::try_new(schema, parts, projection, Vec::new(), false, limit)?))
    }
}

impl PartitionStream for OfExperiment {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        // What runs outside of a query is ours and not a client's.
        let taken = context.session_config().get_extension::<QuerySnapshots>();
        let scope = taken.as_ref().map_or(Scope::All, |taken| taken.scope().clone());
        let held = MemoryConsumer::new(NAME).register(context.memory_pool());
        let (source, named) = (self.source.clone(), self.named.clone());
        let rows = async move {
            // One after the other: a query may name many, and the engine executes what it can at once.
            let _turn = match &taken {
                Some(taken) => Some(taken.turn().await),
                None => None,
            };
            source.rows(&scope, &named, &held).await
        };
        Box::pin(RecordBatchStreamAdapter::new(self.schema.clone(), stream::once(rows)))
    }
}

/// What findings are made of. The engine has the function, so this keeps neither the engine nor what may keep that.
struct Source {
    sql: Weak<Sql>,
    registry: Weak<Registry>,
    journal: Journal,
    lake: Arc<Lake>,
    clock: Arc<dyn Clock>,
    restores: Restores,
    config: Arc<Config>,
}

impl Source {
    fn of(datasets: &Datasets, registry: &Arc<Registry>) -> Self {
        let store = datasets.store();
        Self {
            sql: Arc::downgrade(&store.sql),
            registry: Arc::downgrade(registry),
            journal: store.journal.clone(),
            lake: store.lake.clone(),
            clock: store.clock.clone(),
            restores: store.restores.clone(),
            // Nobody is asked.
            config: Arc::new(Config { targets: BTreeMap::new(), ..datasets.config().clone() }),
        }
    }

    /// What was read counts as `held` until the findings are made.
    async fn rows(&self, scope: &Scope, named: &str, held: &MemoryReservation) -> Result<RecordBatch> {
        let (all, loaded) = Box::pin(self.loaded(scope, named)).await.map_err(told)?;
        held.try_grow(bytes_of(&loaded))?;
        let found = findings(&loaded.data(), |of, metric| line(&all, of, metric));
        Ok(batch(&loaded.experiment.experiment_id, &found)?)
    }

    async fn loaded(&self, scope: &Scope, named: &str) -> Result<(Experiments, Loaded), LabError> {
        let (Some(sql), Some(registry)) = (self.sql.upgrade(), self.registry.upgrade()) else {
            return Err(LabError::Later("the server stops".to_owned()));
        };
        let store = Store {
            journal: self.journal.clone(),
            lake: self.lake.clone(),
            sql: Arc::new(sql.within(AT_ONCE)),
            clock: self.clock.clone(),
            restores: self.restores.clone(),
        };
        let tenant = match scope {
            Scope::Tenant(tenant) => tenant.clone(),
            Scope::All => tenant_of(&store, named).await?,
        };
        let who = Who { tenant: tenant.into(), name: String::new() };
        let datasets = Datasets::new(store, self.config.clone(), None);
        let all = Experiments::new(datasets, registry, Production::none());
        let found = reading::find(all.store(), &who.tenant, named).await?;
        let loaded = Loaded::of(&all, &who, found).await?;
        Ok((all, loaded))
    }
}

/// Bytes that what was read of an experiment takes, but for what its maps and lists keep free.
fn bytes_of(loaded: &Loaded) -> usize {
    let of = |texts: &[Option<&str>]| texts.iter().flatten().map(|text| text.len()).sum::<usize>();
    let items = loaded.items.iter().map(|item| {
        let known =
            [&item.input, &item.expected, &item.metadata, &item.contexts, &item.constraints, &item.files];
        size_of_val(item) + of(&known.map(|text| text.as_deref()))
    });
    let runs = loaded.runs.iter().map(|(key, run)| {
        let known = [Some(key.0.as_str()), run.item_hash.as_deref(), run.error.as_deref()];
        size_of_val(key) + size_of_val(run) + of(&known)
    });
    let scores = loaded.scores.iter().map(|one| {
        // Evaluators, metrics and states are words that scores share.
        size_of_val(one) + of(&[Some(one.item_id.as_str()), one.label.as_deref()])
    });
    items.chain(runs).chain(scores).sum()
}

/// Whose experiment it is, where the query sees the rows of all tenants.
async fn tenant_of(store: &Store, named: &str) -> Result<Arc<str>, LabError> {
    let sql = "SELECT DISTINCT tenant FROM experiments_latest WHERE experiment_id = $1 OR name = $1 LIMIT 2";
    let rows = store.ask_all(sql, vec![text(named)]).await?;
    let tenants: Vec<String> = rows.iter().map(|row| row.text("tenant")).collect();
    match tenants.as_slice() {
        [] => Err(LabError::Missing(format!("there is no experiment {named:?}"))),
        [tenant] => Ok(tenant.as_str().into()),
        _ => Err(LabError::Wrong(format!("several tenants have an experiment {named:?}: name it by its id"))),
    }
}

fn told(error: LabError) -> DataFusionError {
    let error = match error {
        LabError::Limit(why) => SqlError::Limit(why),
        LabError::Later(_) => SqlError::Busy,
        LabError::Broken(why) => SqlError::Internal(why),
        other => SqlError::Wrong(other.to_string()),
    };
    DataFusionError::External(Box::new(error))
}

/// A row a finding of an experiment.
fn batch(experiment: &str, found: &[Finding]) -> Result<RecordBatch, ArrowError> {
    let text = |get: &dyn Fn(&Finding) -> Option<String>| -> ArrayRef {
        Arc::new(found.iter().map(get).collect::<StringArray>())
    };
    let number = |get: &dyn Fn(&Finding) -> Option<f64>| -> ArrayRef {
        Arc::new(found.iter().map(get).collect::<Float64Array>())
    };
    let mut items = ListBuilder::new(StringBuilder::new());
    for one in found {
        one.item_ids.iter().for_each(|item| items.values().append_value(item));
        items.append(true);
    }
    RecordBatch::try_from_iter_with_nullable([
        ("finding_id", text(&|one| Some(id(experiment, one))), false),
        ("experiment_id", text(&|_| Some(experiment.to_owned())), false),
        ("kind", text(&|one| Some(one.kind.to_owned())), false),
        ("severity", text(&|one| Some(one.severity.to_owned())), false),
        ("certainty", text(&|one| Some(one.certainty.to_owned())), false),
        ("metric", text(&|one| one.metric.clone()), true),
        ("item_ids", Arc::new(items.finish()) as ArrayRef, false),
        ("estimate", number(&|one| one.estimate), true),
        ("lower", number(&|one| one.lower), true),
        ("upper", number(&|one| one.upper), true),
        ("threshold", number(&|one| one.threshold), true),
        ("text", text(&|one| Some(one.text.clone())), false),
        ("action", text(&|one| Some(one.action.clone())), false),
    ])
}

/// The same as long as the experiment has the same finding.
fn id(experiment: &str, one: &Finding) -> String {
    let metric = one.metric.as_deref().unwrap_or_default();
    let hash = Sha256::digest(format!("{experiment}\n{}\n{metric}\n{}", one.kind, one.text));
    hex::encode(&hash[..16])
}

#[cfg(test)]
mod tests {
    use super::super::definition::Answer;
    use super::super::tried::{asked, me, opened};
    use super::*;
    use crate::sql;
    use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool};
    use serde_json::json;

    /// Also where one query runs at once: it waits for no turn that it has itself.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_stands_out_is_a_table_of_the_tenant() {
        let folder = tempfile::tempdir().unwrap();
        let config = sql::Config { max_concurrent: 1, ..sql::Config::default() };
        let (all, who) = (opened(folder.path(), config).await, me());
        let registry = Arc::new(Registry::of(Vec::new()));
        register(all.datasets(), &registry).unwrap();
        let experiment = asked(&all, &who).await;
        let item = all.items(&who, &experiment).await.unwrap()[0].item_id.clone();
        let answer =
            json!({"item_id": item, "output": "x", "scores": [{"name": "mine", "error": "it is away"}]});
        let answer: Answer = serde_json::from_value(answer).unwrap();
        all.receive(&who, &experiment.experiment_id, vec![answer]).await.unwrap();

        let named = format!("SELECT * FROM findings('{}')", experiment.experiment_id);
        let by_name = "SELECT kind, metric FROM findings('e') WHERE kind <> 'insight'";
        let store = all.store();
        let rows = store.ask(&who.tenant, &named, Vec::new()).await.unwrap();
        let first = rows.iter().next().unwrap();
        assert_eq!((first.text("kind").as_str(), first.texts("item_ids")), ("unscorable", vec![item]));
        assert_eq!(
            (first.text("experiment_id"), first.text("finding_id").len()),
            (experiment.experiment_id, 32)
        );
        for rows in [
            store.ask(&who.tenant, by_name, Vec::new()).await.unwrap(),
            store.ask_all(by_name, Vec::new()).await.unwrap(),
        ] {
            let told: Vec<String> = rows.iter().map(|row| row.text("metric")).collect();
            assert!(told.len() == 1 && told[0].starts_with("client/mine"), "{told:?}");
        }
        // A plan reads nothing: it knows not even that there is none.
        let planned = store.ask_all("EXPLAIN SELECT * FROM findings('none')", Vec::new()).await.unwrap();
        let planned: Vec<String> = planned.iter().map(|row| row.text("plan")).collect();
        assert!(
            !planned.is_empty() && planned.iter().all(|plan| !plan.contains("there is no")),
            "{planned:?}"
        );
        let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(100));
        let (source, held) =
            (Source::of(all.datasets(), &registry), MemoryConsumer::new(NAME).register(&pool));
        let why = source.rows(&Scope::All, "e", &held).await.unwrap_err();
        assert!(matches!(SqlError::from(why), SqlError::Limit(_)), "what was read counts");
        for (tenant, sql, why) in [
            ("other", named.as_str(), "there is no experiment"),
            ("t", "SELECT * FROM findings(1)", "findings takes the name"),
        ] {
            let told = store.ask(tenant, sql, Vec::new()).await.err().unwrap().to_string();
            assert!(told.contains(why), "{sql}: {told}");
        }
    }
}
