//! Comparisons within parts of a dataset, and what they tell of each item.

use super::verbs::{verb, well};
use super::{done, send};
use crate::support::{config, start};
use serde_json::{Value as Json, json};

/// Twenty-four items, every second in German, which the second version does not answer any more, and the third does again.
async fn asked(app: &groundline::app::App) {
    done(app, "POST", "datasets", &json!({"name": "d"})).await;
    let language = |n: usize| if n.is_multiple_of(2) { "en" } else { "de" };
    let put: Vec<Json> = (0..24)
        .map(|n| {
            json!({"external_id": format!("i{n}"), "input": format!("Question {n}?"), "expected": "yes",
                "tags": [language(n)], "metadata": {"category": "all", "who": {"age": n % 3}}})
        })
        .collect();
    done(app, "POST", "datasets/d/items", &json!({ "put": put })).await;
    for name in ["v1", "v2", "v3"] {
        let body = json!({"name": name, "dataset": "d", "target": {"kind": "function"}, "evaluators": ["looping"], "repetitions": 2});
        let id = done(app, "POST", "experiments", &body).await["experiment_id"].as_str().unwrap().to_owned();
        let todo = done(app, "GET", &format!("experiments/{id}/todo?limit=100"), &Json::Null).await;
        let answers: Vec<Json> = todo
            .as_array()
            .unwrap()
            .iter()
            .map(|run| {
                let is_german = run["external_id"].as_str().unwrap()[1..].parse::<usize>().unwrap() % 2 == 1;
                let fails = name == "v2" && is_german;
                json!({"item_id": run["item_id"], "repetition": run["repetition"], "duration_ms": if fails { 90.0 } else { 100.0 },
                    "output": if fails { "I do not know." } else { "yes" },
                    "scores": [{"name": "right", "passed": !fails, "value": if fails { 0.0 } else { 1.0 }, "rationale": "by the author"}]})
            })
            .collect();
        done(app, "POST", &format!("experiments/{id}/runs"), &json!(answers)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_comparison_is_parted_and_tells_what_both_sides_answered() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    asked(&app).await;
    let told =
        done(&app, "GET", "compare?new=v2&baseline=v1&slice=tag,metadata.who.age&details=3", &Json::Null)
            .await;
    let comparison = &told["comparison"];
    let slice = |value: &str| {
        let slices = comparison["slices"].as_array().unwrap();
        let of = slices.iter().find(|slice| slice["value"] == value).unwrap();
        let right = |metric: &&Json| metric["metric"] == "right";
        (
            of["by"].clone(),
            of["paired"].clone(),
            of["metrics"].as_array().unwrap().iter().find(right).unwrap().clone(),
        )
    };
    let (by, paired, german) = slice("de");
    assert_eq!((&by, &paired, &german["verdict"]), (&json!("tag"), &json!(12), &json!("worse")), "{german}");
    assert_eq!(slice("en").2["verdict"], "no difference shown");
    let (by, paired, _) = slice("1");
    assert_eq!((by, paired), (json!("metadata.who.age"), json!(8)));
    // Half of the items answer in 90 ms instead of 100.
    let duration = &comparison["usage"][0];
    assert_eq!(duration["metric"], "duration_ms");
    assert!((duration["difference"].as_f64().unwrap() + 5.0).abs() < 1e-9, "{duration}");
    assert!(duration["upper"].as_f64().unwrap() < 0.0 && duration["verdict"] == "better", "{duration}");

    let items = comparison["items"].as_array().unwrap();
    assert_eq!(items.len(), 12);
    let first = &items[0];
    assert_eq!(
        (&first["kind"], &first["expected"], &first["tags"]),
        (&json!("regression"), &json!("yes"), &json!(["de"]))
    );
    assert!(first["question"].as_str().unwrap().starts_with("Question "), "{first}");
    let (then, now) = (&first["baseline"]["runs"], &first["new"]["runs"]);
    assert_eq!(
        (then.as_array().unwrap().len(), &then[0]["output"], &now[1]["output"]),
        (2, &json!("yes"), &json!("I do not know."))
    );
    let scores = now[0]["scores"].as_array().unwrap();
    assert!(
        scores.iter().any(|score| score["metric"] == "right" && score["rationale"] == "by the author"),
        "{now}"
    );
    assert_eq!(now[0]["trace_id"].as_str().unwrap().len(), 32);
    assert!(items[3].get("new").is_none() && items[3]["question"].is_string(), "{}", items[3]);

    let summary = done(&app, "GET", "experiments/v2/summary?slice=tag", &Json::Null).await;
    let rates: Vec<&Json> = summary["slices"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|slice| slice["metrics"].as_array().unwrap())
        .filter(|metric| metric["metric"] == "right")
        .map(|metric| &metric["passed"]["estimate"])
        .collect();
    assert_eq!(rates, [&json!(0.0), &json!(1.0)], "{summary}");
    assert_eq!(summary["dimensions"], json!(["tag", "category", "metadata.who.age"]));
    assert_eq!(told["dimensions"], summary["dimensions"]);
    beside_one_baseline(&app).await;
    let (status, wrong) = send(&app, "GET", "compare?new=v2&slice=colour", None, &Json::Null).await;
    assert!(status == 400 && wrong["error"].as_str().unwrap().contains("metadata.KEY"), "{wrong}");

    app.stop().await.unwrap();
}

/// Several in one table: each has its estimate and its verdict against the one baseline.
async fn beside_one_baseline(app: &groundline::app::App) {
    let told = done(app, "GET", "compare?experiments=v2,v3,v2&slice=tag", &Json::Null).await;
    assert_eq!(told["baseline"]["name"], "v1", "the latest that ended well and is not named");
    let others = told["experiments"].as_array().unwrap();
    let right = |one: &Json| {
        let cells = one["cells"].as_array().unwrap();
        cells.iter().find(|cell| cell["metric"] == "right").unwrap().clone()
    };
    let shown: Vec<(&Json, Json, Json)> = others
        .iter()
        .map(|one| {
            let cell = right(one);
            (&one["name"], cell["estimate"]["estimate"].clone(), cell["difference"]["verdict"].clone())
        })
        .collect();
    let wanted = [
        (&json!("v2"), json!(0.5), json!("worse")),
        (&json!("v3"), json!(1.0), json!("no difference shown")),
    ];
    assert_eq!(shown, wanted, "{told}");
    assert!(right(&told["baseline"])["difference"].is_null(), "{told}");
    assert_eq!((&told["dimensions"][0], &told["baseline"]["purged"]), (&json!("tag"), &json!(0)));
    let german = others[0]["slices"].as_array().unwrap().iter().find(|slice| slice["value"] == "de").unwrap();
    let mut metrics = german["metrics"].as_array().unwrap().iter();
    assert_eq!(metrics.find(|metric| metric["metric"] == "right").unwrap()["verdict"], "worse", "{german}");
    // Where all that ended well are named the first of them is the baseline.
    let told = done(app, "GET", "compare?experiments=v3,v2,v1", &Json::Null).await;
    assert_eq!(told["baseline"]["name"], "v3");
    for (query, why) in [
        ("compare?experiments=v1&baseline=v1", "is the baseline"),
        ("compare?new=v2&experiments=v1,v3", "experiments=A,B,C"),
        ("compare?slice=tag", "experiments=A,B,C"),
    ] {
        let (status, wrong) = send(app, "GET", query, None, &Json::Null).await;
        assert!(status == 400 && wrong["error"].as_str().unwrap().contains(why), "{query}: {wrong}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_tells_the_parts_and_both_answers() {
    let folder = tempfile::tempdir().unwrap();
    let app = start(config(folder.path())).await;
    asked(&app).await;
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    let text =
        well(&["experiment", "compare", "v2", "--baseline", "v1", "--slice", "tag", "--items", "1"], &place)
            .await;
    for part in [
        "tag=de",
        "duration_ms",
        "baseline (1 of 2): yes  (trace ",
        "new (1 of 2): I do not know.  (trace ",
        "why: by the author",
        "11 more items moved",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text =
        well(&["experiment", "compare", "v2", "v3", "--baseline", "v1", "--slice", "tag"], &place).await;
    for part in ["against v1\nv2: 24 items in both", "worse", "no difference shown", "tag=de"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = well(&["experiment", "show", "v2", "--slice", "tag"], &place).await;
    assert!(text.contains("tag=en") && text.contains("tag=de"), "{text}");
    let (code, _, err) = verb(&["experiment", "show", "v2", "--slice", "colour"], &place).await;
    assert!(code == 1 && err.contains("metadata.KEY"), "{err}");
    app.stop().await.unwrap();
}
