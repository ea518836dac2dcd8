//! When the captures happened: all of their times move by one offset, so that the newest is a moment ago whenever they are
//! sent, and their distances stay.

use super::demo_captures::CAPTURES;
use crate::domain::time::UnixNanos;
use crate::ingest::decode;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use serde_json::Value;

/// How far every captured time moves, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shift(i64);

impl Shift {
    /// The one that puts the newest time of all captures at `now`. An error if a capture cannot be read.
    pub(super) fn to(now: UnixNanos) -> Result<Self, String> {
        let mut newest = 0;
        for (library, name, bytes) in CAPTURES {
            each_time(name, bytes, &mut |time| newest = newest.max(*time))
                .map_err(|e| format!("{library}/{name}: {e}"))?;
        }
        let newest = i64::try_from(newest).map_err(|_| "a capture lies after the year 2262".to_owned())?;
        Ok(Self(now.since(UnixNanos(newest))))
    }

    /// The file with its times moved. Metrics stay as they are: the server drops them.
    pub(super) fn file(self, name: &str, bytes: &[u8]) -> Result<Vec<u8>, String> {
        each_time(name, bytes, &mut |time| self.one(time))
    }

    /// Moves the times of a request.
    pub(super) fn traces(self, request: &mut ExportTraceServiceRequest) {
        each_of_traces(request, &mut |time| self.one(time));
    }

    /// A time that was not set stays so.
    fn one(self, time: &mut u64) {
        if *time > 0 {
            *time = time.saturating_add_signed(self.0);
        }
    }
}

type Visit<'a> = &'a mut dyn FnMut(&mut u64);

/// Shows `visit` every time of a file, in nanoseconds since 1970, and gives the file with what it left there.
fn each_time(name: &str, bytes: &[u8], visit: Visit<'_>) -> Result<Vec<u8>, String> {
    if name.ends_with(".json") {
        let mut value: Value = serde_json::from_slice(bytes).map_err(|e| e.to_string())?;
        each_of_json(&mut value, visit)?;
        return serde_json::to_vec(&value).map_err(|e| e.to_string());
    }
    if name.contains(".metrics.") {
        return Ok(bytes.to_vec());
    }
    if name.contains(".logs.") {
        let mut request: ExportLogsServiceRequest =
            decode::from_protobuf(bytes).map_err(|e| e.to_string())?;
        each_of_logs(&mut request, visit);
        return Ok(request.encode_to_vec());
    }
    let mut request: ExportTraceServiceRequest = decode::from_protobuf(bytes).map_err(|e| e.to_string())?;
    each_of_traces(&mut request, visit);
    Ok(request.encode_to_vec())
}

/// The times of spans and their events; links have none.
fn each_of_traces(request: &mut ExportTraceServiceRequest, visit: Visit<'_>) {
    let scopes = request.resource_spans.iter_mut().flat_map(|r| &mut r.scope_spans);
    for span in scopes.flat_map(|s| &mut s.spans) {
        visit(&mut span.start_time_unix_nano);
        visit(&mut span.end_time_unix_nano);
        span.events.iter_mut().for_each(|event| visit(&mut event.time_unix_nano));
    }
}

fn each_of_logs(request: &mut ExportLogsServiceRequest, visit: Visit<'_>) {
    let scopes = request.resource_logs.iter_mut().flat_map(|r| &mut r.scope_logs);
    for record in scopes.flat_map(|s| &mut s.log_records) {
        visit(&mut record.time_unix_nano);
        visit(&mut record.observed_time_unix_nano);
    }
}

/// The fields of OTLP/JSON that are times: attributes keep their keys in values, so nothing of a user has such a name.
fn each_of_json(value: &mut Value, visit: Visit<'_>) -> Result<(), String> {
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(|item| each_of_json(item, visit)),
        Value::Object(fields) => fields.iter_mut().try_for_each(|(name, field)| {
            if name.ends_with("UnixNano") {
                json_time(name, field, visit)
            } else {
                each_of_json(field, visit)
            }
        }),
        _ => Ok(()),
    }
}

/// 64-bit numbers are texts in OTLP/JSON, and some libraries write numbers.
fn json_time(name: &str, field: &mut Value, visit: Visit<'_>) -> Result<(), String> {
    let read = match &*field {
        Value::String(text) => text.parse().ok(),
        other => other.as_u64(),
    };
    let mut time = read.ok_or_else(|| format!("{name} is no time: {field}"))?;
    visit(&mut time);
    *field = if field.is_string() { Value::from(time.to_string()) } else { Value::from(time) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times of all files, in the order in which they stand.
    fn times(of: impl Fn(&str, &[u8]) -> Vec<u8>) -> Vec<u64> {
        let mut found = Vec::new();
        for (_, name, bytes) in CAPTURES {
            each_time(name, &of(name, bytes), &mut |time| found.push(*time)).unwrap();
        }
        found
    }

    #[test]
    fn the_newest_is_now_and_the_distances_stay() {
        let captured = times(|_, bytes| bytes.to_vec());
        assert!(captured.len() > 1_000, "{}", captured.len());
        // A day in the past and one far ahead.
        for now in [1_000_000_000_000_000_000, 4_000_000_000_000_000_007] {
            let shift = Shift::to(UnixNanos(now)).unwrap();
            let moved = times(|name, bytes| shift.file(name, bytes).unwrap());
            assert_eq!(moved.iter().max(), Some(&(now as u64)));
            let oldest = *moved.iter().filter(|time| **time > 0).min().unwrap();
            assert!(now as u64 - oldest < 3_600_000_000_000, "the captures took less than an hour: {oldest}");
            let by = |(from, to): (&u64, &u64)| (*from > 0).then(|| *to as i64 - *from as i64);
            let mut offsets: Vec<i64> = captured.iter().zip(&moved).filter_map(by).collect();
            offsets.dedup();
            assert_eq!(offsets, [shift.0]);
        }
    }

    #[test]
    fn all_but_the_times_stays() {
        let none = Shift(0);
        for (library, name, bytes) in CAPTURES.iter().filter(|(_, name, _)| name.ends_with(".json")) {
            let before: Value = serde_json::from_slice(bytes).unwrap();
            let after: Value = serde_json::from_slice(&none.file(name, bytes).unwrap()).unwrap();
            assert_eq!(before, after, "{library}/{name}");
        }
        let spans = |bytes: &[u8]| ExportTraceServiceRequest::decode(bytes).unwrap();
        for (library, name, bytes) in CAPTURES.iter().filter(|(_, name, _)| name.ends_with(".pb")) {
            if !name.contains(".logs.") && !name.contains(".metrics.") {
                assert_eq!(spans(&none.file(name, bytes).unwrap()), spans(bytes), "{library}/{name}");
            }
        }
    }

    #[test]
    fn json_has_times_as_texts_and_as_numbers() {
        let json =
            br#"{"a": [{"startTimeUnixNano": "10", "b": {"timeUnixNano": 20, "endTimeUnixNano": "0"}}]}"#;
        let moved = String::from_utf8(Shift(5).file("x.json", json).unwrap()).unwrap();
        assert_eq!(
            moved,
            r#"{"a":[{"startTimeUnixNano":"15","b":{"timeUnixNano":25,"endTimeUnixNano":"0"}}]}"#
        );
        let wrong = Shift(5).file("x.json", br#"{"timeUnixNano": "soon"}"#).unwrap_err();
        assert_eq!(wrong, r#"timeUnixNano is no time: "soon""#);
    }
}
