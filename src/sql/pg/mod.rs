//! The endpoint for the PostgreSQL wire protocol: psql, Grafana's PostgreSQL data source, BI tools.
//!
//! | file | what |
//! |---|---|
//! | `server` | accepts connections up to a cap, and closes them on shutdown |
//! | `connection` | the messages of one connection, each of bounded length |
//! | `auth` | who may connect, and whose rows they see |
//! | `session` | SET, SHOW and transactions, which only concern the connection |
//! | `transactions` | one snapshot for a transaction that asks for it |
//! | `copy` | `COPY … TO STDOUT` as text, CSV and binary |
//! | `cursors` | `DECLARE … CURSOR`, `FETCH`, `CLOSE` |
//! | `explain` | `EXPLAIN … EXECUTE`, which drivers ask |
//! | `floats` | infinite numbers in text |
//! | `kept` | how much a connection keeps by name |
//! | `lists` | parameters that are lists in text, and those that are JSON |
//! | `moments` | parameters that are times far away |
//! | `named` | `PREPARE` and `EXECUTE` in SQL |
//! | `names` | which names a statement uses |
//! | `rewrite` | what clients write and the engine has no word for |
//! | `prepared` | a statement between its parsing and its execution |
//! | `parser` | from the text of a query to statements and plans |
//! | `rows` | rows as the protocol writes them; nested values as JSON text |
//! | `send` | answers, sent as the client reads them |
//! | `portals` | what a connection keeps by name, and portals with their rows |
//! | `query` | the extended query protocol, and how every statement is run |
//! | `simple` | the simple query protocol |
//!
//! Every query takes the same way as those of the other endpoints, with the same limits.

mod auth;
mod connection;
mod copy;
mod cursors;
mod explain;
mod floats;
mod kept;
mod lists;
mod moments;
mod named;
mod names;
mod parser;
mod portals;
mod prepared;
mod query;
mod rewrite;
mod rows;
mod send;
mod server;
mod session;
mod simple;
mod transactions;

pub use server::{PgEndpoint, serve};
