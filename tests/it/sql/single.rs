//! `scores_latest` where no row is a version of another: the shorter choice is planned, or none where no id is there twice, and
//! gives what the view means.

use super::fixture;
use super::latest::{self, HOUR, Random, START, csv, object, over, plan, time};
use groundline::lake::TableSnapshot;
use groundline::net::Scope;
use groundline::schema::columns::Table;
use groundline::sql::{Config, Sql};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the view is, as SQL.
const DEFINITION: &str = include_str!("../../../src/sql/views/scores_latest.sql");

/// Files of scores; rows are hot as well.
const FILES: i64 = 12;

/// A score of production of the item with this number, by its rule of the version 1. What its id is made of is in it.
fn score(item: i64, version: i64, evaluated: i64, place: &str) -> Map<String, Value> {
    let (rule, metric) = (["r1", "r2"][(item % 2) as usize], ["m1", "m2", "m3"][(item % 3) as usize]);
    let (trace, span) = (format!("t{}", item / 4), format!("s{}", item % 4));
    object(json!({
        "_in": place, "score_id": format!("{trace}/{span} {rule} 1 e {metric} {version}"), "trace_id": trace,
        "span_id": span, "tenant": (if item % 5 == 0 { "a" } else { "b" }), "rule": rule, "rule_version": "1",
        "evaluator": "e", "evaluator_version": "1", "metric": metric, "status": "ok", "value": evaluated as f64,
        "passed": evaluated % 2 == 0, "score_version": version, "span_time": time(began(item)),
        "evaluated_at": time(evaluated), "service_name": "shop", "source": "rule",
    }))
}

fn began(item: i64) -> i64 {
    START + item * 60
}

fn place(random: &mut Random) -> String {
    match random.below(FILES + 1) {
        0 => "hot".to_owned(),
        file => format!("file{file:02}"),
    }
}

/// Some items, each judged up to three times under one id. None is judged at the time of another of its rows.
fn repeats(random: &mut Random) -> Vec<Map<String, Value>> {
    let mut rows = Vec::new();
    for item in 0..200 {
        let mut evaluated = began(item);
        for _ in 0..=random.below(3) {
            evaluated += 1 + random.below(HOUR);
            rows.push(score(item, 1, evaluated, &place(random)));
        }
    }
    rows
}

/// The newest rows by a map, as CSV: whose they are and what about, and when they were evaluated, seconds.
fn newest(rows: &[Map<String, Value>]) -> String {
    let mut newest: BTreeMap<[&str; 5], (i64, i64)> = BTreeMap::new();
    for row in rows {
        let key = ["tenant", "trace_id", "span_id", "rule", "metric"];
        let key = key.map(|name| row[name].as_str().expect("a text"));
        let evaluated = row["value"].as_f64().expect("a number") as i64;
        let this = (row["score_version"].as_i64().expect("a number"), evaluated);
        let known = newest.entry(key).or_insert(this);
        *known = this.max(*known);
    }
    let lines = newest.into_iter().map(|(key, (_, evaluated))| format!("{},{evaluated}\n", key.join(",")));
    lines.collect()
}

async fn is_short(sql: &Sql, statement: &str) -> bool {
    let text = plan(sql, "EXPLAIN", statement).await;
    assert!(text.contains("NewestExec: of=[tenant, score_id]"), "{text}");
    !text.contains("[tenant, trace_id, span_id, rule, evaluator, metric]")
}

/// Whether rows are passed on without a choice.
async fn is_all(sql: &Sql, statement: &str) -> bool {
    plan(sql, "EXPLAIN", statement).await.contains("NewestExec: all")
}

/// The view's rows are those that it means.
async fn holds(sql: &Sql, filter: &str) -> usize {
    let rest = format!("WHERE {filter} ORDER BY tenant, trace_id, span_id, rule, evaluator, metric");
    let view = csv(sql, &format!("SELECT * FROM scores_latest {rest}")).await;
    let meant = csv(sql, &format!("SELECT * FROM ({DEFINITION}) {rest}")).await;
    assert_eq!(view, meant, "{filter}");
    // What is not asked for is read by the full choice alone.
    let few = |from: &str| {
        format!("SELECT evaluated_at, passed FROM {from} WHERE {filter} ORDER BY evaluated_at, passed")
    };
    let meant = csv(sql, &few(&format!("({DEFINITION})"))).await;
    assert_eq!(csv(sql, &few("scores_latest")).await, meant, "{filter}");
    view.lines().count() - 1
}

#[tokio::test]
async fn without_versions_ids_alone_are_looked_at_and_repeats_have_one_row() {
    for seed in 0..4 {
        let rows = repeats(&mut Random(seed));
        let expected = newest(&rows);
        let sql = over(vec![fixture::snapshot(Table::Scores, rows).await]).await;
        assert!(is_short(&sql, "SELECT passed FROM scores_latest").await);
        let told = "SELECT tenant, trace_id, span_id, rule, metric, CAST(value AS BIGINT) AS at \
                    FROM scores_latest ORDER BY 1, 2, 3, 4, 5";
        let told = csv(&sql, told).await;
        assert_eq!(told.split_once('\n').expect("a header").1, expected, "seed {seed}");
        assert_eq!(holds(&sql, "true").await, 200, "seed {seed}");
        for filter in [
            "tenant = 'a' AND passed".to_owned(),
            format!("span_time >= '{}' AND span_time < '{}'", time(began(50)), time(began(120))),
            format!("evaluated_at >= '{}'", time(began(150))),
            format!("evaluated_at < '{}'", time(began(150))),
            "trace_id = 't7'".to_owned(),
        ] {
            assert!(holds(&sql, &filter).await > 0, "{filter}");
        }
    }
}

#[tokio::test]
async fn one_version_in_one_file_or_in_memory_is_seen() {
    for (seed, at) in ["file07", "hot"].into_iter().enumerate() {
        let mut random = Random(seed as u64);
        let mut rows = repeats(&mut random);
        // The last item was judged again, before its first judgement as the clocks have it.
        rows.push(score(199, 2, began(199), at));
        let sql = over(vec![fixture::snapshot(Table::Scores, rows).await]).await;
        let everything = "SELECT passed FROM scores_latest";
        assert!(!is_short(&sql, everything).await, "{at}");
        assert_eq!(holds(&sql, "true").await, 200, "{at}");
        assert_eq!(holds(&sql, "trace_id = 't49' AND span_id = 's3'").await, 1);
        let newest = "SELECT score_version FROM scores_latest WHERE trace_id = 't49' AND span_id = 's3'";
        assert_eq!(csv(&sql, newest).await, "score_version\n2\n", "{at}");
    }
}

#[tokio::test]
async fn what_else_an_id_is_made_of_may_have_versions() {
    for column in ["rule_version", "evaluator_version"] {
        let mut rows = repeats(&mut Random(7));
        let mut changed = score(6, 1, began(6) + 5 * HOUR, "file03");
        changed.insert(column.to_owned(), json!("2"));
        changed.insert("score_id".to_owned(), json!("another"));
        rows.push(changed);
        let sql = over(vec![fixture::snapshot(Table::Scores, rows).await]).await;
        assert!(!is_short(&sql, "SELECT passed FROM scores_latest").await, "{column}");
        assert_eq!(holds(&sql, "true").await, 200, "{column}");
    }
}

#[tokio::test]
async fn versions_at_other_times_cost_nothing() {
    let (first, last) = (score(0, 1, began(0) + 1, "one"), score(9_000, 1, began(9_000) + 1, "two"));
    let rows = vec![first, last, score(9_000, 2, began(9_000) + 2, "two")];
    let sql = over(vec![fixture::snapshot(Table::Scores, rows).await]).await;
    let until = |seconds| format!("SELECT passed FROM scores_latest WHERE span_time < '{}'", time(seconds));
    assert!(is_all(&sql, &until(began(8_000))).await);
    assert!(!is_short(&sql, &until(began(9_001))).await);
    assert_eq!(holds(&sql, "true").await, 2);
}

/// Some items, each judged once. Two tenants share ids, some rows are of a trace and not of a span, some have no verdict, and many
/// were evaluated at one time.
fn once(random: &mut Random) -> Vec<Map<String, Value>> {
    let mut rows = Vec::new();
    for item in 0..200 {
        let evaluated = if item % 3 == 0 { began(200) } else { began(item) + 1 + random.below(HOUR) };
        let mut row = score(item, 1, evaluated, &place(random));
        if item % 10 < 2 {
            row.insert("score_id".to_owned(), json!(format!("shared {}", item / 10)));
        }
        if item % 4 == 0 {
            row.remove("span_id");
        }
        if item % 7 == 0 {
            row.insert("status".to_owned(), json!("error"));
            row.remove("passed");
            row.remove("value");
        }
        rows.push(row);
    }
    // What is not of production is not among them.
    let mut experiment = rows[3].clone();
    experiment.insert("source".to_owned(), json!("experiment"));
    rows.push(experiment);
    rows
}

#[tokio::test]
async fn where_each_score_has_one_row_all_are_passed_on() {
    for seed in 0..3 {
        let sql = over(vec![fixture::snapshot(Table::Scores, once(&mut Random(seed))).await]).await;
        for _ in 0..2 {
            assert!(is_all(&sql, "SELECT passed FROM scores_latest").await, "seed {seed}");
        }
        assert_eq!(holds(&sql, "true").await, 200, "seed {seed}");
        for filter in [
            "status = 'ok' AND passed IS NOT NULL AND source = 'rule'".to_owned(),
            "status = 'error' AND passed IS NULL".to_owned(),
            "span_id IS NULL".to_owned(),
            "tenant = 'a' AND passed".to_owned(),
            format!("span_time >= '{}' AND span_time < '{}'", time(began(50)), time(began(120))),
            format!("evaluated_at = '{}'", time(began(200))),
        ] {
            assert!(holds(&sql, &filter).await > 0, "{filter}");
        }
        assert_eq!(csv(&sql, "SELECT count(*) AS n FROM scores_latest").await, "n\n200\n");
        for (tenant, expected) in [("a", 40), ("b", 160), ("c", 0)] {
            let scope = Scope::Tenant(tenant.into());
            for columns in ["*", "passed"] {
                let statement = format!("SELECT {columns} FROM scores_latest");
                assert_eq!(latest::rows(&sql, &scope, &statement).await, expected, "{tenant} {columns}");
            }
        }
    }
}

#[tokio::test]
async fn one_repeat_in_one_file_or_in_memory_is_seen() {
    for (seed, at) in ["file07", "hot"].into_iter().enumerate() {
        let mut rows = once(&mut Random(seed as u64));
        let mut again = rows[151].clone();
        again.insert("_in".to_owned(), json!(at));
        again.insert("evaluated_at".to_owned(), json!(time(began(151) + 9 * HOUR)));
        again.insert("label".to_owned(), json!("again"));
        rows.push(again);
        let sql = over(vec![fixture::snapshot(Table::Scores, rows).await]).await;
        assert!(is_short(&sql, "SELECT passed FROM scores_latest").await, "{at}");
        assert_eq!(holds(&sql, "true").await, 200, "{at}");
        let newest = "SELECT label FROM scores_latest WHERE trace_id = 't37' AND span_id = 's3'";
        assert_eq!(csv(&sql, newest).await, "label\nagain\n", "{at}");
    }
}

/// The table has another version each time that it is asked for one: a query asks once.
#[tokio::test]
async fn what_is_looked_at_is_what_is_read() {
    let one = score(1, 1, began(1) + 1, "file");
    let before = fixture::snapshot(Table::Scores, vec![one]).await;
    let again = score(1, 2, began(1) + 2, "hot");
    let after =
        TableSnapshot { hot: fixture::snapshot(Table::Scores, vec![again]).await.hot, ..before.clone() };
    let (others, asked) = (fixture::snapshots().await, AtomicUsize::new(0));
    let snapshots = Arc::new(move |table: Table| match (table, asked.load(Ordering::Relaxed)) {
        (Table::Scores, times) => {
            asked.store(times + 1, Ordering::Relaxed);
            if times % 2 == 0 { before.clone() } else { after.clone() }
        }
        (table, _) => others(table),
    });
    let sql = Sql::new(snapshots, Config::default()).expect("the engine");
    let mut seen = [0; 2];
    for _ in 0..6 {
        match csv(&sql, "SELECT score_version AS v FROM scores_latest").await.as_str() {
            "v\n1\n" => seen[0] += 1,
            "v\n2\n" => seen[1] += 1,
            other => panic!("versions beside each other: {other}"),
        }
    }
    assert!(seen[0] + seen[1] == 6 && seen[1] > 0, "{seen:?}");
}
