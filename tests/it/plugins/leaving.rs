//! What leaves for a plug-in: whose texts, and without what.

use super::server::Server;
use super::{ask, configured, judged, rows, served};
use crate::support::{query, settled};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_of_other_tenants_do_not_leave() {
    let server = Server::with([]);
    let found = judged(&server, &["a", "b"], "tenants = [\"acme\"]").await;
    assert_eq!((found.len(), server.got.lock().len()), (2, 0), "{found:#?}");
    for row in found.values() {
        assert_eq!((&row["status"], &row["value"]), (&json!("skipped"), &Value::Null), "{row}");
        assert!(row["error"].as_str().unwrap().contains("plugins.tenants"), "{row}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_redacted_does_not_leave_and_is_stored_all_the_same() {
    const ANSWER: &str = "I wrote to jane.doe@example.com about it.";
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::with([]));
    // Spans without a token are of the tenant "default".
    let keys = "tenants = [\"acme\", \"default\"]\nredact = [\"pii\"]";
    let url = format!("url = \"http://{}/base\"\n{keys}", server.listen().await);
    let app = served(folder.path(), &configured(&url)).await;
    ask(&app, 0, &[ANSWER]).await;
    settled(&app).await;
    let found = rows(&app, "plugin/probe").await;
    let stored = query(app.addresses.http, "SELECT answer FROM spans").await;
    app.stop().await.unwrap();
    assert_eq!((found.len(), &found[ANSWER]["status"]), (1, &json!("ok")), "{found:#?}");
    let sent: Vec<String> = server.got.lock().iter().map(|(_, body)| body.to_string()).collect();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert!(sent[0].contains("I wrote to [EMAIL] about it.") && !sent[0].contains("jane.doe"), "{sent:?}");
    assert_eq!(stored[0]["answer"], ANSWER);
}
