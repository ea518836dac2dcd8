//! The names of prepared statements and portals that a connection keeps: how many, and how many bytes.

use super::rows::error;
use parking_lot::Mutex;
use pgwire::api::ClientInfo;
use pgwire::error::PgWireResult;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Named statements that a connection may keep; unnamed ones replace each other. Drivers keep up to a thousand by
/// themselves: pgx 512, Rails 1,000.
pub const MAX_STATEMENTS: usize = 2_048;

/// Named portals that a connection may keep.
pub const MAX_PORTALS: usize = 256;

/// Bytes of text that the named statements of a connection may have together: their plans are many times as large.
pub const MAX_TEXT: usize = 16 << 20;

/// Bytes of values that the named portals of a connection may have together.
pub const MAX_VALUES: usize = 64 << 20;

/// The names that a connection uses.
pub struct Kept {
    /// Those of prepared statements.
    pub statements: Names,
    /// Those of portals.
    pub portals: Names,
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            statements: Names::of("prepared statements", MAX_STATEMENTS, MAX_TEXT),
            portals: Names::of("portals", MAX_PORTALS, MAX_VALUES),
        }
    }
}

/// Names of one kind.
pub struct Names {
    what: &'static str,
    most: usize,
    most_bytes: usize,
    /// Each with its bytes.
    taken: Mutex<BTreeMap<String, usize>>,
}

impl Names {
    fn of(what: &'static str, most: usize, most_bytes: usize) -> Self {
        Self { what, most, most_bytes, taken: Mutex::default() }
    }

    /// Refuses a name that would be one too many, and one with more bytes than there is room for.
    ///
    /// # Errors
    /// Configuration limit exceeded.
    pub fn check(&self, name: Option<&str>, bytes: usize) -> PgWireResult<()> {
        let Some(name) = name else { return Ok(()) };
        let Self { what, most, most_bytes, taken } = self;
        let (mut others, mut sum) = (0, bytes);
        for (_, bytes) in taken.lock().iter().filter(|(other, _)| *other != name) {
            (others, sum) = (others + 1, sum.saturating_add(*bytes));
        }
        let why = match (others < *most, sum <= *most_bytes) {
            (true, true) => return Ok(()),
            (false, _) => format!("a connection keeps at most {most} named {what}: close some"),
            (true, false) => {
                format!("the named {what} of a connection have at most {most_bytes} bytes: close some")
            }
        };
        Err(error("53400", why))
    }

    /// Remembers a name that is in use, with its bytes.
    pub fn take(&self, name: Option<&str>, bytes: usize) {
        if let Some(name) = name {
            self.taken.lock().insert(name.to_owned(), bytes);
        }
    }

    /// Forgets a name.
    pub fn free(&self, name: &str) {
        self.taken.lock().remove(name);
    }

    /// Forgets all names, and says which there were.
    pub fn free_all(&self) -> BTreeMap<String, usize> {
        std::mem::take(&mut *self.taken.lock())
    }
}

/// The names that the connection uses.
pub fn kept<C: ClientInfo>(client: &C) -> Arc<Kept> {
    client.session_extensions().get_or_insert_with(Kept::default)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_bounded() {
        let names = Kept::default().statements;
        names.take(Some("a"), MAX_TEXT - 10);
        names.take(Some("b"), 5);
        assert!(names.check(Some("c"), 5).is_ok() && names.check(Some("c"), 6).is_err());
        assert!(
            names.check(Some("a"), MAX_TEXT - 5).is_ok(),
            "a name that is used again gives its bytes back"
        );
        assert!(names.check(None, usize::MAX).is_ok(), "what has no name takes no place");
        names.free("a");
        assert!(names.check(Some("c"), MAX_TEXT - 5).is_ok());
    }
}
