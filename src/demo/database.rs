//! The demo's folder: the database and the exporter configuration.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use minijinja::{Environment, context};
use rusqlite::{Connection, TransactionBehavior};

use super::{DemoError, DemoOptions, check_speed, incident, sql};
use crate::config::duration;

/// The database's file name in the demo's folder.
const DATABASE_FILE: &str = "demo.sqlite";

/// The exporter configuration's file name in the demo's folder.
const CONFIG_FILE: &str = "sqlqueue-exporter.yaml";

/// The exporter's state file in the demo's folder; the configuration has the same name.
const STATE_FILE: &str = "state.json";

/// How long a write waits for another writer: SQLite has a single write lock for the whole file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// The start of each configuration that a demo writes, so that another one may overwrite it.
const MARK: &[u8] = b"# Written by the demo;";

/// A prepared demo database.
#[derive(Debug, Clone)]
pub struct DemoDatabase {
    folder: PathBuf,
    /// An absolute path; as text because the configuration file holds it.
    file: String,
    config_yaml: String,
    /// Replaces the database's clock.
    #[cfg(test)]
    pub(super) clock: Option<crate::clock::SharedClock>,
    /// For how long a connection waits for another writer, in place of the demo's own time.
    #[cfg(test)]
    pub(super) busy_timeout: Option<Duration>,
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
    pub fn config_yaml(&self) -> &str {
        &self.config_yaml
    }

    /// The exporter's state file.
    pub(super) fn state_file(&self) -> PathBuf {
        self.folder.join(STATE_FILE)
    }

    /// Opens one more connection to the database.
    ///
    /// # Errors
    /// When the file cannot be opened, or not in WAL mode.
    pub fn connect(&self) -> Result<Connection, DemoError> {
        let connection = open(self.file())?;
        #[cfg(test)]
        if let Some(clock) = &self.clock {
            super::tests::clock::override_now(&connection, clock)?;
        }
        #[cfg(test)]
        if let Some(timeout) = self.busy_timeout {
            connection.busy_timeout(timeout)?;
        }
        Ok(connection)
    }
}

/// Creates the folder, the database and the exporter configuration.
///
/// An existing database is continued: its rows stay, and jobs in progress are recovered when their
/// leases lapse. But no session survives a restart, so locks and marks left behind by an earlier demo
/// are removed, and an incident that was cut short is over. Not for a folder in which another demo is
/// running.
///
/// # Errors
/// When the speed is out of range, when the folder has a configuration that no demo wrote, or when
/// something cannot be written.
pub fn prepare(options: &DemoOptions) -> Result<DemoDatabase, DemoError> {
    check_speed(options.speed)?;
    let unwritable = |path: &Path, source| DemoError::Io { path: path.to_path_buf(), source };
    let folder = std::path::absolute(&options.folder).map_err(|error| unwritable(&options.folder, error))?;
    std::fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, error))?;
    let file = folder
        .join(DATABASE_FILE)
        .into_os_string()
        .into_string()
        .map_err(|_| DemoError::NotUtf8(folder.clone()))?;

    let config_yaml = configuration(&file, options.speed)?;
    let database = DemoDatabase {
        folder,
        file,
        config_yaml,
        #[cfg(test)]
        clock: None,
        #[cfg(test)]
        busy_timeout: None,
    };
    let config_file = database.config_file();
    // Before anything is changed: a user's own configuration, which has the same name by default.
    match std::fs::read(&config_file) {
        Ok(text) if text.starts_with(MARK) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Ok(_) | Err(_) => return Err(DemoError::OtherConfiguration(config_file)),
    }
    incident::files::undo(database.file(), &database.state_file())?;
    create_tables(&mut database.connect()?)?;
    std::fs::write(&config_file, database.config_yaml()).map_err(|error| unwritable(&config_file, error))?;
    Ok(database)
}

/// Opens the file in WAL mode, where readers (the exporter) and the writer do not block each other.
fn open(file: &Path) -> Result<Connection, DemoError> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Err(DemoError::NotWal(mode));
    }
    // In WAL mode this survives a crash of the process; only a power failure can lose the last commits.
    connection.pragma_update(None, "synchronous", "normal")?;
    Ok(connection)
}

/// Creates missing tables, and ends the sessions of an earlier demo on this file.
fn create_tables(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(sql!("schema"))?;
    transaction.execute_batch(sql!("end_sessions"))?;
    transaction.commit()
}

/// The configuration for a database file.
fn configuration(file: &str, speed: f64) -> Result<String, DemoError> {
    let mut environment = Environment::new();
    // A time in milliseconds at speed 1, and the least that it becomes at other speeds.
    environment.add_filter("paced", move |ms: u64, least: Option<u64>| {
        let least = Duration::from_millis(least.unwrap_or(100));
        duration::text(Duration::from_millis(ms).div_f64(speed).max(least))
    });
    // A JSON string is also a YAML string, whatever the path contains.
    let file = serde_json::Value::from(file).to_string();
    Ok(environment.render_str(include_str!("sqlqueue-exporter.yaml"), context! { file })?)
}
