//! Alerts: does the share of failing scores exceed what is allowed, or what it was, at a known false-alarm rate.
//!
//! | file | what |
//! |---|---|
//! | `config` | `[[alerts]]`, `[[receivers]]`, `[drift]`, and their faults |
//! | `slice_name` | the name of a part of the traffic |
//! | `window` | what was seen in the last so much time |
//! | `burn` | how fast the error budget is used up |
//! | `slice` | one part of the traffic under one alert |
//! | `scores` | the scores of a frame, as one alert sees them |
//! | `alert` | one alert over all its slices, which share its false-alarm rate |
//! | `dry` | an alert without a journal, for simulations |
//! | `anchors` | frozen items that are scored again, to tell the application from the evaluator |
//! | `moment` | moments as text |
//! | `acknowledge` | who knows of what fires, and until when nobody is told again |
//! | `silence` | times in which nobody is told |
//! | `message` | what is said about a change |
//! | `row` | what is written about a change |
//! | `notify` | messages to those who are told |
//! | `delivery` | what came of these messages, and what waits |
//! | `state` | the state of all alerts, as bytes, and what changes it |
//! | `told` | who is told of what, and what a silence keeps back |
//! | `size` | how large a state can become |
//! | `gauges` | alerts as metrics |
//! | `handle` | what the loop and those who ask it share |
//! | `run` | the loop that follows the scores |
//! | `http` | `GET /v1/alerts` and what changes alerts: `rebase`, `acknowledge`, `silences` |
//!
//! Promises: every score of the journal enters each alert once, in the journal's order, crash or not; a change of state and
//! its rows in `alerts` become durable together; a message is sent until it is taken, and only when its change is durable.
//! An alert without new scores stays as it is, because silence is no sign of health; what fires ends as "no data" after a time.

mod acknowledge;
mod alert;
mod anchors;
mod burn;
mod config;
mod delivery;
mod dry;
mod gauges;
mod handle;
mod http;
mod message;
mod moment;
mod notify;
mod row;
mod run;
mod scores;
mod silence;
mod size;
mod slice;
mod slice_name;
mod state;
mod told;
mod window;

pub use acknowledge::{Acknowledgement, Wish};
pub use anchors::{
    AnchorMetric, AnchorScore, Anchors, accept_anchors, compare_anchors, freeze_anchors, read_anchors,
};
pub use config::{AlertConfig, AnchorConfig, Config, Method, ReceiverConfig, ReceiverKind, faults};
pub use delivery::{Delivery, DeliveryOutcome};
pub use dry::DryAlert;
pub use handle::{Alerts, Plan, RebaseFault};
pub use http::{AlertEndpoint, alert_router};
pub use run::Watcher;
pub use scores::{AlertError, Definition, compile};
pub use silence::{Ends, Silence, SilenceFault, SilenceWish};
pub use size::state_faults;
pub use slice::{Example, Phase, Reading};
pub use state::Standing;
