//! The configuration as text.

use super::settings::Config;
use serde_json::Value as Json;
use toml::{Table, Value};
use url::Url;

/// What stands in the place of a secret.
const HIDDEN: &str = "<hidden>";

/// The documented configuration with every default.
pub const EXAMPLE: &str = include_str!("../../groundline.example.toml");

impl Config {
    /// The effective configuration in the words of the example, with its comments.
    pub fn dump(&self) -> String {
        let Ok(mut document) = EXAMPLE.parse::<toml_edit::DocumentMut>() else { return String::new() };
        let mut shown = self.clone();
        hide(&mut shown);
        let (Ok(defaults), Ok(now)) = (Table::try_from(Config::default()), Table::try_from(shown)) else {
            return String::new();
        };
        write_changes(document.as_table_mut(), &defaults, &now);
        document.to_string()
    }

    /// The effective configuration for people who look at a running server: without keys, planted strings, names and
    /// passwords in addresses, and the paths of receivers, which are secrets with Slack and its like.
    pub fn shown(&self) -> Json {
        let mut config = self.clone();
        hide(&mut config);
        config.eval.canaries.iter_mut().for_each(|canary| *canary = HIDDEN.to_owned());
        for receiver in &mut config.receivers {
            if let Ok(mut url) = Url::parse(&receiver.url)
                && !matches!(url.path(), "" | "/")
            {
                url.set_path("hidden");
                receiver.url = url.to_string();
            }
        }
        let mut shown = serde_json::to_value(config).unwrap_or_default();
        hide_in_addresses(&mut shown);
        shown
    }
}

/// Puts keys, and headers that may be keys, out of a configuration.
fn hide(config: &mut Config) {
    if !config.lake.s3.secret_access_key.is_empty() {
        config.lake.s3.secret_access_key = HIDDEN.to_owned();
    }
    let backends = [&mut config.emit.headers, &mut config.forward.headers, &mut config.forward_logs.headers];
    let targets = config.lab.targets.values_mut().map(|target| &mut target.headers);
    for value in backends.into_iter().chain(targets).flat_map(|headers| headers.values_mut()) {
        *value = HIDDEN.to_owned();
    }
}

/// Puts names, passwords and parameters out of every address.
fn hide_in_addresses(value: &mut Json) {
    match value {
        Json::Array(values) => values.iter_mut().for_each(hide_in_addresses),
        Json::Object(values) => values.values_mut().for_each(hide_in_addresses),
        Json::String(text) if text.contains("://") => {
            let Ok(mut url) = Url::parse(text) else { return };
            let has_user = !url.username().is_empty() || url.password().is_some();
            if !has_user && url.query().is_none() {
                return;
            }
            // An address without a host has neither.
            let _ =
                url.set_password(None).and_then(|()| url.set_username(if has_user { "hidden" } else { "" }));
            if url.query().is_some() {
                url.set_query(Some("hidden"));
            }
            *text = url.to_string();
        }
        _ => {}
    }
}

fn write_changes(document: &mut toml_edit::Table, defaults: &Table, now: &Table) {
    for (key, value) in now {
        if defaults.get(key) == Some(value) {
            continue;
        }
        match (value, document.get_mut(key).and_then(toml_edit::Item::as_table_mut)) {
            (Value::Table(inner), Some(table)) => {
                let empty = Table::new();
                let known = defaults.get(key).and_then(Value::as_table).unwrap_or(&empty);
                write_changes(table, known, inner);
            }
            _ => {
                let mut one = Table::new();
                one.insert(key.clone(), value.clone());
                if let Ok(mut parsed) = one.to_string().parse::<toml_edit::DocumentMut>()
                    && let Some(item) = parsed.as_table_mut().remove(key)
                {
                    document.insert(key, item);
                }
            }
        }
    }
}
