//! The checked web configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hyper::HeaderMap;
use tokio_rustls::rustls::ServerConfig;

use crate::secret::Secret;

/// The security of the exporter's own pages. The default is none.
#[derive(Clone, Default)]
pub struct WebConfig {
    /// Serve over TLS with this certificate, these versions and protocols, and this policy for client
    /// certificates.
    pub tls: Option<Arc<ServerConfig>>,
    /// The users that can log in, with the bcrypt hashes of their passwords. Without users the pages need
    /// no login.
    pub users: BTreeMap<String, Secret>,
    /// Headers added to every response.
    pub headers: HeaderMap,
    /// The limit on answered requests; none if unset.
    pub rate_limit: Option<RateLimit>,
}

impl WebConfig {
    /// Whether the pages need no login and are served unencrypted.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.tls.is_none() && self.users.is_empty()
    }
}

/// A rate limit: `burst` requests at once, and one more per `interval`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// The time per request in the long run; above 0.
    pub interval: Duration,
    /// The number of requests answered at once after a quiet time; at least 1.
    pub burst: u32,
}

impl fmt::Debug for WebConfig {
    // The TLS configuration contains a private key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebConfig")
            .field("tls", &self.tls.is_some())
            .field("users", &self.users)
            .field("headers", &self.headers)
            .field("rate_limit", &self.rate_limit)
            .finish()
    }
}
