//! Errors of the demo: why it cannot start or continue.

use std::io;
use std::path::PathBuf;

/// Why the demo cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// A file or folder could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The path of the database cannot be written in the configuration file, which is UTF-8.
    #[error("the folder {} has a name that is not UTF-8", .0.display())]
    NotUtf8(PathBuf),
    /// The demo's own configuration would overwrite one that no demo wrote.
    #[error(
        "{} was not written by a demo, and the demo would overwrite it; choose another folder with `--folder`, \
         or move the file away",
        .0.display()
    )]
    OtherConfiguration(PathBuf),
    /// A speed that is out of range.
    #[error("the speed must be between 0.1 and 100, not {0}")]
    Speed(f64),
    /// The exporter's configuration could not be rendered; a defect of the demo.
    #[error("cannot write the exporter's configuration: {0}")]
    Configuration(#[from] minijinja::Error),
    /// The file system supports this journal mode instead of WAL, as network file systems do.
    #[error("the database would be in journal mode {0:?} instead of WAL; choose a folder on a local disk")]
    NotWal(String),
    /// A statement failed.
    #[error("demo database: {0}")]
    Database(#[from] rusqlite::Error),
    /// One of the actors failed, which ends the demo.
    #[error("{actor}: {source}")]
    Actor {
        /// Its name.
        actor: String,
        /// Its error.
        source: Box<Self>,
    },
    /// A task of the demo panicked or was aborted.
    #[error("a task ended early: {0}")]
    Task(#[from] tokio::task::JoinError),
}
