//! Human review: what people say of an experiment's runs, of spans, or of what the online draws chose.
//!
//! | file | what |
//! |---|---|
//! | `template` | what is asked of an item: a class, a number or a text |
//! | `definition` | what is to be reviewed, of what, and by whom |
//! | `answer` | what reviewers say of an item, and where it stands then |
//! | `sent` | who reviews, and what is sent |
//! | `book` | the items of one queue: leases, and what to ask next |
//! | `stored` | queues, items and answers as they are stored |
//! | `source` | what a queue is filled with |
//! | `shown` | what a reviewer is shown |
//! | `labels` | labels as annotations |
//! | `queues` | making queues, giving items, taking answers |
//! | `agreement` | how far people agree, and evaluators with them |
//! | `export` | reviews as files |
//! | `file` | reviews of a file |
//! | `import` | those into a queue |
//! | `http` | the routes |
//!
//! Promises: an answer is on the disk before it is confirmed, with the label that it makes; a reviewer gets an item once; in a
//! blind queue nobody sees what evaluators or others said before the own answer; leases are in memory and end with the process.

mod agreement;
mod answer;
mod book;
mod definition;
mod export;
mod file;
mod http;
mod import;
mod labels;
mod queues;
mod sent;
mod shown;
mod source;
mod stored;
mod template;

pub use http::{ReviewEndpoint, review_router};
