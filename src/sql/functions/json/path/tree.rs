//! A path that has been read.

use super::pattern::Pattern;
use serde_json::Value;

/// A path.
#[derive(Debug)]
pub struct Path {
    /// Whether what is missing is an error.
    pub strict: bool,
    /// How many regular expressions were compiled for it.
    pub patterns: usize,
    /// What it asks for.
    pub root: Node,
}

/// What has values.
#[derive(Debug)]
pub enum Node {
    /// `$`
    Root,
    /// `@`
    Current,
    /// `last`
    Last,
    /// A constant.
    Value(Value),
    /// `$name`
    Variable(String),
    /// Steps from what another has.
    Along(Box<Node>, Vec<Step>),
    /// `+x`, or `-x` if it is true.
    Sign(bool, Box<Node>),
    /// Two numbers with an operator between.
    Sum(Operator, Box<Node>, Box<Node>),
    /// A condition as a value.
    Test(Box<Test>),
}

/// An operator on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
    /// `%`
    Rest,
}

impl Operator {
    /// How it is written.
    pub fn sign(self) -> char {
        match self {
            Operator::Plus => '+',
            Operator::Minus => '-',
            Operator::Times => '*',
            Operator::Over => '/',
            Operator::Rest => '%',
        }
    }
}

/// A condition.
#[derive(Debug)]
pub enum Test {
    /// `a && b`
    And(Box<Test>, Box<Test>),
    /// `a || b`
    Or(Box<Test>, Box<Test>),
    /// `!(a)`
    Not(Box<Test>),
    /// `(a) is unknown`
    Unknown(Box<Test>),
    /// `a < b`
    Compare(Comparison, Node, Node),
    /// `a starts with "b"`
    StartsWith(Node, Node),
    /// `a like_regex "b"`
    Like(Node, Pattern),
    /// `exists(a)`
    Exists(Node),
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=` or `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A step from a value to others.
#[derive(Debug)]
pub enum Step {
    /// `.key`
    Key(String),
    /// `.*`
    AnyKey,
    /// `[*]`
    AnyElement,
    /// `[0, 2 to last]`
    Elements(Vec<(Node, Option<Node>)>),
    /// `.**{1 to 3}`: from one level to another; `last` is [`u32::MAX`].
    Deep(u32, u32),
    /// `?(…)`
    Filter(Test),
    /// `.size()`
    Method(Method),
}

/// A method of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The name of its type.
    Type,
    /// How many elements it has.
    Size,
    /// Without its sign.
    Abs,
    /// The next integer upwards.
    Ceiling,
    /// The next integer downwards.
    Floor,
    /// As a number.
    Double,
    /// As a number; PostgreSQL keeps the digits of a text.
    Number,
    /// As an integer of 32 bits.
    Integer,
    /// As an integer of 64 bits.
    Bigint,
    /// As true or false.
    Boolean,
    /// As text.
    Text,
    /// An object as objects of `key`, `value` and `id`.
    Keyvalue,
}

/// The methods by their names.
const METHODS: [(&str, Method); 13] = [
    ("type", Method::Type),
    ("size", Method::Size),
    ("abs", Method::Abs),
    ("ceiling", Method::Ceiling),
    ("floor", Method::Floor),
    ("double", Method::Double),
    ("number", Method::Number),
    ("decimal", Method::Number),
    ("integer", Method::Integer),
    ("bigint", Method::Bigint),
    ("boolean", Method::Boolean),
    ("string", Method::Text),
    ("keyvalue", Method::Keyvalue),
];

impl Method {
    /// The method of this name.
    pub fn named(name: &str) -> Option<Self> {
        METHODS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, method)| *method)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        METHODS.iter().find(|(_, method)| *method == self).map_or("", |(name, _)| name)
    }

    /// Whether it is applied to each element of an array, where the path is not strict.
    pub fn is_of_elements(self) -> bool {
        !matches!(self, Method::Type | Method::Size)
    }
}
