//! Spans of services: requests that call others, databases, caches and queues, as an OpenTelemetry collector sends them.
//!
//! Eight services with four instances each, about two hundred operations, 8 to 20 spans a trace, 11 attributes a span of
//! about sixty different keys, random ids, ascending times, one request in seventy fails.

use super::attributes::{int, text};
use super::random::Random;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{InstrumentationScope, KeyValue};
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};
use std::collections::VecDeque;

const SERVICES: [&str; 8] =
    ["gateway", "checkout", "catalog", "cart", "payment", "shipping", "accounts", "recommendation"];
const INSTANCES: u64 = 4;
const NOUNS: [&str; 24] = [
    "order",
    "product",
    "user",
    "basket",
    "invoice",
    "address",
    "payment",
    "shipment",
    "review",
    "coupon",
    "category",
    "session",
    "stock",
    "price",
    "offer",
    "refund",
    "message",
    "device",
    "report",
    "profile",
    "wishlist",
    "supplier",
    "warehouse",
    "carrier",
];
const VERBS: [&str; 8] = ["get", "list", "create", "update", "delete", "search", "validate", "export"];
const AGENTS: [&str; 6] = [
    "Mozilla/5.0 (X11; Linux x86_64)",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_2)",
    "okhttp/4.12.0",
    "python-requests/2.32.3",
    "Go-http-client/2.0",
    "curl/8.9.1",
];

/// Mean time between two traces, nanoseconds: about ten thousand spans a second.
const BETWEEN_TRACES: u64 = 1_400_000;

/// Makes batches of spans.
pub struct Services {
    random: Random,
    now: u64,
    waiting: VecDeque<(usize, Span)>,
}

impl Services {
    /// Spans that `seed` determines; the first begins at `start`, nanoseconds since 1970.
    pub fn new(seed: u64, start: u64) -> Self {
        Self { random: Random::new(seed), now: start, waiting: VecDeque::new() }
    }

    /// A request of exactly `spans` spans; a trace may go on in the next one.
    pub fn request(&mut self, spans: usize) -> ExportTraceServiceRequest {
        while self.waiting.len() < spans {
            self.trace();
        }
        let mut groups: Vec<(usize, Vec<Span>)> = Vec::new();
        for (service, span) in self.waiting.drain(..spans) {
            match groups.iter_mut().find(|(of, _)| *of == service) {
                Some((_, spans)) => spans.push(span),
                None => groups.push((service, vec![span])),
            }
        }
        let instance = self.random.below(INSTANCES);
        let resource_spans =
            groups.into_iter().map(|(service, spans)| resource_spans(service, instance, spans));
        ExportTraceServiceRequest { resource_spans: resource_spans.collect() }
    }

    fn trace(&mut self) {
        self.now += self.random.below(2 * BETWEEN_TRACES);
        let (trace_id, count) = (self.random.id::<16>(), 8 + self.random.index(13));
        let failing = self.random.chance(1.0 / 70.0);
        let length = self.random.duration(60_000_000);
        // (span id, service, start, end) of those that may have children.
        let mut parents: Vec<(Vec<u8>, usize, u64, u64)> = Vec::new();
        for at in 0..count {
            let parent = (at > 0).then(|| self.random.index(parents.len()));
            let (parent_id, mut service, start, end) = match parent {
                Some(at) => parents[at].clone(),
                None => (Vec::new(), 0, self.now, self.now + length),
            };
            let start = start + self.random.below((end - start).max(2) / 2);
            let end = start + self.random.below((end - start).max(1_000)) + 500;
            let kind = if at == 0 { Kind::Serve } else { self.kind() };
            if kind == Kind::Serve && at > 0 {
                service = 1 + self.random.index(SERVICES.len() - 1);
            }
            let span_id = self.random.id::<8>();
            let failed = failing && (at == 0 || at + 1 == count);
            let (name, mut attributes) = self.operation(kind, service);
            if failed {
                attributes.pop();
                attributes
                    .push(text("error.type", *self.random.pick(&["timeout", "500", "connection_refused"])));
            }
            self.waiting.push_back((
                service,
                Span {
                    trace_id: trace_id.clone(),
                    span_id: span_id.clone(),
                    parent_span_id: parent_id,
                    name,
                    kind: kind.otlp(),
                    start_time_unix_nano: start,
                    end_time_unix_nano: end,
                    attributes,
                    flags: 0x101,
                    status: Some(Status { message: String::new(), code: if failed { 2 } else { 0 } }),
                    ..Span::default()
                },
            ));
            parents.push((span_id, service, start, end));
        }
    }

    fn kind(&mut self) -> Kind {
        *self.random.pick(&[
            Kind::Serve,
            Kind::Call,
            Kind::Call,
            Kind::Query,
            Kind::Query,
            Kind::Query,
            Kind::Cache,
            Kind::Publish,
            Kind::Inside,
        ])
    }

    /// The name and the eleven attributes of a span.
    fn operation(&mut self, kind: Kind, service: usize) -> (String, Vec<KeyValue>) {
        let random = &mut self.random;
        let (noun, verb) = (NOUNS[random.ranked(NOUNS.len())], VERBS[random.ranked(VERBS.len())]);
        let peer = SERVICES[random.index(SERVICES.len())];
        let id = random.ranked(200_000);
        let worker = random.below(32);
        let thread = int("thread.id", 20 + worker);
        // Inside of the cluster everybody calls from one of the few pods; only the gateway is called by the world.
        let address = match (kind, service) {
            (Kind::Serve, 0) => format!(
                "{}.{}.{}.{}",
                11 + random.below(180),
                random.below(250),
                random.below(250),
                random.below(250)
            ),
            _ => format!("10.2.{}.{}", random.below(8), 10 + random.below(INSTANCES)),
        };
        match kind {
            Kind::Serve | Kind::Call => {
                let method =
                    if matches!(verb, "get" | "list" | "search" | "export") { "GET" } else { "POST" };
                let route = format!("/api/v2/{noun}s/{{id}}/{verb}");
                let status = if random.chance(0.96) { 200 } else { *random.pick(&[201, 204, 302, 404, 429]) };
                let name = format!("{method} {route}");
                let common = vec![
                    text("http.request.method", method),
                    text("url.scheme", "http"),
                    text("network.protocol.version", "1.1"),
                    int("server.port", 8080),
                    int("http.response.status_code", status),
                    text("server.address", format!("{peer}.shop.svc")),
                    thread,
                ];
                let own = if kind == Kind::Serve {
                    vec![
                        text("http.route", route),
                        text("url.path", format!("/api/v2/{noun}s/{id}/{verb}")),
                        text("user_agent.original", *random.pick(&AGENTS)),
                        text("client.address", address),
                    ]
                } else {
                    vec![
                        text("url.full", format!("http://{peer}:8080/api/v2/{noun}s/{id}/{verb}")),
                        text("network.peer.address", address),
                        int("http.response.body.size", 200 + random.below(40_000)),
                        text("thread.name", format!("http-client-{worker}")),
                    ]
                };
                (name, [common, own].concat())
            }
            Kind::Query => database(random, noun, verb, worker),
            Kind::Cache => cache(random, noun, id, worker),
            Kind::Publish => publish(random, noun, id, worker),
            Kind::Inside => inside(random, noun, verb, SERVICES[service], worker),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Serve,
    Call,
    Query,
    Cache,
    Publish,
    Inside,
}

impl Kind {
    fn otlp(self) -> i32 {
        match self {
            Kind::Inside => 1,
            Kind::Serve => 2,
            Kind::Call | Kind::Query | Kind::Cache => 3,
            Kind::Publish => 4,
        }
    }
}

fn database(random: &mut Random, noun: &str, verb: &str, worker: u64) -> (String, Vec<KeyValue>) {
    let (operation, query) = match verb {
        "create" => ("INSERT", format!("INSERT INTO {noun}s (id, tenant_id, payload) VALUES ($1, $2, $3)")),
        "update" | "validate" => ("UPDATE", format!("UPDATE {noun}s SET payload = $2 WHERE id = $1")),
        "delete" => ("DELETE", format!("DELETE FROM {noun}s WHERE id = $1")),
        _ => ("SELECT", format!("SELECT id, payload FROM {noun}s WHERE id = $1 LIMIT 20")),
    };
    let server = random.below(3);
    let attributes = vec![
        text("db.system.name", "postgresql"),
        text("db.namespace", format!("shop_{}", random.below(6))),
        text("db.collection.name", format!("{noun}s")),
        text("db.operation.name", operation),
        text("db.query.text", query),
        text("server.address", format!("pg-{server}.shop.svc")),
        int("server.port", 5432),
        text("network.peer.address", format!("10.3.0.{}", 20 + server)),
        int("db.response.returned_rows", random.below(20)),
        text("thread.name", format!("worker-{worker}")),
        int("thread.id", 20 + worker),
    ];
    (format!("{operation} {noun}s"), attributes)
}

fn cache(random: &mut Random, noun: &str, id: usize, worker: u64) -> (String, Vec<KeyValue>) {
    let operation = *random.pick(&["GET", "GET", "GET", "SET", "EXPIRE"]);
    let attributes = vec![
        text("db.system.name", "redis"),
        text("db.namespace", "0"),
        text("db.operation.name", operation),
        text("db.query.text", format!("{operation} {noun}:{id}")),
        text("server.address", "redis.shop.svc"),
        int("server.port", 6379),
        text("network.peer.address", "10.3.1.7"),
        int("network.peer.port", 6379),
        text("cache.hit", if random.chance(0.8) { "true" } else { "false" }),
        text("thread.name", format!("worker-{worker}")),
        int("thread.id", 20 + worker),
    ];
    (operation.to_owned(), attributes)
}

fn publish(random: &mut Random, noun: &str, id: usize, worker: u64) -> (String, Vec<KeyValue>) {
    let topic = format!("{noun}-events");
    let attributes = vec![
        text("messaging.system", "kafka"),
        text("messaging.operation.type", "send"),
        text("messaging.operation.name", "send"),
        text("messaging.destination.name", topic.clone()),
        text("messaging.destination.partition.id", random.below(12).to_string()),
        int("messaging.kafka.offset", 8_000_000 + random.below(1_000_000)),
        text("messaging.kafka.message.key", id.to_string()),
        text("messaging.client.id", format!("producer-{}", random.below(8))),
        text("server.address", format!("kafka-{}.shop.svc", random.below(3))),
        int("messaging.message.body.size", 100 + random.below(4_000)),
        int("thread.id", 20 + worker),
    ];
    (format!("send {topic}"), attributes)
}

fn inside(
    random: &mut Random,
    noun: &str,
    verb: &str,
    service: &str,
    worker: u64,
) -> (String, Vec<KeyValue>) {
    let attributes = vec![
        text("code.function.name", format!("com.shop.{service}.{noun}.Service.{verb}")),
        text("code.file.path", format!("src/main/java/com/shop/{service}/{noun}/Service.java")),
        int("code.line.number", 40 + random.below(400)),
        text("app.tenant", format!("tenant-{}", random.ranked(300))),
        text("app.feature", *random.pick(&["stable", "beta", "dark"])),
        text("app.region", *random.pick(&["eu-west-1", "us-east-1", "ap-south-1"])),
        int("app.items", random.below(40)),
        int("app.attempt", random.below(3)),
        text("app.currency", *random.pick(&["EUR", "USD", "INR", "GBP"])),
        text("thread.name", format!("worker-{worker}")),
        int("thread.id", 20 + worker),
    ];
    (format!("{verb} {noun}"), attributes)
}

fn resource_spans(service: usize, instance: u64, spans: Vec<Span>) -> ResourceSpans {
    let name = SERVICES[service];
    let attributes = vec![
        text("service.name", name),
        text("service.version", format!("2.{service}.1")),
        text("service.instance.id", format!("{name}-7c9f-{instance}")),
        text("k8s.pod.name", format!("{name}-7c9f-{instance}")),
        text("k8s.namespace.name", "shop"),
        text("host.name", format!("node-{instance}")),
        text("telemetry.sdk.language", "java"),
        text("telemetry.sdk.name", "opentelemetry"),
        text("telemetry.sdk.version", "1.43.0"),
        text("deployment.environment.name", "production"),
    ];
    let scope = InstrumentationScope {
        name: "io.opentelemetry.javaagent".to_owned(),
        version: "2.9.0".to_owned(),
        ..InstrumentationScope::default()
    };
    ResourceSpans {
        resource: Some(Resource { attributes, ..Resource::default() }),
        scope_spans: vec![ScopeSpans { scope: Some(scope), spans, ..ScopeSpans::default() }],
        schema_url: "https://opentelemetry.io/schemas/1.27.0".to_owned(),
    }
}
