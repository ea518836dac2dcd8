//! The queries, and how other engines spell them.

use crate::fill::Filled;

/// One query in three spellings; `{trace}` stands for the id of a trace, another one in each run.
pub struct Case {
    /// Its name in the report.
    pub name: &'static str,
    /// Ours.
    pub ours: &'static str,
    /// DuckDB's, over the view `spans`.
    pub duckdb: &'static str,
    /// chdb's, over the table function that stands for `spans`.
    pub chdb: &'static str,
    /// Goal of the warm median, milliseconds, for so many spans.
    pub goal_ms: Option<f64>,
}

const MILLION: u64 = 1_000_000;

/// Every query.
pub fn all(filled: &Filled) -> Vec<Case> {
    // The goals are stated for one and for ten million spans.
    let goal =
        |one: f64, ten: Option<f64>| if filled.spans <= MILLION + MILLION / 10 { Some(one) } else { ten };
    vec![
        Case {
            name: "trace by id, all columns",
            ours: "SELECT * FROM spans WHERE trace_id = '{trace}'",
            duckdb: "SELECT * FROM spans WHERE trace_id = '{trace}'",
            chdb: "SELECT * FROM spans WHERE trace_id = '{trace}'",
            goal_ms: goal(10.0, Some(50.0)),
        },
        Case {
            name: "promoted column, selective",
            ours: "SELECT count(*), avg(duration_ns) FROM spans WHERE error_type = 'timeout'",
            duckdb: "SELECT count(*), avg(duration_ns) FROM spans WHERE error_type = 'timeout'",
            chdb: "SELECT count(*), avg(duration_ns) FROM spans WHERE error_type = 'timeout'",
            goal_ms: goal(15.0, None),
        },
        Case {
            name: "service top 20",
            ours: "SELECT service_name, count(*) AS n FROM spans GROUP BY 1 ORDER BY 2 DESC LIMIT 20",
            duckdb: "SELECT service_name, count(*) AS n FROM spans GROUP BY 1 ORDER BY 2 DESC LIMIT 20",
            chdb: "SELECT service_name, count(*) AS n FROM spans GROUP BY 1 ORDER BY 2 DESC LIMIT 20",
            goal_ms: None,
        },
        Case {
            name: "p99 duration by service",
            ours: "SELECT service_name, approx_percentile_cont(duration_ns, 0.99) FROM spans GROUP BY 1",
            duckdb: "SELECT service_name, approx_quantile(duration_ns, 0.99) FROM spans GROUP BY 1",
            chdb: "SELECT service_name, quantileTDigest(0.99)(duration_ns) FROM spans GROUP BY 1",
            goal_ms: None,
        },
        Case {
            name: "attribute filter, JSON",
            ours: "SELECT count(*) FROM spans WHERE attr(attributes, 'db.namespace') = 'shop_3'",
            duckdb: "SELECT count(*) FROM spans WHERE json_extract_string(attributes, '$.\"db.namespace\"') = 'shop_3'",
            chdb: "SELECT count(*) FROM spans WHERE JSONExtractString(attributes, 'db.namespace') = 'shop_3'",
            goal_ms: None,
        },
        Case {
            name: "last ten seconds by name",
            ours: "SELECT name, count(*), max(duration_ns) FROM spans WHERE start_time > (SELECT max(start_time) - INTERVAL '10 seconds' FROM spans) GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
            duckdb: "SELECT name, count(*), max(duration_ns) FROM spans WHERE start_time > (SELECT max(start_time) - INTERVAL '10 seconds' FROM spans) GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
            chdb: "SELECT name, count(*), max(duration_ns) FROM spans WHERE start_time > (SELECT max(start_time) - INTERVAL 10 SECOND FROM spans) GROUP BY 1 ORDER BY 2 DESC LIMIT 10",
            goal_ms: None,
        },
    ]
}
