//! What a model file is, before it is opened: its graph, and what the runtime lacks for it.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use rten_onnx::onnx::{GraphProto, ModelProto, NodeProto, ValueInfoProto};

use super::file::Stored;
use super::network::options;
use super::settings::FileConfig;

/// What was found in a file, and in the `config.json` beside it.
#[derive(Debug, Clone)]
pub struct Survey {
    /// Bytes of the file.
    pub bytes: u64,
    /// How often each operator stands in the graph.
    pub operators: BTreeMap<String, usize>,
    /// Operators that the runtime does not have.
    pub missing: Vec<String>,
    /// The names of the graph's inputs.
    pub inputs: Vec<String>,
    /// The names of its outputs.
    pub outputs: Vec<String>,
    /// What stands beside it.
    pub stored: Stored,
    /// Why the runtime does not open it, if it does not.
    pub fault: Option<String>,
}

/// Reads a file, and has the runtime open it.
///
/// # Errors
/// When it cannot be read or is no ONNX file.
pub fn survey(file: &FileConfig) -> Result<Survey, String> {
    let path = Path::new(&file.path);
    let unread = |e: std::io::Error| format!("{}: cannot be read: {e}", path.display());
    let opened = File::open(path).map_err(unread)?;
    let bytes = opened.metadata().map_err(unread)?.len();
    let model =
        ModelProto::parse_file(opened).map_err(|e| format!("{}: is no ONNX file: {e}", path.display()))?;
    let graph = model.graph.unwrap_or_default();
    if graph.node.is_empty() {
        return Err(format!("{}: is no ONNX file: it has no operators", path.display()));
    }
    let mut operators = BTreeMap::new();
    for node in &graph.node {
        *operators.entry(name_of(node)).or_insert(0) += 1;
    }
    let fault = options().load_file(path).err().map(|e| e.to_string());
    let missing = if fault.is_some() { missing(&graph.node) } else { Vec::new() };
    let names = |values: &[ValueInfoProto]| values.iter().filter_map(|value| value.name.clone()).collect();
    let (inputs, outputs) = (names(&graph.input), names(&graph.output));
    Ok(Survey { bytes, operators, missing, inputs, outputs, stored: Stored::beside(file)?, fault })
}

fn name_of(node: &NodeProto) -> String {
    let operator = node.op_type.as_deref().unwrap_or("?");
    match node.domain.as_deref() {
        None | Some("" | "ai.onnx") => operator.to_owned(),
        Some(domain) => format!("{domain}/{operator}"),
    }
}

/// The runtime tells the first operator that it lacks; each kind alone in a graph tells them all.
fn missing(nodes: &[NodeProto]) -> Vec<String> {
    let kinds: BTreeMap<String, &NodeProto> = nodes.iter().map(|node| (name_of(node), node)).collect();
    let lacks = |node: &NodeProto| {
        let alone =
            NodeProto { op_type: node.op_type.clone(), domain: node.domain.clone(), ..NodeProto::default() };
        let graph = GraphProto { node: vec![alone], ..GraphProto::default() };
        let model = ModelProto { ir_version: Some(8), graph: Some(graph), ..ModelProto::default() };
        let Ok(bytes) = model.write_buf() else { return false };
        options().load(bytes).is_err_and(|e| e.to_string().contains("operator not supported"))
    };
    kinds.into_iter().filter(|(_, node)| lacks(node)).map(|(name, _)| name).collect()
}
