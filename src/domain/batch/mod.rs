//! Rows to Arrow batches in the stored schema of their table, and back where a room needs rows again.
//!
//! | file | what |
//! |---|---|
//! | `build` | one function a column type |
//! | `llm` | the columns that a convention fills: write, read, replace |
//! | `spans` | spans |
//! | `logs` | log records |
//! | `rows` | scores, decisions, annotations, alerts |

mod build;
mod llm;
mod logs;
mod rows;
mod spans;

pub use llm::{read_llm, replace_llm};
pub use logs::{LogContent, logs_to_batch, read_log_content};
pub use rows::{
    Alert, Annotation, alerts_to_batch, annotations_to_batch, decisions_to_batch, scores_to_batch,
};
pub use spans::{SpanRow, read_span_rows, spans_to_batch};
