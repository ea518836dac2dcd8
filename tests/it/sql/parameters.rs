//! Parameters where the planner needs constants: the values are put in before that.

use super::fixture;
use arrow::array::RecordBatch;
use datafusion::common::ScalarValue;
use futures::TryStreamExt;
use groundline::net::Scope;
use groundline::sql::{Format, Sql, SqlError, Work, encode};

async fn csv(sql: &Sql, query: &str, values: Vec<ScalarValue>) -> Result<String, SqlError> {
    let rows = sql.run("test", &Scope::All, Work::Bound(query.to_owned(), values), None).await?;
    let schema = rows.schema();
    let batches: Vec<RecordBatch> = rows.try_collect().await?;
    Ok(String::from_utf8(encode(Format::Csv, &schema, &batches, usize::MAX)?).expect("UTF-8"))
}

#[tokio::test]
async fn series_and_zones_take_parameters() {
    let sql = fixture::sql().await;
    let text = |text: &str| ScalarValue::from(text);
    let found = csv(
        &sql,
        "SELECT value FROM generate_series($1, $2, INTERVAL '1 hour') WHERE value > $1",
        vec![text("2026-01-01T00:00:00Z"), text("2026-01-01T01:00:00Z")],
    );
    let found = found.await.unwrap();
    assert_eq!(found.lines().count(), 2, "{found}");
    let numbers = vec![ScalarValue::Int64(Some(2)), ScalarValue::Int64(Some(4))];
    let found = csv(&sql, "SELECT value * 2 AS n FROM generate_series($1, $2)", numbers).await.unwrap();
    assert_eq!(found.lines().skip(1).collect::<Vec<_>>(), ["4", "6", "8"]);
    let of = |zone: &str| format!("SELECT start_time AT TIME ZONE {zone} AS t FROM spans ORDER BY t, name");
    let constant = csv(&sql, &of("'Europe/Vienna'"), vec![]).await.unwrap();
    assert_eq!(csv(&sql, &of("$1"), vec![text("Europe/Vienna")]).await.unwrap(), constant);
    let many = vec![ScalarValue::Int64(Some(1)), ScalarValue::Int64(Some(100_000_000))];
    let limit = csv(&sql, "SELECT count(*) FROM generate_series($1, $2)", many).await;
    assert!(matches!(limit, Err(SqlError::Limit(_))), "{limit:?}");
    let wrong = csv(&sql, "SELECT now() AT TIME ZONE $1", vec![text("Nowhere")]).await;
    assert!(matches!(wrong, Err(SqlError::Wrong(_))), "{wrong:?}");
}
