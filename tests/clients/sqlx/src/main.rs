//! sqlx as its users call it, against the PostgreSQL port of `tests/it/clients.rs`: `sqlx-client PORT`.

use futures::TryStreamExt;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions, PgRow};
use sqlx::types::chrono::{DateTime, Utc};
use sqlx::{Column, Connection, Executor, FromRow, Row, TypeInfo};
use std::error::Error;

type Done = Result<(), Box<dyn Error>>;

/// A row as people read it into a type of theirs.
#[derive(Debug)]
struct Span {
    name: String,
    start_time: DateTime<Utc>,
    duration_ns: i64,
    cost_usd: Option<f64>,
    finish_reasons: Vec<String>,
}

impl<'r> FromRow<'r, PgRow> for Span {
    fn from_row(row: &'r PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            name: row.try_get("name")?,
            start_time: row.try_get("start_time")?,
            duration_ns: row.try_get("duration_ns")?,
            cost_usd: row.try_get("cost_usd")?,
            finish_reasons: row.try_get("finish_reasons")?,
        })
    }
}

/// Says that sqlx does `what`, an aspect and a word of the table of `docs/sql.md`, once what it asserts has passed.
async fn shows(what: &str, checks: impl Future<Output = Done>) -> Done {
    checks.await.map_err(|why| format!("{what}: {why}"))?;
    println!("has {what}");
    Ok(())
}

async fn times_sought(pool: &PgPool) -> Done {
    let sql = "SELECT count(*) FROM spans WHERE name <> $1 AND duration_ns > $2 AND start_time > $3";
    let (count,): (i64,) = sqlx::query_as(sql)
        .bind("none")
        .bind(-1_i64)
        .bind(DateTime::<Utc>::UNIX_EPOCH)
        .fetch_one(pool)
        .await?;
    assert!(count > 0);
    Ok(())
}

async fn lists_sought(pool: &PgPool) -> Done {
    let known: String = sqlx::query_scalar("SELECT name FROM spans LIMIT 1").fetch_one(pool).await?;
    let names = vec![known, "none".to_owned()];
    let named = sqlx::query("SELECT name FROM spans WHERE name = ANY($1)").bind(&names).fetch_all(pool).await?;
    assert!(!named.is_empty(), "lists are parameters");
    Ok(())
}

async fn parameters(pool: &PgPool) -> Done {
    let nothing: Option<String> = sqlx::query_scalar("SELECT $1::text").bind(None::<String>).fetch_one(pool).await?;
    assert_eq!(nothing, None);
    let (n, x, b, t): (i32, f64, bool, String) = sqlx::query_as("SELECT $1::int, $2::float8, $3::bool, $4::text")
        .bind(7)
        .bind(0.25)
        .bind(true)
        .bind("ä'\"\\ 😀")
        .fetch_one(pool)
        .await?;
    assert_eq!((n, x, b, t.as_str()), (7, 0.25, true, "ä'\"\\ 😀"));
    Ok(())
}

async fn first(pool: &PgPool) -> Result<Span, Box<dyn Error>> {
    let sql = "SELECT * FROM spans WHERE finish_reasons IS NOT NULL ORDER BY start_time LIMIT 1";
    Ok(sqlx::query_as(sql).fetch_one(pool).await?)
}

async fn times(pool: &PgPool) -> Done {
    let first = first(pool).await?;
    assert!(!first.name.is_empty() && first.start_time > DateTime::<Utc>::UNIX_EPOCH && first.duration_ns >= 0);
    assert!(first.cost_usd.is_none_or(f64::is_finite));
    let row = sqlx::query("SELECT date '2026-11-24' AS d, interval '90 minutes' AS i, 12.5::numeric AS n, 'x'::bytea AS b").fetch_one(pool).await?;
    let told: Vec<_> = row.columns().iter().map(|c| (c.name().to_owned(), c.type_info().name().to_owned())).collect();
    assert_eq!(told.len(), 4, "{told:?}");
    assert_eq!(told[0], ("d".to_owned(), "DATE".to_owned()));
    Ok(())
}

async fn lists(pool: &PgPool) -> Done {
    assert!(!first(pool).await?.finish_reasons.is_empty());
    Ok(())
}

/// What the macros `query!` and `query_as!` ask while they compile.
async fn described(pool: &PgPool) -> Done {
    let told = pool.describe("SELECT name, cost_usd, start_time FROM spans WHERE name = $1").await?;
    let names: Vec<_> = told.columns().iter().map(|c| (c.name(), c.type_info().name())).collect();
    assert_eq!(names, [("name", "TEXT"), ("cost_usd", "FLOAT8"), ("start_time", "TIMESTAMPTZ")]);
    assert_eq!(told.parameters().map(|p| p.map_left(<[_]>::len).left()), Some(Some(1)));
    // The server says nothing of NULL, and sqlx takes what it does not know for an Option.
    assert_eq!([0, 1, 2].map(|column| told.nullable(column)), [None; 3]);
    Ok(())
}

async fn streamed(pool: &PgPool) -> Done {
    let mut rows = sqlx::query_scalar::<_, i64>("SELECT value FROM generate_series(1, 100000)").fetch(pool);
    let (mut count, mut sum) = (0_u64, 0_i64);
    while let Some(value) = rows.try_next().await? {
        (count, sum) = (count + 1, sum + value);
    }
    assert_eq!((count, sum), (100_000, 5_000_050_000));
    Ok(())
}

async fn copied(pool: &PgPool) -> Done {
    let mut connection = pool.acquire().await?;
    let mut copied = connection.copy_out_raw("COPY (SELECT value FROM generate_series(1, 100000)) TO STDOUT").await?;
    let mut bytes = 0;
    while let Some(part) = copied.try_next().await? {
        bytes += part.len();
    }
    assert!(bytes > 500_000, "{bytes}");
    Ok(())
}

async fn transactions(pool: &PgPool) -> Done {
    let mut transaction = pool.begin().await?;
    let first: i64 = sqlx::query_scalar("SELECT count(*) FROM spans").fetch_one(&mut *transaction).await?;
    let mut inner = transaction.begin().await?;
    let second: i64 = sqlx::query_scalar("SELECT count(*) FROM spans").fetch_one(&mut *inner).await?;
    inner.rollback().await?;
    transaction.commit().await?;
    assert_eq!(first, second);
    let many = futures::future::join_all((0..20_i64).map(|n| {
        sqlx::query_scalar::<_, i64>("SELECT $1 * 2").bind(n).fetch_one(pool)
    }));
    for (n, twice) in (0_i64..).zip(many.await) {
        assert_eq!(twice?, 2 * n);
    }
    Ok(())
}

async fn errors(pool: &PgPool, options: PgConnectOptions) -> Done {
    let code = |e: sqlx::Error| e.as_database_error().and_then(|e| e.code()).map(|c| c.into_owned());
    let wrong = sqlx::query("SELECT nope FROM spans").fetch_all(pool).await.err().ok_or("no error")?;
    assert_eq!(code(wrong).as_deref(), Some("42703"));
    let written = sqlx::query("DELETE FROM spans").execute(pool).await.err().ok_or("no error")?;
    assert_eq!(code(written).as_deref(), Some("25006"));
    let hurried = PgPool::connect_with(options.options([("statement_timeout", "3s")])).await?;
    let endless = "SELECT count(*) FROM generate_series(1, 9000000) a, generate_series(1, 9000000) b";
    let ended = sqlx::query(endless).fetch_all(&hurried).await.err().ok_or("no timeout")?;
    assert_eq!(code(ended).as_deref(), Some("57014"));
    // A whole number without a cast is a bigint here.
    let after: i64 = sqlx::query_scalar("SELECT 1").fetch_one(&hurried).await?;
    assert_eq!(after, 1, "the connection lives on");
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Done {
    let port = std::env::args().nth(1).ok_or("which port?")?.parse()?;
    let options = PgConnectOptions::new().host("127.0.0.1").port(port).username("me").database("groundline");
    let pool = PgPoolOptions::new().max_connections(4).test_before_acquire(true).connect_with(options.clone()).await?;
    parameters(&pool).await?;
    transactions(&pool).await?;
    shows("metadata: `describe` as its macros ask", described(&pool)).await?;
    shows("parameters: times", times_sought(&pool)).await?;
    shows("parameters: lists", lists_sought(&pool)).await?;
    shows("types: times", times(&pool)).await?;
    shows("types: lists", lists(&pool)).await?;
    shows("large: streams", streamed(&pool)).await?;
    shows("large: COPY", copied(&pool)).await?;
    shows("errors: SQLSTATE", errors(&pool, options)).await?;
    println!("all ok");
    Ok(())
}
