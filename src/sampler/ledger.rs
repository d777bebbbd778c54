//! The ledger: takes good samples, saves them first and shows them second.
//!
//! A counter that a scrape has seen is already on disk, so that it does not go down when the process dies.
//! Saves are made one at a time.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::Mutex;
use tracing::{error, info};

use super::carry_over;
use crate::clock::SharedClock;
use crate::config::{Config, Source, TargetConfig};
use crate::state::{
    AnotherKind, ConfigState, SavingState, SharedState, SourceState, State, TargetData, TargetState,
};
use crate::state_file::{OpenError, StateFile, StateFileError, TargetKey};
use crate::statement::TailRequest;

/// The state, and the file behind it.
#[derive(Debug)]
pub struct Ledger {
    state: SharedState,
    file: RwLock<Option<SharedFile>>,
    clock: SharedClock,
}

/// A state file that is open.
#[derive(Debug, Clone)]
struct SharedFile {
    path: PathBuf,
    file: Arc<Mutex<StateFile>>,
}

/// A configuration that can be applied: everything that may fail is done.
#[derive(Debug)]
pub(super) struct Prepared {
    state: State,
    file: Option<SharedFile>,
}

impl Ledger {
    /// The ledger of a configuration: opens its state file and continues from what was saved.
    ///
    /// # Errors
    /// When the state file is in use by another process.
    pub fn open(config: &Config, clock: SharedClock) -> Result<Self, OpenError> {
        if config.state_file.is_none() {
            info!(
                "no state_file is configured: with each start, counting begins at the end of each log, at 0"
            );
        }
        let ledger = Self { state: SharedState::default(), file: RwLock::default(), clock };
        let Prepared { mut state, file } = ledger.prepare_file(config)?;
        state.config = ledger.config_taken();
        *ledger.file.write().unwrap_or_else(PoisonError::into_inner) = file;
        *ledger.state.write().unwrap_or_else(PoisonError::into_inner) = state;
        Ok(ledger)
    }

    /// Opens the files of another configuration. Nothing is changed yet.
    ///
    /// # Errors
    /// When its state file is in use by another process.
    pub(super) async fn prepare(&self, config: &Config) -> Result<Prepared, OpenError> {
        let open = self.file.read().unwrap_or_else(PoisonError::into_inner).clone();
        match open {
            Some(open) if config.state_file.as_ref() == Some(&open.path) => {
                let mut state = State::new(config);
                restore(&mut state, config, &*open.file.lock().await);
                Ok(Prepared { state, file: Some(open) })
            }
            _ => self.prepare_file(config),
        }
    }

    fn prepare_file(&self, config: &Config) -> Result<Prepared, OpenError> {
        let mut state = State::new(config);
        let Some(path) = &config.state_file else {
            return Ok(Prepared { state, file: None });
        };
        let opened = StateFile::open(path)?;
        if let Some(problem) = &opened.problem {
            error!("{problem}");
        } else if opened.is_new {
            info!(state_file = %path.display(), "there is no state yet: counting starts at the end of each log, at 0");
        }
        restore(&mut state, config, &opened.file);
        state.saving = Some(SavingState { successful: opened.problem.is_none(), last_success_ms: None });
        let file = SharedFile { path: path.clone(), file: Arc::new(Mutex::new(opened.file)) };
        Ok(Prepared { state, file: Some(file) })
    }

    /// Switches to another configuration at once. What is known about targets that stay is kept. No sampler of
    /// a source that changes may be running.
    pub(super) fn take_over(&self, before: &Config, after: &Config, prepared: Prepared) {
        let Prepared { state: mut next, file } = prepared;
        next.config = self.config_taken();
        let mut current = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let mut open = self.file.write().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().map(|file| &file.path) == file.as_ref().map(|file| &file.path) {
            next.saving = current.saving;
        }
        carry_over::carry_over(&mut next, after, std::mem::take(&mut *current), before);
        *current = next;
        *open = file;
    }

    fn config_taken(&self) -> ConfigState {
        ConfigState { successful: true, last_success_ms: self.clock.unix_ms() }
    }

    /// Notes that a configuration was refused; the one before stays.
    pub fn config_refused(&self) {
        self.state.write().unwrap_or_else(PoisonError::into_inner).config.successful = false;
    }

    /// The state that scrapes read.
    #[must_use]
    pub fn state(&self) -> SharedState {
        Arc::clone(&self.state)
    }

    /// A copy of what is known about a target.
    pub(super) fn target(&self, source: &str, position: usize) -> Option<TargetState> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.source(source)?.targets.get(position).cloned()
    }

    /// What the next sample of a target has to ask for.
    pub(super) fn request(
        &self,
        source: &str,
        position: usize,
        target: TargetConfig<'_>,
    ) -> Result<TailRequest, AnotherKind> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let known = state.source(source).and_then(|source| source.targets.get(position));
        known.map_or(Ok(TailRequest::Head), |known| known.request(target))
    }

    /// Changes what is known about a source, without saving it.
    pub(super) fn change(&self, source: &str, change: impl FnOnce(&mut SourceState)) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = state.sources.iter_mut().find(|known| known.name == source) {
            change(source);
        }
    }

    /// Saves a target after a good sample, then shows it, even if it could not be saved.
    pub(super) async fn commit(
        &self,
        source: &Source,
        position: usize,
        target: TargetConfig<'_>,
        after: TargetState,
        skew_ms: i64,
    ) {
        if after.data.is_counted() {
            self.save(carry_over::key(source, target), after.data.clone()).await;
        }
        self.change(&source.name, |source| {
            source.up = Some(true);
            source.clock_skew_ms = Some(skew_ms);
            if let Some(known) = source.targets.get_mut(position) {
                *known = after;
            }
        });
    }

    async fn save(&self, key: TargetKey, data: TargetData) {
        let open = self.file.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(SharedFile { file, .. }) = open else {
            return;
        };
        let mut file = file.lock_owned().await;
        // The disk may be slow; the reactor must not wait for it.
        let saving = tokio::task::spawn_blocking(move || file.save(key, &data));
        let saved = match saving.await {
            Ok(saved) => saved,
            Err(error) if error.is_panic() => Err(StateFileError::panicked()),
            Err(_cancelled) => return, // the process is being stopped
        };
        self.note(saved);
    }

    /// Notes whether the state was saved, and logs when that changes.
    fn note(&self, saved: Result<(), StateFileError>) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        let before = state.saving.unwrap_or_default();
        let last_success_ms = match saved {
            Ok(()) => Some(self.clock.unix_ms()),
            Err(_) => before.last_success_ms,
        };
        state.saving = Some(SavingState { successful: saved.is_ok(), last_success_ms });
        drop(state);
        match saved {
            Err(problem) if before.successful => error!("{problem}"),
            Ok(()) if !before.successful => info!("the state is saved again"),
            Ok(()) | Err(_) => {}
        }
    }
}

fn restore(state: &mut State, config: &Config, file: &StateFile) {
    for (known, source) in state.sources.iter_mut().zip(&config.sources) {
        for (known, target) in known.targets.iter_mut().zip(source.targets()) {
            let key = carry_over::key(source, target);
            let problem = match file.target(&key) {
                Ok(None) => continue,
                Ok(Some(saved)) => known.restore(saved).err().map(|error| error.to_string()),
                Err(error) => Some(error.to_string()),
            };
            if let Some(error) = problem {
                error!(?key, %error, "the saved state of this target is unusable; it starts from scratch");
            }
        }
    }
}
