//! Settings of plug-ins: `[[plugins]]`.

use crate::detect::Kinds;
use crate::eval::plugin_id;
use crate::score::wire::authorities;
use crate::units::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// How a plug-in is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PluginKind {
    /// A command that reads and writes JSON lines.
    Process,
    /// JSON over HTTP.
    Http,
    /// The service `groundline.evaluator.v1.Evaluator`.
    Grpc,
}

/// One evaluator of the user's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PluginConfig {
    /// The second part of its id, `plugin/<name>`: letters, digits, `_` and `-`.
    pub name: String,
    /// How it is asked; without it, what `command` or the scheme of `url` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PluginKind>,
    /// A program and its arguments; no shell reads them.
    #[serde(default)]
    pub command: Vec<String>,
    /// The folder that the command runs in; the server's if empty.
    #[serde(default)]
    pub directory: PathBuf,
    /// The variables of the environment that the command sees.
    #[serde(default = "default_environment")]
    pub environment: Vec<String>,
    /// The address, `http://`, `https://`, `grpc://` or `grpcs://`.
    #[serde(default)]
    pub url: String,
    /// A file that holds a bearer token; it is read for each request.
    #[serde(default)]
    pub secret_file: PathBuf,
    /// Certificates (PEM) of those whose signature counts beside the public ones, for `https://` and `grpcs://`.
    #[serde(default)]
    pub ca_file: PathBuf,
    /// Tenants whose texts may be sent to it; everybody's if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenants: Option<Vec<String>>,
    /// What is redacted in texts before they are sent: kinds such as `email`, `pii`, `secrets`, or `*` for both.
    #[serde(default)]
    pub redact: Vec<String>,
    /// The longest wait for an answer: of an item for a command, of a batch otherwise.
    #[serde(default = "default_timeout", with = "Time")]
    pub timeout: Duration,
    /// The longest wait for the description, with all that a command does before it, such as loading a model.
    #[serde(default = "default_start_timeout", with = "Time")]
    pub start_timeout: Duration,
    /// Items sent together.
    #[serde(default = "default_batch")]
    pub batch: usize,
    /// Batches at once; a command runs so many times.
    #[serde(default = "default_concurrency")]
    pub concurrency: usize,
}

fn default_environment() -> Vec<String> {
    ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR"].map(str::to_owned).to_vec()
}
fn default_timeout() -> Duration {
    Duration::from_secs(10)
}
fn default_start_timeout() -> Duration {
    Duration::from_mins(1)
}
fn default_batch() -> usize {
    16
}
fn default_concurrency() -> usize {
    1
}

/// Larger batches cost more when one of their items fails.
const MAX_BATCH: usize = 256;
/// More would be no limit.
const MAX_CONCURRENCY: usize = 64;
/// Nobody answers sooner.
const SHORTEST: Duration = Duration::from_millis(10);

impl PluginConfig {
    /// A plug-in with the defaults.
    #[cfg(test)]
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: None,
            command: Vec::new(),
            directory: PathBuf::new(),
            environment: default_environment(),
            url: String::new(),
            secret_file: PathBuf::new(),
            ca_file: PathBuf::new(),
            tenants: None,
            redact: Vec::new(),
            timeout: default_timeout(),
            start_timeout: default_start_timeout(),
            batch: default_batch(),
            concurrency: default_concurrency(),
        }
    }

    /// The evaluator's id.
    pub fn id(&self) -> String {
        plugin_id(&self.name)
    }

    /// How it is asked.
    pub(super) fn form(&self) -> PluginKind {
        let told = match self.url.split_once("://") {
            Some(("grpc" | "grpcs", _)) => PluginKind::Grpc,
            Some(_) => PluginKind::Http,
            None => PluginKind::Process,
        };
        self.kind.unwrap_or(told)
    }

    /// The address, with a scheme that clients know.
    pub(super) fn address(&self) -> Result<url::Url, String> {
        const WRONG: &str = "is no address of the form http://host:port, https://, grpc:// or grpcs://";
        let (scheme, rest) = self.url.split_once("://").ok_or(WRONG)?;
        let plain = match (scheme, self.form()) {
            ("http" | "https", PluginKind::Http | PluginKind::Grpc) => scheme,
            ("grpc", PluginKind::Grpc) => "http",
            ("grpcs", PluginKind::Grpc) => "https",
            ("grpc" | "grpcs", _) => return Err("is an address for kind = \"grpc\"".to_owned()),
            _ => return Err(WRONG.to_owned()),
        };
        let url = url::Url::parse(&format!("{plain}://{rest}")).map_err(|_| WRONG.to_owned())?;
        if !url.has_host() {
            return Err(WRONG.to_owned());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("holds a name or password: use secret_file".to_owned());
        }
        Ok(url)
    }

    /// The certificates of `ca_file`, PEM; none without one.
    pub(super) fn authorities(&self) -> Result<Option<Vec<u8>>, String> {
        authorities(&self.ca_file)
    }

    fn faults(&self, wrong: &mut dyn FnMut(String)) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if self.name.is_empty() || !self.name.chars().all(is_plain) {
            wrong("name has letters, digits, _ and - only".to_owned());
        }
        self.way_faults(wrong);
        if self.tenants.as_ref().is_some_and(Vec::is_empty) {
            wrong(
                "tenants is empty: nobody's texts would be scored; leave it out for everybody's".to_owned(),
            );
        }
        Kinds::faults("redact", &self.redact).into_iter().for_each(&mut *wrong);
        if self.timeout < SHORTEST {
            wrong("timeout is below 10ms: nobody answers so soon".to_owned());
        }
        if self.start_timeout < SHORTEST {
            wrong("start_timeout is below 10ms: nobody starts so soon".to_owned());
        }
        if !(1..=MAX_BATCH).contains(&self.batch) {
            wrong(format!("batch is {}, must be 1 to {MAX_BATCH}", self.batch));
        }
        if !(1..=MAX_CONCURRENCY).contains(&self.concurrency) {
            wrong(format!("concurrency is {}, must be 1 to {MAX_CONCURRENCY}", self.concurrency));
        }
    }

    fn way_faults(&self, wrong: &mut dyn FnMut(String)) {
        if self.command.is_empty() == self.url.is_empty() {
            wrong("set command or url, one of them".to_owned());
            return;
        }
        if self.url.is_empty() {
            if self.kind.is_some_and(|kind| kind != PluginKind::Process) {
                wrong("kind is not \"process\", and there is a command: set url instead".to_owned());
            }
            if self.command.first().is_some_and(|program| program.trim().is_empty()) {
                wrong("command begins with nothing: name the program".to_owned());
            }
            if !self.secret_file.as_os_str().is_empty() {
                wrong("secret_file goes with a url: a command gets no token".to_owned());
            }
            if !self.ca_file.as_os_str().is_empty() {
                wrong("ca_file goes with a url".to_owned());
            }
        } else if self.kind == Some(PluginKind::Process) {
            wrong("kind is \"process\", and there is a url: set command instead".to_owned());
        } else if let Err(why) = self.address() {
            wrong(format!("url {why}"));
        } else if !self.ca_file.as_os_str().is_empty()
            && !self.address().is_ok_and(|url| url.scheme() == "https")
        {
            wrong("ca_file goes with https:// or grpcs://: nothing is signed otherwise".to_owned());
        }
        for name in self.environment.iter().filter(|name| name.is_empty() || name.contains(['=', '\0'])) {
            wrong(format!("environment names {name:?}, which is no variable; values are not given here"));
        }
    }
}

/// Every fault of `[[plugins]]`, each with what to do. `longest` is the longest evaluation of one item,
/// `score.slow_timeout`.
pub fn faults(plugins: &[PluginConfig], longest: Duration) -> Vec<String> {
    let mut faults = Vec::new();
    let mut names = BTreeSet::new();
    for (at, plugin) in plugins.iter().enumerate() {
        let mut wrong = |what: String| faults.push(format!("plugins[{at}] {:?}: {what}", plugin.name));
        if !names.insert(plugin.name.as_str()) {
            wrong("the name is taken: plug-in names are unique".to_owned());
        }
        plugin.faults(&mut wrong);
        if plugin.timeout >= longest {
            wrong(
                "timeout is not below score.slow_timeout: no answer would be waited for so long".to_owned(),
            );
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(90);

    #[test]
    fn each_form_has_its_fields() {
        let process = PluginConfig { command: vec!["python3".to_owned()], ..PluginConfig::new("a") };
        let http = PluginConfig { url: "http://127.0.0.1:1/x".to_owned(), ..PluginConfig::new("b") };
        let grpc = PluginConfig { url: "grpc://127.0.0.1:1".to_owned(), ..PluginConfig::new("c") };
        let plain = PluginConfig { kind: Some(PluginKind::Grpc), ..http.clone() };
        let plain = PluginConfig { name: "d".to_owned(), ..plain };
        let all = [process, http, grpc, plain];
        assert_eq!(faults(&all, LONG), Vec::<String>::new());
        use PluginKind::{Grpc, Http, Process};
        assert_eq!(all.each_ref().map(PluginConfig::form), [Process, Http, Grpc, Grpc]);
        assert_eq!(all[2].address().unwrap().as_str(), "http://127.0.0.1:1/");
        assert_eq!(all[2].id(), "plugin/c");
    }

    #[test]
    fn faults_are_told_at_once_and_hide_what_is_secret() {
        let both = PluginConfig {
            command: vec!["x".to_owned()],
            url: "http://h".to_owned(),
            batch: 0,
            concurrency: 65,
            timeout: LONG,
            tenants: Some(Vec::new()),
            redact: vec!["emial".to_owned()],
            ..PluginConfig::new("a b")
        };
        let known = PluginConfig { url: "http://me:hunter2@h/".to_owned(), ..PluginConfig::new("a b") };
        let mixed = PluginConfig {
            kind: Some(PluginKind::Http),
            url: "grpc://h".to_owned(),
            environment: vec!["A=b".to_owned()],
            ..PluginConfig::new("c")
        };
        let plain = PluginConfig {
            url: "grpc://h:1".to_owned(),
            ca_file: PathBuf::from("ca.pem"),
            ..PluginConfig::new("d")
        };
        let told = faults(&[both, known, mixed, plain], LONG).join("\n");
        for part in [
            "letters",
            "command or url",
            "batch is 0",
            "concurrency is 65",
            "slow_timeout",
            "taken",
            "secret_file",
            "kind = \"grpc\"",
            "A=b",
            "ca_file goes with https",
            "tenants is empty",
            "emial",
        ] {
            assert!(told.contains(part), "{part} is missing in:\n{told}");
        }
        assert!(!told.contains("hunter2"), "{told}");
    }
}
