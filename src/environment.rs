//! The machine as the configuration sees it: environment variables and secret files.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::digest::{SHA256, digest};

use crate::secret::Secret;

/// Where systemd puts the credentials of a unit.
const CREDENTIALS_DIRECTORY: &str = "CREDENTIALS_DIRECTORY";

/// The largest secret file that is read, in bytes; a password is far shorter, and a mistaken
/// path may lead to something without an end.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

/// The largest file of certificates that is read, in bytes: room for every authority there is.
const MAX_PEM_BYTES: u64 = 1024 * 1024;

/// The machine as the configuration sees it. Tests inject what they need and touch nothing real.
#[derive(Clone, Default)]
pub struct Environment {
    /// Whether the process's own environment and the disk are asked too.
    real: bool,
    /// Whether secrets are left where they are.
    without_secrets: bool,
    variables: BTreeMap<String, OsString>,
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Records what is read, if requested.
    trace: Option<Arc<Mutex<Trace>>>,
}

impl Environment {
    /// The environment of this process, and the disk.
    #[must_use]
    pub fn process() -> Self {
        Self { real: true, ..Self::default() }
    }

    /// Leaves secrets unread and empty, for commands that never log in, such as `sql` on a machine that
    /// does not have the password.
    #[must_use]
    pub fn without_secrets(self) -> Self {
        Self { without_secrets: true, ..self }
    }

    /// Also records which files are read, with a digest of each.
    pub(crate) fn traced(&self) -> (Self, Arc<Mutex<Trace>>) {
        let trace = Arc::<Mutex<Trace>>::default();
        (Self { trace: Some(Arc::clone(&trace)), ..self.clone() }, trace)
    }

    /// No variables and no files.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// With an environment variable, before a real one of the same name.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    /// With the directory of systemd credentials.
    #[must_use]
    pub fn with_credentials_directory(self, directory: impl Into<PathBuf>) -> Self {
        self.with_variable(CREDENTIALS_DIRECTORY, directory.into())
    }

    /// With a file, before a real one at the same path.
    #[must_use]
    pub fn with_file(mut self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), content.into());
        self
    }

    /// The secret in a file; one line end at its end is not part of it.
    ///
    /// # Errors
    /// What is wrong, naming the file, never its content.
    pub(crate) fn secret_from_file(&self, path: &Path) -> Result<Secret, String> {
        if self.without_secrets {
            return Ok(Secret::new(""));
        }
        let bytes = self.read_within(path, MAX_SECRET_BYTES, "is too large for a password")?;
        let text = std::str::from_utf8(&bytes).ok();
        let text =
            text.map(|text| text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(text));
        secret(text, &format!("`{}`", path.display()))
    }

    /// The bytes of a file that the configuration names, such as a certificate.
    ///
    /// # Errors
    /// What is wrong, naming the file, never its content.
    pub(crate) fn bytes_from_file(&self, path: &Path) -> Result<Vec<u8>, String> {
        let too_large = format!("is too large; at most {MAX_PEM_BYTES} bytes are read");
        self.read_within(path, MAX_PEM_BYTES, &too_large)
    }

    /// The bytes of a file that is no longer than `limit`.
    fn read_within(&self, path: &Path, limit: u64, too_large: &str) -> Result<Vec<u8>, String> {
        let shown = path.display();
        let bytes = self.read(path, limit).map_err(|error| format!("cannot read `{shown}`: {error}"))?;
        if bytes.len() as u64 > limit { Err(format!("`{shown}` {too_large}")) } else { Ok(bytes) }
    }

    /// The secret in an environment variable.
    ///
    /// # Errors
    /// What is wrong. The variable is named only when it looks like one: whoever mistakes the
    /// key writes the password itself there.
    pub(crate) fn secret_from_variable(&self, name: &str) -> Result<Secret, String> {
        if self.without_secrets {
            return Ok(Secret::new(""));
        }
        let conventional = name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let shown = if conventional {
            format!("the environment variable `{name}`")
        } else {
            "the environment variable named here".to_owned()
        };
        let value = self.variable(name).ok_or_else(|| format!("{shown} is not set"))?;
        secret(value.to_str(), &shown)
    }

    /// The secret in a systemd credential: a file of that name in `$CREDENTIALS_DIRECTORY`.
    ///
    /// # Errors
    /// What is wrong, naming the file, never its content.
    pub(crate) fn secret_from_credential(&self, name: &str) -> Result<Secret, String> {
        if name.contains('/') || name == ".." || name == "." {
            return Err("a credential is named, not located; for a path there is `password_file`".to_owned());
        }
        if self.without_secrets {
            return Ok(Secret::new(""));
        }
        let directory = self.variable(CREDENTIALS_DIRECTORY).ok_or_else(|| {
            format!(
                "${CREDENTIALS_DIRECTORY} is not set; run as a systemd unit with `LoadCredential=`, or use \
                 `password_file`"
            )
        })?;
        let secret = self.secret_from_file(&Path::new(&directory).join(name));
        // As with a variable: what does not look like a name may be the password itself.
        let conventional = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.chars().all(conventional) {
            secret
        } else {
            secret.map_err(|_| "the credential named here cannot be read".to_owned())
        }
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        // The standard library panics, or finds nothing, on a name that no variable can have.
        if name.is_empty() || name.contains(['=', '\0']) {
            return None;
        }
        let given = self.variables.get(name).cloned();
        given.or_else(|| if self.real { std::env::var_os(name) } else { None })
    }

    /// The bytes of a file; of one that is longer than `limit`, one more than that.
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let content = match self.files.get(path) {
            Some(content) => Ok(content.clone()),
            None if self.real => disk(path, limit),
            None => Err(io::Error::from_raw_os_error(2)),
        };
        self.note(path, limit, content)
    }

    /// Like [`Self::read`], for the configuration itself, which is always on the disk.
    pub(crate) fn read_configuration(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        self.note(path, limit, disk(path, limit))
    }

    fn note(&self, path: &Path, limit: u64, content: io::Result<Vec<u8>>) -> io::Result<Vec<u8>> {
        if let Some(trace) = &self.trace {
            let mut trace = trace.lock().unwrap_or_else(PoisonError::into_inner);
            trace.note(path, limit, content.as_deref().ok());
        }
        content
    }
}

/// The files that were read, so that a change can be seen: how many bytes of each were read at most, and
/// a digest of them, or `None` when it could not be read. Not the contents themselves: some are secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Trace(BTreeMap<PathBuf, (u64, Option<Vec<u8>>)>);

impl Trace {
    fn note(&mut self, path: &Path, limit: u64, content: Option<&[u8]>) {
        let digest = content.map(|content| digest(&SHA256, content).as_ref().to_vec());
        self.0.insert(path.to_owned(), (limit, digest));
    }

    /// Whether any of the files is not what it was.
    pub(crate) fn is_outdated(&self) -> bool {
        let mut now = Self::default();
        for (path, (limit, _)) in &self.0 {
            now.note(path, *limit, disk(path, *limit).ok().as_deref());
        }
        now != *self
    }
}

/// The bytes of a file on the disk; of one that is longer than `limit`, one more than that.
pub(crate) fn disk(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut content)?;
    Ok(content)
}

/// The secret that is this text, if it is text; `shown` is where it was read.
fn secret(text: Option<&str>, shown: &str) -> Result<Secret, String> {
    match text {
        None => Err(format!("{shown} is not UTF-8 text")),
        Some("") => Err(format!("{shown} is empty; it must hold the password")),
        Some(text) => Ok(Secret::new(text)),
    }
}

impl fmt::Debug for Environment {
    /// Names only: the values and contents are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("real", &self.real)
            .field("variables", &self.variables.keys())
            .field("files", &self.files.keys())
            .finish()
    }
}
