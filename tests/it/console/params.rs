//! Values of a query stay values, whatever they hold.

use super::client::ask;
use crate::support::{config, send, settled, span, start};
use serde_json::{Value as Json, json};

const HOSTILE: &[&str] = &[
    "'; DROP TABLE spans; --",
    "' OR '1'='1",
    "\" OR \"\"=\"",
    "$2",
    "$1",
    "\u{0}",
    "a\u{0}b",
    "\\' OR 1=1 --",
    "/*",
    "%",
    "$$; SELECT 1; $$",
    "E'\\x00'",
    "\u{202e}\u{feff}\u{1f525}",
    "",
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_come_back_as_they_went_in() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let at = app.addresses.http;
    for text in HOSTILE {
        let (status, answer) =
            ask(at, "SELECT $1 AS v, $2 AS w, $1 || $2 AS both", json!([text, "$1"])).await;
        assert_eq!(status, 200, "{text:?}: {answer}");
        assert_eq!(answer["data"], json!([[text], ["$1"], [format!("{text}$1")]]), "{text:?}");
    }
    for (value, shown) in [
        (json!(null), json!(null)),
        (json!(true), json!(true)),
        (json!(-7), json!(-7)),
        (json!(0.1), json!(0.1)),
        (json!(1e300), json!(1e300)),
        (json!(i64::MAX), json!(i64::MAX.to_string())),
        (json!(u64::MAX), json!(u64::MAX.to_string())),
    ] {
        let (status, answer) = ask(at, "SELECT $1 AS v", json!([value])).await;
        assert_eq!((status, &answer["data"]), (200, &json!([[shown]])), "{value}: {answer}");
    }
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn values_of_every_kind_stand_where_they_fit() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    let at = app.addresses.http;
    assert!(send(app.addresses.otlp_http, vec![span(1, 1, vec![]), span(1, 2, vec![])]).await);
    settled(&app).await;
    let count = async |query: &str, params: Json| {
        let (status, answer) = ask(at, query, params).await;
        (status, answer["data"][0][0].clone(), answer["error"].as_str().unwrap_or_default().to_owned())
    };
    let names = "SELECT count(*) FROM spans WHERE name = $1";
    for text in HOSTILE {
        assert_eq!(count(names, json!([text])).await.1, json!(0), "{text:?}");
    }
    assert_eq!(count(names, json!(["span 1/2"])).await.1, json!(1));
    assert_eq!(count(names, json!([null])).await.1, json!(0));
    let both = "SELECT count(*) FROM spans WHERE name IN ($1, $2) AND duration_ns >= $3";
    assert_eq!(count(both, json!(["span 1/1", "span 1/2", 1_000])).await.1, json!(2));
    let since = "SELECT count(*) FROM spans WHERE start_time >= $1 AND start_time < $2";
    let range = json!(["2020-01-01T00:00:00Z", "2100-01-01T00:00:00.123456789Z"]);
    assert_eq!(count(since, range).await.1, json!(2));
    assert_eq!(count(since, json!([null, null])).await.1, json!(0));
    let step = "SELECT count(*) FROM (SELECT date_bin(CAST($1 AS INTERVAL), start_time) AS b FROM spans)";
    assert_eq!(count(step, json!(["5 minutes"])).await.1, json!(2));
    assert_eq!(count("SELECT count(*) FROM (SELECT 1 FROM spans LIMIT $1)", json!([1])).await.1, json!(1));
    // The parameter in quotes is text and no parameter.
    assert_eq!(count("SELECT '$1'", json!([7])).await.1, json!("$1"));
    for (query, params, part) in [
        (since, json!(["nonsense", "2100-01-01T00:00:00Z"]), "nonsense"),
        (step, json!(["; DROP TABLE spans"]), ""),
        ("SELECT 1 FROM spans LIMIT $1", json!(["all"]), ""),
        (names, json!([]), "$1"),
        ("SELECT $3", json!([1, 2]), "params has 2 values"),
        ("SELECT $name", json!([1]), "numbered"),
        ("SELECT $0", json!([1]), ""),
        (names, json!([["span 1/1"]]), "$1 must be text"),
        (names, json!([{"a": 1}]), "$1 must be text"),
        ("SELECT * FROM $1", json!(["spans"]), ""),
    ] {
        let (status, _, error) = count(query, params.clone()).await;
        assert_eq!(status, 400, "{query} {params}: {error}");
        assert!(error.contains(part), "{query} {params}: {error}");
    }
    assert_eq!(count("SELECT count(*) FROM spans", json!([])).await.1, json!(2), "nothing was dropped");
    app.stop().await.unwrap();
}
