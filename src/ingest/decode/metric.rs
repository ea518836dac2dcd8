//! A metrics request, which is accepted and dropped.

use super::outcome::DecodeError;
use super::weigh;

/// The numbers of the fields that lead to a metric: per resource, per scope, metric.
const TO_A_METRIC: [u32; 3] = [1, 2, 2];

/// Checks that a metrics body is protobuf down to each metric's fields. Nothing is built: an empty data point is two
/// bytes on the wire and hundreds in memory, only to be dropped.
pub fn metrics_from_protobuf(body: &[u8]) -> Result<(), DecodeError> {
    whole(body, &TO_A_METRIC)
        .ok_or_else(|| DecodeError::Protobuf("a field of the metrics request is damaged".to_owned()))
}

/// None if a field of `message` cannot be read, or of what the field numbers `inside` lead to.
fn whole(message: &[u8], inside: &[u32]) -> Option<()> {
    let mut rest = message;
    while !rest.is_empty() {
        let field = weigh::field(rest)?;
        rest = field.rest;
        if inside.first() == Some(&field.number) {
            whole(field.bytes?, &inside[1..])?;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
    use opentelemetry_proto::tonic::metrics::v1::metric::Data;
    use opentelemetry_proto::tonic::metrics::v1::{
        Metric, NumberDataPoint, ResourceMetrics, ScopeMetrics, Sum,
    };
    use prost::Message;

    #[test]
    fn metrics_are_checked_and_not_built() {
        let points = vec![NumberDataPoint::default(); 1_000];
        let data = Some(Data::Sum(Sum { data_points: points, ..Sum::default() }));
        let metrics = vec![Metric { name: "m".into(), data, ..Metric::default() }];
        let scope_metrics = vec![ScopeMetrics { metrics, ..ScopeMetrics::default() }];
        let resource_metrics = vec![ResourceMetrics { scope_metrics, ..ResourceMetrics::default() }];
        let mut body = ExportMetricsServiceRequest { resource_metrics }.encode_to_vec();
        metrics_from_protobuf(&body).unwrap();
        metrics_from_protobuf(&[]).unwrap();
        // An unknown field and an unknown group.
        body.extend([0xf8, 0x01, 0x05, 0x7b, 0x7c]);
        metrics_from_protobuf(&body).unwrap();
        for damaged in [&b"\x0a\xff"[..], b"\x08\x01", b"\x0a\x02\x12\x05", b"not protobuf at all", b"{}"] {
            assert!(metrics_from_protobuf(damaged).is_err(), "{damaged:?}");
            assert!(ExportMetricsServiceRequest::decode(damaged).is_err(), "{damaged:?}");
        }
    }
}
