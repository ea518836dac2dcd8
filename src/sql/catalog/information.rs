//! `information_schema` as the standard has it: types by the names of SQL, positions from 1.

use super::build::{Cell, Row};
use super::relations::{Column, Relation};
use super::tables::{OWNER, namespaces, schema_name};
use pgwire::api::Type;

/// What the standard calls types whose own name is another.
const NAMES: &[(Type, &str)] = &[
    (Type::BOOL, "boolean"),
    (Type::INT2, "smallint"),
    (Type::INT4, "integer"),
    (Type::INT8, "bigint"),
    (Type::FLOAT4, "real"),
    (Type::FLOAT8, "double precision"),
    (Type::TIMESTAMP, "timestamp without time zone"),
    (Type::TIMESTAMPTZ, "timestamp with time zone"),
    (Type::TIME, "time without time zone"),
    (Type::VARCHAR, "character varying"),
];

/// The tables that have rows here, with these.
pub fn made(relations: &[Relation], database: &str) -> Vec<(&'static str, Vec<Row>)> {
    let columns = relations.iter().flat_map(|relation| {
        (1..).zip(&relation.columns).map(move |(place, column)| column_row(relation, place, column, database))
    });
    let views = relations.iter().filter(|relation| relation.is_view);
    vec![
        ("columns", columns.collect()),
        ("information_schema_catalog_name", vec![row(&[("catalog_name", database)])]),
        ("schemata", schemata(database)),
        ("tables", relations.iter().map(|relation| table_row(relation, database)).collect()),
        ("views", views.map(|relation| view_row(relation, database)).collect()),
    ]
}

fn row(cells: &[(&'static str, &str)]) -> Row {
    cells.iter().map(|(name, text)| (*name, Cell::text(text))).collect()
}

fn schemata(database: &str) -> Vec<Row> {
    let schema = |row: Row| {
        let name = row.get("nspname").cloned();
        let mut out = self::row(&[("catalog_name", database), ("schema_owner", OWNER)]);
        out.extend(name.map(|name| ("schema_name", name)));
        out
    };
    namespaces().into_iter().map(schema).collect()
}

fn table_row(relation: &Relation, database: &str) -> Row {
    row(&[
        ("table_catalog", database),
        ("table_schema", schema_name(relation.namespace)),
        ("table_name", &relation.name),
        ("table_type", if relation.is_view { "VIEW" } else { "BASE TABLE" }),
        ("is_insertable_into", "NO"),
        ("is_typed", "NO"),
    ])
}

fn view_row(relation: &Relation, database: &str) -> Row {
    row(&[
        ("table_catalog", database),
        ("table_schema", schema_name(relation.namespace)),
        ("table_name", &relation.name),
        ("view_definition", relation.definition.as_deref().unwrap_or_default()),
        ("check_option", "NONE"),
        ("is_updatable", "NO"),
        ("is_insertable_into", "NO"),
    ])
}

fn column_row(relation: &Relation, place: i32, column: &Column, database: &str) -> Row {
    let of_type = column.data_type.name();
    let is_list = of_type.starts_with('_');
    let named = NAMES.iter().find(|(known, _)| *known == column.data_type).map(|(_, name)| *name);
    let mut cells = row(&[
        ("table_catalog", database),
        ("table_schema", schema_name(relation.namespace)),
        ("table_name", &relation.name),
        ("column_name", &column.name),
        ("is_nullable", if column.nullable { "YES" } else { "NO" }),
        ("data_type", if is_list { "ARRAY" } else { named.unwrap_or(of_type) }),
        ("udt_catalog", database),
        ("udt_schema", "pg_catalog"),
        ("udt_name", of_type),
        ("is_self_referencing", "NO"),
        ("is_identity", "NO"),
        ("identity_cycle", "NO"),
        ("is_generated", "NEVER"),
        ("is_updatable", "NO"),
    ]);
    cells.insert("ordinal_position", Cell::Int(place));
    cells.insert("dtd_identifier", Cell::Text(place.to_string()));
    let (precision, radix, scale) = match column.data_type {
        Type::INT2 => (Some(16), 2, Some(0)),
        Type::INT4 => (Some(32), 2, Some(0)),
        Type::INT8 => (Some(64), 2, Some(0)),
        Type::FLOAT4 => (Some(24), 2, None),
        Type::FLOAT8 => (Some(53), 2, None),
        _ => (None, 0, None),
    };
    cells.extend(precision.map(|bits| ("numeric_precision", Cell::Int(bits))));
    cells.extend(precision.map(|_| ("numeric_precision_radix", Cell::Int(radix))));
    cells.extend(scale.map(|digits| ("numeric_scale", Cell::Int(digits))));
    if matches!(column.data_type, Type::TIMESTAMP | Type::TIMESTAMPTZ | Type::TIME) {
        cells.insert("datetime_precision", Cell::Int(6));
    }
    cells
}
