//! `~`, `~*`, `!~`, `!~*` and SIMILAR TO as calls of a function that is bounded: the engine's own operators are not.

use super::similar::{MARK, expression, is_of_like, similar_to_escape};
use arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::Transformed;
use datafusion::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Like, Operator, ScalarUDF, cast, lit};
use std::sync::Arc;

/// Makes the operators calls.
#[derive(Debug)]
pub struct PatternOperators {
    like: Arc<ScalarUDF>,
    escape: ScalarUDF,
}

impl PatternOperators {
    /// Calls of `like`, which is `regexp_like` with bounds.
    pub fn new(like: Arc<ScalarUDF>) -> Self {
        Self { like, escape: similar_to_escape() }
    }

    /// What SIMILAR TO means; none where it is between what is no text.
    fn similar(&self, similar: &Like, schema: &DFSchema) -> Result<Option<Expr>> {
        let sides = (as_text(&similar.expr, schema), as_text(&similar.pattern, schema));
        let (Some(text), Some(pattern)) = sides else { return Ok(None) };
        let constant = match &pattern {
            Expr::Literal(value, _) => value.try_as_str().flatten().map(str::to_owned),
            _ => None,
        };
        let mark = similar.escape_char;
        let pattern = match constant {
            Some(plain) if is_of_like(&plain, mark.unwrap_or(MARK)) => {
                let (text, plain) = (Box::new(text), Box::new(lit(plain)));
                return Ok(Some(Expr::Like(Like::new(similar.negated, text, plain, None, false))));
            }
            Some(constant) => lit(expression(&constant, mark.or(Some(MARK)))?),
            None => {
                let mut args = vec![pattern];
                args.extend(mark.map(|mark| lit(mark.to_string())));
                self.escape.call(args)
            }
        };
        let call = self.like.call(vec![text, pattern]);
        Ok(Some(if similar.negated { Expr::Not(Box::new(call)) } else { call }))
    }
}

impl FunctionRewrite for PatternOperators {
    fn name(&self) -> &str {
        "pattern_operators"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        if let Expr::SimilarTo(similar) = &expr {
            let other = self.similar(similar, schema)?;
            return Ok(other.map_or_else(|| Transformed::no(expr), Transformed::yes));
        }
        let (text, pattern, any_case, is_not) = match &expr {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::RegexMatch, right }) => {
                (left, right, false, false)
            }
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::RegexIMatch, right }) => {
                (left, right, true, false)
            }
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::RegexNotMatch, right }) => {
                (left, right, false, true)
            }
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::RegexNotIMatch, right }) => {
                (left, right, true, true)
            }
            _ => return Ok(Transformed::no(expr)),
        };
        let (Some(text), Some(pattern)) = (as_text(text, schema), as_text(pattern, schema)) else {
            // The engine tells what does not fit.
            return Ok(Transformed::no(expr));
        };
        let mut args = vec![text, pattern];
        args.extend(any_case.then(|| lit("i")));
        let call = self.like.call(args);
        Ok(Transformed::yes(if is_not { Expr::Not(Box::new(call)) } else { call }))
    }
}

/// A side of an operator as text; none for what is no text.
fn as_text(expr: &Expr, schema: &DFSchema) -> Option<Expr> {
    match expr.get_type(schema) {
        Ok(DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) => Some(expr.clone()),
        // Nothing comes to the engine's own operators because its type was not known.
        Ok(DataType::Null | DataType::Dictionary(..)) | Err(_) => Some(cast(expr.clone(), DataType::Utf8)),
        Ok(_) => None,
    }
}
