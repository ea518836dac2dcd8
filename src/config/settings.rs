//! The rooms' settings in one, and what must hold between them.

use crate::{detect, drift, emit, eval, ingest, journal, lake, net, queue, sample, score, sql, watch};
use serde::{Deserialize, Serialize};

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
    /// Limits of queries.
    pub sql: sql::Config,
    /// The loop that follows the scores for alerts.
    pub drift: drift::Config,
    /// What leaves.
    pub emit: emit::Config,
    /// Metrics.
    pub watch: watch::Config,
    /// Alerts.
    pub alerts: Vec<drift::AlertConfig>,
    /// Who is told of alerts.
    pub receivers: Vec<drift::ReceiverConfig>,
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
        faults.extend(self.sql.faults());
        faults.extend(self.emit.faults());
        faults.extend(self.watch.faults());
        if let Err(rules) = sample::compile(&self.sample.rules) {
            faults.extend(rules.iter().map(ToString::to_string));
        }
        faults.extend(drift::faults(&self.drift, &self.alerts, &self.receivers));
        if let Err(alerts) = drift::compile(&self.alerts) {
            faults.extend(alerts.iter().map(ToString::to_string));
        }
        self.rule_faults(&mut faults);
        for lane in queue::Lane::ALL {
            if self.queue.lane(lane).lease <= self.score.timeout {
                faults.push(format!(
                    "queue.{}.lease is not above score.timeout: a second worker would take an item that is still \
                     being evaluated",
                    lane.as_str()
                ));
            }
        }
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

    fn rule_faults(&self, faults: &mut Vec<String>) {
        for rule in &self.sample.rules {
            for id in rule.evaluators.iter().filter(|id| *id != "*") {
                if !eval::IDS.contains(&id.as_str()) || self.eval.disabled.contains(id) {
                    faults.push(format!(
                        "sample.rules {:?}: evaluator {id:?} is not there or is disabled; there are {}",
                        rule.name,
                        eval::IDS.join(", ")
                    ));
                }
            }
        }
    }

    /// Every address with its key.
    pub fn addresses(&self) -> [(&'static str, std::net::SocketAddr); 4] {
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
            let taken = addresses.iter().take(at).find(|(_, other)| other == address && address.port() != 0);
            if let Some((other, _)) = taken {
                faults.push(format!("{key} and {other} are both {address}: give each its own port"));
            }
        }
    }
}
