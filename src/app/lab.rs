//! The lab over the rooms that it stands on.

use crate::domain::time::Clock;
use crate::eval::{JudgeDesk, Registry};
use crate::ingest::Redactor;
use crate::journal::Journal;
use crate::lab::archive::{ArchiveEndpoint, archive_router};
use crate::lab::dataset::{DatasetEndpoint, Datasets, Redact, dataset_router};
use crate::lab::experiment::{ExperimentEndpoint, Experiments, RunSpans, experiment_router, findings_in_sql};
use crate::lab::lint::{LintEndpoint, evaluators_in_sql, lint_router};
use crate::lab::perturb::{PerturbEndpoint, perturb_router};
use crate::lab::review::{ReviewEndpoint, review_router};
use crate::lab::suite::{SuiteEndpoint, Suites, suite_router};
use crate::lab::suite_run::{SuiteRunEndpoint, SuiteRuns, suite_run_router};
use crate::lab::{Config, Production, Restores, Store};
use crate::lake::Lake;
use crate::net::Access;
use crate::sql::Sql;
use axum::Router;
use std::sync::Arc;

/// What the lab stands on.
pub struct Laboratory {
    /// Where rows become durable.
    pub journal: Journal,
    /// Where they become visible.
    pub lake: Arc<Lake>,
    /// What reads them.
    pub sql: Arc<Sql>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The evaluators.
    pub registry: Arc<Registry>,
    /// Where questions of suites are asked; none without a judge.
    pub desk: Option<Arc<dyn JudgeDesk>>,
    /// What redacts what must not be stored; none if nothing is redacted.
    pub redactor: Option<Arc<Redactor>>,
    /// What is judged before experiments.
    pub production: Production,
    /// Who may do what.
    pub access: Access,
    /// Who writes questions in other words; none without a judge.
    pub writer: Option<Arc<dyn crate::eval::Writer>>,
}

/// The routes under `/v1/lab`, and the loop that makes spans of runs whose targets sent none.
pub fn lab_routes(lab: Laboratory, config: &Config) -> (Router, RunSpans) {
    if let Err(error) = evaluators_in_sql(&lab.sql, &lab.registry) {
        tracing::error!(%error, "evaluators() is not there");
    }
    let (journal, lake, sql, clock) = (lab.journal, lab.lake, lab.sql, lab.clock);
    let store = Store { journal, lake, sql, clock, restores: Restores::default() };
    let redact = lab.redactor.map(|redactor| -> Redact {
        Arc::new(move |text: &mut String| redactor.texts(std::iter::once(text)))
    });
    let config = Arc::new(config.clone());
    let datasets = Datasets::new(store, config, redact);
    let registry = lab.registry;
    if let Err(error) = findings_in_sql(&datasets, &registry) {
        tracing::error!(%error, "findings() is not there");
    }
    let suites = Suites::new(datasets.clone());
    let experiments = Experiments::new(datasets.clone(), registry.clone(), lab.production);
    let runs = SuiteRuns::new(suites.clone(), experiments.clone(), registry.clone(), lab.desk);
    let spans = RunSpans::new(experiments.clone());
    let routes = dataset_router(DatasetEndpoint { datasets: datasets.clone(), access: lab.access.clone() })
        .merge(perturb_router(PerturbEndpoint {
            datasets: datasets.clone(),
            access: lab.access.clone(),
            writer: lab.writer,
        }))
        .merge(lint_router(LintEndpoint { datasets, registry, access: lab.access.clone() }))
        .merge(archive_router(ArchiveEndpoint {
            experiments: experiments.clone(),
            access: lab.access.clone(),
        }))
        .merge(suite_run_router(SuiteRunEndpoint { runs, access: lab.access.clone() }))
        .merge(suite_router(SuiteEndpoint { suites, access: lab.access.clone() }))
        .merge(review_router(ReviewEndpoint { experiments: experiments.clone(), access: lab.access.clone() }))
        .merge(experiment_router(ExperimentEndpoint { experiments, access: lab.access }));
    (routes, spans)
}
