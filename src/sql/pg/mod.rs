//! The door for the PostgreSQL wire protocol: psql, Grafana's PostgreSQL data source, BI tools.
//!
//! | file | what |
//! |---|---|
//! | `server` | accepts connections up to a cap, and closes them on shutdown |
//! | `connection` | the messages of one connection, each of bounded length |
//! | `auth` | who may connect, and whose rows they see |
//! | `session` | SET, SHOW and transactions, which only concern the connection |
//! | `prepared` | a statement between its parsing and its execution |
//! | `query` | the simple and the extended query protocol |
//! | `portals` | what a connection keeps by name, and portals with their rows |
//! | `rows` | rows as the protocol writes them; nested values as JSON text |
//!
//! Every query takes the same way as those of the other doors, with the same limits.

mod auth;
mod connection;
mod portals;
mod prepared;
mod query;
mod rows;
mod server;
mod session;

pub use server::{PgDoor, serve};
