//! The messages of one connection in turn, each of bounded length.
//!
//! The library has this loop too, but takes a message of a gigabyte, and that from a client that has not logged in.

use super::auth::{FAREWELL, Startup, fatal};
use super::prepared::Prepared;
use super::query::Queries;
use super::rows::error;
use crate::net::Caller;
use futures::{FutureExt, StreamExt};
use pgwire::api::cancel::DefaultCancelHandler;
use pgwire::api::{ClientInfo, NoopHandler};
use pgwire::error::PgWireResult;
use pgwire::messages::{PgWireBackendMessage, PgWireFrontendMessage};
use pgwire::tokio::server::{
    MaybeTls, PgWireMessageServerCodec, negotiate_tls, process_error, process_message,
};
use std::io;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::codec::{Framed, FramedParts};

/// How long a client may take to log in.
const LOGIN: Duration = Duration::from_secs(60);

/// Bytes of a message before the login: the protocol's beginning has at most 10,000, a password fits in the rest.
const BEFORE_LOGIN: usize = 32 << 10;

/// What answers the messages of a connection.
pub struct Handlers {
    /// Queries.
    pub queries: Arc<Queries>,
    /// The login.
    pub startup: Arc<Startup>,
    /// Requests to cancel the query of another connection.
    pub cancel: Arc<DefaultCancelHandler>,
    /// Bytes that a message may have after the login.
    pub max_message: usize,
    /// Counts refusals, if all places are taken: then only a request to cancel is served.
    pub full: Option<metrics::Counter>,
}

/// Answers the messages of `socket` until its end.
///
/// # Errors
/// What was wrong with the connection.
pub async fn talk(socket: TcpStream, tls: Option<TlsAcceptor>, handlers: Arc<Handlers>) -> io::Result<()> {
    let patience = tokio::time::sleep(LOGIN);
    tokio::pin!(patience);
    let socket = tokio::select! {
        () = &mut patience => return Ok(()),
        socket = negotiate_tls::<Prepared>(socket, tls) => socket?,
    };
    // There is none if the client began with TLS and the server has none.
    let Some(socket) = socket else { return Ok(()) };
    if has_plain(&socket) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "unencrypted data came before the encryption",
        ));
    }
    let mut socket = bounded(socket);
    loop {
        let known = socket.session_extensions().get::<Caller>().is_some();
        let most = if known { handlers.max_message } else { BEFORE_LOGIN };
        socket.get_mut().allow(most);
        let next = tokio::select! {
            () = &mut patience, if !known => return Ok(()),
            next = socket.next() => next,
        };
        let message = match next {
            None | Some(Ok(PgWireFrontendMessage::Terminate(_))) => return Ok(()),
            Some(Ok(message)) => message,
            Some(Err(_)) if socket.get_ref().is_used_up() => {
                let why = fatal("54000", format!("a message has more than {most} bytes"));
                // A client that is busy sending may not read it.
                let _ = tokio::time::timeout(FAREWELL, process_error(&mut socket, why, false)).await;
                return Ok(());
            }
            Some(Err(why)) => return Err(io::Error::other(why.to_string())),
        };
        let is_cancel = matches!(message, PgWireFrontendMessage::CancelRequest(_));
        if let Some(refused) = handlers.full.as_ref().filter(|_| !is_cancel) {
            refused.increment(1);
            let why = fatal("53300", "too many connections: sql.max_connections are open".to_owned());
            let _ = tokio::time::timeout(FAREWELL, process_error(&mut socket, why, false)).await;
            return Ok(());
        }
        let is_extended = message.is_extended_query();
        let done = process_message(
            message,
            &mut socket,
            handlers.startup.clone(),
            handlers.queries.clone(),
            handlers.queries.clone(),
            Arc::new(NoopHandler),
            handlers.cancel.clone(),
        );
        if let Err(why) = caught(done).await {
            process_error(&mut socket, why, is_extended).await?;
        }
        if handlers.full.is_some() {
            // The place is for the next who wants to cancel.
            return Ok(());
        }
    }
}

/// What `work` ends with. A fault of ours in it is told as one, and the connection goes on.
async fn caught(work: impl Future<Output = PgWireResult<()>>) -> PgWireResult<()> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(done) => done,
        Err(_) => {
            let why = "the server met a fault of its own, which its log tells; the connection goes on";
            Err(error("XX000", why.to_owned()))
        }
    }
}

/// Whether bytes that came in plain would be read as if they were encrypted: somebody between client and server can put messages
/// behind the request for TLS, and the library keeps them.
fn has_plain<IO: 'static>(socket: &Wire<IO>) -> bool {
    socket.is_secure() && !socket.read_buffer().is_empty()
}

type Wire<IO> = Framed<IO, PgWireMessageServerCodec<Prepared>>;

fn bounded(socket: Wire<MaybeTls>) -> Wire<Bounded<MaybeTls>> {
    let old = socket.into_parts();
    let mut parts = FramedParts::new::<PgWireBackendMessage>(Bounded::new(old.io), old.codec);
    parts.read_buf = old.read_buf;
    parts.write_buf = old.write_buf;
    Framed::from_parts(parts)
}

/// A stream that gives only so many bytes until it is allowed more.
///
/// Who allows `n` bytes before each message gets no message that is much longer: what is left of an earlier read may be added.
struct Bounded<IO> {
    io: IO,
    left: usize,
}

impl<IO> Bounded<IO> {
    fn new(io: IO) -> Self {
        Self { io, left: 0 }
    }

    fn allow(&mut self, bytes: usize) {
        self.left = bytes;
    }

    fn is_used_up(&self) -> bool {
        self.left == 0
    }
}

impl<IO: AsyncRead + Unpin> AsyncRead for Bounded<IO> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.is_used_up() {
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::InvalidData, "a message is too long")));
        }
        let before = buf.filled().len();
        let polled = Pin::new(&mut this.io).poll_read(cx, buf);
        let read = buf.filled().len().saturating_sub(before);
        this.left = this.left.saturating_sub(read);
        polled
    }
}

impl<IO: AsyncWrite + Unpin> AsyncWrite for Bounded<IO> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().io).poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgwire::api::DefaultClient;
    use pgwire::error::PgWireError;
    use tokio::io::AsyncReadExt;

    #[test]
    fn what_came_before_the_encryption_is_not_read_as_encrypted() {
        for (is_secure, read, is_plain) in [(true, "Q", true), (true, "", false), (false, "Q", false)] {
            let client = DefaultClient::<Prepared>::new(([127, 0, 0, 1], 5432).into(), is_secure);
            let codec = PgWireMessageServerCodec::new(client);
            let mut parts = FramedParts::new::<PgWireBackendMessage>(tokio::io::empty(), codec);
            parts.read_buf.extend_from_slice(read.as_bytes());
            assert_eq!(has_plain(&Framed::from_parts(parts)), is_plain, "{is_secure} {read:?}");
        }
    }

    #[tokio::test]
    async fn a_panic_is_an_internal_error() {
        let fault = std::future::poll_fn(|_| -> Poll<PgWireResult<()>> { panic!("a fault") });
        match caught(fault).await {
            Err(PgWireError::UserError(info)) => assert_eq!(info.code, "XX000"),
            other => panic!("{other:?}"),
        }
        assert!(caught(async { Ok(()) }).await.is_ok());
    }

    #[tokio::test]
    async fn no_more_is_read_than_allowed() {
        let sent = [7u8; 100];
        let mut stream = Bounded::new(sent.as_slice());
        stream.allow(10);
        let mut ten = [0; 10];
        assert!(stream.read_exact(&mut ten).await.is_ok());
        assert!(stream.is_used_up());
        assert!(stream.read_u8().await.is_err());
        stream.allow(10);
        assert!(stream.read_exact(&mut ten).await.is_ok(), "more is allowed for the next message");
        assert_eq!(stream.io.len(), 80);
    }
}
