//! What can go wrong, and whose fault it is.

use super::place::Place;
use crate::journal::JournalError;
use crate::sql::SqlError;
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::fmt;

/// Most faults of one file that are told.
pub const MAX_FAULTS: usize = 200;

/// When a client that came at a busy time may come again, seconds.
const RETRY_AFTER: u16 = 1;

/// One thing that is wrong with what was sent: where, and what to do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The line of a file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The place in a list, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<u64>,
    /// The column or key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Fault {
    /// A fault that concerns the whole.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// The same, of a column or key.
    #[must_use]
    pub fn at(mut self, column: &str) -> Self {
        self.column = Some(column.to_owned());
        self
    }

    /// The same, of a row of a file.
    #[must_use]
    pub fn on(mut self, place: Place) -> Self {
        (self.line, self.item) = (place.line, place.item);
        self
    }

    /// Where it stands in a file.
    pub fn place(&self) -> Place {
        Place { line: self.line, item: self.item }
    }

    /// What is wrong, without its place.
    pub fn bare(&self) -> String {
        Self { line: None, item: None, ..self.clone() }.to_string()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if let Some(item) = self.item {
            write!(f, "item {item}: ")?;
        }
        if let Some(column) = &self.column {
            write!(f, "{column}: ")?;
        }
        f.write_str(&self.message)
    }
}

/// Why something was not done. Nothing of it was done then.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// What was asked for is wrong; who asks can repair it.
    #[error("{0}")]
    Wrong(String),
    /// What was sent has faults.
    #[error("{}", told(.0))]
    Faults(Vec<Fault>),
    /// It is not there, or it is another tenant's.
    #[error("{0}")]
    Missing(String),
    /// Somebody else changed it in between.
    #[error("{error}")]
    Moved {
        /// What was expected and what is there.
        error: String,
        /// The version that is there.
        version: i64,
    },
    /// It stands otherwise than who asks believes.
    #[error("{0}")]
    Conflict(String),
    /// Who asks may not do it.
    #[error("{0}")]
    Denied(String),
    /// It is more than a limit allows; the text names the key.
    #[error("{0}")]
    Limit(String),
    /// Somebody who was asked for it refuses, and would refuse it again; the text says what to change.
    #[error("{0}")]
    Refused(String),
    /// The same may succeed later.
    #[error("{0}")]
    Later(String),
    /// The fault is ours.
    #[error("{0}")]
    Broken(String),
}

fn told(faults: &[Fault]) -> String {
    let shown: Vec<String> = faults.iter().take(3).map(ToString::to_string).collect();
    let more = faults.len().saturating_sub(shown.len());
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{rest}; nothing was changed", shown.join("; "))
}

impl LabError {
    /// The status of an HTTP answer.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Wrong(_) | Self::Faults(_) => StatusCode::BAD_REQUEST,
            Self::Missing(_) => StatusCode::NOT_FOUND,
            Self::Moved { .. } | Self::Conflict(_) => StatusCode::CONFLICT,
            Self::Denied(_) => StatusCode::FORBIDDEN,
            Self::Limit(_) | Self::Refused(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Later(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Broken(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

impl From<SqlError> for LabError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Wrong(why) => Self::Wrong(why),
            SqlError::Limit(why) => Self::Limit(why),
            SqlError::Busy => Self::Later(SqlError::Busy.to_string()),
            SqlError::Internal(why) => Self::Broken(why),
        }
    }
}

impl From<JournalError> for LabError {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::FrameTooLarge { .. } => {
                Self::Limit(format!("{error}: a change is kept as a whole; send it in parts"))
            }
            error if error.is_retryable() => Self::Later(error.to_string()),
            JournalError::Closed => Self::Later("the server is shutting down".to_owned()),
            error => Self::Broken(error.to_string()),
        }
    }
}

impl IntoResponse for LabError {
    fn into_response(self) -> Response {
        let status = self.status();
        let mut body = serde_json::json!({ "error": self.to_string() });
        match &self {
            Self::Moved { version, .. } => body["version"] = (*version).into(),
            Self::Faults(faults) => body["faults"] = serde_json::json!(faults),
            _ => {}
        }
        let mut response = (status, Json(body)).into_response();
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER));
        }
        response
    }
}
