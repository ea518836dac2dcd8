//! The net: connections with their limits and TLS, and who is at the other end.
//!
//! | file | what |
//! |---|---|
//! | `config` | the section `[server]` |
//! | `serve` | accepts connections of an HTTP door up to a cap and serves HTTP/1.1 and HTTP/2 on them |
//! | `pulse` | what a connection does, and when that is too little |
//! | `pace` | bodies that come too slowly end |
//! | `tls` | certificates, and who must show one |
//! | `tokens` | the file of bearer tokens: names, tenants, roles |
//! | `access` | which request may do what, for which tenant |
//! | `reload` | certificates and tokens are read again when their files change |
//!
//! Promises: a client that does nothing, or too little, holds a connection for a bounded time; what a request may see
//! and where its rows go is decided by its token and by nothing that the request says.

mod access;
mod config;
mod pace;
mod pulse;
mod reload;
mod serve;
mod tls;
mod tokens;

pub use access::{Access, CHALLENGE, Caller, Denied, Scope, guarded};
pub use config::{Config, TlsFiles};
pub use pace::TooSlow;
pub use reload::{Reloader, Source};
pub use serve::{Limits, serve, tune};
pub use tls::Tls;
pub use tokens::{Entry, Role, TokenError, TokenSet, digest_of, new_token};
