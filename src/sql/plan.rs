//! A statement as a plan, and what was probably meant where a table is not there.

use super::error::SqlError;
use super::explain;
use super::session::DATABASE;
use super::zones;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement;

/// The schema of tables and views.
const SCHEMA: &str = "public";

/// The plan of `statement`.
///
/// # Errors
/// [`SqlError::Wrong`] and the others that planning has; of a table that is not there the nearest one is named.
pub async fn planned(state: &SessionState, mut statement: Statement) -> Result<LogicalPlan, SqlError> {
    zones::call(&mut statement);
    let (statement, told) = explain::asked(statement);
    match state.statement_to_plan(statement).await {
        Ok(plan) => match told {
            Some(told) => Ok(explain::explained(plan, told)?),
            None => Ok(plan),
        },
        Err(error) => {
            let catalog = state.catalog_list().catalog(DATABASE);
            let schema = catalog.and_then(|catalog| catalog.schema(SCHEMA));
            let names = schema.map(|schema| schema.table_names()).unwrap_or_default();
            Err(with_nearest(error.into(), &names))
        }
    }
}

/// The error with that of `names` which differs least from the table that was not found; DataFusion does so for columns.
fn with_nearest(error: SqlError, names: &[String]) -> SqlError {
    let SqlError::Wrong(text) = &error else { return error };
    let before = format!("table '{DATABASE}.{SCHEMA}.");
    let missing = text.split_once(&before).and_then(|(_, rest)| rest.strip_suffix("' not found"));
    let Some(missing) = missing else { return error };
    let near = names.iter().min_by_key(|name| (strsim::levenshtein(missing, name), name.as_str()));
    match near {
        Some(near) => SqlError::Wrong(format!("{text}; the nearest is {near:?}, and SHOW TABLES lists all")),
        None => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_that_is_not_there_is_told_the_nearest() {
        let names = ["scores", "spans", "traces"].map(str::to_owned);
        let told = |text: &str| with_nearest(SqlError::Wrong(text.to_owned()), &names).to_string();
        let missing = "table 'groundline.public.span' not found";
        assert_eq!(told(missing), format!("{missing}; the nearest is \"spans\", and SHOW TABLES lists all"));
        for other in ["table 'groundline.other.span' not found", "No field named x"] {
            assert_eq!(told(other), other);
        }
        assert_eq!(with_nearest(SqlError::Busy, &names), SqlError::Busy);
    }
}
