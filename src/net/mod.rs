//! The net: connections with their limits and TLS, and who is at the other end.
//!
//! | file | what |
//! |---|---|
//! | `config` | the section `[server]` |
//! | `serve` | accepts connections of an HTTP endpoint up to a cap and serves HTTP/1.1 and HTTP/2 on them |
//! | `pulse` | what a connection does, and when that is too little |
//! | `pace` | bodies that come too slowly end |
//! | `coding` | which codings of content a client takes |
//! | `certificate` | until when a certificate holds |
//! | `tls` | certificates, and who must show one |
//! | `tokens` | the file of bearer tokens: names, tenants, roles |
//! | `sessions` | whose token stands behind a browser's cookie, and for how long |
//! | `attempts` | how often an address may try to log in |
//! | `access` | which request may do what, for which tenant |
//! | `names` | names under which a browser reaches the server |
//! | `browsers` | what is asked of browsers beside a token: the right name, pages of this server |
//! | `reload` | certificates and tokens are read again when their files change |
//!
//! Promises: a client that does nothing, or too little, holds a connection for a bounded time; what a request may see
//! and where its rows go is decided by its token and by nothing that the request says; a page of another site can neither
//! use a browser's cookie nor reach a server without tokens.

mod access;
mod attempts;
mod browsers;
mod certificate;
mod coding;
mod config;
mod names;
mod pace;
mod pulse;
mod reload;
mod serve;
mod sessions;
mod tls;
mod tokens;

pub use access::{Access, CHALLENGE, Caller, Denied, Scope, guarded};
pub use browsers::{Browsers, Login, known_browser};
pub use coding::takes_coding;
pub use config::{Config, TlsFiles};
pub use pace::TooSlow;
pub use reload::{Reloader, Source};
pub use serve::{Limits, Peer, serve, tune};
pub use tls::Tls;
pub use tokens::{Entry, Role, TokenError, TokenSet, digest_of, new_token, random_hex};
