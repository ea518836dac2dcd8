//! `~`, `~*`, `!~`, `!~*` and SIMILAR TO as calls of a function that is bounded: the engine's own operators are not.

use arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::Transformed;
use datafusion::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, ScalarUDF, cast, lit};
use std::sync::Arc;

/// Makes the operators calls.
#[derive(Debug)]
pub struct PatternOperators {
    like: Arc<ScalarUDF>,
}

impl PatternOperators {
    /// Calls of `like`, which is `regexp_like` with bounds.
    pub fn new(like: Arc<ScalarUDF>) -> Self {
        Self { like }
    }
}

impl FunctionRewrite for PatternOperators {
    fn name(&self) -> &str {
        "pattern_operators"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
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
            Expr::SimilarTo(like) if like.escape_char.is_none() => {
                (&like.expr, &like.pattern, like.case_insensitive, like.negated)
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
