//! Which threshold holds for a metric: the evaluator's own, or what the configuration says.

use super::evaluator::{Evaluator, Metric};
use super::scale::scale_of;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// `eval.thresholds`: all of another system, or values by metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Thresholds {
    /// Those of a system, where it has one; the evaluators' own elsewhere.
    Of(System),
    /// Values by metric; the evaluators' own for the others.
    ByMetric(BTreeMap<String, f64>),
}

/// A system whose default thresholds are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum System {
    /// H2O Eval Studio.
    #[serde(rename = "h2o")]
    H2o,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self::ByMetric(BTreeMap::new())
    }
}

impl<'de> Deserialize<'de> for Thresholds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Given)
    }
}

struct Given;

impl<'de> Visitor<'de> for Given {
    type Value = Thresholds;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"h2o\", or a table of numbers by metric")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Thresholds, E> {
        match word {
            "h2o" => Ok(Thresholds::Of(System::H2o)),
            other => Err(E::custom(format!(
                "{other:?} is no system whose thresholds are known: write \"h2o\", or a table of numbers by metric"
            ))),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Thresholds, A::Error> {
        BTreeMap::deserialize(MapAccessDeserializer::new(map)).map(Thresholds::ByMetric)
    }
}

impl JsonSchema for Thresholds {
    fn schema_name() -> Cow<'static, str> {
        "Thresholds".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                { "type": "string", "enum": ["h2o"] },
                { "type": "object", "additionalProperties": { "type": "number", "format": "double" } }
            ]
        })
    }
}

/// What the configuration says of thresholds.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    all: Thresholds,
    /// By evaluator; they go before.
    own: BTreeMap<String, f64>,
}

impl Lines {
    /// `all`, and by evaluator `own`, which goes before.
    pub(super) fn new(all: Thresholds, own: BTreeMap<String, f64>) -> Self {
        Self { all, own }
    }

    /// The configured threshold of a metric; none where the evaluator's own holds, which is `own` if it has one. An infinite
    /// one of another system is none: every value would pass.
    pub(super) fn configured(
        &self,
        evaluator: &dyn Evaluator,
        metric: &Metric,
        own: Option<f64>,
    ) -> Option<f64> {
        let h2o = scale_of(evaluator.id(), &metric.name).and_then(|scale| scale.h2o);
        let is_first = evaluator.metrics().first().is_some_and(|first| first.name == metric.name);
        if (is_first || own.is_some() || h2o.is_some())
            && let Some(threshold) = self.own.get(evaluator.id())
        {
            return Some(*threshold);
        }
        match &self.all {
            Thresholds::Of(System::H2o) => h2o.filter(|threshold| threshold.is_finite()),
            Thresholds::ByMetric(values) => own.and_then(|_| values.get(&*metric.name).copied()),
        }
    }
}
