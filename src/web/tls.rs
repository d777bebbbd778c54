//! The TLS of a server, ready for connections.

use std::fmt;
use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;

/// Serves over TLS, with a certificate and its key.
#[derive(Clone)]
pub(super) struct Tls(TlsAcceptor);

impl Tls {
    /// TLS as configured.
    pub(super) fn new(config: Arc<ServerConfig>) -> Self {
        Self(TlsAcceptor::from(config))
    }

    /// Shakes hands with a client.
    pub(super) async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
    ) -> io::Result<TlsStream<S>> {
        self.0.accept(stream).await
    }
}

impl fmt::Debug for Tls {
    // There is a private key inside.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls(..)")
    }
}
