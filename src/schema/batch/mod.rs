//! Rows to Arrow batches in the stored schema of their table, and back where a room needs rows again.
//!
//! | file | what |
//! |---|---|
//! | `build` | one function a column type |
//! | `llm` | the columns that a convention fills: write, read, replace |
//! | `span_rows` | the columns of `spans`, filled row by row from borrowed parts |
//! | `spans` | spans in, and the part of a row that sampling needs back |
//! | `logs` | log records |
//! | `rows` | scores, decisions, annotations, alerts |
//! | `review` | items to label, answers, and queues of review |
//! | `lab` | datasets, experiments, runs |
//! | `suites` | suites, their tests and checks, results of checks |
//! | `watermarks` | up to when tables are final |

mod build;
mod lab;
mod llm;
mod logs;
mod review;
mod rows;
mod span_rows;
mod spans;
mod suites;
mod watermarks;

pub use lab::{
    DatasetRow, ExperimentRow, ItemRow, Made, RunRow, dataset_items_to_batch, datasets_to_batch,
    experiments_to_batch, runs_to_batch,
};
pub use llm::{read_llm, replace_llm};
pub use logs::{LogContent, logs_to_batch, read_log_content};
pub use review::{
    AnswerKind, AnswerOfQueue, ItemOfQueue, ReviewAnswer, ReviewItem, ReviewQueueRow, answers_to_batch,
    items_to_batch, queues_to_batch,
};
pub use rows::{
    Alert, Annotation, OfRun, QueueRow, alerts_to_batch, annotations_to_batch, decisions_to_batch,
    queue_to_batch, run_scores_to_batch, scores_to_batch,
};
pub use span_rows::{RawSpan, SourceText, SpanRows};
pub use spans::{SpanHead, SpanReader, SpanRow, spans_to_batch, with_raw};
pub use suites::{
    CheckResultRow, SuiteCheckRow, SuiteRow, SuiteTestRow, check_results_to_batch, suite_checks_to_batch,
    suite_tests_to_batch, suites_to_batch,
};
pub use watermarks::{Watermark, watermarks_to_batch};
