//! Whether two SQL queries are the same query: parsed, brought to one form, and compared.
//!
//! Only what no database could tell apart is brought to one form: case of names without quotes, backticks that change nothing,
//! comments and layout, brackets that change nothing, the order of what AND, OR, = and a list of IN hold, `a > b` for `b < a`,
//! INNER and OUTER where they are implied, ASC, and `count(1)` for `count(*)`. What is not the same here may still mean the
//! same, and is left to the judge; so is what this file does not know.

use super::shape::Finding;
use crate::domain::trace::EvalInput;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, JoinOperator,
    OrderByKind, Query, Select, Statement, TableFactor, VisitMut, VisitorMut,
};
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::keywords::ALL_KEYWORDS;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Whitespace};
use std::ops::ControlFlow;

/// A longer query is not parsed, bytes and words.
const MAX_QUERY: usize = 20_000;
const MAX_WORDS: usize = 1_000;
/// Trees are as deep as a query has operators, and are walked by recursion, bytes.
const STACK: usize = 32 << 20;
/// How models mark code.
const FENCE: &str = "```";

/// The finding for an answer that is the expected query; none where that is not certain, or one of them is missing.
pub(super) fn same(input: &EvalInput) -> Option<Finding> {
    let (answer, expected) = (input.answer.as_deref()?, input.expected.as_deref()?);
    let compared = || Some(normal(answer)? == normal(expected)?);
    let is_same = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, compared);
        // Whatever goes wrong here, there is the judge.
        thread.ok()?.join().ok()?
    });
    is_same.filter(|is_same| *is_same).map(|_| Finding {
        value: 1.0,
        label: Some("best".to_owned()),
        rationale: "Both queries are the same when they are parsed and normalised; no judge was asked."
            .to_owned(),
        ..Finding::default()
    })
}

/// The statements of a text in one form; none if it is no SQL, or none at all.
fn normal(text: &str) -> Option<Vec<String>> {
    let text = unfenced(text)?;
    if text.len() > MAX_QUERY {
        return None;
    }
    let dialect = GenericDialect {};
    let tokens = Tokenizer::new(&dialect, text).tokenize().ok()?;
    let tokens: Vec<Token> = tokens.into_iter().map(token).collect();
    if tokens.iter().filter(|token| !matches!(token, Token::Whitespace(_))).count() > MAX_WORDS {
        return None;
    }
    let mut parser = Parser::new(&dialect).with_tokens(tokens);
    let mut statements: Vec<Statement> = parser.parse_statements().ok()?;
    let is_known = |statement: &mut Statement| VisitMut::visit(statement, &mut Normal).is_continue();
    if !statements.iter_mut().all(is_known) {
        return None;
    }
    (!statements.is_empty()).then(|| statements.iter().map(ToString::to_string).collect())
}

/// The code between the fences, or all; none where there is more than one piece of code, as nobody knows which is meant.
fn unfenced(text: &str) -> Option<&str> {
    let Some((_, rest)) = text.split_once(FENCE) else { return Some(text.trim()) };
    let (code, behind) = rest.split_once(FENCE).unwrap_or((rest, ""));
    if behind.contains(FENCE) {
        return None;
    }
    // The first line names the language.
    Some(match code.split_once('\n') {
        Some((first, more)) if first.trim().chars().all(char::is_alphanumeric) => more.trim(),
        _ => code.trim(),
    })
}

/// Names without quotes in lower case, and no backticks that change nothing; no comments.
fn token(token: Token) -> Token {
    match token {
        Token::Word(mut word) => {
            if word.quote_style.is_none() {
                word.value.make_ascii_lowercase();
            } else if word.quote_style == Some('`') && is_plain(&word.value) {
                // Double quotes stay: some databases read a text in them, and some a name in capitals without them.
                word.quote_style = None;
            }
            Token::Word(word)
        }
        Token::Whitespace(Whitespace::SingleLineComment { .. } | Whitespace::MultiLineComment(_)) => {
            Token::Whitespace(Whitespace::Space)
        }
        other => other,
    }
}

/// Whether a name means the same without its quotes.
fn is_plain(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let is_word = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    begins && is_word && !ALL_KEYWORDS.contains(&name.to_ascii_uppercase().as_str())
}

struct Normal;

impl VisitorMut for Normal {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if is_known(expr) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let taken = std::mem::replace(expr, nothing());
        *expr = normal_expr(taken);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for join in select.from.iter_mut().flat_map(|table| &mut table.joins) {
            let taken = std::mem::replace(&mut join.join_operator, JoinOperator::CrossApply);
            join.join_operator = match taken {
                JoinOperator::Inner(on) => JoinOperator::Join(on),
                JoinOperator::LeftOuter(on) => JoinOperator::Left(on),
                JoinOperator::RightOuter(on) => JoinOperator::Right(on),
                other => other,
            };
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { alias: Some(alias), .. }
        | TableFactor::Derived { alias: Some(alias), .. } = factor
        {
            alias.explicit = true;
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        if let Some(OrderByKind::Expressions(all)) = query.order_by.as_mut().map(|order| &mut order.kind) {
            for one in all.iter_mut().filter(|one| one.options.asc == Some(true)) {
                one.options.asc = None;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Stands in for an expression while that is rewritten.
fn nothing() -> Expr {
    Expr::CompoundIdentifier(Vec::new())
}

/// One form of an expression whose parts have theirs. Every operand that is more than a name, a value or a call stands in
/// brackets, so that the text of two different trees differs.
fn normal_expr(expr: Expr) -> Expr {
    match expr {
        Expr::Nested(inner) => *inner,
        Expr::BinaryOp { left, op: op @ (BinaryOperator::And | BinaryOperator::Or), right } => {
            let mut operands = Vec::new();
            flatten(*left, &op, &mut operands);
            flatten(*right, &op, &mut operands);
            operands.sort_by_cached_key(ToString::to_string);
            let chain = operands.into_iter().reduce(|left, right| binary(left, op.clone(), right));
            chain.unwrap_or_else(nothing)
        }
        Expr::BinaryOp { left, op, right } => {
            let (mut left, mut right) = (bracketed(*left), bracketed(*right));
            let op = match op {
                BinaryOperator::Gt => BinaryOperator::Lt,
                BinaryOperator::GtEq => BinaryOperator::LtEq,
                BinaryOperator::Eq | BinaryOperator::NotEq if left.to_string() <= right.to_string() => {
                    return binary(left, op, right);
                }
                BinaryOperator::Eq | BinaryOperator::NotEq => op,
                other => return binary(left, other, right),
            };
            std::mem::swap(&mut left, &mut right);
            binary(left, op, right)
        }
        Expr::InList { expr, mut list, negated } => {
            list.sort_by_cached_key(ToString::to_string);
            Expr::InList { expr: Box::new(bracketed(*expr)), list, negated }
        }
        Expr::Function(function) => Expr::Function(counted(function)),
        mut other => {
            let parts = match &mut other {
                Expr::UnaryOp { expr, .. }
                | Expr::Cast { expr, .. }
                | Expr::InSubquery { expr, .. }
                | Expr::IsNull(expr)
                | Expr::IsNotNull(expr) => vec![expr],
                Expr::Like { expr, pattern, .. } | Expr::ILike { expr, pattern, .. } => vec![expr, pattern],
                Expr::Between { expr, low, high, .. } => vec![expr, low, high],
                _ => Vec::new(),
            };
            for part in parts {
                let taken = std::mem::replace(&mut **part, nothing());
                **part = bracketed(taken);
            }
            other
        }
    }
}

/// Whether brackets inside an expression of this kind are taken away and put back rightly: its parts stand between words of
/// its own, or in brackets.
fn is_known(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Identifier(_)
            | Expr::CompoundIdentifier(_)
            | Expr::Value(_)
            | Expr::Nested(_)
            | Expr::BinaryOp { .. }
            | Expr::UnaryOp { .. }
            | Expr::InList { .. }
            | Expr::InSubquery { .. }
            | Expr::Between { .. }
            | Expr::Like { .. }
            | Expr::ILike { .. }
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::Function(_)
            | Expr::Cast { .. }
            | Expr::Case { .. }
            | Expr::Exists { .. }
            | Expr::Subquery(_)
            | Expr::Extract { .. }
    )
}

fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) }
}

/// The operands of a chain of one operator.
fn flatten(expr: Expr, op: &BinaryOperator, operands: &mut Vec<Expr>) {
    match expr {
        Expr::BinaryOp { left, op: inner, right } if inner == *op => {
            flatten(*left, op, operands);
            flatten(*right, op, operands);
        }
        other => operands.push(bracketed(other)),
    }
}

fn bracketed(expr: Expr) -> Expr {
    match expr {
        Expr::Identifier(_)
        | Expr::CompoundIdentifier(_)
        | Expr::Value(_)
        | Expr::Function(_)
        | Expr::Cast { .. }
        | Expr::Subquery(_)
        | Expr::Nested(_) => expr,
        other => Expr::Nested(Box::new(other)),
    }
}

/// `count(1)` counts what `count(*)` counts.
fn counted(mut function: Function) -> Function {
    if function.name.to_string() == "count"
        && let FunctionArguments::List(list) = &mut function.args
        && let [FunctionArg::Unnamed(arg)] = list.args.as_mut_slice()
        && matches!(arg, FunctionArgExpr::Expr(Expr::Value(value)) if value.to_string() == "1")
        && list.duplicate_treatment.is_none()
    {
        *arg = FunctionArgExpr::Wildcard;
    }
    function
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_same(answer: &str, expected: &str) -> bool {
        let text = |text: &str| Some(text.to_owned());
        let input = EvalInput { answer: text(answer), expected: text(expected), ..EvalInput::default() };
        same(&input).is_some()
    }

    #[test]
    fn what_no_database_tells_apart_is_the_same() {
        for (answer, expected) in [
            ("SELECT a,b FROM t;", "select A , B\nfrom T -- all\n"),
            ("SELECT `a` FROM `t`", "SELECT a FROM t"),
            ("SELECT \"a\" FROM `t`", "SELECT \"a\" FROM t"),
            ("Here it is:\n```sql\nSELECT 1\n```\nHope it helps", "SELECT 1"),
            ("SELECT * FROM t WHERE (a = 1) AND ((b > 2))", "SELECT * FROM t WHERE 2 < b AND 1 = a"),
            ("SELECT * FROM t WHERE a=1 AND (b=2 AND c=3)", "SELECT * FROM t WHERE (c=3 AND a=1) AND b=2"),
            ("SELECT a FROM t INNER JOIN u ON t.id = u.id", "SELECT a FROM t JOIN u ON u.id = t.id"),
            ("SELECT a FROM t LEFT OUTER JOIN u USING (id)", "SELECT a FROM t LEFT JOIN u USING (id)"),
            ("SELECT count(1) FROM t ORDER BY a ASC", "SELECT COUNT(*) FROM t ORDER BY a"),
            ("SELECT a FROM t x WHERE a IN (2, 1)", "SELECT a FROM t AS x WHERE a IN (1, 2)"),
            ("SELECT a FROM t WHERE a != 1", "SELECT a FROM t WHERE a <> 1"),
            ("SELECT (a + b) * c FROM t", "SELECT (((a) + b)) * (c) FROM t"),
        ] {
            assert!(
                are_same(answer, expected),
                "{answer}\n{expected}\n{:?}\n{:?}",
                normal(answer),
                normal(expected)
            );
        }
    }

    #[test]
    fn what_may_differ_is_left_to_the_judge() {
        for (answer, expected) in [
            ("SELECT a FROM t", "SELECT b FROM t"),
            ("SELECT a, b FROM t", "SELECT b, a FROM t"),
            ("SELECT (a + b) * c FROM t", "SELECT a + b * c FROM t"),
            ("SELECT a - b FROM t", "SELECT b - a FROM t"),
            ("SELECT * FROM t WHERE (a OR b) AND c", "SELECT * FROM t WHERE a OR (b AND c)"),
            ("SELECT * FROM t WHERE NOT (a AND b)", "SELECT * FROM t WHERE (NOT a) AND b"),
            ("SELECT * FROM t WHERE (a OR b) IS NULL", "SELECT * FROM t WHERE a OR (b IS NULL)"),
            ("SELECT \"A\" FROM t", "SELECT a FROM t"),
            // A text in MySQL, and a column of another name in Oracle.
            ("SELECT a FROM t WHERE b = \"bob\"", "SELECT a FROM t WHERE b = bob"),
            ("```sql\nSELECT 1\n```\nNo, this:\n```sql\nSELECT 2\n```", "SELECT 1"),
            ("SELECT 'A' FROM t", "SELECT 'a' FROM t"),
            ("SELECT a FROM t LEFT JOIN u ON a = b", "SELECT a FROM t JOIN u ON a = b"),
            ("SELECT a FROM t ORDER BY a DESC", "SELECT a FROM t ORDER BY a"),
            ("SELECT count(DISTINCT a) FROM t", "SELECT count(a) FROM t"),
            ("SELECT 1; SELECT 2", "SELECT 1"),
            ("SELECT (a + b)::int FROM t", "SELECT a + b::int FROM t"),
            // Unknown kinds, also where they are the same.
            ("SELECT (a).b FROM t", "SELECT a.b FROM t"),
            ("SELECT a AT TIME ZONE 'UTC' FROM t", "SELECT a AT TIME ZONE 'UTC' FROM t"),
            ("I cannot write that query.", "I cannot write that query."),
            ("", ""),
        ] {
            assert!(!are_same(answer, expected), "{answer}\n{expected}");
        }
    }

    #[test]
    fn a_query_that_is_deep_or_long_breaks_nothing() {
        let deep = format!("SELECT {}1", "1+".repeat(450));
        assert!(are_same(&deep, &deep));
        let long = format!("SELECT {}1", "1+".repeat(9_000));
        let nested = format!("SELECT {}1{}", "(".repeat(400), ")".repeat(400));
        assert!(!are_same(&long, &long) && !are_same(&nested, &nested));
    }
}
