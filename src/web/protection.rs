//! What protects the pages, and how it follows its file.

use std::fmt;
use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use hyper::HeaderMap;
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::auth::BasicAuth;
use super::limiter::Limiter;
use super::tls::Tls;
use crate::config::{WebConfig, WebConfigFile};

/// How long what was read is taken to be still so. Looking means to read a few small files.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What protects the pages at a moment.
#[derive(Debug)]
pub(super) struct Protection {
    /// Serve over TLS, and nothing without it.
    pub(super) tls: Option<Tls>,
    /// Answer those who log in, and nobody else.
    pub(super) auth: Option<BasicAuth>,
    /// Headers of every response.
    pub(super) headers: HeaderMap,
    /// How many requests are answered.
    pub(super) limiter: Option<Limiter>,
}

impl Protection {
    fn new(config: WebConfig, auth: Option<BasicAuth>) -> Self {
        Self {
            tls: config.tls.map(Tls::new),
            auth,
            headers: config.headers,
            limiter: config.rate_limit.map(Limiter::new),
        }
    }

    /// What a later configuration makes of it: logins that were verified stay so, and requests that
    /// were counted too, where it says the same about them.
    fn after(config: WebConfig, before: &Self) -> io::Result<Self> {
        let auth = match &before.auth {
            Some(auth) => auth.with_users(&config.users),
            None => BasicAuth::new(&config.users)?,
        };
        let mut after = Self::new(config, auth);
        if let (Some(limiter), Some(old)) = (&mut after.limiter, &before.limiter)
            && limiter.limit() == old.limit()
        {
            limiter.take_over(old);
        }
        Ok(after)
    }
}

/// Knows what protects the pages now. All clones are one.
#[derive(Clone)]
pub struct Guard(Arc<Shared>);

struct Shared {
    current: RwLock<Arc<Protection>>,
    /// Whoever holds the lock is looking; the others do not wait.
    file: Option<Arc<Mutex<Watched>>>,
    look_again: Duration,
}

struct Watched {
    file: WebConfigFile,
    looked: Instant,
}

impl Guard {
    /// Protects as this configuration says, for ever.
    ///
    /// # Errors
    ///
    /// When the system has no random numbers for logins.
    pub fn fixed(config: WebConfig) -> io::Result<Self> {
        Self::new(config, None, LOOK_AGAIN)
    }

    /// Protects as this file says, of which `config` is what it said when it was opened.
    ///
    /// A change is in force for the first connection, or request, a second later. A file that is
    /// broken by a change is reported once, and what it said before stays in force.
    ///
    /// # Errors
    ///
    /// When the system has no random numbers for logins.
    pub fn following(file: WebConfigFile, config: WebConfig) -> io::Result<Self> {
        Self::new(config, Some(file), LOOK_AGAIN)
    }

    /// The same with another pause between two looks at the file.
    pub(super) fn new(
        config: WebConfig,
        file: Option<WebConfigFile>,
        look_again: Duration,
    ) -> io::Result<Self> {
        let auth = BasicAuth::new(&config.users)?;
        Ok(Self::with_auth(config, auth, file, look_again))
    }

    /// The same with other logins, for tests.
    pub(super) fn with_auth(
        config: WebConfig,
        auth: Option<BasicAuth>,
        file: Option<WebConfigFile>,
        look_again: Duration,
    ) -> Self {
        let watched = |file| Arc::new(Mutex::new(Watched { file, looked: Instant::now() }));
        Self(Arc::new(Shared {
            current: RwLock::new(Arc::new(Protection::new(config, auth))),
            file: file.map(watched),
            look_again,
        }))
    }

    /// Whether pages are served over TLS. That does not change while the server runs.
    pub(super) fn has_tls(&self) -> bool {
        self.0.current().tls.is_some()
    }

    /// What protects the pages now.
    pub(super) async fn protection(&self) -> Arc<Protection> {
        if let Some(file) = &self.0.file
            && let Ok(watched) = Arc::clone(file).try_lock_owned()
            && watched.looked.elapsed() >= self.0.look_again
        {
            let shared = Arc::clone(&self.0);
            // The disk may be slow. What is found is put in force in there: the client that made us
            // look may be gone by then.
            if let Err(error) = tokio::task::spawn_blocking(move || shared.look(watched)).await {
                tracing::error!(%error, "reading the web configuration was cut short");
            }
        }
        self.0.current()
    }
}

impl Shared {
    fn current(&self) -> Arc<Protection> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn look(&self, mut watched: OwnedMutexGuard<Watched>) {
        let found = watched.file.reread();
        watched.looked = Instant::now();
        let file = watched.file.path().display();
        match found {
            None => {}
            Some(Err(problem)) => {
                tracing::error!("{problem}; the web configuration stays what it was before this change");
            }
            Some(Ok(config)) => match self.replace(config) {
                Ok(()) => tracing::info!(%file, "the web configuration has changed, and is in force"),
                Err(problem) => {
                    tracing::error!(%file, "the web configuration stays what it was: {problem}");
                }
            },
        }
    }

    fn replace(&self, config: WebConfig) -> Result<(), String> {
        let before = self.current();
        // Who writes a file in place makes it empty first. The pages must not be open for that long.
        if config.is_open() && (before.tls.is_some() || before.auth.is_some()) {
            return Err(
                "it no longer protects the pages at all; restart the exporter if that is meant".into()
            );
        }
        if config.tls.is_some() != before.tls.is_some() {
            return Err("TLS cannot be switched on or off while the exporter runs; restart it".into());
        }
        let after = Protection::after(config, &before).map_err(|error| error.to_string())?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(after);
        Ok(())
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Guard").field(&self.0.current()).finish()
    }
}
