//! What is read, what is refused, and with which words.

use super::{Config, EXAMPLE};
use crate::eval::{System, Thresholds};
use crate::units::ByteSize;
use std::time::Duration;
use toml::Table;

fn none() -> std::iter::Empty<(String, String)> {
    std::iter::empty()
}

#[test]
fn the_example_is_the_default_and_the_dump() {
    let read = Config::from_text("example", EXAMPLE, none()).unwrap();
    let (read, defaults) = (Table::try_from(read).unwrap(), Table::try_from(Config::default()).unwrap());
    assert_eq!(read, defaults);
    assert_eq!(Config::default().dump(), EXAMPLE);
}

#[test]
fn every_fault_is_told_at_once() {
    let text = "[ingest]\nmax_request_size = 10\nnope = 1\n[journal]\nsegment_size = \"x\"\n\
                [score]\ntimeout = \"soon\"\n[sql]\ntimeout = -1\n[eval.thresholds]\ntoxicity = \"high\"\n\
                [[sample.rules]]\nname = \"r\"\nfilter = \"nothing = 1\"\nrate = 2.0\nevaluators = [\"zzz\"]\n";
    let error = Config::from_text("f.toml", text, none()).unwrap_err().to_string();
    for part in [
        "ingest.max_request_size",
        "ingest.nope",
        "journal.segment_size: \"x\" is no size",
        "score.timeout: \"soon\" is no duration",
        "sql.timeout: -1 is below 0 seconds",
        "eval.thresholds.toxicity: invalid type",
        "rate is 2",
        "zzz",
        "nothing",
    ] {
        assert!(error.contains(part), "{part} is missing in:\n{error}");
    }
    assert!(error.lines().all(|line| line.starts_with("f.toml: ")), "{error}");
}

#[test]
fn thresholds_are_those_of_a_system_a_metric_or_an_evaluator() {
    let read = |text: &str| Config::from_text("f", text, none());
    let text = "[eval]\nthresholds = \"h2o\"\n[evaluator.groundedness]\nmetric_threshold = 1\n";
    let config = read(text).unwrap();
    assert_eq!(config.eval.thresholds, Thresholds::Of(System::H2o));
    assert_eq!(config.eval.evaluator["groundedness"].metric_threshold, Some(1.0));
    let again = read(&config.dump()).unwrap();
    assert_eq!(Table::try_from(again).unwrap(), Table::try_from(config).unwrap());
    let own = "[evaluator.bleu]\nmetric_threshold = 0.5\n";
    for (text, told) in [
        (
            "[eval]\nthresholds = \"h3o\"\n".to_owned(),
            "eval.thresholds: \"h3o\" is no system whose thresholds are known",
        ),
        ("[evaluator.bleuu]\n".to_owned(), "evaluator names \"bleuu\", which is no evaluator"),
        ("[evaluator.bleu]\nthreshold = 1\n".to_owned(), "evaluator.bleu: unknown field `threshold`"),
        (
            "[evaluator.bleu]\nmethod = \"embeddings\"\n".to_owned(),
            "evaluator.bleu.method: only answer_semantic_similarity",
        ),
        (
            "[evaluator.answer_semantic_similarity]\nmethod = \"cross_encoder\"\n".to_owned(),
            "no model is there for it: name its file in models.similarity.path",
        ),
        ("[models.similarity]\npath = \"m.onnx\"\n".to_owned(), "models.similarity is used by nobody"),
        ("[evaluator.bleu]\nmetric_threshold = inf\n".to_owned(), "evaluator.bleu.metric_threshold is inf"),
        (
            "[evaluator.hallucination]\nmetric_threshold = 6\n".to_owned(),
            "evaluator.hallucination.metric_threshold is 6: its values are from 0 to 1",
        ),
        (
            format!("[eval.thresholds]\nbleu_1 = 0.4\nrouge_1 = 0.4\n{own}"),
            "evaluator.bleu.metric_threshold and eval.thresholds.bleu_1 both set the threshold of bleu",
        ),
        (
            "[eval.perplexity]\nthreshold = 9\n[evaluator.perplexity]\nmetric_threshold = 8\n".to_owned(),
            "evaluator.perplexity.metric_threshold and eval.perplexity.threshold both set",
        ),
        (
            "[eval.perplexity]\nthreshold = 9\n[eval.thresholds]\nperplexity = 8\n".to_owned(),
            "eval.perplexity.threshold and eval.thresholds.perplexity both set",
        ),
        (
            "[eval.thresholds]\ngroundednes = 0.5\n".to_owned(),
            "eval.thresholds.groundednes: no evaluator tells a metric of this name; the nearest is \"groundedness\"",
        ),
        (
            "[eval.thresholds]\ngroundedness = 5\n".to_owned(),
            "eval.thresholds.groundedness is 5: its values are from 0 to 1",
        ),
    ] {
        let error = read(&text).unwrap_err().to_string();
        assert!(error.contains(told) && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn a_threshold_of_a_plug_in_or_of_a_question_of_ones_own_is_taken() {
    let plugin = "[[plugins]]\nname = \"tone\"\ncommand = [\"tone\"]\n[eval.thresholds]\npoliteness = 7\ntoxicity = 40\n";
    for text in [plugin, "[eval.thresholds]\n\"custom_answer/polite\" = 0.5\ncompression_ratio = 1.2\n"] {
        Config::from_text("f", text, none()).unwrap();
    }
}

#[test]
fn entries_of_lists_that_cannot_be_read_are_told_by_place_and_name() {
    let rule = |more: &str| {
        format!("[[sample.rules]]\nname = \"r\"\nfilter = \"true\"\nrate = 1.0\nevaluators = []\n{more}")
    };
    let text = [rule(""), rule("target = \"spans\"\n"), "[[sample.rules]]\nrat = 1\n".to_owned()].concat();
    let error = Config::from_text("f", &text, none()).unwrap_err().to_string();
    assert!(error.contains("f: sample.rules[1] \"r\": unknown variant `spans`"), "{error}");
    assert!(error.contains("f: sample.rules[2]: unknown field `rat`"), "{error}");
    assert_eq!(error.lines().count(), 2, "{error}");
}

#[test]
fn a_variable_with_one_underscore_is_told_how_it_is_written() {
    let env = |name: &str| [(name.to_owned(), "x".to_owned())].into_iter();
    for (name, meant) in [
        ("GROUNDLINE_SERVER_DATA_DIR", "GROUNDLINE_SERVER__DATA_DIR"),
        ("GROUNDLINE_SERVER_TLS_CERT", "GROUNDLINE_SERVER__TLS__CERT"),
    ] {
        let error = Config::from_text("f", "", env(name)).unwrap_err().to_string();
        assert_eq!(error, format!("{name} is not read: write {meant}, with two underscores"));
    }
    Config::from_text("f", "", env("GROUNDLINE_TOKEN")).unwrap();
}

#[test]
fn a_fault_of_a_variable_is_told_under_its_name() {
    let env = [
        ("GROUNDLINE_SQL__MAX_CONCURRENT", "many"),
        ("GROUNDLINE_SERVER__LOG", "loud"),
        ("GROUNDLINE_LAKE__COLOUR", "red"),
    ];
    let env = env.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned()));
    let error = Config::from_text("f", "[sql]\nmax_concurrent_queries = 1\n", env).unwrap_err().to_string();
    for told in [
        "GROUNDLINE_SQL__MAX_CONCURRENT: sql.max_concurrent: ",
        "GROUNDLINE_SERVER__LOG: server.log: ",
        "GROUNDLINE_LAKE__COLOUR: unknown key lake.colour; ",
        // A key that begins with another one is none of it.
        "f: unknown key sql.max_concurrent_queries; ",
    ] {
        assert!(error.lines().any(|line| line.starts_with(told)), "{told} is missing in:\n{error}");
    }
}

#[test]
fn a_log_filter_has_levels() {
    let read = |log: &str| Config::from_text("f", &format!("[server]\nlog = \"{log}\"\n"), none());
    for log in [
        "info",
        "",
        "WARN",
        "off,groundline=debug",
        "groundline::ingest",
        "info,hyper",
        "[x{id=1}]=info",
        "3",
        "warn,hyper=off",
        "groundline=4,h2=",
        "hyper=debug,tower",
        "[x{id,name}]=info",
    ] {
        read(log).unwrap();
    }
    for log in ["verbose", "6", "groundline=loud", "info,hyper=debugg"] {
        let error = read(log).unwrap_err().to_string();
        assert!(error.starts_with("f: server.log: ") && error.contains("has no level"), "{error}");
    }
}

#[test]
fn an_old_name_is_told_the_new_one() {
    let text = "[scan]\nallow = []\n[sample]\nlease_s = 5\nidle_ms = 1500\n[journal]\nsegment_bytes = 300000000\n\
                commit_window_us = 500\n[score]\ndisabled = [\"bleu\"]\n[score.perplexity]\nwindow = 3\n\
                [lake.retention]\nrules = [{ table = \"spans\", max_age_s = 604800 }]\n";
    let error = Config::from_text("f.toml", text, none()).unwrap_err().to_string();
    for told in [
        "scan is called detect now",
        "sample.lease_s is called queue.fast.lease now: write \"5s\"",
        "sample.idle_ms is called sample.idle now: write \"1500ms\"",
        "journal.segment_bytes is called journal.segment_size now: write \"300MB\"",
        "journal.commit_window_us is called journal.commit_window now: write \"500us\"",
        "score.disabled is called eval.disabled now",
        "score.perplexity is called eval.perplexity now",
        "lake.retention.rules.max_age_s is called lake.retention.rules.max_age now: write \"7d\"",
    ] {
        assert!(error.contains(&format!("f.toml: {told}")), "{told} is missing in:\n{error}");
    }
    assert_eq!(error.lines().count(), 8, "{error}");
}

#[test]
fn the_environment_wins_and_keeps_types() {
    let env = [
        ("GROUNDLINE_INGEST__HTTP_LISTEN", "127.0.0.1:0"),
        ("GROUNDLINE_LAKE__S3__REGION", "eu-1"),
        ("GROUNDLINE_JOURNAL__SEGMENT_SIZE", "300MiB"),
        ("GROUNDLINE_JOURNAL__RECENT_SIZE", "1000000"),
        ("GROUNDLINE_LAKE__FLUSH_INTERVAL", "1.5"),
        ("GROUNDLINE_SAMPLE__IDLE", "1500ms"),
        ("OTHER_VARIABLE", "x"),
    ];
    let env = env.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned()));
    let config = Config::from_text("f", "[ingest]\nhttp_listen = \"127.0.0.1:9\"\n", env).unwrap();
    assert_eq!(config.ingest.http_listen.port(), 0);
    assert_eq!(config.lake.s3.region, "eu-1");
    assert_eq!(config.journal.segment_size, ByteSize::mib(300));
    assert_eq!(config.journal.recent_size, ByteSize::new(1_000_000));
    assert_eq!(config.lake.flush_interval, Duration::from_millis(1_500));
    assert_eq!(config.sample.idle, Duration::from_millis(1_500));
    for line in ["segment_size = \"300MiB\"", "recent_size = \"1MB\"", "flush_interval = \"1500ms\""] {
        assert!(
            config.dump().lines().any(|dumped| dumped == line),
            "{line} is missing in:\n{}",
            config.dump()
        );
    }
}

#[test]
fn a_variable_of_a_text_is_a_text_and_one_that_cannot_be_put_is_told() {
    let read = |text: &str, env: &[(&str, &str)]| {
        let env: Vec<(String, String)> =
            env.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        Config::from_text("f", text, env.into_iter())
    };
    let digits = [
        ("GROUNDLINE_LAKE__S3__ACCESS_KEY_ID", "4711"),
        ("GROUNDLINE_LAKE__S3__SECRET_ACCESS_KEY", "12345678"),
        ("GROUNDLINE_LAKE__S3__REGION", "true"),
        ("GROUNDLINE_FORWARD__HEADERS__TENANT", "7"),
        ("GROUNDLINE_SQL__MAX_CONCURRENT", "3"),
    ];
    let config = read("", &digits).unwrap();
    let s3 = &config.lake.s3;
    assert_eq!([&s3.access_key_id, &s3.secret_access_key, &s3.region], ["4711", "12345678", "true"]);
    assert_eq!((config.forward.headers["tenant"].as_str(), config.sql.max_concurrent), ("7", 3));
    // The file's list of judges has no key of its own.
    let judges = "[[judges]]\nname = \"main\"\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n";
    let error = read(judges, &[("GROUNDLINE_JUDGES__MAIN__MODEL", "other")]).unwrap_err().to_string();
    let told = "GROUNDLINE_JUDGES__MAIN__MODEL is not read: judges.main.model lies in a list or below a value; \
                write it in the file";
    assert!(error.lines().any(|line| line == told), "{error}");
}

#[test]
fn a_line_that_is_not_toml_is_named_and_not_quoted() {
    let text = "[lake.s3]\nsecret_access_key = hunter2\n";
    let error = Config::from_text("f", text, none()).unwrap_err().to_string();
    assert!(error.contains("line 2") && !error.contains("hunter2"), "{error}");
}

#[test]
fn an_address_that_others_can_reach_is_refused() {
    let text = "[ingest]\ngrpc_listen = \"0.0.0.0:4317\"\n";
    let error = Config::from_text("f", text, none()).unwrap_err().to_string();
    assert!(error.contains("ingest.grpc_listen") && error.contains("tokens_file"), "{error}");
    for allows in ["allow_exposed = true", "tokens_file = \"/etc/tokens.toml\""] {
        let allowed = format!("{text}[server]\n{allows}\n");
        assert!(Config::from_text("f", &allowed, none()).is_ok(), "{allows}");
    }
}

#[test]
fn no_two_endpoints_have_one_port() {
    let read = |grpc: &str, http: &str| {
        let text = format!(
            "[server]\nallow_exposed = true\n[ingest]\ngrpc_listen = \"{grpc}\"\nhttp_listen = \"{http}\"\n"
        );
        Config::from_text("f", &text, none()).map_err(|e| e.to_string())
    };
    for (grpc, http, told) in [
        ("127.0.0.1:4317", "127.0.0.1:4317", "are both 127.0.0.1:4317"),
        ("0.0.0.0:4317", "127.0.0.1:4317", "ingest.grpc_listen is 0.0.0.0:4317"),
        ("[::1]:4317", "[::]:4317", "ingest.http_listen is [::]:4317"),
    ] {
        let error = read(grpc, http).unwrap_err();
        assert!(error.contains(told) && error.lines().count() == 1, "{error}");
    }
    for (grpc, http) in [
        ("127.0.0.1:4317", "127.0.0.2:4317"),
        ("0.0.0.0:4317", "0.0.0.0:4318"),
        ("0.0.0.0:4317", "[::1]:4317"),
        ("0.0.0.0:0", "127.0.0.1:0"),
    ] {
        read(grpc, http).unwrap();
    }
}

#[test]
fn what_is_shown_of_a_running_server_has_no_secrets() {
    let text = "[lake]\nurl = \"s3://bucket/tables\"\n[lake.s3]\nsecret_access_key = \"SECRET1\"\n\
                [eval]\ncanaries = [\"SECRET2\"]\n\
                [emit]\notlp_endpoint = \"http://me:SECRET3@collector:4318\"\n\
                [forward]\nheaders = { \"api-key\" = \"SECRET6\" }\n\
                [forward_logs]\nheaders = { \"api-key\" = \"SECRET8\" }\n\
                [lab.targets.a]\nkind = \"http\"\nurl = \"http://h/\"\nheaders = { authorization = \"SECRET7\" }\n\
                [[receivers]]\nname = \"s\"\nkind = \"slack\"\nurl = \"https://hooks.example/services/SECRET4?k=SECRET5\"\n";
    let config = Config::from_text("f.toml", text, none()).unwrap();
    let shown = config.shown();
    let told = shown.to_string();
    assert!(!told.contains("SECRET"), "{told}");
    let dumped = config.dump();
    assert!(!["SECRET6", "SECRET7", "SECRET8"].iter().any(|secret| dumped.contains(secret)), "{dumped}");
    assert_eq!(shown["lake"]["url"], "s3://bucket/tables");
    assert_eq!(shown["emit"]["otlp_endpoint"], "http://hidden@collector:4318/");
    assert_eq!(shown["receivers"][0]["url"], "https://hooks.example/hidden?hidden");
    assert_eq!(shown["sql"]["timeout"], "30s");
}

#[test]
fn a_backend_that_is_away_may_not_fill_the_journal_and_is_not_this_server() {
    let faults = |text: &str| Config::from_text("f", text, none()).unwrap_err().to_string();
    for size in ["300MiB", "19GiB"] {
        let text =
            format!("[forward]\notlp_endpoint = \"http://collector:4318\"\nmax_disk_size = \"{size}\"\n");
        assert!(faults(&text).contains("forward.max_disk_size"), "{size}");
    }
    let own = faults("[emit]\notlp_endpoint = \"http://localhost:4318\"\n");
    assert!(own.contains("emit.otlp_endpoint is this server's own address"), "{own}");
    // Where nothing leaves, nothing waits.
    assert!(Config::from_text("f", "[emit]\nmax_disk_size = \"1MiB\"\n", none()).is_ok());
}

#[test]
fn a_model_file_is_read_and_an_unknown_slot_or_key_is_told() {
    let read = |text: &str| Config::from_text("f.toml", text, none()).map_err(|e| e.to_string());
    let config = read("[models.entailment]\npath = \"m/model.onnx\"\nmultilingual = true\n").unwrap();
    assert_eq!(config.models.entailment.unwrap().path, "m/model.onnx");
    let error =
        read("[models.entailmen]\npath = \"m.onnx\"\n[models.toxicity]\npath = \"t.onnx\"\nlabel = []\n");
    let error = error.unwrap_err();
    assert!(error.contains("models.entailmen: unknown field"), "{error}");
    assert!(error.contains("models.toxicity: unknown field `label`"), "{error}");
}
