//! Evaluators of several questions whose judge leaves in the middle: what came is neither asked nor paid again.

use super::server::{Act, INPUT_TOKENS, OUTPUT_TOKENS, Server};
use super::{SCORES, ask, configured, served, sum};
use crate::support::{query, settled};

/// Eight likelihoods and the question whether the server tells any.
const QUESTIONS: usize = 9;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_return_costs_only_what_is_missing() {
    let gone = 3;
    let acts = (0..QUESTIONS - gone).map(|_| Act::Well).chain((0..gone).map(|_| Act::Status(401)));
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::with(acts));
    let prices = "price_input_usd = 1.0\nprice_output_usd = 1.0";
    let config = configured("\"gptscore_qa\"", server.listen().await, prices);
    let app = served(folder.path(), &config).await;
    assert!(ask(app.addresses.otlp_http, 0..1).await);
    settled(&app).await;
    let rows = query(app.addresses.http, SCORES).await;
    app.stop().await.unwrap();
    assert!(rows.len() == QUESTIONS - 1 && rows.iter().all(|row| row["status"] == "ok"), "{rows:?}");
    // Those that came, those that were refused, and these again.
    assert_eq!(server.requests(), QUESTIONS + gone);
    // Each likelihood is counted once, and so is the question whether there are any, which was paid in the first attempt.
    let asked = i64::try_from(QUESTIONS).unwrap();
    assert_eq!(sum(&rows, "input_tokens"), asked * INPUT_TOKENS, "{rows:?}");
    assert_eq!(sum(&rows, "output_tokens"), asked * OUTPUT_TOKENS);
}
