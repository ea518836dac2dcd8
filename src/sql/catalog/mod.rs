//! `pg_catalog` as clients read it: what tables, columns and functions there are.
//!
//! | file | what |
//! |---|---|
//! | `build` | small tables from lists of cells |
//! | `relations` | the tables and views of the engine, with numbers, types and comments |
//! | `tables` | `pg_class`, `pg_attribute` and others, made of them |
//! | `information` | `information_schema`, made of them |
//! | `system` | every table that PostgreSQL's catalogue has, with its columns |
//! | `provider` | the schemas that show them, and the rest as the library has it |
//! | `lookups` | functions that name what a number stands for |
//! | `sizes` | how large tables are |
//! | `constants` | functions with one answer here |
//!
//! Nothing in it but the sizes depends on rows or tenants, so it is made once.

mod build;
mod constants;
mod information;
mod lookups;
mod provider;
mod relations;
mod sizes;
mod system;
mod tables;

pub use provider::register;
pub use sizes::tell;
