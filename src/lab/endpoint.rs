//! What every route of the lab asks of a request.

use super::error::LabError;
use super::store::Who;
use crate::domain::id::TenantId;
use crate::net::{Caller, Scope};
use crate::units::ByteSize;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// What forms of web pages can send. What writes must not be reachable by one.
const FORMS: &[&str] = &["text/plain", "multipart/form-data", "application/x-www-form-urlencoded"];
/// The key that bounds bodies.
const KEY: &str = "lab.max_import_size";

/// What a route answers.
pub type Outcome = Result<Response, LabError>;

/// A value as JSON.
pub fn told(value: impl serde::Serialize) -> Outcome {
    Ok(axum::Json(value).into_response())
}

/// Goes on with a request whose sender hangs up. A frame that is on its way is not taken back, and until it is seen nobody else
/// may count versions.
pub async fn to_its_end(request: Request, next: Next) -> Response {
    match tokio::spawn(next.run(request)).await {
        Ok(response) => response,
        Err(error) => LabError::Broken(error.to_string()).into_response(),
    }
}

/// Parameters behind the question mark, which may say whose rows are meant.
pub trait Params: DeserializeOwned + Send {
    /// The tenant that is named.
    fn tenant(&self) -> Option<&str>;
}

/// Parameters whose field `tenant` names the tenant.
macro_rules! of_tenants {
    ($($params:ty),+) => {
        $(impl Params for $params {
            fn tenant(&self) -> Option<&str> {
                self.tenant.as_deref()
            }
        })+
    };
}

pub(in crate::lab) use of_tenants;

/// Parameters of a route that has no others.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Whose {
    tenant: Option<String>,
}

of_tenants!(Whose);

/// A request that reads: whose rows it concerns, and its parameters.
pub struct Asks<P> {
    /// Whose rows.
    pub who: Who,
    /// What stands behind the question mark.
    pub params: P,
}

impl<S: Send + Sync, P: Params> FromRequestParts<S> for Asks<P> {
    type Rejection = LabError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, LabError> {
        let sent = Query::<P>::try_from_uri(&parts.uri);
        let Query(params) = sent.map_err(|wrong| LabError::Wrong(wrong.body_text()))?;
        let caller = parts.extensions.get::<Caller>();
        let caller = caller.ok_or_else(|| LabError::Broken("the route has no guard".to_owned()))?;
        Ok(Self { who: who(caller, params.tenant())?, params })
    }
}

/// A request that changes something by a file or a text of any kind.
pub struct Brings<P> {
    /// Whose rows.
    pub who: Who,
    /// What stands behind the question mark.
    pub params: P,
    /// What the body says that it is, such as `application/json`.
    pub kind: String,
    /// The body.
    pub bytes: Bytes,
}

impl<S: Send + Sync, P: Params> FromRequest<S> for Brings<P> {
    type Rejection = LabError;

    async fn from_request(request: Request, state: &S) -> Result<Self, LabError> {
        let (mut parts, body) = request.into_parts();
        let Asks { who, params } = Asks::<P>::from_request_parts(&mut parts, state).await?;
        let kind = kind_of(&parts.headers)?;
        let length = length_of(&parts.headers);
        let bytes = match Bytes::from_request(Request::from_parts(parts, body), state).await {
            Ok(bytes) => bytes,
            Err(wrong) if wrong.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                return Err(too_large(length));
            }
            Err(wrong) => return Err(LabError::Wrong(wrong.body_text())),
        };
        Ok(Self { who, params, kind, bytes })
    }
}

/// A request that changes something by JSON, and has no parameters but whose rows are meant.
pub struct Tells<B> {
    /// Whose rows.
    pub who: Who,
    /// What the body says.
    pub body: B,
}

impl<S: Send + Sync, B: DeserializeOwned> FromRequest<S> for Tells<B> {
    type Rejection = LabError;

    async fn from_request(request: Request, state: &S) -> Result<Self, LabError> {
        let Brings { who, kind, bytes, .. } = Brings::<Whose>::from_request(request, state).await?;
        if kind != "application/json" {
            return Err(LabError::Wrong(format!("send application/json, not {kind}")));
        }
        let body = serde_json::from_slice(&bytes)
            .map_err(|e| LabError::Wrong(format!("the body is not what is expected: {e}")))?;
        Ok(Self { who, body })
    }
}

/// Whose rows a request concerns: those of its token's tenant, or, of a token that sees all, those of the tenant that the
/// request names. Another tenant's are missing.
fn who(caller: &Caller, named: Option<&str>) -> Result<Who, LabError> {
    let tenant = match (caller.scope(), named) {
        (Scope::All, Some(named)) => TenantId::from(named),
        (Scope::Tenant(own), Some(named)) if *own != *named => {
            return Err(LabError::Missing(format!("there is no tenant {named:?} for this token")));
        }
        (_, _) => caller.tenant().cloned().map(TenantId::from).ok_or_else(|| {
            LabError::Wrong(
                "the token belongs to no tenant: say whose rows are meant, ?tenant=NAME".to_owned(),
            )
        })?,
    };
    Ok(Who { tenant, name: caller.name().to_owned() })
}

/// How many bytes a body says that it has.
fn length_of(headers: &HeaderMap) -> Option<u64> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// Why a body of that length is refused. An archive has no parts: who runs the server is told which number lets it in.
fn too_large(length: Option<u64>) -> LabError {
    let enough = length.map(|bytes| format!(" to {}", ByteSize::mib(bytes.div_ceil(1 << 20))));
    LabError::Limit(format!(
        "the body is larger than {KEY} allows; send it in parts, or raise the key{}",
        enough.unwrap_or_default()
    ))
}

/// What a body says that it is; nothing that a form of a web page can send.
fn kind_of(headers: &HeaderMap) -> Result<String, LabError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if kind.is_empty() || FORMS.contains(&kind.as_str()) {
        let why = "send the header content-type: application/json, or text/csv, application/x-ndjson or \
                   application/octet-stream for a file";
        return Err(LabError::Wrong(why.to_owned()));
    }
    Ok(kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn who_sends_too_much_is_told_which_number_lets_it_in() {
        let length = HeaderValue::from_static("251658241");
        let headers = HeaderMap::from_iter([(header::CONTENT_LENGTH, length)]);
        let why = too_large(length_of(&headers)).to_string();
        assert!(why.contains("lab.max_import_size") && why.ends_with("raise the key to 241MiB"), "{why}");
        assert!(too_large(length_of(&HeaderMap::new())).to_string().ends_with("raise the key"));
    }
}
