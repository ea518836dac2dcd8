//! How decoders ask for memory: the most that one request may take, and whether there is so much now.

/// The most memory that one request's structures may take, bytes. A 64 MiB request of ordinary spans takes a third.
pub const MAX_DECODED: usize = 1 << 30;

/// There is no room now; there may be later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

/// Told how many bytes a request's structures take by now; an error if there is no room for so many.
pub type Allowance<'a> = dyn FnMut(usize) -> Result<(), Full> + 'a;
