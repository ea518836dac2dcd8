//! F2: what went in over OTLP comes out of Parquet and SQL as OTLP again, field by field.

use crate::support::{config, count, query_raw, settled, start, until};
use arrow::array::RecordBatch;
use groundline::app::App;
use groundline::emit::Protocol;
use groundline::ingest::decode;
use groundline::ingest::encode::{COLUMNS, spans_to_request, traces_to_json};
use groundline::units::ByteSize;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{
    AnyValue, ArrayValue, InstrumentationScope, KeyValue, KeyValueList,
};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::span::{Event, Link};
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use prost::Message;
use std::collections::BTreeMap;
use std::path::Path;

fn pair(key: &str, value: Any) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}

fn unset(key: &str) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: None }), ..KeyValue::default() }
}

fn text(text: &str) -> Any {
    Any::StringValue(text.to_owned())
}

fn list(values: Vec<Option<Any>>) -> Any {
    Any::ArrayValue(ArrayValue { values: values.into_iter().map(|value| AnyValue { value }).collect() })
}

fn map(values: Vec<KeyValue>) -> Any {
    Any::KvlistValue(KeyValueList { values })
}

/// Attribute lists that between them have every kind of value and every odd key.
fn attribute_lists() -> Vec<Vec<KeyValue>> {
    let deep = (0..30).fold(Any::IntValue(7), |inner, _| list(vec![Some(inner)]));
    let nested = map(vec![
        pair("", map(vec![])),
        pair("twice", Any::IntValue(1)),
        pair("twice", list(vec![None, Some(text("")), Some(map(vec![unset("n")]))])),
        pair("$bytes", text("AA==")),
    ]);
    vec![
        vec![],
        vec![unset("unset")],
        vec![pair("empty", text("")), pair("", text("the key is empty"))],
        vec![pair("odd", text("\u{0}\u{1f}\u{7f}\"\\\r\n\t\u{2028}é漢🦀"))],
        vec![pair("yes", Any::BoolValue(true)), pair("no", Any::BoolValue(false))],
        vec![
            pair("least", Any::IntValue(i64::MIN)),
            pair("most", Any::IntValue(i64::MAX)),
            pair("zero", Any::IntValue(0)),
        ],
        vec![pair("five", Any::DoubleValue(5.0)), pair("five", Any::IntValue(5))],
        vec![pair("nan", Any::DoubleValue(f64::NAN)), pair("inf", Any::DoubleValue(f64::INFINITY))],
        vec![
            pair("minus", Any::DoubleValue(-0.0)),
            pair("tiny", Any::DoubleValue(5e-324)),
            pair("big", Any::DoubleValue(1e300)),
        ],
        vec![pair("none", Any::BytesValue(vec![])), pair("all", Any::BytesValue((0..=255).collect()))],
        vec![pair("list", list(vec![])), pair("map", map(vec![]))],
        vec![pair(
            "mixed",
            list(vec![
                Some(Any::IntValue(1)),
                Some(Any::DoubleValue(1.0)),
                None,
                Some(Any::BytesValue(vec![0])),
            ]),
        )],
        vec![pair("nested", nested)],
        vec![pair("deep", deep)],
        vec![pair("$bytes", text("AA==")), pair("$$double", text("NaN")), pair("$", Any::BoolValue(true))],
        vec![pair("same", text("first")), pair("same", text("second")), pair("same", text("first"))],
        vec![pair("long", text(&"x".repeat(300_000)))],
    ]
}

fn events() -> Vec<Vec<Event>> {
    let event = |time_unix_nano, name: &str, attributes, dropped_attributes_count| Event {
        time_unix_nano,
        name: name.to_owned(),
        attributes,
        dropped_attributes_count,
    };
    let lists = attribute_lists();
    vec![
        vec![],
        vec![event(0, "", vec![], 0)],
        vec![
            event(1_700_000_000_123_456_789, "first", lists[11].clone(), 3),
            event(1, "second", lists[15].clone(), 0),
        ],
        vec![event(i64::MAX as u64, "attributes", lists[12].clone(), u32::MAX)],
    ]
}

fn links() -> Vec<Vec<Link>> {
    let link = |trace_id: &[u8], span_id: &[u8], state: &str, flags, dropped_attributes_count| Link {
        trace_id: trace_id.to_vec(),
        span_id: span_id.to_vec(),
        trace_state: state.to_owned(),
        attributes: attribute_lists()[4].clone(),
        dropped_attributes_count,
        flags,
    };
    vec![
        vec![],
        vec![
            link(&[1; 16], &[2; 8], "", 0, 0),
            Link { trace_id: vec![3; 16], span_id: vec![4; 8], ..Link::default() },
        ],
        vec![link(&[], &[9; 3], "a=1,b=\"2\"", u32::MAX, 7)],
    ]
}

/// The choices of one span, an index each.
type Row = Vec<usize>;

/// How many values each choice has: attributes, events, links, resource, scope, status, kind, state, flags, dropped,
/// times, parent, name.
fn sizes() -> Vec<usize> {
    vec![attribute_lists().len(), events().len(), links().len(), 4, 5, 5, 6, 3, 3, 4, 5, 2, 3]
}

/// A small generator (xorshift64*).
fn random(state: &mut u64) -> usize {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize
}

/// Rows in which every two values of every two choices meet: greedily, the best of some random candidates.
fn pairwise(sizes: &[usize]) -> Vec<Row> {
    let mut open = std::collections::BTreeSet::new();
    for a in 0..sizes.len() {
        for b in a + 1..sizes.len() {
            open.extend((0..sizes[a]).flat_map(|x| (0..sizes[b]).map(move |y| (a, x, b, y))));
        }
    }
    let (mut rows, mut state) = (Vec::new(), 7u64);
    while let Some(&(a, x, b, y)) = open.iter().next() {
        let covers = |row: &Row| {
            let pairs = (0..row.len()).flat_map(|a| (a + 1..row.len()).map(move |b| (a, b)));
            pairs.map(|(a, b)| (a, row[a], b, row[b])).filter(|pair| open.contains(pair)).collect::<Vec<_>>()
        };
        let mut candidate = || {
            let mut row: Row = sizes.iter().map(|size| random(&mut state) % size).collect();
            (row[a], row[b]) = (x, y);
            row
        };
        let best = (0..12).map(|_| candidate()).max_by_key(|row| covers(row).len()).unwrap();
        open.retain({
            let covered = covers(&best);
            move |pair| !covered.contains(pair)
        });
        rows.push(best);
    }
    rows
}

fn span(row: &Row, number: usize) -> Span {
    const T: u64 = 1_763_000_000_123_456_789;
    let (start, end) =
        [(T, T + 1), (T, T - 5_000_000_001), (0, 0), (T + 999, T + 1_000_000_007), (7, i64::MAX as u64)]
            [row[10]];
    let status =
        [None, Some((1, "")), Some((2, "it broke\n\"badly\"")), Some((0, "a message alone")), Some((2, ""))]
            [row[5]];
    let dropped = [0, 1, u32::MAX, 77][row[9]];
    Span {
        trace_id: [&[0xAB; 8][..], &(number as u64 + 1).to_be_bytes()].concat(),
        span_id: (number as u64 + 1).to_be_bytes().to_vec(),
        trace_state: ["", "ot=th:8", "a=1, b=é"][row[7]].to_owned(),
        parent_span_id: if row[11] == 0 { vec![] } else { vec![5; 8] },
        flags: [0, 0x301, u32::MAX][row[8]],
        name: ["", "chat", "näme \"quoted\" \u{1}"][row[12]].to_owned(),
        kind: row[6] as i32,
        start_time_unix_nano: start,
        end_time_unix_nano: end,
        attributes: attribute_lists().swap_remove(row[0]),
        dropped_attributes_count: dropped,
        events: events().swap_remove(row[1]),
        dropped_events_count: dropped / 2,
        links: links().swap_remove(row[2]),
        dropped_links_count: dropped / 3,
        status: status.map(|(code, message)| Status { code, message: message.to_owned() }),
    }
}

/// Each span in a group of its own, so that every resource and scope meets every other value.
fn request(rows: &[Row]) -> ExportTraceServiceRequest {
    let lists = attribute_lists();
    let group = |(number, row): (usize, &Row)| {
        let attributes =
            [vec![], vec![pair("service.name", text("shop"))], lists[12].clone(), lists[15].clone()][row[3]]
                .clone();
        let (name, version, scope_attributes, schema) = [
            ("", "", 0, ""),
            ("lib", "", 0, ""),
            ("lib", "1.0 \"β\"", 0, "https://opentelemetry.io/schemas/1.37.0"),
            ("lib", "1.0", 11, ""),
            ("", "", 2, "x"),
        ][row[4]];
        let scope = InstrumentationScope {
            name: name.to_owned(),
            version: version.to_owned(),
            attributes: lists[scope_attributes].clone(),
            ..InstrumentationScope::default()
        };
        let scope_spans = vec![ScopeSpans {
            scope: Some(scope),
            spans: vec![span(row, number)],
            schema_url: schema.to_owned(),
        }];
        ResourceSpans {
            resource: Some(Resource { attributes, ..Resource::default() }),
            scope_spans,
            ..ResourceSpans::default()
        }
    };
    ExportTraceServiceRequest { resource_spans: rows.iter().enumerate().map(group).collect() }
}

/// A span, its bytes, because a NaN is not equal to itself, and what stands around it.
struct SentSpan {
    around: String,
    span: Span,
    bytes: Vec<u8>,
}

/// Everything that is known of each span, by its ids.
fn by_id(request: &ExportTraceServiceRequest) -> BTreeMap<[Vec<u8>; 2], SentSpan> {
    let mut spans = BTreeMap::new();
    for group in &request.resource_spans {
        for scope_spans in &group.scope_spans {
            for span in &scope_spans.spans {
                let resource = group.resource.clone().unwrap_or_default();
                let scope = scope_spans.scope.clone().unwrap_or_default();
                let around = (resource.attributes, scope, &scope_spans.schema_url);
                let around = format!("{around:?}");
                let key = [span.trace_id.clone(), span.span_id.clone()];
                let known = SentSpan { around, span: span.clone(), bytes: span.encode_to_vec() };
                assert!(spans.insert(key, known).is_none());
            }
        }
    }
    spans
}

fn assert_equal(what: &str, sent: &ExportTraceServiceRequest, back: &ExportTraceServiceRequest) {
    let (sent, back) = (by_id(sent), by_id(back));
    assert_eq!(sent.len(), back.len(), "{what}: spans");
    for (id, sent) in &sent {
        let back = back.get(id).unwrap_or_else(|| panic!("{what}: {id:?} is gone"));
        assert_eq!(sent.around, back.around, "{what}: {id:?}");
        assert_eq!(sent.bytes, back.bytes, "{what}: sent {:#?}\nback {:#?}", sent.span, back.span);
    }
}

async fn stored(app: &App) -> Vec<RecordBatch> {
    app.sql.collect(&format!("SELECT {} FROM spans", COLUMNS.join(", "))).await.unwrap().1
}

async fn post(app: &App, request: &ExportTraceServiceRequest) {
    let url = format!("http://{}/v1/traces", app.addresses.otlp_http);
    let post = reqwest::Client::new().post(url).header("content-type", "application/x-protobuf");
    let answer = post.body(request.encode_to_vec()).send().await.unwrap();
    assert_eq!(answer.status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f02_otlp_comes_back_from_parquet_field_by_field() {
    let folder = tempfile::tempdir().unwrap();
    let rows = pairwise(&sizes());
    let sent = request(&rows);
    let mut quiet = config(folder.path());
    quiet.sample.rules.clear();
    let app = start(quiet.clone()).await;
    post(&app, &sent).await;
    settled(&app).await;
    assert_equal("hot rows", &sent, &spans_to_request(&stored(&app).await).unwrap());
    app.stop().await.unwrap();

    let app = start(quiet).await;
    let files = std::fs::read_dir(folder.path().join("lake/spans")).unwrap();
    let files = files.filter(|f| f.as_ref().unwrap().path().extension().is_some_and(|e| e == "parquet"));
    assert!(files.count() > 0, "the rows are not in Parquet");
    let back = spans_to_request(&stored(&app).await).unwrap();
    assert_equal("Parquet", &sent, &back);
    let json = decode::traces_from_json(traces_to_json(&back).as_bytes()).unwrap();
    assert_equal("OTLP/JSON", &sent, &json);
    println!("{} spans, every pair of {:?} values", rows.len(), sizes());

    // What the columns show of it, by SQL alone.
    let (status, body) =
        query_raw(app.addresses.http, "SELECT count(*) AS n FROM spans WHERE span_kind = 'consumer'").await;
    assert!(status == 200 && body[0]["n"].as_i64().unwrap() > 0, "{body}");
    app.stop().await.unwrap();
}

/// Spans that are passed on are those that came, in requests of any size.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f02_spans_are_passed_on_field_by_field() {
    let rows = pairwise(&sizes());
    let sent = request(&rows);
    let expected = i64::try_from(by_id(&sent).len()).unwrap();
    for (protocol, most) in [(Protocol::Grpc, ByteSize::mib(4)), (Protocol::Http, ByteSize::kib(4))] {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let quiet = |dir: &Path| {
            let mut quiet = config(dir);
            quiet.sample.rules.clear();
            quiet
        };
        let to = start(quiet(other.path())).await;
        let mut made = quiet(folder.path());
        (made.forward.protocol, made.forward.max_request_size) = (protocol, most);
        made.forward.otlp_endpoint = match protocol {
            Protocol::Grpc => format!("http://{}", to.addresses.grpc),
            Protocol::Http => format!("http://{}/", to.addresses.otlp_http),
        };
        let from = start(made).await;
        post(&from, &sent).await;
        until("every span", async || {
            count(to.addresses.http, "SELECT count(*) FROM spans").await == expected
        })
        .await;
        assert_equal("another server", &sent, &spans_to_request(&stored(&to).await).unwrap());
        from.stop().await.unwrap();
        to.stop().await.unwrap();
    }
}

/// The captures of real libraries leave by `groundline export` and come back into another server, equal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn f02_captures_leave_for_another_server() {
    let folder = tempfile::tempdir().unwrap();
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/otlp");
    let mut quiet = config(&folder.path().join("one"));
    quiet.sample.rules.clear();
    let app = start(quiet.clone()).await;
    let mut sent = ExportTraceServiceRequest::default();
    for library in std::fs::read_dir(captures).unwrap() {
        for name in ["rag_grounded", "tool_call"] {
            let path = library.as_ref().unwrap().path().join(name);
            let request: ExportTraceServiceRequest = match std::fs::read(path.with_extension("pb")) {
                Ok(body) => decode::from_protobuf(&body).unwrap(),
                Err(_) => match std::fs::read(path.with_extension("json")) {
                    Ok(body) => decode::traces_from_json(&body).unwrap(),
                    Err(_) => continue,
                },
            };
            post(&app, &request).await;
            sent.resource_spans.extend(request.resource_spans);
        }
    }
    settled(&app).await;
    for group in &mut sent.resource_spans {
        // A resource's schema stands with its scopes afterwards.
        for scope in group.scope_spans.iter_mut().filter(|scope| scope.schema_url.is_empty()) {
            scope.schema_url.clone_from(&group.schema_url);
        }
        // A status that says nothing is the same as none.
        for span in group.scope_spans.iter_mut().flat_map(|scope| &mut scope.spans) {
            span.status = span.status.take().filter(|status| *status != Status::default());
        }
    }
    let total = by_id(&sent).len();
    assert!(total > 100, "only {total} spans");
    assert_equal("captures", &sent, &spans_to_request(&stored(&app).await).unwrap());

    let file = folder.path().join("out.json");
    let exported = std::process::Command::new(env!("CARGO_BIN_EXE_groundline"))
        .args([
            "export",
            "--batch-spans",
            "50",
            "--url",
            &format!("http://{}", app.addresses.http),
            "--output",
        ])
        .arg(&file)
        .arg("WHERE trace_id <> ''")
        .output()
        .unwrap();
    assert!(exported.status.success(), "{}", String::from_utf8_lossy(&exported.stderr));
    assert!(std::fs::read_to_string(&file).unwrap().lines().count() > 2, "one line a request");
    app.stop().await.unwrap();
    quiet.server.data_dir = folder.path().join("two");
    let other = start(quiet).await;
    let endpoint = format!("http://{}", other.addresses.otlp_http);
    groundline::cli::send_file(&endpoint, groundline::cli::Protocol::Http, &file).await.unwrap();
    settled(&other).await;
    assert_eq!(count(other.addresses.http, "SELECT count(*) AS n FROM spans").await, total as i64);
    assert_equal("the other server", &sent, &spans_to_request(&stored(&other).await).unwrap());
    other.stop().await.unwrap();
}
