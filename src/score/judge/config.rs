//! Settings of LLM judges: `[[judges]]`.

use super::question::Question;
use crate::detect::Kinds;
use crate::eval::Forecast;
use crate::score::secret::Secret;
use crate::score::wire::authorities;
use crate::units::Time;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// One LLM judge: a model behind OpenAI-compatible chat completions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JudgeConfig {
    /// Its name, unique.
    pub name: String,
    /// The address before `/chat/completions`, such as `http://127.0.0.1:8000/v1`.
    pub base_url: String,
    /// The model.
    pub model: String,
    /// The environment variable that holds the key; none for servers without keys.
    #[serde(default)]
    pub api_key_env: String,
    /// A file that holds the key; it is read for each request.
    #[serde(default)]
    pub api_key_file: PathBuf,
    /// More headers, such as those of gateways; their values are not shown.
    #[serde(default)]
    pub headers: BTreeMap<String, Secret>,
    /// More headers whose values are in the environment: by header the variable, which must be set at the start.
    #[serde(default)]
    pub header_env: BTreeMap<String, String>,
    /// More headers whose values are in files: by header the file, which is read for each request.
    #[serde(default)]
    pub header_files: BTreeMap<String, PathBuf>,
    /// Certificates (PEM) of those whose signature counts beside the public ones, for `https://`.
    #[serde(default)]
    pub ca_file: PathBuf,
    /// More members of the request, such as `temperature`; they win over what is sent otherwise.
    #[serde(default)]
    pub parameters: BTreeMap<String, Json>,
    /// The longest wait for one answer.
    #[serde(default = "default_timeout", with = "Time")]
    pub timeout: Duration,
    /// Requests at once.
    #[serde(default = "default_concurrent")]
    pub max_concurrent: usize,
    /// Requests a minute; 0 for no limit.
    #[serde(default)]
    pub max_requests_per_minute: u32,
    /// Tokens a minute, read and written; 0 for no limit.
    #[serde(default)]
    pub max_tokens_per_minute: u32,
    /// Tokens of one answer.
    #[serde(default = "default_output_tokens")]
    pub max_output_tokens: u32,
    /// What stands before every text whose likelihood is asked for, such as a beginning token that the server leaves out.
    #[serde(default)]
    pub likelihood_prefix: String,
    /// Characters of evaluated text in one request; longer texts are judged on a window, and the rationale says so.
    #[serde(default = "default_input_chars")]
    pub max_input_chars: usize,
    /// US dollars a million tokens that it reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_input_usd: Option<f64>,
    /// US dollars a million tokens that it writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_output_usd: Option<f64>,
    /// US dollars a day (UTC); what would cost more is an error row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_usd_per_day: Option<f64>,
    /// US dollars a month (UTC); what would cost more is an error row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_usd_per_month: Option<f64>,
    /// Tenants whose texts may be sent to it; everybody's if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<Vec<String>>,
    /// What is redacted in texts before they are sent: kinds such as `email`, `pii`, `secrets`, or `*` for both.
    #[serde(default)]
    pub redact: Vec<String>,
    /// How often it is asked questions whose answers are known; 0 for never.
    #[serde(default = "default_canary_interval", with = "Time")]
    pub canary_interval: Duration,
    /// The judge that is asked while this one is away or has spent its budget.
    #[serde(default)]
    pub fallback: String,
}

fn default_timeout() -> Duration {
    Duration::from_secs(30)
}
fn default_canary_interval() -> Duration {
    Duration::from_hours(6)
}
fn default_concurrent() -> usize {
    16
}
fn default_output_tokens() -> u32 {
    2_048
}
fn default_input_chars() -> usize {
    48_000
}

/// The members that limit an answer; of these a request has one.
pub(super) const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];
/// Bytes of a token, at the least: what a call may cost is told before it is made.
const TOKEN_BYTES: i64 = 3;
/// The least number of characters that leaves something of every text.
const MIN_INPUT_CHARS: usize = 1_000;
/// More would be no limit.
const MAX_CONCURRENT: usize = 1_024;

impl JudgeConfig {
    /// A judge with the defaults.
    pub fn new(name: &str, base_url: &str, model: &str) -> Self {
        Self {
            name: name.to_owned(),
            base_url: base_url.to_owned(),
            model: model.to_owned(),
            api_key_env: String::new(),
            api_key_file: PathBuf::new(),
            headers: BTreeMap::new(),
            header_env: BTreeMap::new(),
            header_files: BTreeMap::new(),
            ca_file: PathBuf::new(),
            parameters: BTreeMap::new(),
            timeout: default_timeout(),
            max_concurrent: default_concurrent(),
            max_requests_per_minute: 0,
            max_tokens_per_minute: 0,
            max_output_tokens: default_output_tokens(),
            likelihood_prefix: String::new(),
            max_input_chars: default_input_chars(),
            price_input_usd: None,
            price_output_usd: None,
            max_usd_per_day: None,
            max_usd_per_month: None,
            tenants: None,
            redact: Vec::new(),
            canary_interval: default_canary_interval(),
            fallback: String::new(),
        }
    }

    /// The address of chat completions.
    pub(super) fn url(&self) -> Result<url::Url, String> {
        self.url_of(&["chat", "completions"])
    }

    /// The address behind `base_url` that is posted to.
    pub(super) fn url_of(&self, path: &[&str]) -> Result<url::Url, String> {
        const WRONG: &str = "is no address of the form http://host:port/v1";
        let mut url = url::Url::parse(&self.base_url).map_err(|_| WRONG.to_owned())?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(WRONG.to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("holds a name or password: use api_key_env or api_key_file".to_owned());
        }
        match url.path_segments_mut() {
            Ok(mut segments) => drop(segments.pop_if_empty().extend(path)),
            Err(()) => return Err(WRONG.to_owned()),
        }
        Ok(url)
    }

    /// What so many tokens cost, US dollars; none without prices.
    pub(super) fn cost(&self, input: i64, output: i64) -> Option<f64> {
        let (input_price, output_price) = (self.price_input_usd?, self.price_output_usd?);
        Some((input as f64 * input_price + output as f64 * output_price) / 1e6)
    }

    /// What a question takes at most: bytes of text as tokens, and the longest answer.
    pub(super) fn forecast(&self, question: &Question<'_>) -> Forecast {
        let (bytes, output_tokens) = match question {
            Question::Verdict { system, user, .. } => (system.len() + user.len(), self.longest_answer()),
            Question::Likelihood(asked) => (asked.bytes(), 1),
        };
        let input_tokens = i64::try_from(bytes).unwrap_or(i64::MAX) / TOKEN_BYTES;
        Forecast { requests: 1, input_tokens, output_tokens, usd: self.cost(input_tokens, output_tokens) }
    }

    /// Tokens of the longest answer that is asked for: what stands in `parameters` is sent in the place of `max_output_tokens`.
    fn longest_answer(&self) -> i64 {
        let own = LIMITS.iter().filter_map(|name| self.parameters.get(*name)?.as_i64()).max();
        own.unwrap_or_else(|| i64::from(self.max_output_tokens))
    }

    /// Whether it may spend so much only.
    pub(super) fn has_budget(&self) -> bool {
        self.max_usd_per_day.is_some() || self.max_usd_per_month.is_some()
    }

    fn faults(&self, wrong: &mut dyn FnMut(String)) {
        if let Err(why) = self.url() {
            wrong(format!("base_url {why}"));
        }
        if self.model.trim().is_empty() {
            wrong("model is empty: name the model that judges".to_owned());
        }
        if !self.api_key_env.is_empty() && !self.api_key_file.as_os_str().is_empty() {
            wrong("set api_key_env or api_key_file, not both".to_owned());
        }
        self.header_faults(wrong);
        let fixed = ["messages", "stream", "n"];
        for name in self.parameters.keys().filter(|name| fixed.contains(&name.as_str())) {
            wrong(format!("parameters.{name} cannot be set"));
        }
        if self.timeout < Duration::from_millis(100) {
            wrong("timeout is below 100ms: no model answers so soon".to_owned());
        }
        if !(1..=MAX_CONCURRENT).contains(&self.max_concurrent) {
            wrong(format!("max_concurrent is {}, must be 1 to {MAX_CONCURRENT}", self.max_concurrent));
        }
        if self.max_output_tokens == 0 {
            wrong("max_output_tokens is 0: there would be no answer".to_owned());
        }
        if self.max_input_chars < MIN_INPUT_CHARS {
            wrong(format!("max_input_chars is below {MIN_INPUT_CHARS}: too little would be judged"));
        }
        if self.max_tokens_per_minute > 0 && self.max_tokens_per_minute < self.max_output_tokens {
            wrong(
                "max_tokens_per_minute is below max_output_tokens: one answer would take longer".to_owned(),
            );
        }
        if self.tenants.as_ref().is_some_and(Vec::is_empty) {
            wrong(
                "tenants is empty: nobody's texts would be judged; leave it out for everybody's".to_owned(),
            );
        }
        Kinds::faults("redact", &self.redact).into_iter().for_each(&mut *wrong);
        self.money_faults(wrong);
    }

    fn header_faults(&self, wrong: &mut dyn FnMut(String)) {
        let mut names = BTreeSet::new();
        let own = self.headers.keys().map(|name| ("headers", name));
        let told = self.header_env.keys().map(|name| ("header_env", name));
        for (key, name) in own.chain(told).chain(self.header_files.keys().map(|name| ("header_files", name)))
        {
            if http::HeaderName::try_from(name.as_str()).is_err() {
                wrong(format!("{key}.{name} is no HTTP header"));
            }
            if !names.insert(name.to_ascii_lowercase()) {
                wrong(format!("{key}.{name} is given twice: a header has one value"));
            }
        }
        for (name, value) in &self.headers {
            if http::HeaderValue::try_from(value.reveal()).is_err() {
                wrong(format!("headers.{name} has characters that HTTP does not take"));
            }
        }
        if self.ca_file.as_os_str().is_empty() {
            return;
        }
        match self.url() {
            Ok(url) if url.scheme() != "https" => {
                wrong("ca_file goes with https://: nothing is signed otherwise".to_owned());
            }
            _ => {
                if let Err(why) = authorities(&self.ca_file) {
                    wrong(why);
                }
            }
        }
    }

    fn money_faults(&self, wrong: &mut dyn FnMut(String)) {
        let prices = [("price_input_usd", self.price_input_usd), ("price_output_usd", self.price_output_usd)];
        for (key, price) in prices {
            if price.is_some_and(|price| !(price.is_finite() && price >= 0.0)) {
                wrong(format!("{key} is no price: US dollars a million tokens, 0 or more"));
            }
        }
        if self.price_input_usd.is_some() != self.price_output_usd.is_some() {
            wrong("price_input_usd and price_output_usd belong together: give both or neither".to_owned());
        }
        let limits =
            [("max_usd_per_day", self.max_usd_per_day), ("max_usd_per_month", self.max_usd_per_month)];
        for (key, most) in limits {
            let Some(most) = most else { continue };
            if !(most.is_finite() && most > 0.0) {
                wrong(format!("{key} is {most}, must be above 0; leave it out for no limit"));
            }
            if prices.iter().all(|(_, price)| price.is_none()) {
                wrong(format!("{key} needs price_input_usd and price_output_usd: nothing would be counted"));
            }
        }
        if let (Some(day), Some(month)) = (self.max_usd_per_day, self.max_usd_per_month)
            && day > month
        {
            wrong("max_usd_per_day is above max_usd_per_month: it would limit nothing".to_owned());
        }
    }
}

/// Every fault of `[[judges]]`, each with what to do. `longest` is the longest evaluation of one item, `score.slow_timeout`.
pub fn faults(judges: &[JudgeConfig], longest: Duration) -> Vec<String> {
    let mut faults = Vec::new();
    let mut names = BTreeSet::new();
    for (at, judge) in judges.iter().enumerate() {
        let mut wrong = |what: String| faults.push(format!("judges[{at}] {:?}: {what}", judge.name));
        if judge.name.is_empty() || !names.insert(judge.name.as_str()) {
            wrong("the name is empty or taken: judge names are unique".to_owned());
        }
        judge.faults(&mut wrong);
        if judge.timeout >= longest {
            wrong(
                "timeout is not below score.slow_timeout: no answer would be waited for so long".to_owned(),
            );
        }
        if let Err(why) = chain(judges, at) {
            wrong(why);
        }
    }
    faults
}

/// The judge at `at`, and those that stand in for it, in the order in which they are asked.
pub(super) fn chain(judges: &[JudgeConfig], at: usize) -> Result<Vec<usize>, String> {
    let mut chain = vec![at];
    let mut next = judges[at].fallback.as_str();
    while !next.is_empty() {
        let Some(found) = judges.iter().position(|judge| judge.name == next) else {
            return Err(format!("fallback {next:?} is not among [[judges]]"));
        };
        if chain.contains(&found) {
            return Err(format!("fallback {next:?} leads back: each judge stands in once"));
        }
        chain.push(found);
        next = &judges[found].fallback;
    }
    Ok(chain)
}

#[cfg(test)]
mod tests {
    use super::super::question::Schema;
    use super::*;

    const LONG: Duration = Duration::from_secs(90);

    #[test]
    fn a_judge_with_defaults_has_no_fault_and_a_wrong_one_tells_all() {
        let good = JudgeConfig::new("main", "http://127.0.0.1:8000/v1", "m");
        assert_eq!(faults(std::slice::from_ref(&good), LONG), Vec::<String>::new());
        let bad = JudgeConfig {
            base_url: "http://me:secret@host/v1".to_owned(),
            model: " ".to_owned(),
            max_concurrent: 0,
            max_usd_per_day: Some(1.0),
            max_usd_per_month: Some(0.5),
            max_tokens_per_minute: 100,
            tenants: Some(Vec::new()),
            redact: vec!["emial".to_owned()],
            timeout: LONG,
            headers: BTreeMap::from([("X-Team".to_owned(), Secret::new("a"))]),
            header_env: BTreeMap::from([
                ("x-team".to_owned(), "TEAM".to_owned()),
                ("a b".to_owned(), "X".to_owned()),
            ]),
            fallback: "nobody".to_owned(),
            ..good.clone()
        };
        let told = faults(&[good, bad], LONG).join("\n");
        let parts =
            ["taken", "api_key_env", "model", "max_concurrent", "price_input_usd", "slow_timeout", "nobody"];
        for part in parts.into_iter().chain([
            "max_usd_per_month",
            "max_tokens_per_minute",
            "tenants",
            "emial",
            "a b is no HTTP",
            "twice",
        ]) {
            assert!(told.contains(part), "{part} is missing in:\n{told}");
        }
        assert!(!told.contains("me:secret"), "{told}");
    }

    #[test]
    fn certificates_are_read_at_the_check() {
        let with = |url: &str, file: &str| JudgeConfig {
            ca_file: PathBuf::from(file),
            ..JudgeConfig::new("a", url, "m")
        };
        for (url, part) in
            [("http://h/v1", "ca_file goes with https"), ("https://h/v1", "ca_file: no.pem: cannot be read")]
        {
            let told = faults(&[with(url, "no.pem")], LONG).join("\n");
            assert!(told.contains(part), "{told}");
        }
    }

    #[test]
    fn a_fallback_does_not_lead_back() {
        let judge = |name: &str, fallback: &str| JudgeConfig {
            fallback: fallback.to_owned(),
            ..JudgeConfig::new(name, "http://h/v1", "m")
        };
        assert_eq!(chain(&[judge("a", "b"), judge("b", "")], 0), Ok(vec![0, 1]));
        assert!(chain(&[judge("a", "b"), judge("b", "a")], 0).is_err());
    }

    #[test]
    fn the_address_keeps_its_query() {
        let url = |base: &str| JudgeConfig::new("a", base, "m").url().map(|url| url.to_string());
        assert_eq!(url("http://h:1/v1/"), Ok("http://h:1/v1/chat/completions".to_owned()));
        assert_eq!(
            url("https://h/d?api-version=2"),
            Ok("https://h/d/chat/completions?api-version=2".to_owned())
        );
        assert!(url("ftp://h").is_err());
    }

    #[test]
    fn cost_is_by_a_million_tokens() {
        let judge = JudgeConfig {
            price_input_usd: Some(0.5),
            price_output_usd: Some(2.0),
            ..JudgeConfig::new("a", "http://h", "m")
        };
        assert!((judge.cost(1_000, 100).unwrap() - 0.0007).abs() < 1e-12);
        // What an answer may cost is by the limit that is sent.
        let schema = Schema::new("m", &Json::Null);
        let question = Question::Verdict { system: "", user: "", schema: &schema };
        assert_eq!(judge.forecast(&question).output_tokens, 2_048);
        let parameters = BTreeMap::from([("max_completion_tokens".to_owned(), Json::from(20_000))]);
        let longer = JudgeConfig { parameters, ..judge }.forecast(&question);
        assert_eq!(longer.output_tokens, 20_000);
        assert!((longer.usd.unwrap() - 0.04).abs() < 1e-12);
    }
}
