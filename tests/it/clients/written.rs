//! What people write for PostgreSQL, and errors with what to do about them.

use super::port;
use crate::pg::Pg;
use crate::readme::pages::hold_table;
use tokio::net::TcpStream;

/// A statement, and the first row of its answer, with commas between its cells; `…` at the end stands for more.
const WRITTEN: &[(&str, &str)] = &[
    (r#"SELECT '{"a":{"b":[1,"x"]}}'::jsonb #>> '{a,b,1}'"#, "x"),
    (r#"SELECT '{"a":{"b":1}}'::jsonb -> 'a' ->> 'b'"#, "1"),
    (
        r#"SELECT '{"a,b":{"c":[1,2]}}'::jsonb #>> '{"a,b", c, -1}', '{"a":{"b":3}}'::jsonb #> ARRAY['a', 'b']"#,
        "2, 3",
    ),
    (r#"SELECT '{"a":1,"b":2}'::jsonb @> '{"a":1}'"#, "t"),
    (r#"SELECT '{"a":1}'::jsonb <@ '{"a":1,"b":2}'::jsonb"#, "t"),
    (r#"SELECT '{"a":1}'::jsonb ? 'a'"#, "t"),
    (r#"SELECT '{"a":1}'::jsonb ?| ARRAY['a', 'b']"#, "t"),
    (r#"SELECT '{"a":1}'::jsonb ?& ARRAY['a', 'b']"#, "f"),
    ("SELECT ARRAY[1, 2] @> ARRAY[1]", "t"),
    ("SELECT ARRAY[1, 2] && ARRAY[2, 3]", "t"),
    ("SELECT jsonb_array_length('[1, 2]')", "2"),
    ("SELECT jsonb_typeof('[1]')", "array"),
    (r#"SELECT jsonb_extract_path_text('{"a":{"b":1}}', 'a', 'b')"#, "1"),
    (r#"SELECT jsonb_strip_nulls('{"a":null,"b":1}')"#, r#"{"b":1}"#),
    (
        r#"SELECT jsonb_set('{"a":[1,2]}', '{a,1}', '"x"'), jsonb_set('{}', ARRAY['b'], to_jsonb(5), false)"#,
        r#"{"a":[1,"x"]}, {}"#,
    ),
    (r#"SELECT '{"a":[1,2,3]}'::jsonb @? '$.a[*] ? (@ > 2)'"#, "t"),
    (r#"SELECT '{"a":[1,2,3]}'::jsonb @@ '$.a[*] > 3'"#, "f"),
    (r#"SELECT count(*) > 0 FROM spans WHERE attributes @? '$."http.route" ? (@ starts with "/")'"#, "t"),
    (r#"SELECT jsonb_path_exists('{"a":{"b":1}}', 'strict $.a.c', '{}', true) IS NULL"#, "t"),
    (r#"SELECT jsonb_path_match('{"a":2}', '$.a == $x', '{"x":2}')"#, "t"),
    (r#"SELECT jsonb_path_query_first('{"a":["x","y"]}', '$.a[last]') #>> '{}'"#, "y"),
    (r#"SELECT jsonb_path_query_array('{"a":[{"b":1},{"b":2}]}', '$.a[*].b'::jsonpath)"#, "[1,2]"),
    (r#"SELECT jsonb_path_query('{"a":[7]}', '$.a[*]')"#, "7"),
    (r#"SELECT sum(v::int) FROM jsonb_path_query('{"a":[1,2,3]}', '$.a[*] ? (@ >= 2)') AS v"#, "5"),
    (
        r#"SELECT count(*) > 0 FROM spans s, jsonb_path_query(s.attributes, '$."http.route"') AS r WHERE r #>> '{}' LIKE '/%'"#,
        "t",
    ),
    (r#"SELECT '{"a":1}'::jsonb || '{"b":2}'"#, r#"{"a":1,"b":2}"#),
    (r#"SELECT '{"a":1,"b":2}'::jsonb - 'a'"#, r#"{"b":2}"#),
    (r#"SELECT '{"a":1,"b":2}'::jsonb = '{"b": 2, "a": 1.0}'"#, "t"),
    ("SELECT json_agg(t) FROM (SELECT 1 AS a, 'x' AS b) AS t", r#"[{"a":1,"b":"x"}]"#),
    (r#"SELECT ('{"a":[1,2]}'::jsonb)['a'][1]"#, "2"),
    (
        r#"SELECT sum(t.a), max(t.b) FROM jsonb_to_recordset('[{"a":1,"b":"x"},{"a":2,"b":"y"}]') AS t(a int, b text)"#,
        "3, y",
    ),
    (r#"SELECT json_value('{"a":{"b":"x"}}', '$.a.b')"#, "x"),
    ("SELECT jsonb_build_object('a', 1, 'b', ARRAY['x'])", r#"{"a":1,"b":["x"]}"#),
    ("SELECT to_jsonb(ARRAY[1, 2])", "[1,2]"),
    ("SELECT jsonb_agg(x) FROM (VALUES (1), (2)) AS t(x)", "[1,2]"),
    (r#"SELECT count(*) FROM jsonb_object_keys('{"a":1,"b":2}')"#, "2"),
    ("SELECT sum(value::int) FROM jsonb_array_elements('[1, 2]')", "3"),
    (
        r#"SELECT string_agg(e.key || '=' || e.value, ',' ORDER BY e.key) FROM jsonb_each_text('{"a":1,"b":"x"}') AS e"#,
        "a=1,b=x",
    ),
    ("SELECT count(*) > 0 FROM spans s, jsonb_each(s.attributes) AS e WHERE e.key = 'http.route'", "t"),
    ("SELECT r FROM spans CROSS JOIN LATERAL unnest(finish_reasons) AS t(r) LIMIT 1", "stop"),
    ("SELECT count(d.id) > 0 FROM spans s, unnest(s.documents) AS d", "t"),
    (
        "SELECT count(*) = (SELECT count(*) FROM spans WHERE coalesce(cardinality(documents), 0) < 2) + (SELECT coalesce(sum(cardinality(documents)), 0) FROM spans WHERE cardinality(documents) > 1) FROM spans s LEFT JOIN LATERAL unnest(s.documents) AS d ON true",
        "t",
    ),
    (
        "SELECT string_agg(x, '' ORDER BY n DESC) FROM unnest(ARRAY['a', 'b']) WITH ORDINALITY AS t(x, n)",
        "ba",
    ),
    ("SELECT (q).n > 0 FROM (SELECT quality_rate(passed, inclusion_probability) AS q FROM scores) t", "t"),
    ("SELECT (quality_rate(passed, inclusion_probability)).estimate IS NOT NULL FROM scores", "t"),
    ("SELECT (quality_rate(passed, inclusion_probability)).* FROM scores", "0.375, …"),
    ("SELECT time_bucket('1 hour', TIMESTAMP '2026-01-01 10:30')", "2026-01-01 10:00:00…"),
    ("SELECT time_bucket(INTERVAL '1 week', TIMESTAMP '2026-01-01 00:00')", "2025-12-29 00:00:00…"),
    ("SELECT DISTINCT ON (trace_id) name FROM spans ORDER BY trace_id, start_time LIMIT 1", "GET /ask"),
    (
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM (VALUES (1.0), (2.0), (4.0)) AS t(x)",
        "2.0",
    ),
    ("SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM (VALUES (1), (2), (4), (8)) AS t(x)", "2"),
    (
        "SELECT percentile_cont(ARRAY[0, 1]) WITHIN GROUP (ORDER BY x) FROM (VALUES (1.0), (2.0)) AS t(x)",
        "{1.0,2.0}",
    ),
    ("SELECT mode() WITHIN GROUP (ORDER BY x) FROM (VALUES ('b'), ('a'), ('b'), (NULL)) AS t(x)", "b"),
    (
        "SELECT mode() WITHIN GROUP (ORDER BY x) FILTER (WHERE x > 1) FROM (VALUES (1), (1), (3), (2)) AS t(x)",
        "2",
    ),
    (
        "SELECT json_object_agg(k, v ORDER BY v DESC) FROM (VALUES ('a', 1), ('b', NULL), ('a', 3)) AS t(k, v) WHERE v > 0",
        r#"{"a":3,"a":1}"#,
    ),
    (
        "SELECT jsonb_object_agg(k, v) FROM (VALUES ('bb', 1), ('c', NULL), ('bb', 3)) AS t(k, v)",
        r#"{"c":null,"bb":3}"#,
    ),
    ("SELECT count(DISTINCT (x, y)) FROM (VALUES (1, 2), (1, 2), (1, NULL)) AS t(x, y)", "2"),
    ("SELECT width_bucket(x, 0, 10, 5) FROM (VALUES (7.5)) AS t(x)", "4"),
    ("SELECT width_bucket(10, 0, 10, 5) + width_bucket(-1, 0, 10, 5)", "6"),
    ("SELECT count(*) FILTER (WHERE x > 1) FROM (VALUES (1), (2)) AS t(x)", "1"),
    ("SELECT LOCALTIMESTAMP > '2020-01-01' AND CURRENT_DATE > '2020-01-01' AND LOCALTIME IS NOT NULL", "t"),
    (
        "SELECT INTERVAL '5 minutes' * 3 = INTERVAL '15 minutes' AND 2 * INTERVAL '1 day' / 4 = INTERVAL '12 hours'",
        "t",
    ),
    (
        "SELECT TIMESTAMP '2026-01-01 00:00' + count(*) * INTERVAL '1 second' FROM (VALUES (1), (2)) AS t(x)",
        "2026-01-01 00:00:02…",
    ),
    ("SELECT TIMESTAMP '2026-01-01 00:00' + make_interval(days => 1, mins => 30)", "2026-01-02 00:30:00…"),
    ("SELECT date_trunc('day', TIMESTAMP '2026-01-01 23:30', 'Europe/Berlin')", "2026-01-02 00:00:00…"),
    ("SELECT make_timestamp(2026, 1, 2, 3, 4, 5)", "2026-01-02 03:04:05…"),
    (
        "SELECT generate_series(TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-02', '6 hours') AS t ORDER BY t LIMIT 1",
        "2026-01-01 00:00:00…",
    ),
    ("SELECT mod(7, 3), |/ 16.0, pg_typeof(true)", "1, 4.0, boolean"),
    ("SELECT TIMESTAMP '2026-01-01 00:00' + '1 hour'", "2026-01-01 01:00:00…"),
    ("SELECT last(x, y) FROM (VALUES ('a', 2), ('b', 1)) AS t(x, y)", "a"),
    (
        "SELECT TIMESTAMP '2026-01-03' - TIMESTAMP '2026-01-01' < INTERVAL '1 day', INTERVAL '24 hours' = INTERVAL '1 day'",
        "f, t",
    ),
    (
        "SELECT extract(second FROM TIMESTAMP '2026-01-01 00:00:03.7'), date_part('minute', TIMESTAMP '2026-01-01 00:05')",
        "3.7, 5",
    ),
    ("SELECT 2.7::int, 3.5::float8::int, '2.5'::numeric::bigint", "3, 4, 3"),
    ("SELECT date(TIMESTAMP '2026-01-02 03:04:05')", "2026-01-02"),
    ("SELECT extract(epoch FROM TIMESTAMP '2026-01-01 00:00:03.7' - TIMESTAMP '2026-01-01 00:00')", "3.7"),
    (
        "SELECT count(d) FROM generate_series(TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-03', '1 day') AS d WHERE d::date > '2026-01-01'",
        "2",
    ),
    ("SELECT count(*) FROM scores WHERE passed = 'f' AND passed <> 'true'", "2"),
    ("SELECT to_char(TIMESTAMP '2026-01-02 03:04:05', 'YYYY-MM-DD HH24:MI')", "2026-01-02 03:04"),
    (
        "SELECT to_char(TIMESTAMP '2026-01-02 15:04:05', 'dd MON yyyy, HH12:MI am \"Q\"Q FMDD')",
        "02 JAN 2026, 03:04 pm Q1 2",
    ),
    ("SELECT to_date('02.01.2026', 'DD.MM.YYYY')", "2026-01-02"),
    ("SELECT to_char(1234567.891, 'FM9,999,999.00') || to_char(12, '000')", "1,234,567.89 012"),
    (
        "SELECT age(TIMESTAMP '2026-03-01', TIMESTAMP '2024-02-29') = INTERVAL '2 years 1 day' AND age(now()) < INTERVAL '0 days'",
        "t",
    ),
    ("SELECT pg_size_pretty(pg_total_relation_size('annotations') * 0 + 10485760)", "10 MB"),
    ("SELECT pg_total_relation_size('spans') > 0 AND pg_table_size('traces') = 0", "t"),
    ("SELECT to_regclass('public.spans') IS NOT NULL AND to_regclass('nope') IS NULL", "t"),
    ("SELECT obj_description('spans'::regclass, 'pg_class')", "One row a span…"),
    ("SELECT col_description('scores'::regclass, 1)", "The same item…"),
    ("SELECT EXISTS (SELECT 1 FROM spans)", "t"),
    ("SELECT count(*) FROM spans WHERE (trace_id, name) IN (SELECT trace_id, name FROM spans)", "6"),
    ("SELECT EXISTS (SELECT 1 FROM spans s WHERE s.trace_id = t.trace_id) FROM traces t LIMIT 1", "t"),
    ("SELECT name FROM spans ORDER BY start_time OFFSET 1 ROWS FETCH NEXT 1 ROW ONLY", "chat gpt-x"),
    ("SELECT 'a' = ANY(ARRAY['a', 'b']) AND 'c' <> ALL(ARRAY['a'])", "t"),
    ("SELECT substring('order 17 of 20' FROM '([0-9]+) of')", "17"),
    ("SELECT (regexp_matches('order 17', '([a-z]+) ([0-9]+)'))[2]", "17"),
    ("SELECT count(*) FROM regexp_matches('a1b2', '[0-9]', 'g')", "2"),
    ("SELECT 'chat gpt' ILIKE ANY (ARRAY['Chat%', 'x'])", "t"),
    ("SELECT 'chat gpt' LIKE ANY ('{x,chat%}')", "t"),
    ("SELECT 'chat gpt' SIMILAR TO '(chat|embed)%' AND 'chat gpt' NOT SIMILAR TO 'chat'", "t"),
    ("SELECT 'a_c' SIMILAR TO 'a#_(b|c)' ESCAPE '#' AND 'a\\c' SIMILAR TO 'a\\_' ESCAPE ''", "t"),
    ("SELECT DATE '2026-01-31' - INTERVAL '12 hours'", "2026-01-30 12:00:00…"),
    (
        "SELECT count(d) FROM generate_series(CURRENT_DATE - INTERVAL '2 days', CURRENT_DATE, '1 day') AS d",
        "3",
    ),
    (
        "SELECT pg_typeof(now()), pg_typeof('2026-01-01 12:00+02'::timestamptz)",
        "timestamp with time zone, timestamp with time zone",
    ),
    ("SELECT '2026-01-01 12:00+02'::timestamptz = TIMESTAMPTZ '2026-01-01 10:00Z'", "t"),
    ("SELECT 'yesterday'::date < 'today'::date AND timestamp 'now' > 'yesterday'::timestamp", "t"),
    ("SELECT (DATE '2026-01-01', DATE '2026-01-03') OVERLAPS (DATE '2026-01-02', INTERVAL '1 day')", "t"),
    ("SELECT pg_typeof(array_length(ARRAY[1], 1)), array_remove(ARRAY[1, 2, 1], 1)", "bigint, {2}"),
    (
        "SELECT count(*) FROM spans WHERE name = ANY (SELECT name FROM spans) AND name <> ALL (SELECT 'x')",
        "6",
    ),
    (
        "SELECT (DATE '2026-01-05', INTERVAL '-3 days') OVERLAPS (DATE '2026-01-03', DATE '2026-01-04'), (DATE '2026-01-01', NULL) OVERLAPS (DATE '2026-01-01', NULL)",
        "t, NULL",
    ),
    ("SELECT 3 BETWEEN SYMMETRIC 5 AND 1, 3 NOT BETWEEN SYMMETRIC 1 + 1 AND 5", "t, f"),
    (r"SELECT 'a\b' LIKE 'a\_' ESCAPE '', 'a_' LIKE 'a\_' ESCAPE ''", "t, f"),
    ("SELECT 'gpt-4' ^@ 'gpt', ~5", "t, -6"),
    ("SELECT cardinality(ARRAY(SELECT DISTINCT x FROM (VALUES (1), (1), (2)) AS t(x)))", "2"),
    ("SELECT cardinality(ARRAY(SELECT x FROM (VALUES (1), (1), (2)) AS t(x) LIMIT 2))", "2"),
    ("EXPLAIN (ANALYZE, COSTS off) SELECT 1", "Plan with Metrics, …"),
    ("SELECT format('%s-%I-%L', 1, 'a b', 'c')", r#"1-"a b"-'c'"#),
    ("SELECT format('%2$s|%1$-3s|%%', 'a', 'b')", "b|a  |%"),
    ("TABLE annotations", "a1, t1…"),
    ("SELECT 'Infinity'::float8, '-Infinity'::float8", "Infinity, -Infinity"),
    ("SELECT 1 AS a, 2 AS a", "1, 2"),
    ("SELECT NULL, NULL, 5", "NULL, NULL, 5"),
    ("SELECT count FROM (SELECT count(*) FROM spans) x WHERE count > 0", "6"),
    ("SELECT DISTINCT upper(name) FROM spans ORDER BY upper(name) LIMIT 1", "AGENT"),
];

async fn connected() -> (Pg<TcpStream>, tokio_util::sync::CancellationToken) {
    let (at, shutdown) = port().await;
    (Pg::login(TcpStream::connect(at).await.unwrap(), None).await.unwrap(), shutdown)
}

#[test]
fn the_documents_show_what_people_write() {
    let shown = |sql: &str| format!("| `{}` |", sql.replace('|', "\\|"));
    let mut rows = vec!["| statement |".to_owned(), "|---|".to_owned()];
    rows.extend(WRITTEN.iter().map(|(sql, _)| shown(sql)));
    hold_table("docs/sql.md", "### What works as in PostgreSQL", &rows);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn people_write_what_they_know() {
    let (mut pg, _shutdown) = connected().await;
    let mut faults = Vec::new();
    for (sql, first) in WRITTEN {
        let fault = match pg.rows(sql, &[]).await {
            Ok(rows) => {
                let cells = rows.first().map(|row| {
                    let cells: Vec<&str> = row.iter().map(|cell| cell.as_deref().unwrap_or("NULL")).collect();
                    cells.join(", ")
                });
                let is_so = |cells: &String| match first.strip_suffix('…') {
                    Some(begin) => cells.starts_with(begin),
                    None => cells == first,
                };
                (!cells.as_ref().is_some_and(is_so)).then(|| format!("{cells:?}"))
            }
            Err(why) => Some(why),
        };
        faults.extend(fault.map(|fault| format!("{sql}: {fault}")));
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn columns_have_the_names_of_postgresql() {
    let (mut pg, _shutdown) = connected().await;
    for (sql, names) in [
        (
            "SELECT count(*), max(duration_ns), 1, name::text FROM spans GROUP BY name",
            ["count", "max", "?column?", "name"],
        ),
        ("SELECT 1, 2, NULL, 'x'::text", ["?column?", "?column?", "?column?", "text"]),
        (
            "SELECT lower(name), lower(name), *  FROM (SELECT name FROM spans) s",
            ["lower", "lower", "name", ""],
        ),
        (
            "SELECT n.oid, n.nspname, n.nspname, count(*) FROM pg_namespace n GROUP BY 1, 2",
            ["oid", "nspname", "nspname", "count"],
        ),
    ] {
        let (columns, _) = pg.columns(sql).await.unwrap();
        let found: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let wanted: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
        assert_eq!(found, wanted, "{sql}");
    }
}

/// What is refused, with its class and a word of its hint.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn errors_have_a_class_and_a_hint() {
    let (mut pg, _shutdown) = connected().await;
    for (sql, class, hint) in [
        ("LISTEN x", "C0A000", "receivers"),
        ("PREPARE p AS DELETE FROM spans", "C0A000", "SELECT"),
        ("EXECUTE nope(1)", "C26000", "PREPARE"),
        ("LOCK TABLE spans", "C0A000", "REPEATABLE READ"),
        ("INSERT INTO spans VALUES (1)", "C25006", "OTLP"),
        ("CREATE TEMP TABLE t (a int)", "C25006", "OTLP"),
        ("SELECT nope(1)", "C42883", "DataFusion"),
        ("SELECT attributes['n'] FROM spans", "C42804", "->> 'key'"),
        ("SELECT attributes #> 'a' FROM spans", "C22P02", "malformed array literal"),
        ("SELECT jsonb_set('{}', '{a', '1')", "C22P02", "malformed array literal"),
        ("SELECT 1 FROM spans WHERE attributes @? '$.a = 1'", "C42601", "A path looks like"),
        (
            "SELECT jsonb_path_query_first(attributes, 'strict $.a.a') FROM spans",
            "C2203A",
            "told to be silent",
        ),
        (r#"SELECT jsonb_path_exists(name, '$ like_regex "("') FROM spans"#, "C2201B", "A path looks like"),
        ("SELECT count(*) FROM spans WHERE name ~ '('", "C2201B", "lookaround"),
        ("SELECT repeat(name, 50000) ~ '([ab]{100}){100}c' FROM spans", "C57014", "repeat less"),
        ("SELECT name SIMILAR TO 'a' ESCAPE '##' FROM spans", "C22025", "one character"),
        ("SELECT jsonb_path_match(attributes, '$.type()') FROM spans", "C22038", "told to be silent"),
        ("SELECT * FROM nope", "C42P01", "information_schema"),
        (
            "SELECT x.name FROM traces t CROSS JOIN LATERAL (SELECT name FROM spans s WHERE s.trace_id = t.trace_id ORDER BY duration_ns LIMIT 1) x",
            "C0A000",
            "DISTINCT ON",
        ),
        ("SELECT 9223372036854775807 + 1", "C22003", "bigint out of range"),
        ("SELECT max(duration_ns + 9223372036854775807) FROM spans", "C22003", "bigint out of range"),
        (
            "SELECT count(*) FROM spans WHERE duration_ns + 9223372036854775807 > 0",
            "C22003",
            "bigint out of range",
        ),
        ("SELECT 2147483647::int + 1::int", "C22003", "integer out of range"),
        ("SELECT -x FROM (VALUES (-9223372036854775808)) AS t(x)", "C22003", "bigint out of range"),
        ("SELECT abs(x) FROM (VALUES (-9223372036854775808)) AS t(x)", "C22003", "verflow"),
        ("SELECT sum(x) FROM (VALUES (9223372036854775807), (1)) AS t(x)", "C22003", "numeric"),
        ("SELECT sum(DISTINCT x) FROM (VALUES (9223372036854775807), (1)) AS t(x)", "C22003", "numeric"),
        ("SELECT 'a' 'b'", "C42601", "syntax error at or near"),
        ("SET TimeZone TO 'Europe/Vienna'", "C0A000", "date_trunc"),
        ("SET TIME ZONE 'America/New_York'", "C0A000", "UTC"),
        ("SELECT set_config('TimeZone', 'Europe/Vienna', false)", "C0A000", "UTC"),
        ("SET nope = 1", "C42501", "pg_settings"),
        ("SELECT to_char(now(), 'YYYY WW')", "C0A000", "YYYY WW"),
        ("SELECT to_char(now(), 'SSSSS')", "C0A000", "SSSSS"),
        ("SELECT to_char(now(), 'D')", "C0A000", "not supported"),
        ("SELECT to_char(now(), 'DDth')", "C0A000", "not supported"),
        ("SHOW nope", "C42704", "nope"),
    ] {
        let said = pg.query(sql).await;
        assert!(said.contains(class) && said.contains(hint), "{sql}: {said}");
        for words in ["Error during planning", "Execution error", "Arrow error", "SQL error"] {
            assert!(!said.contains(words), "{sql}: {said}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn literals_go_on_in_the_next_line() {
    let (mut pg, _shutdown) = connected().await;
    let row = pg.rows("SELECT 'it''s '\n  'one' -- and\n' text' AS said", &[]).await.unwrap().remove(0);
    assert_eq!(row, [Some("it's one text".to_owned())]);
    let found = pg.rows("SELECT count(*) > 0 FROM spans WHERE name = 'GET '\r\n'/ask'", &[]).await.unwrap();
    assert_eq!(found, [[Some("t".to_owned())]]);
}

/// By a message with several statements, and by the protocol that drivers speak.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_are_prepared_in_sql() {
    let (mut pg, _shutdown) = connected().await;
    let said = pg
        .query("PREPARE p (text, int) AS SELECT $1 || '-' || ($2 + 1)::text AS said, count(*) FROM spans WHERE name <> $1; EXECUTE p('a', 2)")
        .await;
    assert!(said.contains("a-3") && said.contains('6'), "{said}");
    let row = pg.rows("EXECUTE p('it''s', '41')", &[]).await.unwrap().remove(0);
    assert_eq!(row, [Some("it's-42".to_owned()), Some("6".to_owned())]);
    assert_eq!(pg.columns("EXECUTE p('a', 2)").await.unwrap().0[0].0, "said");
    for (explain, part) in [
        ("EXPLAIN EXECUTE p('a', 2)", "physical_plan"),
        ("EXPLAIN (ANALYZE, COSTS off) EXECUTE p('a', 2)", "Plan with Metrics"),
        ("EXPLAIN EXECUTE p('a')", "C42601"),
        ("EXPLAIN EXECUTE nope", "C26000"),
    ] {
        let said = pg.query(explain).await;
        assert!(said.contains(part), "{explain}: {said}");
    }
    for (sql, class) in [
        ("PREPARE p AS SELECT 1", "C42P05"),
        ("EXECUTE p('a')", "C42601"),
        ("EXECUTE p(name, 1)", "C0A000"),
        ("EXECUTE p('a', 'b')", "C22"),
    ] {
        let said = pg.query(sql).await;
        assert!(said.contains(class), "{sql}: {said}");
    }
    pg.query("PREPARE catalogue AS SELECT count(*) > 5 AS many FROM pg_class WHERE relname <> $1").await;
    let known = pg.rows("EXECUTE catalogue('spans')", &[]).await.unwrap();
    assert_eq!(known, [[Some("t".to_owned())]]);
    pg.query("DEALLOCATE p").await;
    assert!(pg.query("EXECUTE p('a', 2)").await.contains("C26000"));
    pg.query("DISCARD ALL").await;
    assert!(pg.query("EXECUTE catalogue('spans')").await.contains("C26000"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn settings_come_with_the_connection() {
    let (mut pg, _shutdown) = connected().await;
    assert!(pg.query("SHOW transaction_isolation").await.contains("read committed"));
    for (begin, isolation) in [
        ("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "repeatable read"),
        ("BEGIN READ ONLY", "read committed"),
        ("START TRANSACTION ISOLATION LEVEL SERIALIZABLE", "serializable"),
    ] {
        pg.query(begin).await;
        let first = pg.query("SELECT count(*) FROM spans").await;
        assert_eq!(pg.query("SELECT count(*) FROM spans").await, first);
        assert!(pg.query("SHOW transaction_isolation").await.contains(isolation), "{begin}");
        pg.query("COMMIT").await;
    }
    for (set, zone) in [
        ("SET TimeZone TO 'Etc/UTC'", "Etc/UTC"),
        ("SET TIME ZONE 'GMT'", "GMT"),
        ("SET TIME ZONE LOCAL", "UTC"),
    ] {
        assert!(!pg.query(set).await.contains("ERROR"), "{set}");
        assert_eq!(pg.rows("SHOW TimeZone", &[]).await.unwrap(), [[Some(zone.to_owned())]], "{set}");
    }
    pg.query("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL REPEATABLE READ").await;
    assert!(pg.query("SHOW transaction_isolation").await.contains("repeatable read"));
    pg.query("BEGIN").await;
    pg.query("SELECT count(*) FROM spans").await;
    let late = pg.query("SET TRANSACTION ISOLATION LEVEL READ COMMITTED").await;
    assert!(late.contains("25001"), "{late}");
}

/// Parameters whose type nobody declares: the other arguments tell it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parameters_stand_in_series_and_zones() {
    let (mut pg, _shutdown) = connected().await;
    let hours = "FROM generate_series($1, $2, '1 hour') AS h";
    let (from, to) = ("2026-01-01T00:00:00Z", "2026-01-01T05:00:00Z");
    for (sql, values, cells) in [
        ("SELECT count(*), max(n) FROM generate_series($1, $2) AS n".to_owned(), vec!["1", "3"], "3, 3"),
        ("SELECT max(n) FROM generate_series($1, 10, $2) AS n".to_owned(), vec!["1", "4"], "9"),
        ("SELECT generate_series($1, $2) AS n ORDER BY n DESC".to_owned(), vec!["1", "3"], "3"),
        (format!("SELECT count(*) {hours}"), vec![from, to], "6"),
        (
            format!("SELECT count(*) {hours} LEFT JOIN scores s ON s.span_time >= h AND s.span_time < $1"),
            vec![from, to],
            "6",
        ),
        (
            "SELECT count(d) FROM generate_series(TIMESTAMP '2026-01-01', $1, $2) AS d".to_owned(),
            vec!["2026-01-03 00:00:00", "1 day"],
            "3",
        ),
    ] {
        let row = pg.rows(&sql, &values).await.expect(&sql).remove(0);
        let found: Vec<&str> = row.iter().flatten().map(String::as_str).collect();
        assert_eq!(found.join(", "), cells, "{sql}");
    }
    for time in ["start_time AT TIME ZONE", "date_trunc('day', start_time, "] {
        let end = if time.contains('(') { ")" } else { "" };
        let of = |zone: &str| format!("SELECT {time} {zone}{end} AS t FROM spans ORDER BY t, name");
        let constant = pg.rows(&of("'Europe/Vienna'"), &[]).await.unwrap();
        assert_eq!(pg.rows(&of("$1"), &["Europe/Vienna"]).await.unwrap(), constant, "{time}");
    }
    // What is now is known when a query runs, which is after it was planned.
    let now = "SELECT count(*) FROM generate_series(now(), now(), '1 hour') AS h WHERE h = now()";
    assert_eq!(pg.rows(now, &[]).await.unwrap(), [[Some("1".to_owned())]]);
    // An EXECUTE in SQL puts its values in as casts.
    let of = "SELECT max(n) FROM generate_series(1, $2) AS n WHERE now() AT TIME ZONE $1 IS NOT NULL";
    pg.query(&format!("PREPARE z (text, int) AS {of}")).await;
    let executed = pg.rows("EXECUTE z('Europe/Vienna', 3)", &[]).await.unwrap();
    assert_eq!(executed, [[Some("3".to_owned())]]);
    for (sql, values, class) in [
        ("SELECT now() AT TIME ZONE $1", vec!["Nowhere"], "C22023"),
        ("SELECT count(*) FROM generate_series($1, $2, $3)", vec!["1", "2", "3"], "C42725"),
        ("SELECT count(*) FROM generate_series($1, $2)", vec!["1", "100000000"], "C57014"),
    ] {
        let why = pg.rows(sql, &values).await.unwrap_err();
        assert!(why.contains(class), "{sql}: {why}");
    }
}

/// As pgAdmin asks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plans_are_json_for_tools() {
    let (mut pg, _shutdown) = connected().await;
    let plain = "EXPLAIN (ANALYZE false, FORMAT JSON, VERBOSE true, COSTS true, TIMING false, BUFFERS false)";
    let query = "SELECT name FROM spans WHERE duration_ns >= 0 ORDER BY name";
    let (columns, rows) = pg.columns(&format!("{plain} {query}")).await.unwrap();
    assert_eq!((columns, rows), (vec![("QUERY PLAN".to_owned(), 114)], 1));
    pg.query(&format!("PREPARE p (bigint) AS {}", query.replace('0', "$1"))).await;
    for (sql, values, ran) in [
        (format!("{plain} {query}"), vec![], false),
        (format!("{plain} {}", query.replace('0', "$1")), vec!["0"], false),
        (format!("EXPLAIN (ANALYZE, FORMAT JSON) {query}"), vec![], true),
        ("EXPLAIN (FORMAT JSON) EXECUTE p(0)".to_owned(), vec![], false),
    ] {
        let text = pg.rows(&sql, &values).await.unwrap().remove(0).remove(0).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).expect(&text);
        let (mut node, mut names, mut counts) = (&json[0]["Plan"], Vec::new(), Vec::new());
        while let Some(name) = node["Node Type"].as_str() {
            names.push(name);
            counts.extend(node["Actual Rows"].as_u64());
            node = &node["Plans"][0];
        }
        assert!(names.iter().any(|name| name.contains("Sort")), "{sql}: {text}");
        assert_eq!(counts.contains(&6), ran, "{sql}: {text}");
        assert!(!text.contains("Cost"), "{sql}: {text}");
    }
}
