//! The work of the layers with 256-bit vectors (AVX2 and FMA).
//!
//! There is no product of bytes that ends in whole numbers of 32 bits here: two neighbours are multiplied and added to one of
//! 16 bits, which would saturate beyond weights of -64 to 64; a network with larger ones is not computed so.
//!
//! | file | what |
//! |---|---|
//! | `vector` | functions of eight numbers |
//! | `multiply` | products with eight-bit weights, and of tiles of numbers |
//! | `attention` | one head over one text |
//! | `rows` | what is done with the numbers of each token |
//! | `work` | all of it, as the way through the layers asks for it |

mod attention;
mod multiply;
mod rows;
mod vector;
mod work;

pub(super) use work::Avx2;
