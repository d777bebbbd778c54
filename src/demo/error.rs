//! Why the demo cannot start or go on.

use std::io;
use std::path::PathBuf;

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
    /// A configuration that no demo wrote is where the demo's own would be.
    #[error(
        "{} is not of the demo, which would write its own configuration over it; choose another folder with \
         `--folder`, or move the file away",
        .0.display()
    )]
    OtherConfiguration(PathBuf),
    /// A speed that makes no sense.
    #[error("the speed must be between 0.1 and 100, not {0}")]
    Speed(f64),
    /// The exporter configuration could not be written down; a defect of the demo.
    #[error("cannot write the exporter's configuration: {0}")]
    Configuration(#[from] minijinja::Error),
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
