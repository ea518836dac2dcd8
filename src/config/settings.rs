//! The rooms' settings in one, and what must hold between them.

use crate::units::ByteSize;
use crate::{
    detect, drift, emit, eval, ingest, journal, lab, label, lake, net, queue, sample, score, sql, watch,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The whole configuration.
#[derive(Debug, Clone, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The process: data directory, connections, TLS, tokens.
    pub server: net::Config,
    /// The OTLP receiver.
    pub ingest: ingest::Config,
    /// The write-ahead log.
    pub journal: journal::Config,
    /// The tables.
    pub lake: lake::Config,
    /// What counts as personal data and credentials.
    pub detect: detect::Config,
    /// Items that wait for their evaluators.
    pub queue: queue::Config,
    /// Sampling rules.
    pub sample: sample::Config,
    /// The loop of evaluation.
    pub score: score::Config,
    /// Evaluators.
    pub eval: eval::Config,
    /// What one evaluator does otherwise, by its id.
    pub evaluator: BTreeMap<String, eval::EvaluatorConfig>,
    /// Model files of the user.
    pub models: eval::ModelsConfig,
    /// Limits of queries.
    pub sql: sql::Config,
    /// The loop that follows the scores for alerts.
    pub drift: drift::Config,
    /// Evaluation results that leave.
    pub emit: emit::Config,
    /// Spans that are passed on.
    pub forward: emit::Config,
    /// Log records that are passed on.
    pub forward_logs: emit::Config,
    /// Items to label, and what labels say of scores.
    pub labels: label::Config,
    /// Datasets and experiments.
    pub lab: lab::Config,
    /// Metrics.
    pub watch: watch::Config,
    /// LLM judges; the first one is the default.
    pub judges: Vec<score::JudgeConfig>,
    /// Evaluators of the user's own, in any language.
    pub plugins: Vec<score::PluginConfig>,
    /// Alerts.
    pub alerts: Vec<drift::AlertConfig>,
    /// Who is told of alerts.
    pub receivers: Vec<drift::ReceiverConfig>,
    /// Frozen items that tell the application from the evaluator.
    pub anchors: Vec<drift::AnchorConfig>,
}

impl Config {
    /// Every fault of the values, and of values together.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = self.server.faults();
        faults.extend(self.ingest.faults());
        faults.extend(self.journal.faults());
        faults.extend(self.lake.faults());
        faults.extend(self.detect.faults());
        faults.extend(self.queue.faults());
        faults.extend(self.sample.faults());
        faults.extend(self.score.faults());
        faults.extend(self.eval.faults());
        faults.extend(self.models.faults());
        faults.extend(score::judge_faults(&self.judges, self.score.slow_timeout));
        faults.extend(score::custom_faults(&self.eval.custom, &self.judges));
        faults.extend(score::plugin_faults(&self.plugins, self.score.slow_timeout));
        faults.extend(self.sql.faults());
        faults.extend(self.backend_faults());
        faults.extend(self.labels.faults());
        faults.extend(self.lab.faults());
        faults.extend(self.watch.faults());
        if let Err(rules) = sample::compile(&self.sample.rules) {
            faults.extend(rules.iter().map(ToString::to_string));
        }
        faults.extend(drift::faults(&self.drift, &self.alerts, &self.receivers));
        faults.extend(drift::state_faults(&self.alerts, self.journal.max_frame_size));
        if let Err(alerts) = drift::compile(&self.alerts) {
            faults.extend(alerts.iter().map(ToString::to_string));
        }
        self.threshold_faults(&mut faults);
        self.similarity_faults(&mut faults);
        self.rule_faults(&mut faults);
        self.anchor_faults(&mut faults);
        self.lease_faults(&mut faults);
        if self.lake.vacuum_after <= self.sql.timeout {
            faults.push(
                "lake.vacuum_after is not above sql.timeout: another server on the same bucket would delete files \
                 that a query still reads"
                    .to_owned(),
            );
        }
        self.address_faults(&mut faults);
        if self.journal.max_frame_size < self.ingest.max_request_size {
            faults.push(
                "journal.max_frame_size is below ingest.max_request_size: an allowed request would not fit \
                 into the journal"
                    .to_owned(),
            );
        }
        faults
    }

    /// Faults of where data is sent, and of what may wait for it.
    fn backend_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let endpoints = [self.ingest.grpc_listen, self.ingest.http_listen];
        let backends =
            [("emit", &self.emit), ("forward", &self.forward), ("forward_logs", &self.forward_logs)];
        for (section, config) in backends {
            faults.extend(config.faults(section));
            if config.otlp_endpoint.is_empty() {
                continue;
            }
            if endpoints.iter().any(|endpoint| config.is_at(*endpoint)) {
                faults.push(format!("{section}.otlp_endpoint is this server's own address: what leaves would come back for ever"));
            }
            let least = self.journal.segment_size.times(2);
            let most = ByteSize::new(self.journal.max_disk_size.bytes() / 2);
            if config.max_disk_size < least || config.max_disk_size > most {
                faults.push(format!(
                    "{section}.max_disk_size is {}: set at least {least}, twice journal.segment_size, because space is given back \
                     by whole segments, and at most {most}, half of journal.max_disk_size, so that a backend that is away never \
                     has senders refused",
                    config.max_disk_size
                ));
            }
        }
        faults
    }

    /// A threshold of a metric that nobody tells, or one beyond all its values, decides nothing.
    fn threshold_faults(&self, faults: &mut Vec<String>) {
        let eval::Thresholds::ByMetric(thresholds) = &self.eval.thresholds else { return };
        if !self.plugins.is_empty() {
            // What plug-ins tell, and in which range, is known only when they run; a name may be that of another evaluator.
            return;
        }
        for (metric, threshold) in thresholds.iter().filter(|(_, threshold)| threshold.is_finite()) {
            let told = eval::SCALES.iter().filter(|scale| scale.metrics.contains(&metric.as_str()));
            let scales: Vec<&eval::Scale> = told.chain(eval::scale_of(metric, metric)).collect();
            if let Some(scale) = scales.first() {
                if !scales.iter().any(|scale| (scale.least..=scale.most).contains(threshold)) {
                    let (least, most) = (scale.least, scale.most);
                    faults.push(format!(
                        "eval.thresholds.{metric} is {threshold}: its values are from {least} to {most}"
                    ));
                }
            } else {
                let known = eval::SCALES.iter().flat_map(|scale| scale.metrics.iter().copied());
                let near = known.min_by_key(|name| strsim::levenshtein(metric, name)).unwrap_or_default();
                faults.push(format!(
                    "eval.thresholds.{metric}: no evaluator tells a metric of this name; the nearest is {near:?}"
                ));
            }
        }
    }

    /// A cross-encoder needs its model, and a model needs somebody who asks it.
    fn similarity_faults(&self, faults: &mut Vec<String>) {
        let key = "evaluator.answer_semantic_similarity.method";
        let is_asked = self.eval.similarity_method() == eval::SimilarityMethod::CrossEncoder;
        match (is_asked, self.models.similarity.is_some()) {
            (true, false) => faults.push(format!(
                "{key} is cross_encoder, and no model is there for it: name its file in models.similarity.path"
            )),
            (false, true) => faults
                .push(format!("models.similarity is used by nobody: set {key} = \"cross_encoder\" as well")),
            _ => {}
        }
    }

    fn lease_faults(&self, faults: &mut Vec<String>) {
        for lane in queue::Lane::ALL {
            let mut longest = vec![("score.timeout", self.score.timeout)];
            if lane == queue::Lane::Slow {
                longest.push(("score.slow_timeout", self.score.slow_timeout));
            }
            for (key, _) in longest.iter().filter(|(_, longest)| self.queue.lane(lane).lease <= *longest) {
                faults.push(format!(
                    "queue.{}.lease is not above {key}: a second worker would take an item that is still \
                     being evaluated",
                    lane.as_str()
                ));
            }
        }
    }

    fn rule_faults(&self, faults: &mut Vec<String>) {
        let known = self.evaluators();
        for rule in &self.sample.rules {
            for id in rule.evaluators.iter().filter(|id| *id != "*" && !known.contains(id)) {
                let name = &rule.name;
                let needs = match id {
                    id if eval::asks_judge(id) && self.judges.is_empty() => {
                        "asks an LLM judge: configure [[judges]], see docs/judges.md".to_owned()
                    }
                    id if eval::is_plugin(id) && self.plugins.is_empty() => {
                        "is a plug-in: configure [[plugins]], see docs/plugins.md".to_owned()
                    }
                    _ => format!("is not there or is disabled; there are {}", known.join(", ")),
                };
                faults.push(format!("sample.rules {name:?}: evaluator {id:?} {needs}"));
            }
        }
    }

    fn anchor_faults(&self, faults: &mut Vec<String>) {
        let known = self.evaluators();
        for (at, set) in self.anchors.iter().enumerate() {
            faults.extend(set.faults(at));
            for id in set.evaluators.iter().filter(|id| *id != "*" && !known.contains(id)) {
                faults.push(format!("anchors[{at}]: evaluator {id:?} is not there or is disabled"));
            }
        }
    }

    /// The ids of all evaluators that run: without judges those that ask one do not.
    fn evaluators(&self) -> Vec<String> {
        let mut known: Vec<String> = eval::IDS.iter().map(|id| (*id).to_owned()).collect();
        if !self.judges.is_empty() {
            known.extend(eval::JUDGE_IDS.iter().map(|id| (*id).to_owned()));
            known.extend(self.eval.custom.iter().map(eval::CustomConfig::id));
        }
        known.extend(self.plugins.iter().map(score::PluginConfig::id));
        known.retain(|id| !self.eval.disabled.contains(id));
        known
    }

    /// Every address with its key.
    pub fn addresses(&self) -> [(&'static str, SocketAddr); 4] {
        [
            ("ingest.grpc_listen", self.ingest.grpc_listen),
            ("ingest.http_listen", self.ingest.http_listen),
            ("server.http_listen", self.server.http_listen),
            ("server.pg_listen", self.server.pg_listen),
        ]
    }

    fn address_faults(&self, faults: &mut Vec<String>) {
        let addresses = self.addresses();
        for (at, (key, address)) in addresses.iter().enumerate() {
            if !address.ip().is_loopback() && !self.server.allow_exposed && !self.server.has_tokens() {
                faults.push(format!(
                    "{key} is {address}, which other machines can reach, and there are no tokens: set \
                     server.tokens_file, use a loopback address, or set server.allow_exposed = true behind \
                     something that authenticates"
                ));
            }
            let taken = addresses.iter().take(at).find(|(_, other)| excludes(*address, *other));
            if let Some((other, theirs)) = taken {
                faults.push(match theirs == address {
                    true => format!("{key} and {other} are both {address}: give each its own port"),
                    false => format!(
                        "{key} is {address} and {other} is {theirs}, which one of them takes whole: give each its own port"
                    ),
                });
            }
        }
    }
}

/// Whether one process cannot listen on both: an address of all interfaces has those of each, of its kind.
fn excludes(one: SocketAddr, other: SocketAddr) -> bool {
    let is_same_kind = one.is_ipv4() == other.is_ipv4();
    let is_all = one.ip().is_unspecified() || other.ip().is_unspecified();
    one.port() != 0 && one.port() == other.port() && (one.ip() == other.ip() || (is_same_kind && is_all))
}
