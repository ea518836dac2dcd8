//! The messages of `proto/groundline/evaluator/v1/evaluator.proto`, written by hand: no protoc is needed to build. A test
//! reads bytes that another implementation made from that file.

use prost::{Enumeration, Message, Oneof};

#[derive(Clone, PartialEq, Message)]
pub(super) struct DescribeRequest {
    #[prost(uint32, tag = "1")]
    pub protocol: u32,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct DescribeResponse {
    #[prost(uint32, tag = "1")]
    pub protocol: u32,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(string, tag = "3")]
    pub version: String,
    #[prost(message, repeated, tag = "4")]
    pub inputs: Vec<Input>,
    #[prost(message, repeated, tag = "5")]
    pub metrics: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Input {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(bool, tag = "2")]
    pub optional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Enumeration)]
#[repr(i32)]
pub(super) enum Direction {
    Unspecified = 0,
    Higher = 1,
    Lower = 2,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Metric {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(enumeration = "Direction", tag = "2")]
    pub better: i32,
    #[prost(double, optional, tag = "3")]
    pub threshold: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ScoreRequest {
    #[prost(uint32, tag = "1")]
    pub protocol: u32,
    #[prost(message, repeated, tag = "2")]
    pub items: Vec<Item>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Item {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(string, optional, tag = "2")]
    pub question: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub answer: Option<String>,
    #[prost(message, repeated, tag = "4")]
    pub contexts: Vec<Context>,
    #[prost(string, optional, tag = "5")]
    pub expected: Option<String>,
    #[prost(string, repeated, tag = "6")]
    pub expected_documents: Vec<String>,
    #[prost(message, repeated, tag = "7")]
    pub constraints: Vec<Constraint>,
    #[prost(string, optional, tag = "8")]
    pub system_prompt: Option<String>,
    #[prost(string, repeated, tag = "9")]
    pub history: Vec<String>,
    #[prost(string, optional, tag = "10")]
    pub tenant: Option<String>,
    #[prost(message, repeated, tag = "11")]
    pub steps: Vec<Step>,
    #[prost(string, repeated, tag = "12")]
    pub expected_answers: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Step {
    #[prost(string, tag = "1")]
    pub tool: String,
    #[prost(string, optional, tag = "2")]
    pub arguments: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub result: Option<String>,
    #[prost(bool, tag = "4")]
    pub failed: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Context {
    #[prost(string, optional, tag = "1")]
    pub id: Option<String>,
    #[prost(string, optional, tag = "2")]
    pub uri: Option<String>,
    #[prost(string, optional, tag = "3")]
    pub text: Option<String>,
    #[prost(int32, optional, tag = "4")]
    pub rank: Option<i32>,
    #[prost(double, optional, tag = "5")]
    pub score: Option<f64>,
    #[prost(string, optional, tag = "6")]
    pub tenant: Option<String>,
    #[prost(string, optional, tag = "7")]
    pub metadata: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Constraint {
    #[prost(oneof = "Kind", tags = "1, 2")]
    pub kind: Option<Kind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Kind {
    #[prost(string, tag = "1")]
    Text(String),
    #[prost(message, tag = "2")]
    AnyOf(Constraints),
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Constraints {
    #[prost(message, repeated, tag = "1")]
    pub constraints: Vec<Constraint>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct ScoreResponse {
    #[prost(string, tag = "1")]
    pub version: String,
    #[prost(message, repeated, tag = "2")]
    pub answers: Vec<Answer>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Answer {
    #[prost(string, tag = "1")]
    pub id: String,
    #[prost(message, repeated, tag = "2")]
    pub scores: Vec<Score>,
    #[prost(string, optional, tag = "3")]
    pub error: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Score {
    #[prost(string, tag = "1")]
    pub metric: String,
    #[prost(double, optional, tag = "2")]
    pub value: Option<f64>,
    #[prost(bool, optional, tag = "3")]
    pub passed: Option<bool>,
    #[prost(string, optional, tag = "4")]
    pub label: Option<String>,
    #[prost(string, optional, tag = "5")]
    pub rationale: Option<String>,
    #[prost(string, optional, tag = "6")]
    pub skipped: Option<String>,
    #[prost(string, optional, tag = "7")]
    pub error: Option<String>,
}
