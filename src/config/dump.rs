//! The configuration as text.

use super::settings::Config;
use toml::{Table, Value};

/// The documented configuration with every default.
pub const EXAMPLE: &str = include_str!("../../groundline.example.toml");

impl Config {
    /// The effective configuration in the words of the example, with its comments.
    pub fn dump(&self) -> String {
        let Ok(mut document) = EXAMPLE.parse::<toml_edit::DocumentMut>() else { return String::new() };
        let mut shown = self.clone();
        if !shown.lake.s3.secret_access_key.is_empty() {
            shown.lake.s3.secret_access_key = "<hidden>".to_owned();
        }
        let (Ok(defaults), Ok(now)) = (Table::try_from(Config::default()), Table::try_from(shown)) else {
            return String::new();
        };
        write_changes(document.as_table_mut(), &defaults, &now);
        document.to_string()
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
