//! Numbers of the catalogue: what the library makes subqueries of, and functions, which have names here.

use super::build::parsed;
use super::calls;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, FunctionArguments, Query, SelectItem, SetExpr, TableFactor, Value, ValueWithSpan,
};

/// Functions as columns of the catalogue: texts, which clients compare with the number 0 for "none".
const PROCEDURES: &[&str] = &[
    "prosupport",
    "typanalyze",
    "typinput",
    "typmodin",
    "typmodout",
    "typoutput",
    "typreceive",
    "typsend",
    "typsubscript",
];

/// The name in `'pg_catalog.array_in'::regproc`, of which the library makes a subquery.
pub fn procedure(expr: &Expr) -> Option<String> {
    let Expr::Subquery(query) = expr else { return None };
    let (column, Value::SingleQuotedString(name)) = sought(query)? else { return None };
    let bare = name.rsplit('.').next().unwrap_or(&name);
    (column == "proname").then(|| bare.to_owned())
}

/// What `'spans'::regclass` and `'text'::regtype` are, of which the library makes subqueries: they search the schema `public`
/// only, and the engine does not take them everywhere.
pub fn number_of(query: &Query) -> Option<Expr> {
    if let Some((column, name)) = sought(query)
        && column == "typname"
        && query.body.to_string().starts_with("SELECT oid FROM pg_catalog.pg_type")
    {
        return parsed(&format!("to_regtype(CAST({name} AS TEXT))"));
    }
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let [.., last] = select.from.as_slice() else { return None };
    let TableFactor::Derived { subquery, .. } = &last.joins.last()?.relation else { return None };
    let SetExpr::Select(parts) = subquery.body.as_ref() else { return None };
    let [SelectItem::ExprWithAlias { expr: Expr::Function(function), .. }] = parts.projection.as_slice()
    else {
        return None;
    };
    let FunctionArguments::List(list) = &function.args else { return None };
    let args = calls::plain(&list.args)?;
    let [name] = args.as_slice() else { return None };
    if calls::name_of(&function.name) != "parse_ident" {
        return None;
    }
    parsed(&format!("to_regclass({name})"))
}

/// The column and the constant that a query compares.
fn sought(query: &Query) -> Option<(String, Value)> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let Some(Expr::BinaryOp { left, op: BinaryOperator::Eq, right }) = &select.selection else { return None };
    let Expr::Value(ValueWithSpan { value, .. }) = right.as_ref() else { return None };
    Some((left.to_string(), value.clone()))
}

/// Whether an expression is a column that names a function.
pub fn is_procedure(expr: &Expr) -> bool {
    let name = match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(parts) => parts.last(),
        _ => None,
    };
    name.is_some_and(|name| PROCEDURES.contains(&name.value.as_str()))
}

/// Whether an expression is the column of an object's number.
pub fn is_number(expr: &Expr) -> bool {
    matches!(expr, Expr::CompoundIdentifier(parts) if parts.last().is_some_and(|name| name.value == "oid"))
}

/// Gives a column another name.
pub fn rename(column: &mut Expr, name: &str) {
    if let Expr::CompoundIdentifier(parts) = column
        && let Some(last) = parts.last_mut()
    {
        last.value = name.to_owned();
    }
}

/// Whether an expression is the number 0.
pub fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(ValueWithSpan { value: Value::Number(digits, _), .. }) if *digits == "0")
}
