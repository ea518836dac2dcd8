//! What can go wrong, and with which status it is told.

use super::book::Refused;
use crate::ingest::Refusal;
use crate::sql::SqlError;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Why a request about labels is not answered as it wishes.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    /// The request is wrong; its sender can repair it.
    #[error("{0}")]
    Wrong(String),
    /// An answer that is not taken.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The tables could not be asked.
    #[error(transparent)]
    Sql(#[from] SqlError),
    /// Rows could not be made durable.
    #[error(transparent)]
    Refusal(#[from] Refusal),
}

impl LabelError {
    /// The status of HTTP, and after how many seconds the same request may succeed.
    fn status(&self) -> (StatusCode, Option<u64>) {
        match self {
            LabelError::Wrong(_)
            | LabelError::Sql(SqlError::Wrong(_))
            | LabelError::Refusal(Refusal::Invalid(_)) => (StatusCode::BAD_REQUEST, None),
            LabelError::Refused(Refused::Unknown(_)) => (StatusCode::NOT_FOUND, None),
            LabelError::Refused(_) => (StatusCode::CONFLICT, None),
            LabelError::Sql(SqlError::Limit(_)) => (StatusCode::UNPROCESSABLE_ENTITY, None),
            LabelError::Sql(SqlError::Busy) => (StatusCode::SERVICE_UNAVAILABLE, Some(1)),
            LabelError::Refusal(Refusal::Overloaded { retry_after, .. }) => {
                (StatusCode::SERVICE_UNAVAILABLE, Some(retry_after.as_secs() + 1))
            }
            LabelError::Sql(SqlError::Internal(_)) | LabelError::Refusal(Refusal::Broken(_)) => {
                (StatusCode::INTERNAL_SERVER_ERROR, None)
            }
        }
    }
}

impl IntoResponse for LabelError {
    fn into_response(self) -> Response {
        let (status, seconds) = self.status();
        let mut response = (status, Json(serde_json::json!({ "error": self.to_string() }))).into_response();
        if let Some(seconds) = seconds {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
