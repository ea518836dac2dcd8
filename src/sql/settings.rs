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

/// Every setting with its value, and whether a client may set it.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str, bool)> {
    let settable = SETTABLE.iter().map(|(name, value)| (*name, *value, true));
    settable.chain(FIXED.iter().map(|(name, value)| (*name, *value, false)))
}
