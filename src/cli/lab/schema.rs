//! The verb `dataset schema`: what the items of a dataset must look like.

use super::client::{Asked, LabClient, Refused, Where};
use super::told::cell;
use clap::Args;
use http::Method;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Arguments of `dataset schema`.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    #[command(flatten)]
    pub place: Where,
    /// The dataset.
    name: String,
    /// A file with the JSON Schema of inputs.
    #[arg(long)]
    input: Option<PathBuf>,
    /// A file with the JSON Schema of what is expected.
    #[arg(long)]
    expected: Option<PathBuf>,
    /// A file with the JSON Schema of metadata.
    #[arg(long)]
    metadata: Option<PathBuf>,
    /// Let items in that do not match these, and tell.
    #[arg(long)]
    warn: bool,
    /// Take schemas away: input, expected or metadata, comma separated.
    #[arg(long, value_delimiter = ',', value_parser = ["input", "expected", "metadata"])]
    clear: Vec<String>,
}

/// Sets what is named, after the items that are there were held against it; shows the schemas where nothing is named.
pub async fn schema(client: &LabClient, args: SchemaArgs) -> Result<(String, u8), Refused> {
    let mut body = Map::new();
    for (part, file) in [("input", &args.input), ("expected", &args.expected), ("metadata", &args.metadata)] {
        if let Some(file) = file {
            body.insert(format!("{part}_schema"), read(file, args.warn)?);
        }
    }
    for part in &args.clear {
        body.insert(format!("{part}_schema"), Value::Null);
    }
    let path = ["datasets", &args.name];
    let head = match body.is_empty() {
        true => client.value(Asked::get(&path)).await?,
        false => client.value(Asked::json(Method::PATCH, &path, &Value::Object(body))).await?,
    };
    let mut text = format!("{}: version {}\n", cell(&head["name"]), head["version"]);
    for part in ["input", "expected", "metadata"] {
        if let Some(schema) = head.get(format!("{part}_schema")) {
            text.push_str(&format!("{part}: {schema}\n"));
        }
    }
    Ok((text, 0))
}

fn read(file: &Path, warn: bool) -> Result<Value, Refused> {
    let told = |why: String| Refused::from(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|e| told(e.to_string()))?;
    let mut schema: Value = serde_json::from_str(&text).map_err(|e| told(format!("no JSON: {e}")))?;
    if let (true, Some(keys)) = (warn, schema.as_object_mut()) {
        keys.insert("x-mode".to_owned(), "warn".into());
    }
    Ok(schema)
}
