//! What every route of the lab asks of a request.

use super::error::LabError;
use super::store::Who;
use crate::net::{Caller, Scope};
use axum::extract::Query;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::http::{HeaderMap, StatusCode, header};
use bytes::Bytes;
use serde::de::DeserializeOwned;

/// What forms of web pages can send. What writes must not be reachable by one.
const FORMS: &[&str] = &["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"];

/// Whose rows a request concerns: those of its token's tenant, or, of a token that sees all, those of the tenant that the
/// request names.
///
/// # Errors
/// [`LabError::Missing`] for another tenant's, [`LabError::Wrong`] where nobody is named.
pub fn who(caller: &Caller, named: Option<&str>) -> Result<Who, LabError> {
    let tenant = match (caller.scope(), named) {
        (Scope::All, Some(named)) => named.into(),
        (Scope::Tenant(own), Some(named)) if *own != *named => {
            return Err(LabError::Missing(format!("there is no tenant {named:?} for this token")));
        }
        (_, _) => caller.tenant().cloned().ok_or_else(|| {
            LabError::Wrong(
                "the token belongs to no tenant: say whose rows are meant, ?tenant=NAME".to_owned(),
            )
        })?,
    };
    Ok(Who { tenant, name: caller.name().to_owned() })
}

/// The parameters behind the question mark.
///
/// # Errors
/// [`LabError::Wrong`] for one that is unknown or of the wrong kind.
pub fn query<T>(sent: Result<Query<T>, QueryRejection>) -> Result<T, LabError> {
    sent.map(|Query(params)| params).map_err(|wrong| LabError::Wrong(wrong.body_text()))
}

/// The bytes of a body that no form of a web page can send, and what it says that it is.
///
/// # Errors
/// [`LabError::Limit`] for too many, [`LabError::Wrong`] for what a form can send.
pub fn body(
    headers: &HeaderMap,
    sent: Result<Bytes, BytesRejection>,
    key: &str,
) -> Result<(String, Bytes), LabError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind.is_empty() || FORMS.contains(&kind.as_str()) {
        let why = "send the header content-type: application/json, or text/csv, application/x-ndjson or \
                   application/octet-stream for a file";
        return Err(LabError::Wrong(why.to_owned()));
    }
    match sent {
        Ok(bytes) => Ok((kind, bytes)),
        Err(wrong) if wrong.status() == StatusCode::PAYLOAD_TOO_LARGE => {
            Err(LabError::Limit(format!("the body is larger than {key} allows; send it in parts")))
        }
        Err(wrong) => Err(LabError::Wrong(wrong.body_text())),
    }
}

/// What a JSON body says.
///
/// # Errors
/// As [`body`]; [`LabError::Wrong`] for what is no such JSON, with line and column.
pub fn json<T: DeserializeOwned>(
    headers: &HeaderMap,
    sent: Result<Bytes, BytesRejection>,
    key: &str,
) -> Result<T, LabError> {
    let (kind, bytes) = body(headers, sent, key)?;
    if kind != "application/json" {
        return Err(LabError::Wrong(format!("send application/json, not {kind}")));
    }
    serde_json::from_slice(&bytes)
        .map_err(|e| LabError::Wrong(format!("the body is not what is expected: {e}")))
}
