//! Who may connect, and whose rows they see.

use super::rows::error;
use super::session;
use crate::net::{Access, Caller, Role, Scope};
use crate::sql::settings::SERVER_VERSION;
use async_trait::async_trait;
use futures::{Sink, SinkExt};
use pgwire::api::auth::{
    DefaultServerParameterProvider, StartupHandler, finish_authentication, protocol_negotiation,
    save_startup_parameters_to_metadata,
};
use pgwire::api::{
    ClientInfo, ConnectionGuard, ConnectionHandle, ConnectionManager, METADATA_USER, PgWireConnectionState,
    PidSecretKeyGenerator, RandomPidSecretKeyGenerator,
};
use pgwire::error::{ErrorInfo, PgWireError, PgWireResult};
use pgwire::messages::startup::Authentication;
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// When a connection must be encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encrypted {
    /// Always: clients must show certificates, which they can do in TLS only.
    Always,
    /// Unless it comes from this machine: tokens are sent as they are.
    FromAfar,
    /// Never: something in front of this port sees to it.
    Never,
}

/// How long a client may take to read why its connection ends.
pub const FAREWELL: Duration = Duration::from_secs(1);

/// Does the protocol's beginning for one connection.
pub struct Startup {
    access: Access,
    encrypted: Encrypted,
    connections: Arc<ConnectionManager>,
    keys: RandomPidSecretKeyGenerator,
    parameters: DefaultServerParameterProvider,
    refused: CancellationToken,
}

impl Startup {
    /// Lets in whom `access` admits, and registers connections so that their queries can be cancelled. Cancels `refused` a
    /// moment after it let nobody in: the library would go on reading.
    pub fn new(
        access: Access,
        encrypted: Encrypted,
        connections: Arc<ConnectionManager>,
        refused: CancellationToken,
    ) -> Self {
        let mut parameters = DefaultServerParameterProvider::default();
        parameters.default_transaction_read_only = true;
        parameters.is_superuser = false;
        parameters.server_version = SERVER_VERSION.to_owned();
        // As SHOW has it.
        parameters.time_zone = "UTC".to_owned();
        let keys = RandomPidSecretKeyGenerator::default();
        Self { access, encrypted, connections, keys, parameters, refused }
    }

    fn check_encryption<C: ClientInfo>(&self, client: &C) -> PgWireResult<()> {
        let needed = match self.encrypted {
            Encrypted::Always => true,
            Encrypted::FromAfar => !client.socket_addr().ip().is_loopback(),
            Encrypted::Never => false,
        };
        if client.is_secure() || !needed {
            return Ok(());
        }
        Err(fatal("28000", "this port needs TLS: connect with sslmode=require (server.tls)".to_owned()))
    }

    async fn admit<C>(&self, client: &mut C, caller: Caller) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let (pid, key) = self.keys.generate(client);
        client.set_pid_and_secret_key(pid, key.clone());
        let (handle, guard) = self.connections.register(pid, key);
        client.session_extensions().insert::<Arc<ConnectionHandle>>(handle);
        client.session_extensions().insert::<ConnectionGuard>(guard);
        client.session_extensions().insert::<Caller>(caller);
        session::begin(client)?;
        finish_authentication(client, &self.parameters).await
    }
}

/// An error with its SQLSTATE, after which the connection is closed.
pub fn fatal(code: &str, why: String) -> PgWireError {
    PgWireError::UserError(Box::new(ErrorInfo::new("FATAL".to_owned(), code.to_owned(), why)))
}

/// Whose rows the connection sees now.
///
/// # Errors
/// If it was not let in, or its token was taken away since.
pub fn scope<C: ClientInfo + ?Sized>(client: &C, access: &Access) -> PgWireResult<Scope> {
    let caller = client.session_extensions().get::<Caller>();
    let now = caller.and_then(|caller| access.still(&caller)).filter(|caller| caller.may(Role::Query));
    let gone = || error("28000", "the token of this connection is not valid any more".to_owned());
    now.map(|caller| caller.scope()).ok_or_else(gone)
}

#[async_trait]
impl StartupHandler for Startup {
    async fn on_startup<C>(&self, client: &mut C, message: PgWireFrontendMessage) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let begun = self.begin(client, message).await;
        if begun.is_err() {
            let refused = self.refused.clone();
            tokio::spawn(async move {
                tokio::time::sleep(FAREWELL).await;
                refused.cancel();
            });
        }
        begun
    }
}

impl Startup {
    async fn begin<C>(&self, client: &mut C, message: PgWireFrontendMessage) -> PgWireResult<()>
    where
        C: ClientInfo + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        match message {
            PgWireFrontendMessage::Startup(ref startup) => {
                self.check_encryption(client)?;
                protocol_negotiation(client, startup).await?;
                save_startup_parameters_to_metadata(client, startup);
                if self.access.is_open()
                    && let Some(caller) = self.access.of_token(b"")
                {
                    return self.admit(client, caller).await;
                }
                client.set_state(PgWireConnectionState::AuthenticationInProgress);
                let ask = PgWireBackendMessage::Authentication(Authentication::CleartextPassword);
                Ok(client.send(ask).await?)
            }
            PgWireFrontendMessage::PasswordMessageFamily(message) => {
                let password = message.into_password()?;
                match self.access.of_token(password.password.as_bytes()) {
                    Some(caller) if caller.may(Role::Query) => self.admit(client, caller).await,
                    Some(caller) => {
                        let why = format!("the token {:?} does not have the role query", caller.name());
                        Err(fatal("28000", why))
                    }
                    None => {
                        let user = client.metadata().get(METADATA_USER).cloned().unwrap_or_default();
                        Err(PgWireError::InvalidPassword(user))
                    }
                }
            }
            _ => Ok(()),
        }
    }
}
