//! What the harnesses share: random numbers with a seed, the spans that they make, and what the system says of a process.
//!
//! | file | what |
//! |---|---|
//! | `random` | a small generator with a seed, so that two runs have the same input |
//! | `attributes` | shorthand for OTLP attributes |
//! | `services` | spans of services: HTTP, databases, queues, caches; about 450 bytes each |
//! | `models` | spans of model calls with prompts and answers; about 24 KB each |
//! | `text` | text of varied words |
//! | `system` | CPU time and memory of a process, durability of the disk |

pub mod attributes;
pub mod models;
pub mod random;
pub mod services;
pub mod system;
pub mod text;
