//! Labels: what people say of items that evaluators have judged, and which items to ask them about.
//!
//! | file | what |
//! |---|---|
//! | `config` | the section `[labels]` |
//! | `verdict` | which words pass and which fail |
//! | `ask` | what this room asks the tables |
//! | `draw` | which scored items are drawn for a label, each with its probability |
//! | `item` | where an item stands, from its answers |
//! | `book` | the items of one metric: leases, answers, what to ask next |
//! | `rows` | what was drawn and answered, from the tables |
//! | `content` | what a reviewer is shown |
//! | `fault` | what can go wrong, and with which status it is told |
//! | `review` | the queue: loads, draws, leases, takes answers |
//! | `report` | what is labelled, how far people agree, labels as a file |
//! | `agreement` | how far reviewers agree with each other, and the evaluator with them |
//! | `csv` | labels as CSV |
//! | `sent` | a judgement as it is sent |
//! | `heard` | what is told of labels: unknown traces, words that count nowhere, contradictions |
//! | `annotations` | `POST /v1/annotations`: judgements, drawn or not, as JSON or CSV |
//! | `http` | `GET /v1/labels`, `/v1/labels/next`, `/v1/labels/agreement`, `/v1/labels/export`; `POST /v1/labels/items` |
//!
//! Promises: a drawn label carries the probability of its draw, so that it corrects a rate without bending it; an answer is
//! on the disk before it is confirmed; a reviewer gets an item once; leases are in memory and end with the process, answers
//! do not.

mod agreement;
mod annotations;
mod ask;
mod book;
mod config;
mod content;
mod csv;
mod draw;
mod fault;
mod heard;
mod http;
mod item;
mod report;
mod review;
mod rows;
mod sent;
mod verdict;

pub use annotations::annotations_router;
pub use config::{CalibrationConfig, Config};
pub use content::{Content, content};
pub use http::label_router;
pub use review::Review;
