//! The tensors of an ONNX file by name.

use bytes::Bytes;
use prost::Message;
use std::collections::HashMap;

/// The parts of an ONNX file (`onnx.proto`) that hold weights; the others are skipped.
#[derive(Message)]
struct Model {
    #[prost(message, optional, tag = "7")]
    graph: Option<Graph>,
}

#[derive(Message)]
struct Graph {
    #[prost(message, repeated, tag = "5")]
    initializers: Vec<Tensor>,
}

#[derive(Message)]
struct Tensor {
    #[prost(string, tag = "8")]
    name: String,
    #[prost(bytes = "bytes", tag = "9")]
    raw: Bytes,
}

/// Tensors as the bytes that they are stored in, little-endian and without padding.
pub(super) struct Tensors(HashMap<String, Bytes>);

impl Tensors {
    /// None where the file is damaged. Copies nothing.
    pub(super) fn read(file: &Bytes) -> Option<Self> {
        let tensors = Model::decode(file.clone()).ok()?.graph?.initializers;
        Some(Self(tensors.into_iter().map(|tensor| (tensor.name, tensor.raw)).collect()))
    }

    /// The bytes of a tensor.
    pub(super) fn bytes(&self, name: &str) -> Option<&Bytes> {
        self.0.get(name)
    }

    /// The numbers of a tensor of f32.
    pub(super) fn floats(&self, name: &str) -> Option<Vec<f32>> {
        let numbers = self.bytes(name)?.as_chunks::<4>().0;
        Some(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}
