//! Messages to those who are told.
//!
//! | file | what |
//! |---|---|
//! | `sender` | who is told what and when: one message at a time for each receiver, in order, tried again with a growing wait |
//! | `request` | the request that each kind of receiver takes |
//! | `reason` | why a message was not taken, in words that may be shown |
//!
//! A message is sent until it is taken, at least once: it carries a key by which a receiver knows one that it has.
//! Alertmanager is told of what fires again and again, as it wants to be.

mod reason;
mod request;
mod sender;

pub(super) use sender::{Delivered, Lost, Sender, Tried};
