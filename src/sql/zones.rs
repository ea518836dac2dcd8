//! `AT TIME ZONE $1` as a call of a function: the planner has it for constants alone.

use super::functions::AT_TIME_ZONE;
use datafusion::sql::parser::Statement;
use datafusion::sql::sqlparser::ast::{
    DataType, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName, Value, ValueWithSpan, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;

/// Makes `time AT TIME ZONE $1` the call `at_time_zone(time, $1)`, and `AT TIME ZONE 'UTC'::text` what the planner has.
pub fn call(statement: &mut Statement) {
    match statement {
        Statement::Statement(inner) => {
            let _ = VisitMut::visit(inner.as_mut(), &mut Calls);
        }
        Statement::Explain(explain) => call(&mut explain.statement),
        _ => {}
    }
}

struct Calls;

impl VisitorMut for Calls {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let Expr::AtTimeZone { timestamp, time_zone } = expr else { return ControlFlow::Continue(()) };
        let Some(zone) = bare(time_zone).cloned() else { return ControlFlow::Continue(()) };
        if matches!(&zone, Expr::Value(ValueWithSpan { value: Value::Placeholder(_), .. })) {
            let args = [(**timestamp).clone(), zone];
            let args = args.map(|arg| FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))).to_vec();
            let list = FunctionArgumentList { duplicate_treatment: None, args, clauses: vec![] };
            *expr = Expr::Function(Function {
                name: ObjectName::from(vec![Ident::new(AT_TIME_ZONE)]),
                uses_odbc_syntax: false,
                parameters: FunctionArguments::None,
                args: FunctionArguments::List(list),
                filter: None,
                null_treatment: None,
                over: None,
                within_group: vec![],
            });
        } else {
            // EXECUTE puts a value of a type in as a cast.
            **time_zone = zone;
        }
        ControlFlow::Continue(())
    }
}

/// The parameter or constant that a zone is, without parentheses and casts to text.
fn bare(zone: &Expr) -> Option<&Expr> {
    match zone {
        Expr::Value(ValueWithSpan {
            value: Value::Placeholder(_) | Value::SingleQuotedString(_), ..
        }) => Some(zone),
        Expr::Nested(inner) => bare(inner),
        Expr::Cast {
            expr,
            data_type: DataType::Text | DataType::Varchar(_) | DataType::CharacterVarying(_),
            ..
        } => bare(expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::parser::DFParser;

    #[test]
    fn zones_that_are_parameters_become_calls() {
        for (sql, spelled) in [
            ("SELECT t AT TIME ZONE $1", "SELECT at_time_zone(t, $1)"),
            ("SELECT t AT TIME ZONE ($2::text)", "SELECT at_time_zone(t, $2)"),
            (
                "SELECT date_trunc('day', t AT TIME ZONE 'UTC' AT TIME ZONE $1) FROM (SELECT u AT TIME ZONE $2 AS t FROM v)",
                "SELECT date_trunc('day', at_time_zone(t AT TIME ZONE 'UTC', $1)) FROM (SELECT at_time_zone(u, $2) AS t FROM v)",
            ),
            ("SELECT t AT TIME ZONE 'UTC'", "SELECT t AT TIME ZONE 'UTC'"),
            ("SELECT t AT TIME ZONE CAST(('UTC') AS TEXT)", "SELECT t AT TIME ZONE 'UTC'"),
            ("SELECT t AT TIME ZONE CAST($1 AS CHARACTER VARYING)", "SELECT at_time_zone(t, $1)"),
            ("SELECT t AT TIME ZONE z", "SELECT t AT TIME ZONE z"),
        ] {
            let mut statement = DFParser::parse_sql(sql).unwrap().pop_back().unwrap();
            call(&mut statement);
            assert_eq!(statement.to_string(), spelled);
        }
        let mut explained =
            DFParser::parse_sql("EXPLAIN SELECT t AT TIME ZONE $1").unwrap().remove(0).unwrap();
        call(&mut explained);
        assert!(explained.to_string().contains("at_time_zone(t, $1)"), "{explained}");
    }
}
