//! A reader of standard output that has read enough, such as `head`.

use std::io::{self, ErrorKind};

/// What came of writing to standard output. A reader that hung up has what it wanted, so that is no failure.
///
/// # Errors
/// Every other failure, as a text.
pub fn ended(written: io::Result<()>) -> Result<(), String> {
    match written {
        Err(why) if why.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|why| why.to_string()),
    }
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
