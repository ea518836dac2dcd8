//! Standard output and standard error, and a reader of them that has read enough, such as `head`.
//!
//! Every verb writes there by these: the macros of the standard library panic where the reader hung up or a disk is full.

use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;

/// Why something could not be written, the first time.
static UNWRITTEN: OnceLock<String> = OnceLock::new();

/// In the place of the macro of the standard library: as `eprint`, with the end of a line.
macro_rules! eprintln {
    ($($text:tt)*) => { $crate::cli::pipe::tell(format_args!("{}\n", format_args!($($text)*))) };
}

/// In the place of the macro of the standard library, which panics where a text cannot be written.
macro_rules! eprint {
    ($($text:tt)*) => { $crate::cli::pipe::tell(format_args!($($text)*)) };
}

/// Writes a text to standard error. Where it cannot be written nobody can be told of that.
pub fn tell(text: impl Display) {
    // The exit code says what became of the verb.
    let _ = write!(io::stderr().lock(), "{text}");
}

/// Writes a text and the end of a line to standard output. A reader that hung up is no failure; of any other `unwritten`
/// knows, and `main` ends with it.
pub fn say(text: impl Display) {
    put(format_args!("{text}\n"));
}

/// As `say`, without the end of a line.
pub fn put(text: impl Display) {
    let mut out = io::stdout().lock();
    if let Err(why) = ended(write!(out, "{text}").and_then(|()| out.flush())) {
        // A later one has the same cause.
        UNWRITTEN.get_or_init(|| why);
    }
}

/// Writes bytes to standard output, as they are.
///
/// # Errors
/// As `ended`.
pub fn write(bytes: &[u8]) -> Result<(), String> {
    let mut out = io::stdout().lock();
    ended(out.write_all(bytes).and_then(|()| out.flush()))
}

/// Why a text could not be written to standard output; none if all of them were, or the reader had enough.
pub fn unwritten() -> Option<&'static str> {
    UNWRITTEN.get().map(String::as_str)
}

/// What came of writing to standard output. A reader that hung up has what it wanted, so that is no failure.
///
/// # Errors
/// Every other failure, as a text.
pub fn ended(written: io::Result<()>) -> Result<(), String> {
    match written {
        Err(why) if hung_up(&why) => Ok(()),
        other => other.map_err(|why| why.to_string()),
    }
}

/// Whether nobody reads any more.
pub fn hung_up(why: &io::Error) -> bool {
    why.kind() == ErrorKind::BrokenPipe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_hung_up_is_no_failure() {
        assert_eq!(ended(Ok(())), Ok(()));
        assert_eq!(ended(Err(ErrorKind::BrokenPipe.into())), Ok(()));
        assert!(ended(Err(ErrorKind::StorageFull.into())).is_err());
    }
}
