use opentelemetry::KeyValue;
use opentelemetry::trace::{Span, Tracer, TracerProvider};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::trace::SdkTracerProvider;

/// Sends one model call over OTLP/gRPC; `endpoint` is such as `http://127.0.0.1:4317`. Runs inside of a Tokio runtime.
pub fn send_a_model_call(endpoint: &str) -> Result<(), Box<dyn std::error::Error>> {
    let exporter = SpanExporter::builder().with_tonic().with_endpoint(endpoint).build()?;
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).build();
    let mut span = provider.tracer("quickstart").start("chat");
    span.set_attribute(KeyValue::new("gen_ai.operation.name", "chat"));
    span.set_attribute(KeyValue::new("gen_ai.request.model", "my-model"));
    let question = r#"[{"role":"user","parts":[{"type":"text","content":"How do I pay?"}]}]"#;
    let answer = r#"[{"role":"assistant","parts":[{"type":"text","content":"You can pay by card."}]}]"#;
    span.set_attribute(KeyValue::new("gen_ai.input.messages", question));
    span.set_attribute(KeyValue::new("gen_ai.output.messages", answer));
    span.end();
    provider.shutdown()?; // sends what is left
    Ok(())
}
