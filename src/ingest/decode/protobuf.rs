//! A protobuf message from its bytes, weighed first.

use super::outcome::DecodeError;
use super::text::{self, Piece};
use super::weigh;
use crate::ingest::memory::Allowance;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use std::ops::Range;

/// A request of OTLP.
pub trait OtlpRequest: prost::Message + Default {
    /// Tells `found` where in `body` each text is that is no UTF-8.
    fn each_wrong_text(body: &[u8], found: &mut dyn FnMut(Range<usize>));
}

impl OtlpRequest for ExportTraceServiceRequest {
    fn each_wrong_text(body: &[u8], found: &mut dyn FnMut(Range<usize>)) {
        text::each_wrong(Piece::Traces, body, found);
    }
}

impl OtlpRequest for ExportLogsServiceRequest {
    fn each_wrong_text(body: &[u8], found: &mut dyn FnMut(Range<usize>)) {
        text::each_wrong(Piece::Logs, body, found);
    }
}

/// Nothing is kept of metrics, so their texts do not matter.
impl OtlpRequest for ExportMetricsServiceRequest {
    fn each_wrong_text(_: &[u8], _: &mut dyn FnMut(Range<usize>)) {}
}

/// What is said of a request in which a text was mended: a question mark may be the sender's own.
const MENDED: &str = "a text is not UTF-8: it is kept with a question mark for each byte that is wrong";

/// A protobuf message from its bytes. Unknown fields are ignored; no bytes are the empty message. In a text that is not UTF-8 a
/// question mark stands for each byte that is wrong.
pub fn from_protobuf<M: OtlpRequest>(body: &[u8]) -> Result<M, DecodeError> {
    from_protobuf_within(body, &mut |_| Ok(())).map(|(message, _)| message)
}

/// As [`from_protobuf`], if there is `room` for it; with a warning if a text was mended.
pub(super) fn from_protobuf_within<M: OtlpRequest>(
    body: &[u8],
    room: &mut Allowance<'_>,
) -> Result<(M, Option<String>), DecodeError> {
    let wrong = |error: prost::DecodeError| DecodeError::Protobuf(error.to_string());
    let bytes = weigh::protobuf(body)?;
    room(bytes)?;
    let error = match M::decode(body) {
        Ok(message) => return Ok((message, None)),
        Err(error) => error,
    };
    let mut is_text = false;
    M::each_wrong_text(body, &mut |_| is_text = true);
    if !is_text {
        return Err(wrong(error));
    }
    room(bytes.saturating_add(body.len()))?;
    let mut mended = body.to_vec();
    M::each_wrong_text(body, &mut |at| text::mend(&mut mended[at]));
    let message = M::decode(mended.as_slice()).map_err(wrong)?;
    Ok((message, Some(MENDED.to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::UnixNanos;
    use crate::ingest::decode::{Traces, redacted_logs};
    use opentelemetry_proto::tonic::common::v1::any_value::Value;
    use opentelemetry_proto::tonic::common::v1::{
        AnyValue, ArrayValue, EntityRef, InstrumentationScope, KeyValue, KeyValueList,
    };
    use opentelemetry_proto::tonic::logs::v1::{LogRecord, ResourceLogs, ScopeLogs};
    use opentelemetry_proto::tonic::resource::v1::Resource;
    use opentelemetry_proto::tonic::trace::v1::span::{Event, Link};
    use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, ScopeSpans, Span, Status};

    /// What every text is at first, the bytes that stand there then, and what is read.
    const WHOLE: &str = "@@@@";
    const DAMAGED: &[u8] = b"\xffa\xe2\x82";
    const READ: &str = "?a??";

    fn said(text: &str) -> AnyValue {
        AnyValue { value: Some(Value::StringValue(text.to_owned())) }
    }

    fn pair(key: &str, value: Value) -> KeyValue {
        KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
    }

    fn pairs(text: &str) -> Vec<KeyValue> {
        let inner = pair(text, Value::StringValue(text.to_owned()));
        let map = AnyValue { value: Some(Value::KvlistValue(KeyValueList { values: vec![inner] })) };
        vec![
            pair(text, Value::ArrayValue(ArrayValue { values: vec![said(text), map] })),
            pair("bytes", Value::BytesValue(vec![0xff, 0xfe])),
        ]
    }

    fn resource(text: &str) -> Option<Resource> {
        let entity = EntityRef {
            schema_url: text.to_owned(),
            r#type: text.to_owned(),
            id_keys: vec![text.to_owned()],
            description_keys: vec![text.to_owned()],
        };
        Some(Resource { attributes: pairs(text), entity_refs: vec![entity], ..Resource::default() })
    }

    fn scope(text: &str) -> Option<InstrumentationScope> {
        let (name, version) = (text.to_owned(), text.to_owned());
        Some(InstrumentationScope {
            name,
            version,
            attributes: pairs(text),
            ..InstrumentationScope::default()
        })
    }

    fn traces(text: &str) -> ExportTraceServiceRequest {
        let link = Link {
            trace_id: vec![0xff; 16],
            trace_state: text.to_owned(),
            attributes: pairs(text),
            ..Link::default()
        };
        let span = Span {
            trace_id: vec![0xff; 16],
            span_id: vec![0xfe; 8],
            trace_state: text.to_owned(),
            name: text.to_owned(),
            attributes: pairs(text),
            events: vec![Event { name: text.to_owned(), attributes: pairs(text), ..Event::default() }],
            links: vec![link],
            status: Some(Status { message: text.to_owned(), code: 2 }),
            ..Span::default()
        };
        let group = ScopeSpans { scope: scope(text), spans: vec![span], schema_url: text.to_owned() };
        let group =
            ResourceSpans { resource: resource(text), scope_spans: vec![group], schema_url: text.to_owned() };
        ExportTraceServiceRequest { resource_spans: vec![group] }
    }

    fn logs(text: &str) -> ExportLogsServiceRequest {
        let record = LogRecord {
            trace_id: vec![0xff; 16],
            severity_text: text.to_owned(),
            body: Some(said(text)),
            attributes: pairs(text),
            event_name: text.to_owned(),
            ..LogRecord::default()
        };
        let group = ScopeLogs { scope: scope(text), log_records: vec![record], schema_url: text.to_owned() };
        let group =
            ResourceLogs { resource: resource(text), scope_logs: vec![group], schema_url: text.to_owned() };
        ExportLogsServiceRequest { resource_logs: vec![group] }
    }

    fn wrong_texts<M: OtlpRequest>(body: &[u8]) -> usize {
        let mut count = 0;
        M::each_wrong_text(body, &mut |_| count += 1);
        count
    }

    /// A body of which no text is UTF-8, once it was held that each is mended and nothing else is changed.
    fn held<M: OtlpRequest + PartialEq + std::fmt::Debug>(build: impl Fn(&str) -> M) -> Vec<u8> {
        let mut body = build(WHOLE).encode_to_vec();
        assert_eq!(wrong_texts::<M>(&body), 0);
        let is_text = |at: &usize| body[*at..].starts_with(WHOLE.as_bytes());
        let texts: Vec<usize> = (0..body.len()).filter(is_text).collect();
        for at in &texts {
            body[*at..*at + DAMAGED.len()].copy_from_slice(DAMAGED);
        }
        assert!(M::decode(body.as_slice()).is_err());
        assert_eq!(wrong_texts::<M>(&body), texts.len());
        assert_eq!(from_protobuf::<M>(&body), Ok(build(READ)));
        // What is damaged otherwise is an error.
        assert!(from_protobuf::<M>(&body[..body.len() - 1]).is_err());
        body
    }

    #[test]
    fn a_text_that_is_not_utf_8_costs_itself_and_not_the_request() {
        let all = Traces::from_protobuf(&held(traces)).unwrap();
        assert_eq!((all.accepted, all.rejected), (1, 0));
        assert!(all.warnings.iter().any(|warning| warning == MENDED), "{:?}", all.warnings);
        let all = redacted_logs(&held(logs), None, UnixNanos(1), &mut |_| Ok(())).unwrap();
        assert_eq!((all.items.len(), all.rejected), (1, 0));
        assert!(all.warnings.iter().any(|warning| warning == MENDED), "{:?}", all.warnings);
    }

    #[test]
    fn a_mended_copy_takes_memory_as_well() {
        let (body, mut asked) = (held(traces), Vec::new());
        let read = from_protobuf_within::<ExportTraceServiceRequest>(&body, &mut |bytes| {
            asked.push(bytes);
            Ok(())
        });
        assert!(read.is_ok());
        assert_eq!(asked[1], asked[0] + body.len());
    }
}
