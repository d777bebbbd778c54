//! Security settings in force: TLS, logins, response headers and the rate limit, following the web
//! configuration file.

use std::fmt;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use hyper::HeaderMap;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio_rustls::rustls::ServerConfig;

use super::auth::BasicAuth;
use super::config::{WebConfig, WebConfigFile};
use super::limiter::Limiter;

/// The minimum time between two checks of the file for changes. A check reads a few small files.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The security settings at one moment.
pub(super) struct Settings {
    /// Serve over TLS only; plain HTTP if unset.
    pub(super) tls: Option<Arc<ServerConfig>>,
    /// Answer only requests with a valid login; all requests if unset.
    pub(super) auth: Option<BasicAuth>,
    /// Headers added to every response.
    pub(super) headers: HeaderMap,
    /// Limits the rate of requests.
    pub(super) limiter: Option<Arc<Limiter>>,
}

impl Settings {
    fn new(config: WebConfig, auth: Option<BasicAuth>) -> Self {
        Self {
            tls: config.tls,
            auth,
            headers: config.headers,
            limiter: config.rate_limit.map(Limiter::new).map(Arc::new),
        }
    }

    /// The settings of a changed configuration. Verified logins and counted requests carry over where
    /// the configuration still says the same about them.
    fn replacing(before: &Self, mut config: WebConfig) -> io::Result<Self> {
        let auth = match &before.auth {
            Some(auth) => auth.with_users(std::mem::take(&mut config.users)),
            None => BasicAuth::new(std::mem::take(&mut config.users))?,
        };
        let kept = before.limiter.clone().filter(|limiter| config.rate_limit == Some(limiter.limit));
        let settings = Self::new(config, auth);
        Ok(Self { limiter: kept.or(settings.limiter), ..settings })
    }
}

/// The security settings in force. Clones share them.
#[derive(Clone)]
pub struct Security(Arc<Shared>);

struct Shared {
    current: RwLock<Arc<Settings>>,
    /// Locked by the request that checks the file; the others do not wait for it.
    file: Option<Arc<Mutex<Watched>>>,
    check_interval: Duration,
}

struct Watched {
    file: WebConfigFile,
    checked: Instant,
}

impl Security {
    /// The settings of `config`. They follow `file`, whose content this was when it was opened, or never
    /// change without one.
    ///
    /// A change applies to the first connection or request at least a second later. A mistake in the
    /// file is logged once, and the settings before it stay in force.
    ///
    /// # Errors
    /// When the system has no random numbers for logins.
    pub fn new(mut config: WebConfig, file: Option<WebConfigFile>) -> io::Result<Self> {
        let auth = BasicAuth::new(std::mem::take(&mut config.users))?;
        Ok(Self::with_auth(config, auth, file, CHECK_INTERVAL))
    }

    /// [`Security::new`] with another login check and interval between checks of the file, for tests.
    pub(super) fn with_auth(
        config: WebConfig,
        auth: Option<BasicAuth>,
        file: Option<WebConfigFile>,
        check_interval: Duration,
    ) -> Self {
        let watched = |file| Arc::new(Mutex::new(Watched { file, checked: Instant::now() }));
        Self(Arc::new(Shared {
            current: RwLock::new(Arc::new(Settings::new(config, auth))),
            file: file.map(watched),
            check_interval,
        }))
    }

    /// Whether pages are served over TLS. This does not change while the server runs.
    pub(super) fn has_tls(&self) -> bool {
        self.0.current().tls.is_some()
    }

    /// The settings now, after checking the file if a check is due.
    pub(super) async fn settings(&self) -> Arc<Settings> {
        if let Some(file) = &self.0.file
            && let Ok(watched) = Arc::clone(file).try_lock_owned()
            && watched.checked.elapsed() >= self.0.check_interval
        {
            let shared = Arc::clone(&self.0);
            // The disk may be slow. The blocking task also applies the change, because the client that
            // caused the check may be gone by then.
            if let Err(error) = tokio::task::spawn_blocking(move || shared.check(watched)).await {
                tracing::error!(%error, "reading the web configuration was interrupted");
            }
        }
        self.0.current()
    }
}

impl Shared {
    fn current(&self) -> Arc<Settings> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn check(&self, mut watched: OwnedMutexGuard<Watched>) {
        let changed = watched.file.reread();
        watched.checked = Instant::now();
        let file = watched.file.path.display();
        match changed {
            None => {}
            Some(Err(error)) => {
                tracing::error!("{error}; the web configuration stays what it was before this change");
            }
            Some(Ok(config)) => match self.replace(config) {
                Ok(()) => tracing::info!(%file, "the web configuration has changed, and is in force"),
                Err(error) => {
                    tracing::error!(%file, "the web configuration stays what it was: {error}");
                }
            },
        }
    }

    fn replace(&self, config: WebConfig) -> Result<(), String> {
        let before = self.current();
        // A program that writes a file in place first makes it empty. The pages must not be open for
        // that long.
        if config.is_open() && (before.tls.is_some() || before.auth.is_some()) {
            return Err(
                "it no longer protects the pages at all; restart the exporter if that is meant".into()
            );
        }
        if config.tls.is_some() != before.tls.is_some() {
            return Err("TLS cannot be switched on or off while the exporter runs; restart it".into());
        }
        let settings = Settings::replacing(&before, config).map_err(|error| error.to_string())?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
        Ok(())
    }
}

impl fmt::Debug for Security {
    // The TLS configuration contains a private key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Security").field("tls", &self.has_tls()).finish_non_exhaustive()
    }
}
