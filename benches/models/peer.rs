//! ONNX Runtime on the encoder's own file, one instance a core, each with one thread.

use crate::Failed;
use crate::python::python;
use std::process::{Command, Stdio};

const PACKAGES: [&str; 2] = ["onnxruntime", "numpy"];

/// Texts a second of wall time, all instances together.
pub fn embedded(tokens: usize, batch: usize, instances: usize, seconds: f64) -> Result<f64, Failed> {
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/models/minilm-l6-v2/model.onnx");
    let numbers = [tokens, batch, instances].map(|n| n.to_string());
    let output = Command::new(python("import onnxruntime", &PACKAGES)?)
        .args(["-c", include_str!("peer.py"), model])
        .args(numbers)
        .arg(seconds.to_string())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("ONNX Runtime's Python ended with {}", output.status).into());
    }
    let rate: f64 = String::from_utf8(output.stdout)?.trim().parse()?;
    if rate > 0.0 { Ok(rate) } else { Err("ONNX Runtime embedded nothing".into()) }
}
