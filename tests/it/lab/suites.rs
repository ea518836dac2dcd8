//! Suites whose tests are items of a stored dataset.

use super::verbs::{example, verb, well};
use crate::support::{config, count, query, start};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_suite_asks_a_stored_dataset_in_the_version_that_it_names() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let app = start(config(&data)).await;
    let url = format!("http://{}", app.addresses.http);
    let place = ["--url", url.as_str()];
    well(&["dataset", "import", "geography", &example()], &place).await;
    well(&["dataset", "delete", "geography", "g6"], &place).await;

    let suite = |dataset: &str| {
        let path = folder.path().join("suite.toml");
        let text = format!(
            "[suite]\nname = \"s\"\ndataset = \"{dataset}\"\n[target]\nkind = \"command\"\nform = \"any\"\n\
             command = [\"sh\", \"-c\", \"while read line; do echo Canberra; done\"]\n\
             [[check]]\noperator = \"includes_exactly\"\ncriteria = \"{{{{expected}}}}\"\n"
        );
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let report = folder.path().join("report.json").display().to_string();
    let counts = || {
        let text = std::fs::read_to_string(&report).unwrap();
        let tests = serde_json::from_str::<serde_json::Value>(&text).unwrap()["summary"]["tests"].take();
        (tests["pass"].as_u64().unwrap(), tests["fail"].as_u64().unwrap())
    };
    well(&["test", &suite("geography@1"), "--json", &report], &place).await;
    assert_eq!(counts(), (1, 5));
    well(&["test", &suite("geography@latest"), "--json", &report], &place).await;
    assert_eq!(counts(), (1, 4));
    let filtered =
        ["test", &suite("geography@1"), "--json", &report, "--filter", "question LIKE '%Australia%'"];
    let (code, out, err) = verb(&filtered, &place).await;
    assert!(code == 0 && counts() == (1, 0), "{out}{err}");
    assert!(err.contains("1 tests run, --filter leaves out 5"), "{err}");
    // Each is kept with what its checks said, the part with its condition; --no-store keeps nothing.
    well(&["test", &suite("geography@1"), "--no-store"], &place).await;
    let http = app.addresses.http;
    let runs =
        query(http, "SELECT suite_version, filter, status FROM experiments_latest ORDER BY suite_version")
            .await;
    let told: Vec<_> = runs
        .iter()
        .map(|run| (run["suite_version"].as_i64(), run["filter"].as_str(), run["status"].as_str()))
        .collect();
    let condition = Some("question LIKE '%Australia%'");
    assert_eq!(
        told,
        [
            (Some(1), None, Some("success")),
            (Some(2), None, Some("success")),
            (Some(3), condition, Some("success"))
        ]
    );
    assert_eq!(count(http, "SELECT count(*) FROM check_results").await, 6 + 5 + 1);
    let checked = well(&["suite", "check", &suite("geography@1")], &place).await;
    assert_eq!(checked, "s: 6 tests, 6 checks, 0 gates\n");
    app.stop().await.unwrap();

    // The same on the folder of the stopped server; and what is not there is told before anybody is asked.
    let data = data.display().to_string();
    let place = ["--data-dir", data.as_str()];
    well(&["test", &suite("geography@2"), "--json", &report], &place).await;
    assert_eq!(counts(), (1, 4));
    let (code, _, err) = verb(&["test", &suite("geography@9")], &place).await;
    assert!(code == 2 && err.contains("geography@9"), "{err}");
    let (code, _, err) = verb(&["test", &suite("geography@1")], &[]).await;
    assert!(code == 2 && err.contains("--url or --data-dir"), "{err}");
}

/// A run that is kept is an experiment like any other, and the baseline of the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_kept_as_an_experiment_and_is_the_baseline_of_the_next() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["cases.csv", "app.sh"] {
        let from = crate::readme::pages::root().join("examples/lab").join(name);
        std::fs::copy(from, folder.path().join(name)).unwrap();
    }
    let app = start(config(&folder.path().join("data"))).await;
    let http = app.addresses.http;
    let url = format!("http://{http}");
    let place = ["--url", url.as_str()];
    let suite = |command: &str, gate: &str| {
        let path = folder.path().join("suite.toml");
        let text = format!(
            "[suite]\nname = \"times\"\ndataset = \"cases.csv\"\nevaluators = [\"looping\"]\n[target]\nkind = \"command\"\n\
             command = [\"sh\", {command}]\n[[check]]\noperator = \"equals_exactly\"\ncriteria = \"{{{{expected}}}}\"\n\
             [[gate]]\nmetric = \"tests_passed\"\n{gate}\n"
        );
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    well(&["test", &suite("\"app.sh\"", "min = 0.8"), "--store", "--repetitions", "2"], &place).await;
    let kept = query(
        http,
        "SELECT name, status, suite_version, dataset_version, repetitions FROM experiments_latest",
    )
    .await;
    let wanted = serde_json::json!([{"name": "times", "status": "success", "suite_version": kept[0]["dataset_version"],
        "dataset_version": kept[0]["dataset_version"], "repetitions": 2}]);
    assert_eq!(serde_json::json!(kept), wanted);
    let checks = "SELECT count(*) FROM scores WHERE source = 'experiment' AND passed AND metric = 'check/1/equals_exactly'";
    assert_eq!(count(http, checks).await, 48);
    assert_eq!(
        count(
            http,
            "SELECT count(*) FROM runs_latest WHERE trace_id IS NOT NULL AND is_experiment(trace_id)"
        )
        .await,
        48
    );

    // The same tests are the same version of their dataset, and another gate is another version of the suite; the next
    // version of the application is held against the run that is kept.
    let shorter = suite("\"app.sh\", \"short\"", "max_drop = 0.1");
    let (code, out, err) = verb(&["test", &shorter, "--store", "--baseline", "times"], &place).await;
    assert!(code == 1 && out.contains("tests_passed max_drop 0.1"), "{out}{err}");
    assert_eq!(count(http, "SELECT count(DISTINCT suite_version) FROM experiments_latest").await, 2);
    assert_eq!(count(http, "SELECT count(DISTINCT dataset_version) FROM experiments_latest").await, 1);
    let results =
        "SELECT count(*) FROM check_results WHERE auto_eval = 'pass' AND operator = 'equals_exactly'";
    assert!(count(http, results).await >= 48);
    let compared = well(&["experiment", "compare", "times", "--items", "1"], &place).await;
    let line = compared.lines().find(|line| line.starts_with("tests_passed")).unwrap_or(&compared);
    assert!(line.contains("worse"), "{compared}");
    let same = suite("\"app.sh\"", "max_drop = 0.9");
    let (code, _, err) = verb(&["test", &same, "--baseline", "nobody"], &place).await;
    assert!(code == 2 && err.contains("nobody"), "{err}");
    let (code, _, err) = verb(&["test", &suite("\"app.sh\"", "min = 0.8"), "--store"], &[]).await;
    assert!(code == 2 && err.contains("--url or --data-dir"), "{err}");
    app.stop().await.unwrap();
}
