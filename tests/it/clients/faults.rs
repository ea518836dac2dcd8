//! Faults of ours: the query that meets one ends with an error, and its connection goes on.

use super::{fixture, port_of};
use crate::pg::Pg;
use arrow::datatypes::DataType;
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use std::sync::Arc;
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_ends_its_query_and_nothing_else() {
    let sql = fixture::sql().await;
    let fault =
        |_: &[ColumnarValue]| -> datafusion::error::Result<ColumnarValue> { panic!("a fault of ours") };
    let (takes, gives) = (vec![DataType::Utf8], DataType::Utf8);
    sql.session().register_udf(create_udf("fault", takes, gives, Volatility::Volatile, Arc::new(fault)));
    let (at, _shutdown) = port_of(sql).await;
    let mut pg = Pg::login(TcpStream::connect(at).await.unwrap(), None).await.unwrap();
    for statement in [
        "SELECT fault('a')",
        "SELECT fault(name) FROM spans",
        "SELECT count(DISTINCT b) FROM (SELECT fault(name) AS b FROM spans) s GROUP BY b ORDER BY 1",
        "COPY (SELECT fault(name) FROM spans) TO STDOUT",
    ] {
        let said = pg.query(statement).await;
        assert!(said.contains("CXX000"), "{statement}: {said}");
        let why = pg.rows(statement, &[]).await.unwrap_err();
        assert!(why.contains("XX000"), "{statement}: {why}");
        assert_eq!(pg.rows("SELECT 41 + 1", &[]).await.unwrap(), [[Some("42".to_owned())]], "{statement}");
    }
    // A relation of the catalogue that has no rows.
    for statement in
        ["SELECT generate_subscripts(indkey, 1) FROM pg_index", "SELECT unnest(indkey) FROM pg_index"]
    {
        assert!(pg.rows(statement, &[]).await.unwrap().is_empty(), "{statement}");
    }
}
