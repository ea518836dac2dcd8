//! The newest rows of the lab's tables: the views show what their definitions say, whatever is asked of them.

use super::fixture;
use super::latest::{Random, START, csv, object, over, time};
use groundline::lake::TableSnapshot;
use groundline::schema::columns::Table;
use groundline::sql::Sql;
use serde_json::{Map, Value, json};

/// A table with the definition of its view.
struct Case {
    table: Table,
    definition: &'static str,
    /// What rows are versions of, with commas.
    key: &'static str,
    /// What the first version has a 1 in.
    rank: &'static str,
    /// A thing in a version.
    row: fn(i64, i64) -> Value,
}

const ITEMS: Case = Case {
    table: Table::DatasetItems,
    definition: include_str!("../../../src/sql/views/dataset_items_latest.sql"),
    key: "dataset_id, item_id",
    rank: "version",
    row: |thing, version| {
        let op = ["put", "put", "delete", "purge"][(thing * version % 4) as usize];
        json!({"dataset_id": format!("d{}", thing % 3), "item_id": format!("i{thing}"), "version": version,
            "ordinal": thing, "op": op, "input": format!("{thing} in {version}"), "tags": ["a"]})
    },
};

const DATASETS: Case = Case {
    table: Table::Datasets,
    definition: include_str!("../../../src/sql/views/datasets_latest.sql"),
    key: "dataset_id",
    rank: "version",
    row: |thing, version| json!({"dataset_id": format!("d{thing}"), "version": version, "name": format!("n{}", (thing + version) % 5)}),
};

const OTHERS: [Case; 3] = [
    Case {
        table: Table::Experiments,
        definition: include_str!("../../../src/sql/views/experiments_latest.sql"),
        key: "experiment_id",
        rank: "revision",
        row: |thing, version| json!({"experiment_id": format!("e{thing}"), "revision": version, "name": format!("{version}")}),
    },
    Case {
        table: Table::Runs,
        definition: include_str!("../../../src/sql/views/runs_latest.sql"),
        key: "experiment_id, item_id, repetition",
        rank: "attempt",
        row: |thing, version| {
            json!({"run_id": format!("r{thing}"), "experiment_id": format!("e{}", thing % 2), "attempt": version,
                "item_id": format!("i{}", thing / 4), "repetition": 1 + thing / 2 % 2, "output": format!("{version}")})
        },
    },
    // Of two with one revision the first counts.
    Case {
        table: Table::ReviewQueues,
        definition: include_str!("../../../src/sql/views/review_queues_latest.sql"),
        key: "queue_id",
        rank: "revision",
        row: |thing, version| json!({"queue_id": format!("q{thing}"), "revision": 1 + version / 2, "created_at": time(START + version)}),
    },
];

/// Up to four versions of sixty things of two tenants each, in files and hot.
async fn filled(case: &Case) -> TableSnapshot {
    let mut random = Random(7);
    let mut rows: Vec<Map<String, Value>> = Vec::new();
    for thing in 0..60 {
        for version in 1..=1 + random.below(4) {
            for tenant in ["a", "b"] {
                let mut row = object((case.row)(thing, version));
                row.insert("tenant".to_owned(), json!(tenant));
                row.insert("_in".to_owned(), json!(["one", "two", "hot"][random.below(3) as usize]));
                if random.below(4) > 0 {
                    rows.push(row);
                }
            }
        }
    }
    fixture::snapshot(case.table, rows).await
}

async fn is_as_defined(sql: &Sql, case: &Case) {
    let Case { definition, key, rank, .. } = case;
    let name = case.table.name();
    let first = key.split(", ").next().unwrap();
    let filters = [
        "true".to_owned(),
        "tenant = 'a'".to_owned(),
        format!("{first} LIKE '%1' AND tenant = 'b'"),
        format!("{first} IN (SELECT {first} FROM {name} WHERE {rank} = 2)"),
        // Most of what passes these is not the newest.
        format!("{rank} = 1"),
        format!("{rank} <= 2 AND length({first}) = 2"),
    ];
    let mut seen = 0;
    for filter in filters {
        let rest = format!("WHERE {filter} ORDER BY tenant, {key}");
        let view = csv(sql, &format!("SELECT * FROM {name}_latest {rest}")).await;
        assert_eq!(view, csv(sql, &format!("SELECT * FROM ({definition}) {rest}")).await, "{name}: {filter}");
        seen += view.lines().count() - 1;
        let counted = csv(sql, &format!("SELECT count(*) FROM {name}_latest WHERE {filter}")).await;
        assert_eq!(counted.lines().last(), Some((view.lines().count() - 1).to_string().as_str()));
    }
    assert!(seen > 100, "{seen} rows of {name} prove little");
}

#[tokio::test]
async fn the_newest_rows_are_those_of_the_definitions() {
    for case in OTHERS {
        let sql = over(vec![filled(&case).await]).await;
        is_as_defined(&sql, &case).await;
    }
    let sql = over(vec![filled(&ITEMS).await, filled(&DATASETS).await]).await;
    is_as_defined(&sql, &ITEMS).await;
    is_as_defined(&sql, &DATASETS).await;
    let (mut seen, newest) = (0, DATASETS.definition);
    for (name, version) in (0..6).flat_map(|name| [1, 2, 9].map(|version| (format!("n{name}"), version))) {
        let rest = "ORDER BY tenant, dataset_id, item_id";
        let view = csv(&sql, &format!("SELECT * FROM dataset_at('{name}', {version}) {rest}")).await;
        let meant = format!(
            "SELECT i.* FROM (SELECT DISTINCT ON (tenant, dataset_id, item_id) * FROM dataset_items WHERE version <= {version} \
             ORDER BY tenant, dataset_id, item_id, version DESC) i JOIN ({newest}) d \
             ON i.tenant = d.tenant AND i.dataset_id = d.dataset_id \
             WHERE i.op = 'put' AND d.name = '{name}' ORDER BY i.tenant, i.dataset_id, i.item_id"
        );
        assert_eq!(view, csv(&sql, &meant).await, "{name}@{version}");
        seen += view.lines().count() - 1;
    }
    assert!(seen > 20, "{seen} items prove little");
}

/// Which of them is shown is not told, but it is one.
#[tokio::test]
async fn of_a_version_that_was_written_twice_one_row_is_shown() {
    let twice = |part: &str, output: &str| {
        object(
            json!({"_in": part, "run_id": "r", "experiment_id": "e", "item_id": "i", "repetition": 1, "attempt": 2,
            "tenant": "a", "output": output}),
        )
    };
    let rows = vec![twice("one", "1"), twice("two", "2"), twice("hot", "3")];
    let sql = over(vec![fixture::snapshot(Table::Runs, rows).await]).await;
    assert_eq!(csv(&sql, "SELECT run_id, attempt FROM runs_latest").await, "run_id,attempt\nr,2\n");
}
