//! Who may connect, and with which certificates.

use super::error::AppError;
use crate::config::Config;
use crate::net::{Access, Reloader, Tls};

/// What every endpoint asks of its clients, read again when its files change.
pub(super) struct Identity {
    pub access: Access,
    /// None without `[server.tls]`.
    pub tls: Option<Tls>,
    pub reloader: Reloader,
}

impl Identity {
    /// Reads the files of tokens and certificates.
    pub(super) fn open(config: &Config) -> Result<Self, AppError> {
        let (server, mut sources) = (&config.server, Vec::new());
        let mut tls = None;
        if server.tls.is_on() {
            let (made, source) = Tls::load(&server.tls).map_err(AppError::Net)?;
            sources.push(source);
            tls = Some(made);
        }
        let mut access = Access::open(&config.ingest.default_tenant);
        if server.has_tokens() {
            let wrong = |e| AppError::Net(format!("server.tokens_file: {e}"));
            let (loaded, source) = Access::load(&server.tokens_file).map_err(wrong)?;
            sources.push(source);
            access = loaded;
        }
        for (key, address) in config.addresses() {
            if tls.is_none() && server.has_tokens() && !address.ip().is_loopback() {
                tracing::warn!(key, %address, "tokens come unencrypted to this address: set [server.tls]");
            }
        }
        Ok(Self { access, tls, reloader: Reloader::new(sources, server.reload_interval) })
    }
}
