//! `pg_class`, `pg_attribute` and others, made of what the engine has.

use super::build::{Cell, CellType, Columns, Row};
use super::relations::{Column, FIRST_OWN, INFORMATION_SCHEMA, PG_CATALOG, PUBLIC, Relation};
use pgwire::api::Type;

/// The role that owns everything, as the library names it.
pub const OWNER: &str = "postgres";

/// The number of that role.
const OWNER_OID: i32 = 10;

/// The collation of texts that say nothing else.
const DEFAULT_COLLATION: i32 = 100;

/// The number of the encoding UTF-8.
const UTF8: i32 = 6;

/// The number of the tablespace `pg_default`.
const TABLESPACE: i32 = 1663;

/// The number of `pg_class` itself.
const CLASS: i32 = 1259;

/// Our own functions: name, kind (function or aggregate), result, arguments.
pub const FUNCTIONS: &[(&str, &str, &str, &str)] = &[
    (
        "abstains",
        "f",
        "boolean",
        "evaluator text, evaluator_version text, metric text, value double precision",
    ),
    ("attr", "f", "text", "json text, key text"),
    (
        "calibrated",
        "f",
        "double precision",
        "evaluator text, evaluator_version text, metric text, value double precision",
    ),
    ("json_get", "f", "text", "json text, key text"),
    ("json_get_path", "f", "text", "json text, path text"),
    ("json_get_path_text", "f", "text", "json text, path text"),
    ("json_get_text", "f", "text", "json text, key text"),
    ("quality_mean", "a", "record", "value double precision, inclusion_probability double precision"),
    (
        "quality_mean",
        "a",
        "record",
        "value double precision, inclusion_probability double precision, cluster text",
    ),
    ("quality_rate", "a", "record", "passed boolean, inclusion_probability double precision"),
    ("quality_rate", "a", "record", "passed boolean, inclusion_probability double precision, cluster text"),
];

/// The number of the function at `place` in [`FUNCTIONS`].
pub fn function_oid(place: usize) -> i32 {
    FIRST_OWN + 1000 + i32::try_from(place).unwrap_or(0)
}

/// The schemas.
pub const NAMESPACE: Columns = &[
    ("oid", CellType::Oid),
    ("nspname", CellType::Text),
    ("nspowner", CellType::Oid),
    ("nspacl", CellType::Texts),
];

/// Tables and views.
pub const CLASSES: Columns = &[
    ("oid", CellType::Oid),
    ("relname", CellType::Text),
    ("relnamespace", CellType::Oid),
    ("reltype", CellType::Oid),
    ("reloftype", CellType::Oid),
    ("relowner", CellType::Oid),
    ("relam", CellType::Oid),
    ("relfilenode", CellType::Oid),
    ("reltablespace", CellType::Oid),
    ("relpages", CellType::Int),
    ("reltuples", CellType::Int),
    ("relallvisible", CellType::Int),
    ("reltoastrelid", CellType::Oid),
    ("relhasindex", CellType::Bool),
    ("relisshared", CellType::Bool),
    ("relpersistence", CellType::Text),
    ("relkind", CellType::Text),
    ("relnatts", CellType::Small),
    ("relchecks", CellType::Small),
    ("relhasrules", CellType::Bool),
    ("relhastriggers", CellType::Bool),
    ("relhassubclass", CellType::Bool),
    ("relrowsecurity", CellType::Bool),
    ("relforcerowsecurity", CellType::Bool),
    ("relispopulated", CellType::Bool),
    ("relreplident", CellType::Text),
    ("relispartition", CellType::Bool),
    ("relrewrite", CellType::Oid),
    ("relfrozenxid", CellType::Int),
    ("relminmxid", CellType::Int),
    ("relacl", CellType::Texts),
    ("reloptions", CellType::Texts),
    ("relpartbound", CellType::Maybe),
    ("tableoid", CellType::Oid),
];

/// Columns.
pub const ATTRIBUTES: Columns = &[
    ("attrelid", CellType::Oid),
    ("attname", CellType::Text),
    ("atttypid", CellType::Oid),
    ("attstattarget", CellType::Int),
    ("attlen", CellType::Small),
    ("attnum", CellType::Small),
    ("attndims", CellType::Int),
    ("attcacheoff", CellType::Int),
    ("atttypmod", CellType::Int),
    ("attbyval", CellType::Bool),
    ("attalign", CellType::Text),
    ("attstorage", CellType::Text),
    ("attcompression", CellType::Text),
    ("attnotnull", CellType::Bool),
    ("atthasdef", CellType::Bool),
    ("atthasmissing", CellType::Bool),
    ("attidentity", CellType::Text),
    ("attgenerated", CellType::Text),
    ("attisdropped", CellType::Bool),
    ("attislocal", CellType::Bool),
    ("attinhcount", CellType::Int),
    ("attcollation", CellType::Oid),
    ("attacl", CellType::Texts),
    ("attoptions", CellType::Texts),
    ("attfdwoptions", CellType::Texts),
    ("attmissingval", CellType::Texts),
];

/// The one database.
pub const DATABASES: Columns = &[
    ("oid", CellType::Oid),
    ("datname", CellType::Text),
    ("datdba", CellType::Oid),
    ("encoding", CellType::Int),
    ("datlocprovider", CellType::Text),
    ("datistemplate", CellType::Bool),
    ("datallowconn", CellType::Bool),
    ("datconnlimit", CellType::Int),
    ("datfrozenxid", CellType::Int),
    ("datminmxid", CellType::Int),
    ("dattablespace", CellType::Oid),
    ("datcollate", CellType::Text),
    ("datctype", CellType::Text),
    ("daticulocale", CellType::Maybe),
    ("daticurules", CellType::Maybe),
    ("datcollversion", CellType::Maybe),
    ("datacl", CellType::Texts),
];

/// Comments on tables and columns.
pub const DESCRIPTIONS: Columns = &[
    ("objoid", CellType::Oid),
    ("classoid", CellType::Oid),
    ("objsubid", CellType::Int),
    ("description", CellType::Text),
];

/// Indexes, of which there are none: lists where clients unnest them.
pub const INDEXES: Columns = &[
    ("indexrelid", CellType::Oid),
    ("indrelid", CellType::Oid),
    ("indnatts", CellType::Small),
    ("indnkeyatts", CellType::Small),
    ("indisunique", CellType::Bool),
    ("indnullsnotdistinct", CellType::Bool),
    ("indisprimary", CellType::Bool),
    ("indisexclusion", CellType::Bool),
    ("indimmediate", CellType::Bool),
    ("indisclustered", CellType::Bool),
    ("indisvalid", CellType::Bool),
    ("indcheckxmin", CellType::Bool),
    ("indisready", CellType::Bool),
    ("indislive", CellType::Bool),
    ("indisreplident", CellType::Bool),
    ("indkey", CellType::Smalls),
    ("indcollation", CellType::Smalls),
    ("indclass", CellType::Smalls),
    ("indoption", CellType::Smalls),
    ("indexprs", CellType::Maybe),
    ("indpred", CellType::Maybe),
];

/// Constraints, of which there are none.
pub const CONSTRAINTS: Columns = &[
    ("oid", CellType::Oid),
    ("conname", CellType::Text),
    ("connamespace", CellType::Oid),
    ("contype", CellType::Text),
    ("condeferrable", CellType::Bool),
    ("condeferred", CellType::Bool),
    ("convalidated", CellType::Bool),
    ("conrelid", CellType::Oid),
    ("contypid", CellType::Oid),
    ("conindid", CellType::Oid),
    ("conparentid", CellType::Oid),
    ("confrelid", CellType::Oid),
    ("confupdtype", CellType::Text),
    ("confdeltype", CellType::Text),
    ("confmatchtype", CellType::Text),
    ("conislocal", CellType::Bool),
    ("coninhcount", CellType::Small),
    ("connoinherit", CellType::Bool),
    ("conkey", CellType::Smalls),
    ("confkey", CellType::Smalls),
    ("conbin", CellType::Maybe),
    ("tableoid", CellType::Oid),
];

/// Views with their queries.
pub const VIEWS: Columns = &[
    ("schemaname", CellType::Text),
    ("viewname", CellType::Text),
    ("viewowner", CellType::Text),
    ("definition", CellType::Maybe),
];

/// Tables.
pub const TABLES: Columns = &[
    ("schemaname", CellType::Text),
    ("tablename", CellType::Text),
    ("tableowner", CellType::Text),
    ("tablespace", CellType::Maybe),
    ("hasindexes", CellType::Bool),
    ("hasrules", CellType::Bool),
    ("hastriggers", CellType::Bool),
    ("rowsecurity", CellType::Bool),
];

/// Roles: the tokens are who may connect, so there is one for show.
pub const ROLES: Columns = &[
    ("rolname", CellType::Text),
    ("rolsuper", CellType::Bool),
    ("rolinherit", CellType::Bool),
    ("rolcreaterole", CellType::Bool),
    ("rolcreatedb", CellType::Bool),
    ("rolcanlogin", CellType::Bool),
    ("rolreplication", CellType::Bool),
    ("rolconnlimit", CellType::Int),
    ("rolpassword", CellType::Maybe),
    ("rolvaliduntil", CellType::Maybe),
    ("rolbypassrls", CellType::Bool),
    ("rolconfig", CellType::Texts),
    ("oid", CellType::Oid),
];

const NAMESPACES: [(i32, &str); 3] =
    [(PG_CATALOG, "pg_catalog"), (PUBLIC, "public"), (INFORMATION_SCHEMA, "information_schema")];

/// The name of a schema.
pub fn schema_name(oid: i32) -> &'static str {
    NAMESPACES.iter().find(|(known, _)| *known == oid).map_or("", |(_, name)| name)
}

/// Rows of [`NAMESPACE`].
pub fn namespaces() -> Vec<Row> {
    let row = |(oid, name): (i32, &str)| {
        Row::from([
            ("oid", Cell::Int(oid)),
            ("nspname", Cell::text(name)),
            ("nspowner", Cell::Int(OWNER_OID)),
        ])
    };
    NAMESPACES.map(row).into()
}

/// Rows of [`DATABASES`].
pub fn databases(name: &str) -> Vec<Row> {
    vec![Row::from([
        ("oid", Cell::Int(FIRST_OWN - 1)),
        ("datname", Cell::text(name)),
        ("datdba", Cell::Int(OWNER_OID)),
        ("encoding", Cell::Int(UTF8)),
        ("datlocprovider", Cell::text("c")),
        ("datallowconn", Cell::Bool(true)),
        ("datconnlimit", Cell::Int(-1)),
        ("dattablespace", Cell::Int(TABLESPACE)),
        ("datcollate", Cell::text("C")),
        ("datctype", Cell::text("C")),
    ])]
}

/// Rows of [`ROLES`].
pub fn roles() -> Vec<Row> {
    vec![Row::from([
        ("rolname", Cell::text(OWNER)),
        ("rolinherit", Cell::Bool(true)),
        ("rolcanlogin", Cell::Bool(true)),
        ("rolconnlimit", Cell::Int(-1)),
        ("oid", Cell::Int(OWNER_OID)),
    ])]
}

/// Rows of [`CLASSES`].
pub fn classes(relations: &[Relation]) -> Vec<Row> {
    let row = |relation: &Relation| {
        let columns = i32::try_from(relation.columns.len()).unwrap_or(0);
        Row::from([
            ("oid", Cell::Int(relation.oid)),
            ("relname", Cell::text(&relation.name)),
            ("relnamespace", Cell::Int(relation.namespace)),
            ("relowner", Cell::Int(OWNER_OID)),
            ("relam", Cell::Int(if relation.is_view { 0 } else { 2 })),
            ("reltuples", Cell::Int(-1)),
            ("relpersistence", Cell::text("p")),
            ("relkind", Cell::text(if relation.is_view { "v" } else { "r" })),
            ("relnatts", Cell::Int(columns)),
            ("relhasrules", Cell::Bool(relation.is_view)),
            ("relispopulated", Cell::Bool(true)),
            ("relreplident", Cell::text("d")),
            ("tableoid", Cell::Int(CLASS)),
        ])
    };
    relations.iter().map(row).collect()
}

/// Rows of [`ATTRIBUTES`].
pub fn attributes(relations: &[Relation]) -> Vec<Row> {
    let mut rows = Vec::new();
    for relation in relations {
        for (place, column) in (1..).zip(&relation.columns) {
            rows.push(attribute(relation.oid, place, column));
        }
    }
    rows
}

fn attribute(relation: i32, place: i32, column: &Column) -> Row {
    let bytes = width(&column.data_type);
    let collation = if column.data_type == Type::TEXT { DEFAULT_COLLATION } else { 0 };
    Row::from([
        ("attrelid", Cell::Int(relation)),
        ("attname", Cell::text(&column.name)),
        ("atttypid", Cell::Int(i32::try_from(column.data_type.oid()).unwrap_or(0))),
        ("attstattarget", Cell::Int(-1)),
        ("attlen", Cell::Int(bytes)),
        ("attnum", Cell::Int(place)),
        ("attcacheoff", Cell::Int(-1)),
        ("atttypmod", Cell::Int(-1)),
        ("attbyval", Cell::Bool(bytes > 0)),
        ("attalign", Cell::text(if bytes == 8 { "d" } else { "i" })),
        ("attstorage", Cell::text(if bytes > 0 { "p" } else { "x" })),
        ("attnotnull", Cell::Bool(!column.nullable)),
        ("attislocal", Cell::Bool(true)),
        ("attcollation", Cell::Int(collation)),
    ])
}

/// Bytes of a value, -1 where they differ.
fn width(data_type: &Type) -> i32 {
    match *data_type {
        Type::BOOL => 1,
        Type::INT2 => 2,
        Type::INT4 | Type::FLOAT4 | Type::DATE | Type::OID => 4,
        Type::INT8 | Type::FLOAT8 | Type::TIMESTAMP | Type::TIMESTAMPTZ | Type::TIME => 8,
        _ => -1,
    }
}

/// Rows of [`DESCRIPTIONS`].
pub fn descriptions(relations: &[Relation]) -> Vec<Row> {
    let row = |relation: i32, place: i32, text: &str| {
        Row::from([
            ("objoid", Cell::Int(relation)),
            ("classoid", Cell::Int(CLASS)),
            ("objsubid", Cell::Int(place)),
            ("description", Cell::text(text)),
        ])
    };
    let mut rows = Vec::new();
    for relation in relations {
        rows.extend(relation.comment.map(|text| row(relation.oid, 0, text)));
        for (place, column) in (1..).zip(&relation.columns) {
            rows.extend(column.comment.map(|text| row(relation.oid, place, text)));
        }
    }
    rows
}

/// Rows of [`VIEWS`].
pub fn views(relations: &[Relation]) -> Vec<Row> {
    let row = |relation: &Relation| {
        Row::from([
            ("schemaname", Cell::text(schema_name(relation.namespace))),
            ("viewname", Cell::text(&relation.name)),
            ("viewowner", Cell::text(OWNER)),
            ("definition", Cell::text(relation.definition.as_deref().unwrap_or_default())),
        ])
    };
    relations.iter().filter(|relation| relation.is_view).map(row).collect()
}

/// Rows of [`TABLES`].
pub fn tables(relations: &[Relation]) -> Vec<Row> {
    let row = |relation: &Relation| {
        Row::from([
            ("schemaname", Cell::text(schema_name(relation.namespace))),
            ("tablename", Cell::text(&relation.name)),
            ("tableowner", Cell::text(OWNER)),
        ])
    };
    relations.iter().filter(|relation| !relation.is_view).map(row).collect()
}

/// Our own functions as rows of `pg_proc`.
pub fn functions() -> Vec<Row> {
    let row = |(place, (name, kind, result, arguments)): (usize, &(&str, &str, &str, &str))| {
        let result = if *result == "text" { Type::TEXT } else { Type::RECORD };
        Row::from([
            ("oid", Cell::Int(function_oid(place))),
            ("proname", Cell::text(name)),
            ("pronamespace", Cell::Int(PUBLIC)),
            ("proowner", Cell::Int(OWNER_OID)),
            ("prolang", Cell::Int(12)),
            ("prokind", Cell::text(kind)),
            ("provolatile", Cell::text("i")),
            ("proparallel", Cell::text("s")),
            ("pronargs", Cell::Int(i32::try_from(arguments.split(',').count()).unwrap_or(0))),
            ("prorettype", Cell::Int(i32::try_from(result.oid()).unwrap_or(0))),
            ("proargtypes", Cell::Text(numbers(arguments))),
            ("prosrc", Cell::text(name)),
        ])
    };
    FUNCTIONS.iter().enumerate().map(row).collect()
}

/// The numbers of the types in a list of arguments.
fn numbers(arguments: &str) -> String {
    let number = |argument: &str| match argument.trim().split_once(' ').map_or("", |(_, kind)| kind) {
        "double precision" => Type::FLOAT8.oid(),
        "boolean" => Type::BOOL.oid(),
        _ => Type::TEXT.oid(),
    };
    arguments.split(',').map(|argument| number(argument).to_string()).collect::<Vec<_>>().join(" ")
}

/// Rows of `pg_settings`: what SHOW knows, and whether a client may set it.
pub fn settings(all: impl Iterator<Item = (&'static str, &'static str, bool)>) -> Vec<Row> {
    let row = |(name, value, is_settable): (&str, &str, bool)| {
        Row::from([
            ("name", Cell::text(name)),
            ("setting", Cell::text(value)),
            ("boot_val", Cell::text(value)),
            ("reset_val", Cell::text(value)),
            ("category", Cell::text("Client Connection Defaults")),
            ("short_desc", Cell::text("")),
            ("context", Cell::text(if is_settable { "user" } else { "internal" })),
            ("vartype", Cell::text("string")),
            ("source", Cell::text("default")),
            ("pending_restart", Cell::Bool(false)),
        ])
    };
    // A name of several words is for SHOW only.
    all.filter(|(name, ..)| !name.contains(' ')).map(row).collect()
}

/// Rows of `pg_user`.
pub fn users() -> Vec<Row> {
    let no = ["usecreatedb", "usesuper", "userepl", "usebypassrls"].map(|name| (name, Cell::Bool(false)));
    let mut row = Row::from([("usename", Cell::text(OWNER)), ("usesysid", Cell::Int(OWNER_OID))]);
    row.extend(no);
    vec![row]
}
