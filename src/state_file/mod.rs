//! State file: what must survive a restart so that every log row is counted exactly once.
//!
//! The position, counters and histograms of a log are saved together before a scrape can see them, so that a
//! crash at any instruction neither loses nor repeats a row and no counter ever goes down. A file that cannot
//! be used is left unchanged, and counting continues in memory.

mod atomic;
mod format;

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use format::Document;
pub use format::TargetKey;

use crate::files::{beside, identity};
use crate::state::TargetData;

/// Why a state file cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process holds it.
    #[error(
        "the state file {} is in use by another exporter; give each its own `state_file`",
        .0.display()
    )]
    InUse(PathBuf),
}

/// Why a state could not be read or saved. The file is left unchanged.
#[derive(Debug, thiserror::Error)]
pub enum StateFileError {
    /// It cannot be read.
    #[error("the state file {} cannot be read: {error}; it is left unchanged, and counting continues in memory only", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It can be read, but makes no sense.
    #[error("the state file {} {error}; it is left unchanged, and counting continues in memory only: move it away to start from scratch", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        error: String,
    },
    /// It cannot be written.
    #[error("the state file {} cannot be saved: {error}; counting continues in memory", file.display())]
    Unwritable {
        /// The file.
        file: PathBuf,
        /// What the system says, and of what.
        error: String,
    },
}

impl StateFileError {
    /// A save that ended in a panic.
    pub(crate) fn panicked() -> Self {
        let error = "the saving panicked; this is a defect of the exporter".to_owned();
        Self::Unwritable { file: PathBuf::new(), error }
    }
}

/// A state file that this process alone may write.
#[derive(Debug)]
pub struct StateFile {
    path: PathBuf,
    document: Document,
    /// Held until the process ends, when the system releases it.
    lock: Option<File>,
    /// Set when the file on disk must not be replaced.
    sealed: bool,
    /// Set while the document may hold more than the file.
    unwritten: bool,
}

/// The result of opening a state file.
#[derive(Debug)]
pub struct Opened {
    /// The file, to be saved to.
    pub file: StateFile,
    /// Why the existing file is not used, if it is not.
    pub problem: Option<StateFileError>,
    /// There was no file yet.
    pub is_new: bool,
}

/// What opening a state file would result in.
#[derive(Debug)]
pub struct Inspected {
    /// Why counting would continue in memory only, if it would.
    pub problem: Option<StateFileError>,
    /// There is no file yet.
    pub is_new: bool,
}

impl StateFile {
    /// Locks the file for this process and reads it. A link is followed: its target is replaced by each save, and
    /// the lock is beside the target.
    ///
    /// A file that is corrupt, unreadable or of a newer version is not an error here: the exporter continues
    /// without it, and never replaces it.
    ///
    /// # Errors
    /// When another process uses it.
    pub fn open(path: &Path) -> Result<Opened, OpenError> {
        let path = &followed(path);
        let (lock, no_lock) = match lock(path) {
            Ok(lock) => (Some(lock), None),
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => (None, Some(unwritable(path, &error))),
        };
        let (document, problem, is_new) = read_document(path);
        // Without the lock another exporter could write the same file.
        let sealed = problem.is_some() || lock.is_none();
        let file = Self { path: path.to_owned(), document, lock, sealed, unwritten: false };
        Ok(Opened { file, problem: problem.or(no_lock), is_new })
    }

    /// What an exporter run by the user of this process would find now. Nothing is left behind: a lock file made
    /// by another user would keep the exporter out.
    ///
    /// # Errors
    /// When another process uses it.
    pub fn inspect(path: &Path) -> Result<Inspected, OpenError> {
        let path = &followed(path);
        let locked = match File::options().write(true).open(beside(path, ".lock")) {
            Ok(file) => file.try_lock(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(TryLockError::Error(error)),
        };
        let no_lock = match locked {
            Ok(()) => None,
            Err(TryLockError::WouldBlock) => return Err(OpenError::InUse(path.to_owned())),
            Err(TryLockError::Error(error)) => Some(unwritable(path, &error)),
        };
        let no_save = || {
            let error = atomic::can_replace(path).err()?.to_string();
            Some(StateFileError::Unwritable { file: path.to_owned(), error })
        };
        let (_, problem, is_new) = read_document(path);
        Ok(Inspected { problem: problem.or(no_lock).or_else(no_save), is_new })
    }

    /// The saved data of a target.
    ///
    /// # Errors
    /// When the entry does not fit the kind of target; it is then replaced by the next save.
    pub fn target(&self, key: &TargetKey) -> Result<Option<TargetData>, serde_json::Error> {
        self.document.target(key)
    }

    /// Saves one target atomically, with all others unchanged.
    ///
    /// # Errors
    /// [`StateFileError::Unwritable`]; the file on disk is then the one before.
    pub fn save(&mut self, key: TargetKey, data: &TargetData) -> Result<(), StateFileError> {
        let file = self.path.clone();
        let unwritable = |error: String| StateFileError::Unwritable { file: file.clone(), error };
        if self.sealed {
            return Err(unwritable("it was not usable when the exporter started".to_owned()));
        }
        let failed = |error: serde_json::Error| unwritable(error.to_string());
        let before = self.document.put(key.clone(), data).map_err(failed)?;
        if !self.unwritten && self.document.holds(&key, before.as_deref()) && self.is_in_place() {
            return Ok(()); // nothing new to save
        }
        self.unwritten = true;
        let written = self.document.to_bytes().map_err(failed).and_then(|bytes| {
            keep_lock(&self.path, &mut self.lock).map_err(unwritable)?;
            atomic::replace(&self.path, &bytes).map_err(|error| unwritable(error.to_string()))
        });
        match written {
            Ok(()) => self.unwritten = false,
            // The document stays what is on disk; the next save tries again.
            Err(_) => self.document.restore(key, before),
        }
        written
    }

    /// Whether the file and its lock still exist: somebody may have removed them.
    fn is_in_place(&self) -> bool {
        let is_locked =
            self.lock.as_ref().is_some_and(|held| is_same_file(held, &beside(&self.path, ".lock")));
        is_locked && self.path.is_file()
    }
}

/// The most links that are followed from a state file, as on Linux.
const MAX_LINKS: usize = 40;

/// The file that a path leads to if it is a link, whether or not that file exists. A circle of links is
/// returned unchanged, and the system reports what is wrong with it.
fn followed(path: &Path) -> PathBuf {
    let mut file = path.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&file) {
            // An absolute target replaces the folder.
            Ok(target) => file = file.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return file,
        }
    }
    path.to_owned()
}

/// The content of a file, why it cannot be used, and whether there is no file.
fn read_document(path: &Path) -> (Document, Option<StateFileError>, bool) {
    match read(path) {
        Ok(bytes) => match Document::parse(&bytes) {
            Ok(document) => (document, None, false),
            Err(error) => {
                let problem = StateFileError::Unusable { file: path.to_owned(), error: error.to_string() };
                (Document::default(), Some(problem), false)
            }
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => (Document::default(), None, true),
        Err(error) => {
            let problem = StateFileError::Unreadable { file: path.to_owned(), error };
            (Document::default(), Some(problem), false)
        }
    }
}

/// The bytes of a regular file: a device or a pipe might never end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(not_regular());
    }
    std::fs::read(path)
}

fn not_regular() -> io::Error {
    io::Error::other("it is not a regular file")
}

/// An advisory lock on a file beside the state file, because the state file is replaced by each save.
fn lock(path: &Path) -> Result<File, TryLockError> {
    // No file is made beside a device.
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(TryLockError::Error(not_regular()));
    }
    let file = File::options().create(true).truncate(false).write(true).open(beside(path, ".lock"));
    let file = file.map_err(TryLockError::Error)?;
    file.try_lock()?;
    Ok(file)
}

/// Locks again if the lock file was removed, perhaps with its folder: the lock that is held would not keep
/// another exporter out.
fn keep_lock(path: &Path, held: &mut Option<File>) -> Result<(), String> {
    let companion = beside(path, ".lock");
    if !held.as_ref().is_some_and(|held| is_same_file(held, &companion)) {
        *held = Some(lock(path).map_err(|error| match error {
            TryLockError::WouldBlock => "another exporter uses it by now".to_owned(),
            TryLockError::Error(error) => format!("{}: {error}", companion.display()),
        })?);
    }
    Ok(())
}

/// Whether the open file is the one at this path.
fn is_same_file(open: &File, path: &Path) -> bool {
    let open = open.metadata().ok().map(|open| identity(&open));
    open.is_some() && open == std::fs::metadata(path).ok().map(|file| identity(&file))
}

fn unwritable(path: &Path, error: &io::Error) -> StateFileError {
    let lock = beside(path, ".lock");
    StateFileError::Unwritable { file: path.to_owned(), error: format!("{}: {error}", lock.display()) }
}

#[cfg(test)]
mod tests;
