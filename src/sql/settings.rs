//! The version that clients are told, and what SHOW says of settings that nobody has set.

/// The version in the form that PostgreSQL gives it: drivers read the number before the parenthesis.
pub const SERVER_VERSION: &str = concat!("16.0 (Groundline ", env!("CARGO_PKG_VERSION"), ")");

/// What `version()` says; SQLAlchemy and others read the number after the first word.
pub fn version() -> String {
    let (arch, os) = (std::env::consts::ARCH, std::env::consts::OS);
    format!("PostgreSQL {SERVER_VERSION} on {arch}-{os}, 64-bit")
}

/// What a client may set, with what SHOW says before it did.
pub const SETTABLE: &[(&str, &str)] = &[
    ("application_name", ""),
    ("bytea_output", "hex"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("cursor_tuple_fraction", "0.1"),
    ("datestyle", "ISO, MDY"),
    ("default_tablespace", ""),
    ("default_text_search_config", "simple"),
    ("default_transaction_deferrable", "off"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "on"),
    ("enable_hashjoin", "on"),
    ("enable_indexscan", "on"),
    ("enable_mergejoin", "on"),
    ("enable_nestloop", "on"),
    ("enable_seqscan", "on"),
    ("extra_float_digits", "1"),
    ("idle_session_timeout", "0"),
    ("geqo", "on"),
    ("idle_in_transaction_session_timeout", "0"),
    ("intervalstyle", "postgres"),
    ("jit", "off"),
    ("lc_messages", "C"),
    ("lc_monetary", "C"),
    ("lc_numeric", "C"),
    ("lc_time", "C"),
    ("lock_timeout", "0"),
    ("max_parallel_workers_per_gather", "0"),
    ("plan_cache_mode", "auto"),
    ("quote_all_identifiers", "off"),
    ("row_security", "off"),
    ("search_path", "public"),
    ("standard_conforming_strings", "on"),
    ("statement_timeout", "0"),
    ("synchronize_seqscans", "on"),
    ("timezone", "UTC"),
    ("transaction_deferrable", "off"),
    ("transaction_isolation", "read committed"),
    ("transaction_read_only", "on"),
    ("work_mem", "4MB"),
    ("xmloption", "content"),
];

/// What SHOW says and nobody sets.
const FIXED: &[(&str, &str)] = &[
    ("block_size", "8192"),
    ("default_table_access_method", "heap"),
    ("in_hot_standby", "off"),
    ("integer_datetimes", "on"),
    ("is_superuser", "off"),
    ("lc_collate", "C"),
    ("lc_ctype", "C"),
    ("max_identifier_length", "63"),
    ("max_index_keys", "32"),
    ("server_encoding", "UTF8"),
    ("server_version", SERVER_VERSION),
    ("server_version_num", "160000"),
    ("ssl", "off"),
    ("transaction isolation level", "read committed"),
];

/// What a setting is before anybody set it; none if it is not known. Names are in lower case.
pub fn default_of(name: &str) -> Option<&'static str> {
    SETTABLE.iter().chain(FIXED).find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// Whether a client may set it.
pub fn is_settable(name: &str) -> bool {
    SETTABLE.iter().any(|(known, _)| *known == name)
}

/// The names of the one zone that there is, in lower case.
const UTC: &[&str] = &[
    "utc",
    "etc/utc",
    "uct",
    "etc/uct",
    "universal",
    "etc/universal",
    "zulu",
    "etc/zulu",
    "z",
    "gmt",
    "etc/gmt",
    "gmt0",
    "etc/gmt0",
    "gmt+0",
    "etc/gmt+0",
    "gmt-0",
    "etc/gmt-0",
    "greenwich",
    "etc/greenwich",
    "0",
    "+0",
    "-0",
    "00",
    "+00",
    "-00",
    "00:00",
    "+00:00",
    "-00:00",
    "+00:00:00",
    "utc0",
];

/// Whether a value of the setting `timezone` means UTC, in which all times are told.
pub fn is_utc(zone: &str) -> bool {
    UTC.contains(&zone.trim().to_lowercase().as_str())
}

/// Whether a value of the setting `client_encoding` leaves text as it is; signs and capitals in the name do not count.
pub fn is_utf8(encoding: &str) -> bool {
    let letters = encoding.chars().filter(char::is_ascii_alphanumeric);
    let name: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
    matches!(name.as_str(), "utf8" | "unicode" | "sqlascii")
}

/// Whether a value of a setting that is on or off is off. PostgreSQL takes the beginnings of the words, too.
pub fn is_off(value: &str) -> bool {
    let value = value.trim().to_lowercase();
    // A lone `o` may be the beginning of `on`.
    let is_begun = |word: &str, least: usize| value.len() >= least && word.starts_with(&value);
    value == "0" || is_begun("off", 2) || is_begun("false", 1) || is_begun("no", 1)
}

/// What is said of a value of the setting `timezone` that is another zone than UTC.
pub fn other_zone(zone: &str) -> String {
    format!("the time zone {zone:?} is not supported for a whole connection: times are told in UTC")
}

/// Every setting with its value, and whether a client may set it.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    let settable = SETTABLE.iter().map(|(name, value)| (*name, *value, true));
    settable.chain(FIXED.iter().map(|(name, value)| (*name, *value, false)))
}

#[cfg(test)]
mod tests {
    use super::{is_off, is_utc, is_utf8};

    #[test]
    fn encodings_that_leave_text_as_it_is_have_many_names() {
        assert!(["UTF8", "utf-8", "'utf-8'", "UNICODE", "SQL_ASCII"].into_iter().all(is_utf8));
        assert!(!["LATIN1", "WIN1252", "UTF16", "", "auto"].into_iter().any(is_utf8));
    }

    #[test]
    fn off_has_many_names() {
        assert!(["off", "of", "OFF", "false", "f", "no", "n", " 0 "].into_iter().all(is_off));
        assert!(!["on", "o", "true", "t", "yes", "1", "", "offf"].into_iter().any(is_off));
    }

    #[test]
    fn utc_has_many_names() {
        assert!(["UTC", "Etc/UTC", "GMT", " +00:00", "0"].into_iter().all(is_utc));
        assert!(!["Europe/Vienna", "GMT+1", "-3", "", "America/New_York"].into_iter().any(is_utc));
    }
}
