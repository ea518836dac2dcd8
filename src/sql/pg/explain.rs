//! `EXPLAIN … EXECUTE name`: drivers ask so whether the columns of a statement of theirs may be NULL. What a plan here says of
//! that has another form than PostgreSQL's, so the answer is PostgreSQL's for a statement without a plan.

use super::names::folded;
use super::rows::error;
use crate::sql::explain::is_json;
use datafusion::sql::sqlparser::ast::{ObjectName, Statement};
use futures::stream;
use pgwire::api::portal::Format;
use pgwire::api::results::{DataRowEncoder, FieldInfo, QueryResponse, Response};
use pgwire::api::store::{Entry, PortalStore};
use pgwire::api::{ClientInfo, ClientPortalStore, Type};
use pgwire::error::PgWireResult;
use std::sync::Arc;

/// An EXPLAIN of a prepared statement.
#[derive(Debug, Clone)]
pub struct Explained {
    /// The name of the prepared statement.
    name: String,
    /// Whether the answer is JSON.
    is_json: bool,
}

impl Explained {
    /// What `statement` asks, if it explains a prepared statement.
    pub fn parse(statement: &Statement) -> Option<Self> {
        let Statement::Explain { statement, format, options, .. } = statement else { return None };
        let Statement::Execute { name: Some(ObjectName(parts)), .. } = statement.as_ref() else {
            return None;
        };
        let name = folded(parts.last()?.as_ident()?);
        Some(Self { name, is_json: is_json(format.as_ref(), options.as_deref()) })
    }

    /// The column of the answer.
    pub fn column(&self, format: &Format) -> FieldInfo {
        let kind = if self.is_json { Type::JSON } else { Type::TEXT };
        FieldInfo::new("QUERY PLAN".to_owned(), None, None, kind, format.format_for(0))
    }

    /// The answer, if the connection has such a statement.
    ///
    /// # Errors
    /// If it has none.
    pub fn respond<C>(&self, client: &C, format: &Format) -> PgWireResult<Response>
    where
        C: ClientInfo + ClientPortalStore,
        C::PortalStore: PortalStore,
    {
        let Some(Entry::Value(_)) = client.portal_store().get_statement(&self.name) else {
            let why = format!("prepared statement \"{}\" does not exist", self.name);
            return Err(error("26000", why));
        };
        let said = match self.is_json {
            true => "[\n  \"Utility Statement\"\n]",
            false => "Utility statements have no plan structure",
        };
        let field = self.column(format);
        let options = field.format_options().clone();
        let (fields, form) = (Arc::new(vec![field]), format.format_for(0));
        let mut encoder = DataRowEncoder::new(fields.clone());
        // JSON in binary is its text.
        encoder.encode_field_with_type_and_format(&Some(said), &Type::TEXT, form, &options)?;
        let row = encoder.take_row();
        Ok(Response::Query(QueryResponse::new(fields, stream::iter([Ok(row)]))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
    use datafusion::sql::sqlparser::parser::Parser;

    #[test]
    fn it_is_known_by_its_inner_statement() {
        let explained = |sql: &str| {
            let statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap();
            Explained::parse(&statements[0]).map(|found| (found.name, found.is_json))
        };
        for (sql, name, is_json) in [
            ("EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE S_1(NULL, NULL)", "s_1", true),
            ("EXPLAIN (FORMAT json) EXECUTE \"S_1\"", "S_1", true),
            ("EXPLAIN (VERBOSE) EXECUTE s", "s", false),
            ("EXPLAIN EXECUTE s", "s", false),
        ] {
            assert_eq!(explained(sql), Some((name.to_owned(), is_json)), "{sql}");
        }
        assert_eq!(explained("EXPLAIN SELECT 1"), None);
        assert_eq!(explained("EXECUTE s"), None);
    }
}
