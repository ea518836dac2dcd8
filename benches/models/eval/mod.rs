//! The product's own tokenizers, compiled from the same files at their place in the product: the library does not show them.

pub mod model;
