//! A trace request as rows, ready for the journal.

use super::direct;
use super::json;
use super::outcome::{DecodeError, Decoded};
use super::protobuf::from_protobuf_within;
use super::rows::Traces;
use super::trace;
use crate::ingest::dialect;
use crate::ingest::memory::Allowance;
use crate::ingest::redact::Redactor;
use crate::schema::batch::with_raw;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;

impl Traces {
    /// From a protobuf body.
    pub fn from_protobuf(body: &[u8]) -> Result<Self, DecodeError> {
        Self::from_protobuf_within(body, &mut |_| Ok(()))
    }

    fn from_protobuf_within(body: &[u8], room: &mut Allowance<'_>) -> Result<Self, DecodeError> {
        let mut is_full = false;
        let traces = direct::traces(body, &mut |bytes| room(bytes).inspect_err(|_| is_full = true));
        match traces {
            Ok(traces) => Ok(traces),
            Err(_) if is_full => Err(DecodeError::Full),
            Err(_) => Self::general(body, None, room),
        }
    }

    /// From a protobuf body, of which `redactor` redacts what it finds before anything else looks at it, if there is
    /// `room` for what it decodes to.
    pub fn redacted(
        body: &[u8],
        redactor: Option<&Redactor>,
        room: &mut Allowance<'_>,
    ) -> Result<Self, DecodeError> {
        match redactor {
            None => Self::from_protobuf_within(body, room),
            Some(_) => Self::general(body, redactor, room),
        }
    }

    fn general(
        body: &[u8],
        redactor: Option<&Redactor>,
        room: &mut Allowance<'_>,
    ) -> Result<Self, DecodeError> {
        let (request, warning) = from_protobuf_within(body, room)?;
        let mut out = Self::redacted_request(request, redactor, room)?;
        out.warnings.extend(warning);
        Ok(out)
    }

    /// As [`Traces::redacted`], from a JSON body.
    pub fn redacted_json(
        body: &[u8],
        redactor: Option<&Redactor>,
        room: &mut Allowance<'_>,
    ) -> Result<Self, DecodeError> {
        let mut out = Self::redacted_request(json::traces_within(body, room)?, redactor, room)?;
        if out.accepted == 0 {
            out.warnings.extend(json::unread(body, "resourceSpans"));
        }
        Ok(out)
    }

    fn redacted_request(
        mut request: ExportTraceServiceRequest,
        redactor: Option<&Redactor>,
        room: &mut Allowance<'_>,
    ) -> Result<Self, DecodeError> {
        if let Some(redactor) = redactor {
            redactor.traces(&mut request);
        }
        Self::from_request_within(request, room)
    }

    /// From a JSON body.
    pub fn from_json(body: &[u8]) -> Result<Self, DecodeError> {
        Self::from_request(json::traces_from_json(body)?)
    }

    /// From the general decoder's structures.
    pub fn from_request(request: ExportTraceServiceRequest) -> Result<Self, DecodeError> {
        Self::from_request_within(request, &mut |_| Ok(()))
    }

    fn from_request_within(
        request: ExportTraceServiceRequest,
        room: &mut Allowance<'_>,
    ) -> Result<Self, DecodeError> {
        let Decoded { items, rejected, reasons, warnings } = trace::spans(request);
        let mut out = Self { rejected, reasons, warnings, ..Self::default() };
        let mut source = None;
        for span in items {
            let llm = Some(Box::new(span.llm.clone()));
            with_raw(&span, &mut source, |raw, text| out.push(raw, text, llm))?;
            room(out.bytes())?;
            if dialect::may_have_evaluations(&span) {
                out.keep_evaluated(span);
            }
        }
        Ok(out)
    }
}
