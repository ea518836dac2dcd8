//! Which traces are evaluated.
//!
//! | file | what |
//! |---|---|
//! | `config` | settings and their faults |
//! | `rule_config` | settings of a rule and their faults |
//! | `rule` | a rule, compiled: its expressions, its version |
//! | `marks` | what the rules say of each row of a batch |
//! | `upstream` | the sampling that happened before us (`tracestate` `ot=th:`) |
//! | `assemble` | spans of a trace that is still open |
//! | `input` | what an evaluator is given, from the spans of a trace |
//! | `chance` | with which probability a match is selected: rate, boosts, weights |
//! | `pace` | budgets: the probability falls as they are used |
//! | `prices` | what an item costs, learned from what judges told |
//! | `memory` | what depends on earlier matches: strata, usual weights, budgets |
//! | `decided` | which traces were decided about before |
//! | `decide` | the draw, and the rows and items that follow from it |
//! | `second` | second phases: what cheap scores select for dear evaluators |
//! | `replay` | decisions again, from stored spans and recorded rows |
//! | `replay_found` | what was recorded of a decision, and what a replay found |
//! | `replay_second` | second phases again, from the scores that they were made from |
//! | `late` | traces of which more came after the decision |
//! | `again` | what follows from that: the item once more, with all that is known now |
//! | `outgoing` | what is on its way into one frame |
//! | `progress` | how far the loop is, and what is still open |
//! | `run` | the loop: journal to open traces, ripe traces to decisions |
//! | `look_again` | what the loop does about traces that were decided before |
//!
//! Decisions and queue items become durable in one journal frame; scores and the completion of their item in another.
//! So the queue is what the journal says it is: after a crash the loops read again from their cursors, and nothing is
//! lost or done twice (P5, P6).

mod again;
mod assemble;
mod chance;
mod config;
mod decide;
mod decided;
mod input;
mod late;
mod look_again;
mod marks;
mod memory;
mod outgoing;
mod pace;
mod prices;
mod progress;
mod replay;
mod replay_found;
mod replay_second;
mod rule;
mod rule_config;
mod run;
mod second;
mod upstream;

#[cfg(test)]
mod design_tests;
#[cfg(test)]
mod replay_tests;
#[cfg(test)]
mod tests;

pub use again::{DECIDED, SPANS, StoredTrace, Tables, VERSIONS};
pub use config::Config;
pub use decide::item_id;
pub use decided::REMEMBERED;
pub use late::LateConfig;
pub use prices::{COSTS, Prices};
pub use progress::{Horizon, Progress};
pub use replay::{DECISION_COLUMNS, Replay};
pub use replay_found::{Findings, Standing};
pub use rule::{Rule, RuleError, compile};
pub use rule_config::{Boost, Budget, RuleConfig, Target, WeightKind};
pub use run::{CURSOR, Sampler};
pub use second::{Follows, SecondPhases};
