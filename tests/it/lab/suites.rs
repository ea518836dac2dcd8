//! Suites whose tests are items of a stored dataset.

use super::verbs::{example, verb, well};
use crate::support::{config, start};

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
