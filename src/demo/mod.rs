//! The demo: a small business on one SQLite file, for the exporter to watch.
//!
//! Three systems run on it: a lease queue ([`queue`]), a transactional queue ([`transactional`])
//! and notification runs ([`notifications`]). [`run_workload`] brings them to life with simulated
//! workers, consumers and schedulers, some of which fail, crash or get in each other's way, as real
//! ones do.
//!
//! # What a seed repeats
//!
//! Every actor draws its decisions from a generator of its own, derived from the seed and the
//! actor's name, and draws the same number of values for each decision. So the same seed gives each
//! actor the same stream of decisions: the third job of `worker-1` crashes in every run. It does
//! not repeat the run: which worker gets which job, and in which order the actors reach the
//! database, is up to the scheduler of the machine. Claim tokens come from the database and are
//! different each time.

pub mod notifications;
pub mod pause;
pub mod queue;
mod schema;
#[cfg(test)]
mod tests;
pub mod transactional;
mod workload;

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

pub use schema::now;
pub use workload::{DemoSummary, run_notifications, run_workload};

/// The database's file name in the demo's folder.
const DATABASE_FILE: &str = "demo.sqlite";

/// The exporter configuration's file name in the demo's folder.
const CONFIG_FILE: &str = "sqlqueue-exporter.yaml";

/// How the demo runs.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoOptions {
    /// Where its files are; created if missing. A database found there is continued.
    pub folder: PathBuf,
    /// Where all its decisions come from.
    pub seed: u64,
    /// 1.0 is normal; 2.0 halves every pause, duration and lease. Between 0.1 and 100.
    pub speed: f64,
}

/// Why the demo could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// A file or folder could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The configuration file, which is UTF-8, cannot name the database.
    #[error("the folder {} has a name that is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// A speed that makes no sense.
    #[error("the speed must be between 0.1 and 100, not {0}")]
    Speed(f64),
    /// The file system cannot do what WAL mode needs; network file systems cannot.
    #[error("the database would be in journal mode {mode:?} instead of WAL; choose a folder on a local disk")]
    NotWal {
        /// The mode it is in.
        mode: String,
    },
    /// A statement failed.
    #[error("demo database: {0}")]
    Database(#[from] rusqlite::Error),
    /// One of the actors gave up, which ends the demo.
    #[error("{actor}: {source}")]
    Actor {
        /// Its name.
        actor: String,
        /// What happened to it.
        source: Box<Self>,
    },
    /// A task of the demo panicked or was aborted.
    #[error("a task ended early: {0}")]
    Task(#[from] tokio::task::JoinError),
}

/// A prepared demo database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DemoDatabase {
    folder: PathBuf,
    /// Absolute; as text because the configuration file holds it.
    file: String,
}

impl DemoDatabase {
    /// The database file, as an absolute path.
    #[must_use]
    pub fn file(&self) -> &Path {
        Path::new(&self.file)
    }

    /// The exporter configuration that [`prepare`] wrote.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.folder.join(CONFIG_FILE)
    }

    /// The exporter configuration for this database.
    #[must_use]
    pub fn config_yaml(&self) -> String {
        // A JSON string is also a YAML one, whatever the path is made of.
        let file = serde_json::Value::from(self.file.as_str()).to_string();
        include_str!("sqlqueue-exporter.yaml").replacen("{file}", &file, 1)
    }

    /// Opens one more connection to the database.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened, or not in WAL mode.
    pub fn connect(&self) -> Result<Connection, DemoError> {
        schema::open(self.file())
    }
}

/// Creates the folder, the database and the exporter configuration.
///
/// A database that is already there is continued: its rows stay, jobs that were being worked on are
/// recovered when their leases lapse. But no session outlives a restart, so locks and marks that an
/// earlier demo left behind are gone. Not for a folder in which another demo is running.
///
/// # Errors
///
/// When the speed is out of range, or something cannot be written.
pub fn prepare(options: &DemoOptions) -> Result<DemoDatabase, DemoError> {
    check_speed(options.speed)?;
    let io = |path: &Path, source| DemoError::Io { path: path.to_path_buf(), source };
    let folder = std::path::absolute(&options.folder).map_err(|error| io(&options.folder, error))?;
    std::fs::create_dir_all(&folder).map_err(|error| io(&folder, error))?;
    let file = folder
        .join(DATABASE_FILE)
        .into_os_string()
        .into_string()
        .map_err(|_| DemoError::NotUtf8(folder.clone()))?;

    let database = DemoDatabase { folder, file };
    schema::create(&mut database.connect()?)?;
    let config_file = database.config_file();
    std::fs::write(&config_file, database.config_yaml()).map_err(|error| io(&config_file, error))?;
    Ok(database)
}

/// What the demo runs and what to open, for the terminal. `urls` are the pages that the caller
/// serves, each with what it shows.
#[must_use]
pub fn banner(database: &DemoDatabase, options: &DemoOptions, urls: &[(&str, String)]) -> String {
    let mut text = format!(
        "Demo on {file}\n\
         \x20 a lease queue (JobQueue, JobAttempt) with {workers} workers, of which some fail, crash or stall\n\
         \x20 a transactional queue (WorkQueue) with {consumers} consumers\n\
         \x20 notification runs (RunLog, NotificationControl) by {schedulers} schedulers that overlap\n\
         Seed {seed}, speed {speed}. Exporter configuration: {config}\n",
        file = database.file,
        workers = workload::WORKERS,
        consumers = workload::CONSUMERS,
        schedulers = workload::SCHEDULERS,
        seed = options.seed,
        speed = options.speed,
        config = database.config_file().display(),
    );
    if !urls.is_empty() {
        text.push_str("Open:\n");
    }
    let width = urls.iter().map(|(what, _)| what.chars().count()).max().unwrap_or(0);
    for (what, url) in urls {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "  {what:width$}  {url}");
    }
    text
}

fn check_speed(speed: f64) -> Result<(), DemoError> {
    if (0.1..=100.0).contains(&speed) { Ok(()) } else { Err(DemoError::Speed(speed)) }
}

/// A duration as the statements take it.
fn ms(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
