//! The work of the layers with 512-bit vectors and eight-bit products (AVX-512 VNNI), and in tiles (AMX) where there are any.
//!
//! | file | what |
//! |---|---|
//! | `vector` | functions of sixteen numbers |
//! | `tiles` | eight-bit products in tiles of sixteen rows (AMX), where processor and system have them |
//! | `multiply` | products with eight-bit weights, and of tiles of numbers |
//! | `attention` | one head over one text |
//! | `rows` | what is done with the numbers of each token |
//! | `work` | all of it, as the way through the layers asks for it |

mod attention;
mod multiply;
mod rows;
mod tiles;
mod vector;
mod work;

pub(super) use work::Avx512;
