//! What a judge that is dead, slow or particular costs the others: nothing.

use super::server::Server;
use super::{SCORES, ask, call, configured, judged, served};
use crate::plugins::server::Server as Plugin;
use crate::support::{Reserved, query, send, settled, text, until};
use axum::http::StatusCode;
use std::time::Duration;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_judge_with_three_hundred_items_holds_up_no_other_judge_and_no_plug_in() {
    const DEAD: u64 = 300;
    let (folder, server, reserved) = (tempfile::tempdir().unwrap(), Server::default(), Reserved::new());
    let address = reserved.address;
    let rule = |name: &str, model: &str, evaluator: &str| {
        format!(
            "[[sample.rules]]\nname = \"{name}\"\nfilter = \"request_model = '{model}'\"\nrate = 1.0\nevaluators = [\"{evaluator}\"]\n"
        )
    };
    let own = "[[eval.custom]]\nname = \"tone\"\nkind = \"answer\"\njudge = \"spare\"\nprompt = \"Is {{answer}} polite?\"\n";
    let plugin = Plugin::with([]);
    let plugin = format!("[[plugins]]\nname = \"own\"\nurl = \"http://{}/base\"\n", plugin.listen().await);
    let spare = server.listen().await;
    let judges = format!(
        "[[judges]]\nname = \"main\"\nbase_url = \"http://{address}/v1\"\nmodel = \"m\"\ncanary_interval = \"0s\"\n\
         [[judges]]\nname = \"spare\"\nbase_url = \"http://{spare}/v1\"\nmodel = \"m\"\n"
    );
    let rules = [("dead", "a", "safety"), ("other", "b", "custom_answer/tone"), ("own", "c", "plugin/own")];
    let rules: String = rules.map(|(name, model, evaluator)| rule(name, model, evaluator)).concat();
    let app = served(folder.path(), &format!("{rules}{judges}{own}{plugin}")).await;
    let http = app.addresses.http;
    let send_for = async |model: &str, calls: std::ops::Range<u64>| {
        let with = |n| {
            let mut span = call(n);
            span.attributes.retain(|one| one.key != "gen_ai.request.model");
            span.attributes.push(text("gen_ai.request.model", model));
            span
        };
        assert!(send(app.addresses.otlp_http, calls.map(with).collect()).await);
    };
    send_for("a", 0..DEAD).await;
    let waiting = "SELECT count(*) AS n FROM queue WHERE lane = 'slow'";
    until("items of the dead judge", async || query(http, waiting).await[0]["n"] == DEAD).await;
    let away = "SELECT count(*) AS n FROM queue WHERE error LIKE '%probed from time to time%'";
    until("a judge that is away", async || query(http, away).await[0]["n"] != 0).await;
    // These are younger than all that wait.
    send_for("b", DEAD..DEAD + 40).await;
    send_for("c", DEAD + 40..DEAD + 80).await;
    for evaluator in ["custom_answer/tone", "plugin/own"] {
        let scored =
            format!("SELECT count(*) AS n FROM scores WHERE evaluator = '{evaluator}' AND status = 'ok'");
        until(evaluator, async || query(http, &scored).await[0]["n"] == 40).await;
    }
    // Items leave the queue a moment after their scores are seen; the others wait, and are not lost.
    until("the others alone", async || query(http, waiting).await[0]["n"] == DEAD).await;
    let back = Server::default();
    back.listen_at(address).await;
    settled(&app).await;
    let rows = query(http, &format!("{SCORES} WHERE evaluator = 'safety'")).await;
    assert_eq!((rows.len() as u64, back.requests() as u64), (DEAD, DEAD));
    assert!(rows.iter().all(|row| row["status"] == "ok"), "{rows:?}");
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_that_a_model_refuses_are_left_out_from_then_on() {
    for (refuses_members, refused) in [
        (&["max_tokens"] as &'static [&'static str], 1),
        (&["temperature"], 1),
        (&["max_tokens", "temperature"], 2),
    ] {
        let server = Server { refuses_members, ..Server::default() };
        let rows = judged(&server, 4, "max_concurrent = 1").await;
        assert!(rows.len() == 4 && rows.iter().all(|row| row["status"] == "ok"), "{rows:?}");
        let got = server.got.lock();
        // Each is found out once, and the schema is kept.
        assert_eq!(got.len(), 4 + refused, "{refuses_members:?}");
        for (_, body) in &got[refused..] {
            assert!(refuses_members.iter().all(|name| body.get(*name).is_none()), "{body}");
            assert_eq!(body["response_format"]["type"], "json_schema");
            assert!(
                body.get("max_tokens").is_some() != body.get("max_completion_tokens").is_some(),
                "{body}"
            );
        }
    }
    // What the user gives is the user's.
    let server = Server { refuses_members: &["max_tokens", "temperature"], ..Server::default() };
    let own = "max_concurrent = 1\nparameters = { max_completion_tokens = 9000, reasoning_effort = \"low\" }";
    let rows = judged(&server, 2, own).await;
    assert!(rows.len() == 2 && rows.iter().all(|row| row["status"] == "ok"), "{rows:?}");
    let got = server.got.lock();
    assert_eq!(got.len(), 3, "the temperature alone is found out");
    assert!(
        got.iter()
            .all(|(_, body)| body["max_completion_tokens"] == 9000 && body["reasoning_effort"] == "low")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_knows_no_schema_is_found_out_once_by_all_that_wait() {
    let server = Server {
        refuses: &["json_schema"],
        refusal: StatusCode::BAD_REQUEST,
        takes: Duration::from_millis(50),
        ..Server::default()
    };
    let rows = judged(&server, 24, "max_concurrent = 2").await;
    assert!(rows.len() == 24 && rows.iter().all(|row| row["status"] == "ok"), "{rows:?}");
    // Those that were under way, and none of those that waited for a place.
    let extra = server.requests() - 24;
    assert!((1..=2).contains(&extra), "{extra}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_judge_is_not_away_because_items_run_out_of_time() {
    // One after the other, and time for a few only: the rest comes again. On a busy machine too an answer is there in time.
    let server = Server { takes: Duration::from_millis(600), ..Server::default() };
    let (folder, address) = (tempfile::tempdir().unwrap(), server.listen().await);
    let more =
        "max_concurrent = 1\ncanary_interval = \"0s\"\ntimeout = \"4500ms\"\n[score]\nslow_timeout = \"6s\"";
    let ids = "\"safety\", \"relevance_to_query\", \"stereotypes\"";
    let app = served(folder.path(), &configured(ids, address, more)).await;
    assert!(ask(app.addresses.otlp_http, 0..3).await);
    settled(&app).await;
    let rows = query(app.addresses.http, SCORES).await;
    assert_eq!(
        (rows.len(), server.requests()),
        (9, 9),
        "no request is given up, and none is paid twice: {rows:?}"
    );
    assert!(rows.iter().all(|row| row["status"] == "ok" && row["attempt"] == 1), "{rows:?}");
    app.stop().await.unwrap();
}
