//! Where samples go: saved first, shown second.
//!
//! A counter that a scrape has seen is on disk already, so that it does not go down when the process
//! dies. Saves are made one at a time.

use std::sync::{Arc, PoisonError};

use tokio::sync::Mutex;
use tracing::{error, info};

use crate::clock::SharedClock;
use crate::config::{Config, Source, TargetConfig};
use crate::exposition::SharedState;
use crate::state::{SavingState, SourceState, State, TargetData, TargetState};
use crate::state_file::{OpenError, StateFile, StateFileError, TargetKey};
use crate::statement::TailRequest;

/// The state, and the file behind it.
#[derive(Debug)]
pub struct Ledger {
    state: SharedState,
    file: Option<Arc<Mutex<StateFile>>>,
    clock: SharedClock,
    sources: Vec<SourceKey>,
}

/// A source, as far as a saved target belongs to it.
#[derive(Debug)]
struct SourceKey {
    name: String,
    database: String,
}

impl SourceKey {
    fn of(source: &Source) -> Self {
        Self { name: source.name.clone(), database: source.database.to_string() }
    }
}

impl Ledger {
    /// The ledger of a configuration: takes its state file and goes on from what was saved.
    ///
    /// # Errors
    /// When the state file is in use by another process.
    pub fn open(config: &Config, clock: SharedClock) -> Result<Self, OpenError> {
        let mut state = State::new(config);
        let file = match &config.state_file {
            None => {
                info!(
                    "no state_file is configured: counting starts at the end of each log, at 0, with each start"
                );
                None
            }
            Some(path) => {
                let opened = StateFile::open(path)?;
                if let Some(problem) = &opened.problem {
                    error!("{problem}");
                } else if opened.is_new {
                    info!(state_file = %path.display(), "there is no state yet: counting starts at the end of each log, at 0");
                }
                restore(&mut state, config, &opened.file);
                state.saving =
                    Some(SavingState { successful: opened.problem.is_none(), last_success_ms: None });
                Some(Arc::new(Mutex::new(opened.file)))
            }
        };
        let sources = config.sources.iter().map(SourceKey::of).collect();
        Ok(Self { state: SharedState::new(state.into()), file, clock, sources })
    }

    /// The state that scrapes read.
    #[must_use]
    pub fn state(&self) -> SharedState {
        Arc::clone(&self.state)
    }

    /// A copy of what is known about a target.
    pub(super) fn target(&self, source: usize, position: usize) -> Option<TargetState> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.sources.get(source)?.targets.get(position).cloned()
    }

    /// What a target has to be asked for next.
    pub(super) fn request(&self, source: usize, position: usize, target: TargetConfig<'_>) -> TailRequest {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let known = state.sources.get(source).and_then(|source| source.targets.get(position));
        known.map_or(TailRequest::Head, |known| known.request(target))
    }

    /// Changes what is known about a source and is not saved.
    pub(super) fn change(&self, source: usize, change: impl FnOnce(&mut SourceState)) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(source) = state.sources.get_mut(source) {
            change(source);
        }
    }

    /// Saves a target after a good sample, then shows it. What cannot be saved is shown all the same.
    pub(super) async fn commit(
        &self,
        source: usize,
        position: usize,
        target: TargetConfig<'_>,
        after: TargetState,
        skew_ms: i64,
    ) {
        if after.data.is_counted()
            && let Some(source) = self.sources.get(source)
        {
            self.save(key(source, target), after.data.clone()).await;
        }
        self.change(source, |source| {
            source.up = Some(true);
            source.clock_skew_ms = Some(skew_ms);
            if let Some(known) = source.targets.get_mut(position) {
                *known = after;
            }
        });
    }

    async fn save(&self, key: TargetKey, data: TargetData) {
        let Some(file) = &self.file else {
            return;
        };
        let mut file = Arc::clone(file).lock_owned().await;
        // The disk may be slow; the reactor must not wait for it.
        let saving = tokio::task::spawn_blocking(move || file.save(key, &data));
        let saved = match saving.await {
            Ok(saved) => saved,
            Err(error) if error.is_panic() => Err(StateFileError::panicked()),
            Err(_cancelled) => return, // the process is being stopped
        };
        self.note(saved);
    }

    /// Keeps whether saving goes well, and says so when that changes.
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
        restore_source(known, source, file);
    }
}

fn restore_source(known: &mut SourceState, source: &Source, file: &StateFile) {
    for (known, target) in known.targets.iter_mut().zip(source.targets()) {
        let key = key(&SourceKey::of(source), target);
        match file.target(&key) {
            Ok(Some(saved)) => known.restore(saved),
            Ok(None) => {}
            Err(error) => error!(?key, %error, "what was saved of this target is not usable, it starts anew"),
        }
    }
}

fn key(source: &SourceKey, target: TargetConfig<'_>) -> TargetKey {
    let id = match target {
        TargetConfig::Queue(queue) => queue.id.as_ref(),
        TargetConfig::AttemptLog(log) => Some(&log.id),
        TargetConfig::RunLog(log) => Some(&log.id),
        TargetConfig::ControlTable(control) => Some(&control.id),
    };
    TargetKey {
        source: source.name.clone(),
        kind: target.label().to_owned(),
        name: target.target().name.clone(),
        database: source.database.clone(),
        table: target.target().table.0.clone(),
        id: id.cloned(),
        filter: target.target().filter.clone(),
    }
}
