//! From the text of a path to a tree, within limits.

use super::numbers::negated;
use super::pattern::Pattern;
use super::tokens::{Placed, Token, syntax, tokens};
use super::tree::{Comparison, Method, Node, Operator, Path, Step, Test};
use crate::sql::error::SqlError;
use serde_json::Value;

/// Bytes of a path.
pub const MAX_BYTES: usize = 16 << 10;

/// Parentheses, filters and signs that may lie one inside the other.
const MAX_DEPTH: usize = 64;

/// Values, steps and operators of a path.
pub const MAX_PARTS: usize = 500;

/// Regular expressions of a path.
const MAX_PATTERNS: usize = 20;

/// How tight the operators bind.
const OR: u8 = 1;
const AND: u8 = 2;
const COMPARED: u8 = 3;
const ADDED: u8 = 4;
const MULTIPLIED: u8 = 5;
const ALONE: u8 = 6;

/// An operator between two parts.
#[derive(Debug, Clone, Copy)]
enum Infix {
    Or,
    And,
    Compare(Comparison),
    StartsWith,
    Like,
    Sum(Operator),
}

/// Reads a path.
///
/// # Errors
/// [`SqlError::Wrong`] for what is no path or has a regular expression that is none, [`SqlError::Limit`] for one that is too
/// long or too deep.
pub fn parse(path: &str) -> Result<Path, SqlError> {
    if path.len() > MAX_BYTES {
        return Err(SqlError::Limit(format!("the jsonpath has more than {MAX_BYTES} bytes")));
    }
    let tokens = tokens(path)?;
    let mut parser =
        Parser { path, tokens, at: 0, depth: 0, parts: 0, patterns: 0, filters: 0, subscripts: 0 };
    let strict = parser.takes_word("strict");
    if !strict {
        parser.takes_word("lax");
    }
    let root = parser.expression(OR)?;
    if parser.at < parser.tokens.len() {
        return Err(parser.wrong("the path ends before this"));
    }
    Ok(Path { strict, patterns: parser.patterns, root })
}

struct Parser<'a> {
    path: &'a str,
    tokens: Vec<Placed>,
    at: usize,
    depth: usize,
    parts: usize,
    /// Regular expressions so far.
    patterns: usize,
    /// Filters around this place.
    filters: usize,
    /// Subscripts around this place.
    subscripts: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|placed| &placed.token)
    }

    fn advance(&mut self) -> Option<Token> {
        let token = self.peek().cloned();
        self.at += 1;
        token
    }

    fn is_sign(&self, ahead: usize, sign: &str) -> bool {
        let token = self.tokens.get(self.at + ahead).map(|placed| &placed.token);
        matches!(token, Some(Token::Sign(found)) if *found == sign)
    }

    fn takes(&mut self, sign: &str) -> bool {
        let is_next = self.is_sign(0, sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn is_word(&self, ahead: usize, word: &str) -> bool {
        let token = self.tokens.get(self.at + ahead).map(|placed| &placed.token);
        matches!(token, Some(Token::Word(found)) if found.eq_ignore_ascii_case(word))
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(0, word);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, sign: &str) -> Result<(), SqlError> {
        if self.takes(sign) { Ok(()) } else { Err(self.wrong(&format!("{sign} was expected"))) }
    }

    /// A syntax error at this place.
    fn wrong(&self, why: &str) -> SqlError {
        match self.tokens.get(self.at) {
            Some(placed) => syntax(self.path, placed.from, placed.to, why),
            None => syntax(self.path, self.path.len(), self.path.len(), why),
        }
    }

    /// A syntax error at the token before this place.
    fn wrong_before(&mut self, why: &str) -> SqlError {
        self.at = self.at.saturating_sub(1);
        self.wrong(why)
    }

    fn count(&mut self) -> Result<(), SqlError> {
        self.parts += 1;
        if self.parts > MAX_PARTS {
            return Err(SqlError::Limit(format!("the jsonpath has more than {MAX_PARTS} parts")));
        }
        Ok(())
    }

    /// An expression whose operators bind at least as tight as `least`.
    fn expression(&mut self, least: u8) -> Result<Node, SqlError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SqlError::Limit(format!("the jsonpath nests deeper than {MAX_DEPTH} levels")));
        }
        let mut left = self.prefixed()?;
        while let Some((tightness, infix)) = self.infix().filter(|(tightness, _)| *tightness >= least) {
            self.at += 1;
            self.count()?;
            left = self.combined(left, infix, tightness)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn infix(&self) -> Option<(u8, Infix)> {
        let sign = match self.peek()? {
            Token::Sign(sign) => *sign,
            Token::Word(word) if word.eq_ignore_ascii_case("starts") => {
                return Some((COMPARED, Infix::StartsWith));
            }
            Token::Word(word) if word.eq_ignore_ascii_case("like_regex") => {
                return Some((COMPARED, Infix::Like));
            }
            _ => return None,
        };
        Some(match sign {
            "||" => (OR, Infix::Or),
            "&&" => (AND, Infix::And),
            "==" => (COMPARED, Infix::Compare(Comparison::Equal)),
            "!=" | "<>" => (COMPARED, Infix::Compare(Comparison::NotEqual)),
            "<" => (COMPARED, Infix::Compare(Comparison::Less)),
            "<=" => (COMPARED, Infix::Compare(Comparison::LessOrEqual)),
            ">" => (COMPARED, Infix::Compare(Comparison::Greater)),
            ">=" => (COMPARED, Infix::Compare(Comparison::GreaterOrEqual)),
            "+" => (ADDED, Infix::Sum(Operator::Plus)),
            "-" => (ADDED, Infix::Sum(Operator::Minus)),
            "*" => (MULTIPLIED, Infix::Sum(Operator::Times)),
            "/" => (MULTIPLIED, Infix::Sum(Operator::Over)),
            "%" => (MULTIPLIED, Infix::Sum(Operator::Rest)),
            _ => return None,
        })
    }

    fn combined(&mut self, left: Node, infix: Infix, tightness: u8) -> Result<Node, SqlError> {
        let test = match infix {
            Infix::Or | Infix::And => {
                let left = self.condition(left)?;
                let right = self.expression(tightness + 1)?;
                let (left, right) = (Box::new(left), Box::new(self.condition(right)?));
                if matches!(infix, Infix::Or) { Test::Or(left, right) } else { Test::And(left, right) }
            }
            Infix::Compare(comparison) => {
                let left = self.value(left)?;
                let right = self.expression(tightness + 1)?;
                Test::Compare(comparison, left, self.value(right)?)
            }
            Infix::StartsWith => {
                if !self.takes_word("with") {
                    return Err(self.wrong("starts with \"text\" was expected"));
                }
                let start = match self.advance() {
                    Some(Token::Text(text)) => Node::Value(Value::String(text)),
                    Some(Token::Variable(name)) => Node::Variable(name),
                    _ => return Err(self.wrong_before("a text in double quotes was expected")),
                };
                Test::StartsWith(self.value(left)?, start)
            }
            Infix::Like => Test::Like(self.value(left)?, self.pattern()?),
            Infix::Sum(operator) => {
                let left = self.value(left)?;
                let right = self.expression(tightness + 1)?;
                return Ok(Node::Sum(operator, Box::new(left), Box::new(self.value(right)?)));
            }
        };
        Ok(Node::Test(Box::new(test)))
    }

    fn condition(&self, node: Node) -> Result<Test, SqlError> {
        match node {
            Node::Test(test) => Ok(*test),
            _ => Err(self.wrong("a condition was expected before this, such as @.a == 1 or exists(@.a)")),
        }
    }

    fn value(&self, node: Node) -> Result<Node, SqlError> {
        match node {
            Node::Test(_) => Err(self.wrong("a value was expected before this, not a condition")),
            value => Ok(value),
        }
    }

    /// The regular expression behind `like_regex`, with its flags.
    fn pattern(&mut self) -> Result<Pattern, SqlError> {
        self.patterns += 1;
        if self.patterns > MAX_PATTERNS {
            let why = format!("the jsonpath has more than {MAX_PATTERNS} regular expressions");
            return Err(SqlError::Limit(why));
        }
        let Some(Token::Text(pattern)) = self.advance() else {
            return Err(self.wrong_before("a regular expression in double quotes was expected"));
        };
        let mut flags = String::new();
        if self.takes_word("flag") {
            match self.advance() {
                Some(Token::Text(text)) => flags = text,
                _ => return Err(self.wrong_before("flags in double quotes were expected, such as \"i\"")),
            }
        }
        if let Some(flag) = flags.chars().find(|flag| !"imsq".contains(*flag)) {
            return Err(self.wrong_before(&format!("there is no flag {flag:?}; there are i, m, s and q")));
        }
        Pattern::new(&pattern, &flags)
    }

    /// A value with its steps, or what stands behind a sign.
    fn prefixed(&mut self) -> Result<Node, SqlError> {
        self.count()?;
        if self.takes("!") {
            let is_delimited = self.is_sign(0, "(") || self.is_word(0, "exists");
            if !is_delimited {
                return Err(self.wrong("!(…) or !exists(…) was expected"));
            }
            let inner = self.primary()?;
            return Ok(Node::Test(Box::new(Test::Not(Box::new(self.condition(inner)?)))));
        }
        let is_negative = self.is_sign(0, "-");
        if is_negative || self.is_sign(0, "+") {
            self.at += 1;
            let inner = self.expression(ALONE)?;
            return Ok(match self.value(inner)? {
                Node::Value(Value::Number(number)) if is_negative => match negated(&number) {
                    Ok(number) => Node::Value(Value::Number(number)),
                    Err(_) => return Err(self.wrong_before("the number is out of range")),
                },
                inner => Node::Sign(is_negative, Box::new(inner)),
            });
        }
        let base = self.primary()?;
        let mut steps = Vec::new();
        while let Some(step) = self.step()? {
            self.count()?;
            steps.push(step);
        }
        Ok(if steps.is_empty() { base } else { Node::Along(Box::new(base), steps) })
    }

    fn primary(&mut self) -> Result<Node, SqlError> {
        if self.is_word(0, "exists") && self.is_sign(1, "(") {
            self.at += 2;
            let inner = self.expression(OR)?;
            let inner = self.value(inner)?;
            self.expect(")")?;
            return Ok(Node::Test(Box::new(Test::Exists(inner))));
        }
        if self.takes("(") {
            let inner = self.expression(OR)?;
            self.expect(")")?;
            if self.is_word(0, "is") && self.is_word(1, "unknown") {
                let inner = self.condition(inner)?;
                self.at += 2;
                return Ok(Node::Test(Box::new(Test::Unknown(Box::new(inner)))));
            }
            return Ok(inner);
        }
        Ok(match self.advance() {
            Some(Token::Sign("$")) => Node::Root,
            Some(Token::Sign("@")) if self.filters > 0 => Node::Current,
            Some(Token::Sign("@")) => return Err(self.wrong_before("@ is not allowed in root expressions")),
            Some(Token::Text(text)) => Node::Value(Value::String(text)),
            Some(Token::Number(number)) => Node::Value(Value::Number(number)),
            Some(Token::Variable(name)) => Node::Variable(name),
            Some(Token::Word(word)) => match word.as_str() {
                "true" => Node::Value(Value::Bool(true)),
                "false" => Node::Value(Value::Bool(false)),
                "null" => Node::Value(Value::Null),
                word if word.eq_ignore_ascii_case("last") && self.subscripts > 0 => Node::Last,
                word if word.eq_ignore_ascii_case("last") => {
                    return Err(self.wrong_before("LAST is allowed only in array subscripts"));
                }
                _ => return Err(self.wrong_before("a path begins with $; texts stand in double quotes")),
            },
            _ => return Err(self.wrong_before("$, @ or a constant was expected")),
        })
    }

    /// The next step, if there is one.
    fn step(&mut self) -> Result<Option<Step>, SqlError> {
        if self.takes("[") {
            return self.subscript().map(Some);
        }
        if self.takes("?") {
            self.expect("(")?;
            self.filters += 1;
            let test = self.expression(OR)?;
            let test = self.condition(test)?;
            self.filters -= 1;
            self.expect(")")?;
            return Ok(Some(Step::Filter(test)));
        }
        if !self.takes(".") {
            return Ok(None);
        }
        Ok(Some(match self.advance() {
            Some(Token::Sign("*")) => Step::AnyKey,
            Some(Token::Sign("**")) => self.levels()?,
            Some(Token::Text(key)) => Step::Key(key),
            Some(Token::Word(name)) if self.is_sign(0, "(") => Step::Method(self.method(&name)?),
            Some(Token::Word(key)) => Step::Key(key),
            _ => {
                return Err(
                    self.wrong_before("a key was expected; one with signs in it stands in double quotes")
                );
            }
        }))
    }

    fn method(&mut self, name: &str) -> Result<Method, SqlError> {
        let Some(method) = Method::named(name) else {
            let is_of_time = ["datetime", "date", "time", "time_tz", "timestamp", "timestamp_tz"];
            if is_of_time.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                let why = format!(
                    "jsonpath item method .{name}() is not supported: compare times outside of the path"
                );
                return Err(SqlError::Wrong(why));
            }
            return Err(self.wrong_before("there is no such method; a key is not followed by parentheses"));
        };
        self.expect("(")?;
        if method == Method::Number && !self.is_sign(0, ")") {
            let why =
                "jsonpath item method .decimal() with a precision is not supported: cast outside of the path";
            return Err(SqlError::Wrong(why.to_owned()));
        }
        self.expect(")")?;
        Ok(method)
    }

    /// What stands in brackets.
    fn subscript(&mut self) -> Result<Step, SqlError> {
        if self.is_sign(0, "*") && self.is_sign(1, "]") {
            self.at += 2;
            return Ok(Step::AnyElement);
        }
        self.subscripts += 1;
        let mut places = Vec::new();
        loop {
            let from = self.expression(ADDED)?;
            let from = self.value(from)?;
            let to = match self.takes_word("to") {
                true => {
                    let to = self.expression(ADDED)?;
                    Some(self.value(to)?)
                }
                false => None,
            };
            places.push((from, to));
            if !self.takes(",") {
                break;
            }
        }
        self.subscripts -= 1;
        self.expect("]")?;
        Ok(Step::Elements(places))
    }

    /// The levels behind `**`.
    fn levels(&mut self) -> Result<Step, SqlError> {
        if !self.takes("{") {
            return Ok(Step::Deep(0, u32::MAX));
        }
        let from = self.level()?;
        let to = if self.takes_word("to") { self.level()? } else { from };
        self.expect("}")?;
        Ok(Step::Deep(from, to))
    }

    fn level(&mut self) -> Result<u32, SqlError> {
        let level = match self.advance() {
            Some(Token::Word(word)) if word.eq_ignore_ascii_case("last") => Some(u32::MAX),
            Some(Token::Number(number)) => number.as_u64().and_then(|level| u32::try_from(level).ok()),
            _ => None,
        };
        level.ok_or_else(|| self.wrong_before("a level was expected: a number, or last"))
    }
}
