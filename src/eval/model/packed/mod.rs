//! The encoders computed without padding, on processors with eight-bit products in 512-bit vectors (AVX-512 VNNI) or with 256-bit
//! vectors (AVX2).
//!
//! A graph runtime writes the result of each operation to memory and pads texts of one batch to one length. Here the tokens of
//! all texts lie one behind the other; products with eight-bit weights end in the registers where they are scaled, brought
//! through their activation and rounded to the bytes that the next product reads; attention is made head by head in the
//! nearest cache; and of the last layer only the first token of each text is computed where a head reads nothing else.
//! The arithmetic is that of the ONNX file: sums of eight-bit products are exact, everything else is in f32.
//! Other processors run the file in the graph runtime (`network`).
//!
//! | file | what |
//! |---|---|
//! | `tensors` | the tensors of an ONNX file by name |
//! | `lines` | how eight-bit weights lie in memory |
//! | `weights` | the parts of an encoder |
//! | `attention` | the memory of attention |
//! | `work` | what the way through the layers asks of a processor |
//! | `avx2`, `avx512` | that, with the instructions of the one and the other |
//! | `forward` | the way of texts through the layers |
//! | `engine` | an encoder that runs so, if this processor can |
//! | `absent` | the same for processors of other makes: there is none |

#[cfg(not(target_arch = "x86_64"))]
mod absent;
#[cfg(target_arch = "x86_64")]
mod attention;
#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod engine;
#[cfg(target_arch = "x86_64")]
mod forward;
#[cfg(target_arch = "x86_64")]
mod lines;
#[cfg(target_arch = "x86_64")]
mod tensors;
#[cfg(target_arch = "x86_64")]
mod weights;
#[cfg(target_arch = "x86_64")]
mod work;

#[cfg(not(target_arch = "x86_64"))]
pub use absent::{Packed, Scratch};
#[cfg(target_arch = "x86_64")]
pub use engine::Packed;
#[cfg(target_arch = "x86_64")]
pub use forward::Scratch;
