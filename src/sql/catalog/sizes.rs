//! How large tables are on the disk: `pg_total_relation_size` and its like.
//!
//! Files are shared by all tenants, so the bytes are told to those only who see everybody's rows; others are told 0. A function
//! does not know who asks: [`tell`] makes those of a plan tell, before it runs for somebody who may know.

use super::relations::{PUBLIC, Relation};
use crate::schema::columns::Table;
use crate::sql::tables::Snapshots;
use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use datafusion::prelude::SessionContext;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Functions of one table.
const OF_TABLE: &[&str] = &["pg_relation_size", "pg_table_size", "pg_total_relation_size"];
/// Functions of everything.
const OF_ALL: &[&str] = &["pg_database_size", "pg_tablespace_size"];

/// Adds them to `context`.
pub fn register(context: &SessionContext, relations: &[Relation], snapshots: &Snapshots) {
    let mut known = BTreeMap::new();
    for relation in relations {
        let table =
            Table::ALL.into_iter().find(|t| relation.namespace == PUBLIC && t.name() == relation.name);
        known.insert(relation.oid.to_string(), table);
        if relation.namespace == PUBLIC {
            known.insert(relation.name.clone(), table);
            known.insert(format!("public.{}", relation.name), table);
        }
    }
    let known = Arc::new(known);
    for (names, is_whole) in [(OF_TABLE, false), (OF_ALL, true)] {
        for name in names {
            // The second argument of `pg_relation_size` names a part of PostgreSQL's files.
            let of_any = TypeSignature::OneOf(vec![TypeSignature::Any(1), TypeSignature::Any(2)]);
            let (known, snapshots) = (known.clone(), snapshots.clone());
            let signature = Signature::new(of_any, Volatility::Stable);
            let size = Size { name, is_whole, may_tell: false, known, snapshots, signature };
            context.register_udf(ScalarUDF::from(size));
        }
    }
}

/// The plan, in which these functions tell what they know.
///
/// # Errors
/// None are expected; the type is that of the walk over plans.
pub fn tell(plan: LogicalPlan) -> Result<LogicalPlan> {
    let told = plan.transform_up_with_subqueries(|node| {
        node.map_expressions(|expr| {
            expr.transform_up(|part| {
                let Expr::ScalarFunction(call) = &part else { return Ok(Transformed::no(part)) };
                let Some(size) = call.func.inner().downcast_ref::<Size>().filter(|size| !size.may_tell)
                else {
                    return Ok(Transformed::no(part));
                };
                let func = Arc::new(ScalarUDF::from(Size { may_tell: true, ..size.clone() }));
                let call = ScalarFunction { func, args: call.args.clone() };
                Ok(Transformed::yes(Expr::ScalarFunction(call)))
            })
        })
    })?;
    Ok(told.data)
}

#[derive(Clone)]
struct Size {
    name: &'static str,
    /// Whether it counts every table.
    is_whole: bool,
    may_tell: bool,
    /// Relations by name and by number, with the table that has files.
    known: Arc<BTreeMap<String, Option<Table>>>,
    snapshots: Snapshots,
    signature: Signature,
}

impl Size {
    /// Bytes in files; none where there is no such relation.
    fn of(&self, relation: &str) -> Option<i64> {
        if self.is_whole {
            return Some(Table::ALL.into_iter().map(|table| self.of_table(table)).sum());
        }
        let plain = relation.replace('"', "");
        let name = if plain.len() == relation.len() { plain.to_lowercase() } else { plain };
        self.known.get(&name).map(|table| table.map_or(0, |table| self.of_table(table)))
    }

    fn of_table(&self, table: Table) -> i64 {
        if !self.may_tell {
            return 0;
        }
        let bytes: u64 = (self.snapshots)(table).files.iter().map(|file| file.bytes).sum();
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }
}

impl PartialEq for Size {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.may_tell) == (other.name, other.may_tell)
    }
}

impl Eq for Size {}

impl Hash for Size {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.name, self.may_tell).hash(state);
    }
}

impl fmt::Debug for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Size").field("name", &self.name).field("may_tell", &self.may_tell).finish()
    }
}

impl ScalarUDFImpl for Size {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Int64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let relations: ArrayRef = match args.args.first() {
            Some(relation) => cast(&relation.to_array(args.number_rows)?, &DataType::Utf8)?,
            None => return Ok(ColumnarValue::Array(Arc::new(Int64Array::new_null(args.number_rows)))),
        };
        let sizes = relations.as_string::<i32>().iter().map(|relation| self.of(relation?));
        Ok(ColumnarValue::Array(Arc::new(sizes.collect::<Int64Array>())))
    }
}
