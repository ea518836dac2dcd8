//! The operators on JSON texts, planned as functions.

use super::get::{is_list, json_functions};
use super::hold::hold_functions;
use super::path::path_operators;
use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::functions_nested::array_has::array_has_any_udf;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Expr, ExprSchemable, ScalarUDF};
use datafusion::sql::sqlparser::ast::BinaryOperator;
use std::sync::Arc;

/// Plans the operators as functions.
#[derive(Debug)]
pub struct JsonPlanner {
    get: [Arc<ScalarUDF>; 4],
    hold: [Arc<ScalarUDF>; 5],
    path: [Arc<ScalarUDF>; 2],
}

impl JsonPlanner {
    /// The planner with its functions.
    pub fn new() -> Self {
        Self {
            get: json_functions().map(Arc::new),
            hold: hold_functions().map(Arc::new),
            path: path_operators().map(Arc::new),
        }
    }
}

impl ExprPlanner for JsonPlanner {
    fn plan_binary_op(&self, expr: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        let [get, get_text, get_path, get_path_text] = &self.get;
        let [holds, held, key, any_key, all_keys] = &self.hold;
        let [path_exists, path_matches] = &self.path;
        // On lists `@>` and `<@` have a meaning of their own.
        let plain = |e: &Expr| e.get_type(schema).is_ok_and(|t| !t.is_nested());
        let function = match expr.op {
            BinaryOperator::Arrow => get.clone(),
            BinaryOperator::LongArrow => get_text.clone(),
            BinaryOperator::HashArrow => get_path.clone(),
            BinaryOperator::HashLongArrow => get_path_text.clone(),
            BinaryOperator::AtArrow if plain(&expr.left) && plain(&expr.right) => holds.clone(),
            BinaryOperator::ArrowAt if plain(&expr.left) && plain(&expr.right) => held.clone(),
            BinaryOperator::Question => key.clone(),
            BinaryOperator::QuestionPipe => any_key.clone(),
            BinaryOperator::QuestionAnd => all_keys.clone(),
            BinaryOperator::AtQuestion => path_exists.clone(),
            BinaryOperator::AtAt => path_matches.clone(),
            BinaryOperator::PGOverlap if expr.left.get_type(schema).is_ok_and(|t| is_list(&t)) => {
                array_has_any_udf()
            }
            _ => return Ok(PlannerResult::Original(expr)),
        };
        Ok(PlannerResult::Planned(function.call(vec![expr.left, expr.right])))
    }
}
