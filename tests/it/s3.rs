//! The lake in a bucket: a real S3 server that is not ours, as a child process.

use crate::support::{PATIENCE, busy, config, count, query, settled, start};
use groundline::app::App;
use groundline::cli::{Protocol, send_file};
use groundline::config::Config;
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as StorePath;
use object_store::{ObjectStore, ObjectStoreExt, PutMode, PutPayload};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const KEY: &str = "AKIDTESTKEY";
const SECRET: &str = "zQ7pWm3Kx9Lr5Vt2Ys8Nb4Hc6Jd1Fg0A";

/// An S3 server with one bucket, gone when it is dropped.
struct Bucket {
    child: Child,
    endpoint: String,
}

impl Bucket {
    /// None if the server is not installed and this is not CI.
    async fn start() -> Option<Self> {
        let home = PathBuf::from(std::env::var("HOME").unwrap());
        let venv = std::env::var("GROUNDLINE_TEST_VENV")
            .map_or_else(|_| home.join(".cache/groundline-test-venv"), PathBuf::from);
        let mut command = Command::new(venv.join("bin/moto_server"));
        // Port 0: the system chooses, and the log tells.
        command.args(["-H", "127.0.0.1", "-p", "0"]).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                assert!(std::env::var("CI").is_err(), "{command:?}: {error}: run tests/setup");
                eprintln!("{command:?} is not installed; run tests/setup for this test");
                return None;
            }
        };
        let mut bucket = Self { child, endpoint: String::new() };
        bucket.endpoint = bucket.address();
        let made = reqwest::Client::new().put(format!("{}/lake", bucket.endpoint)).send().await.unwrap();
        assert!(made.status().is_success(), "no bucket: {}", made.status());
        Some(bucket)
    }

    /// Waits for the line that tells the address, and reads on so that a full pipe does not stop the server.
    fn address(&mut self) -> String {
        let log = BufReader::new(self.child.stderr.take().unwrap());
        let (found, address) = mpsc::channel();
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                if let Some((_, address)) = line.split_once("Running on ") {
                    let _ = found.send(address.trim().to_owned());
                }
            }
        });
        address.recv_timeout(PATIENCE).expect("the S3 server is not ready")
    }

    /// A server on this bucket that writes files soon.
    fn config(&self, data_dir: &Path) -> Config {
        let mut config = config(data_dir);
        config.lake.url = "s3://lake/team/traces".to_owned();
        config.lake.flush_interval = Duration::from_millis(200);
        config.lake.s3.endpoint.clone_from(&self.endpoint);
        config.lake.s3.allow_http = true;
        config.lake.s3.region = "us-east-1".to_owned();
        config.lake.s3.access_key_id = KEY.to_owned();
        config.lake.s3.secret_access_key = SECRET.to_owned();
        config
    }

    /// The bucket, past our own code.
    fn client(&self) -> AmazonS3 {
        AmazonS3Builder::new()
            .with_bucket_name("lake")
            .with_endpoint(&self.endpoint)
            .with_allow_http(true)
            .with_region("us-east-1")
            .with_access_key_id(KEY)
            .with_secret_access_key(SECRET)
            .build()
            .unwrap()
    }

    /// The objects of a table, relative to it.
    async fn objects(&self, table: &str) -> Vec<String> {
        let below = StorePath::from(format!("team/traces/{table}"));
        let mut names = Vec::new();
        let mut folders = vec![below.clone()];
        let client = self.client();
        while let Some(folder) = folders.pop() {
            let listed = client.list_with_delimiter(Some(&folder)).await.unwrap();
            folders.extend(listed.common_prefixes);
            names.extend(
                listed.objects.iter().map(|o| o.location.as_ref()[below.as_ref().len() + 1..].to_owned()),
            );
        }
        names
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn send(app: &App, names: &[&str]) {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/otlp/openinference-openai");
    let endpoint = format!("http://{}", app.addresses.otlp_http);
    for name in names {
        send_file(&endpoint, Protocol::Http, &fixtures.join(name)).await.unwrap();
    }
    settled(app).await;
}

async fn counts(app: &App) -> Vec<i64> {
    let mut counts = Vec::new();
    for table in ["spans", "scores", "decisions"] {
        counts.push(count(app.addresses.http, &format!("SELECT count(*) AS n FROM {table}")).await);
    }
    counts
}

/// How many spans each trace has.
async fn traces(app: &App) -> BTreeMap<String, i64> {
    let rows = query(app.addresses.http, "SELECT trace_id, count(*) AS n FROM spans GROUP BY trace_id").await;
    rows.iter()
        .map(|row| (row["trace_id"].as_str().unwrap().to_owned(), row["n"].as_i64().unwrap()))
        .collect()
}

fn parquet(objects: &[String]) -> usize {
    objects.iter().filter(|name| name.ends_with(".parquet")).count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn rows_are_in_the_bucket_and_are_there_after_a_restart() {
    let Some(bucket) = Bucket::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let app = start(bucket.config(folder.path())).await;
    send(&app, &["rag_grounded.pb"]).await;
    let started = Instant::now();
    while parquet(&bucket.objects("spans").await) == 0 {
        assert!(started.elapsed() < PATIENCE, "the flush loop wrote no file");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    send(&app, &["toxic.pb"]).await;
    let before = counts(&app).await;
    assert!(before.iter().all(|rows| *rows > 0), "{before:?}");
    app.stop().await.unwrap();
    for table in ["spans", "scores", "decisions"] {
        let objects = bucket.objects(table).await;
        assert!(parquet(&objects) > 0, "{table}: {objects:?}");
        assert!(objects.iter().any(|name| name == "_delta_log/00000000000000000001.json"), "{objects:?}");
    }
    assert!(!folder.path().join("lake").exists(), "the tables are on the local disk");

    let app = start(bucket.config(folder.path())).await;
    assert_eq!(counts(&app).await, before);
    let http = app.addresses.http;
    let traces = traces(&app).await;
    for (id, spans) in &traces {
        let rows = query(http, &format!("SELECT name FROM spans WHERE trace_id = '{id}'")).await;
        assert_eq!(i64::try_from(rows.len()).unwrap(), *spans);
    }
    assert!(traces.len() >= 2, "{traces:?}");
    // The same spans again are duplicates of rows that only the bucket has.
    send(&app, &["toxic.pb"]).await;
    assert_eq!(counts(&app).await[0], before[0]);
    app.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_servers_write_to_one_bucket_and_neither_loses_rows() {
    let Some(bucket) = Bucket::start().await else { return };
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let one = start(bucket.config(folders[0].path())).await;
    let other = start(bucket.config(folders[1].path())).await;
    // Both journals begin at frame 1.
    tokio::join!(send(&one, &["rag_grounded.pb"]), send(&other, &["toxic.pb"]));
    let (mut own, others) = (traces(&one).await, traces(&other).await);
    assert!(!own.is_empty() && !others.is_empty());
    own.extend(others);
    let (first, second) = tokio::join!(one.stop(), other.stop());
    first.unwrap();
    second.unwrap();
    // A new machine: nothing but the bucket is left.
    let fresh = start(bucket.config(folders[2].path())).await;
    assert_eq!(traces(&fresh).await, own);
    send(&fresh, &["chat.pb"]).await;
    let with_chat = traces(&fresh).await;
    assert!(with_chat.len() > own.len(), "the spans of a new data directory are left out");
    fresh.stop().await.unwrap();
    let reopened = start(bucket.config(folders[2].path())).await;
    assert_eq!(traces(&reopened).await, with_chat);
    reopened.stop().await.unwrap();
}

/// Each round has a lake that is not there yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_first_starts_at_once_both_run() {
    let Some(bucket) = Bucket::start().await else { return };
    for round in 0..10 {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let [one, other] = folders.each_ref().map(|folder| {
            let mut config = bucket.config(folder.path());
            config.lake.url = format!("s3://lake/round-{round}");
            tokio::spawn(start(config))
        });
        let (one, other) = (one.await.unwrap(), other.await.unwrap());
        for app in [one, other] {
            assert_eq!(counts(&app).await, [0, 0, 0]);
            app.stop().await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn files_in_the_bucket_are_merged_and_the_old_ones_deleted() {
    let Some(bucket) = Bucket::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let app = start(busy(bucket.config(folder.path()))).await;
    let started = Instant::now();
    for name in ["rag_grounded.pb", "chat.pb", "toxic.pb"] {
        let before = bucket.objects("spans").await;
        send(&app, &[name]).await;
        while parquet(&bucket.objects("spans").await) == 0 || bucket.objects("spans").await == before {
            assert!(started.elapsed() < PATIENCE, "the flush loop wrote no file");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    let before = (counts(&app).await, traces(&app).await);
    loop {
        let objects = bucket.objects("spans").await;
        if objects.iter().any(|name| name.starts_with("merged-")) && parquet(&objects) <= 2 {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "{objects:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!((counts(&app).await, traces(&app).await), before);
    app.stop().await.unwrap();
    let app = start(bucket.config(folder.path())).await;
    assert_eq!((counts(&app).await, traces(&app).await), before);
    app.stop().await.unwrap();
}

#[tokio::test]
async fn of_two_creates_of_one_object_the_second_fails() {
    let Some(bucket) = Bucket::start().await else { return };
    let (client, commit) = (bucket.client(), StorePath::from("t/_delta_log/00000000000000000000.json"));
    let create = |text: &'static str| {
        client.put_opts(&commit, PutPayload::from_static(text.as_bytes()), PutMode::Create.into())
    };
    create("one").await.unwrap();
    let lost = create("two").await.unwrap_err();
    assert!(matches!(lost, object_store::Error::AlreadyExists { .. }), "{lost}");
    assert_eq!(client.get(&commit).await.unwrap().bytes().await.unwrap(), "one");
}

#[tokio::test]
async fn a_bucket_that_is_not_there_is_told_soon() {
    let folder = tempfile::tempdir().unwrap();
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut config = config(folder.path());
    config.lake.url = "s3://lake/x".to_owned();
    // The port of discard: nobody listens.
    config.lake.s3.endpoint = "http://127.0.0.1:9".to_owned();
    config.lake.s3.allow_http = true;
    config.lake.s3.region = "us-east-1".to_owned();
    (config.lake.s3.access_key_id, config.lake.s3.secret_access_key) = (KEY.to_owned(), SECRET.to_owned());
    let started = Instant::now();
    let Err(error) = App::start(config).await else { panic!("it started without a bucket") };
    let error = format!("{error} {error:?}");
    assert!(error.contains("127.0.0.1:9") && !error.contains(SECRET), "{error}");
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

/// A configuration file that gives the secret.
fn file(folder: &Path, endpoint: &str) -> PathBuf {
    let file = folder.join("groundline.toml");
    let text = format!(
        "[server]\nlog = \"trace,deltalake_core=trace,buoyant_kernel=trace,buoyant_kernel_engine=trace\"\nhttp_listen = \"127.0.0.1:0\"\npg_listen = \"127.0.0.1:0\"\n\
         [ingest]\nhttp_listen = \"127.0.0.1:0\"\ngrpc_listen = \"127.0.0.1:0\"\n\
         [lake]\nurl = \"s3://lake/x\"\nflush_interval = \"200ms\"\n\
         [lake.s3]\nregion = \"us-east-1\"\nendpoint = \"{endpoint}\"\nallow_http = true\n\
         access_key_id = \"{KEY}\"\nsecret_access_key = \"{SECRET}\"\n"
    );
    std::fs::write(&file, text).unwrap();
    file
}

fn groundline() -> Command {
    Command::new(env!("CARGO_BIN_EXE_groundline"))
}

#[test]
fn the_secret_is_never_printed() {
    let folder = tempfile::tempdir().unwrap();
    let file = file(folder.path(), "http://127.0.0.1:9");
    let config = Config::load(Some(&file)).unwrap();
    assert_eq!(config.lake.s3.secret_access_key, SECRET);
    assert!(!format!("{config:?} {config:#?}").contains(SECRET));
    let verbs: [&[&str]; 2] = [&["config", "dump", "--config"], &["config", "check"]];
    for verb in verbs {
        let output = groundline().args(verb).arg(&file).output().unwrap();
        let told = format!("{output:?}");
        assert!(output.status.success() && !told.contains(SECRET), "{told}");
    }
    // Nor when it is of the wrong kind.
    for wrong in ["8675309421", "[\"8675309421\"]", "{ a = \"8675309421\" }"] {
        std::fs::write(&file, format!("[lake.s3]\nsecret_access_key = {wrong}\n")).unwrap();
        let output = groundline().args(["config", "check"]).arg(&file).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("secret_access_key") && !told.contains("8675309421"), "{told}");
    }
}

#[tokio::test]
async fn the_secret_is_not_in_the_log() {
    let Some(bucket) = Bucket::start().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = file(folder.path(), &bucket.endpoint);
    let mut server = groundline();
    server.arg("serve").arg("--config").arg(&file).arg("--data-dir").arg(folder.path().join("data"));
    let mut child = server.env("NO_COLOR", "1").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap());
    // By the line that tells the addresses every table was created in the bucket.
    let reader = std::thread::spawn(move || {
        let (mut bytes, mut from) = (Vec::new(), 0);
        while log.read_until(b'\n', &mut bytes).unwrap() > 0 {
            if String::from_utf8_lossy(&bytes[from..]).contains("otlp_http=") {
                break;
            }
            from = bytes.len();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let _ = log.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let text = tokio::task::spawn_blocking(|| reader.join().unwrap()).await.unwrap();
    let end: Vec<&str> = text.lines().rev().take(5).collect();
    assert!(text.contains("otlp_http="), "the server ended before it was ready: {end:?}");
    assert!(
        text.contains("TRACE") && text.contains("_delta_log"),
        "the log says too little to prove anything"
    );
    assert!(!text.contains(SECRET), "the secret is in the log");
}
