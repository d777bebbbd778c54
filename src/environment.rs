//! Environment: the variables and files that a configuration may refer to.

pub(crate) mod trace;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use self::trace::{Trace, disk};
use crate::secret::Secret;

/// The variable with the folder of a unit's credentials, set by systemd.
const CREDENTIALS_DIRECTORY: &str = "CREDENTIALS_DIRECTORY";

/// The maximum size of a secret file, in bytes. A password is far shorter, and a wrong path may lead to
/// something endless.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

/// The maximum size of a certificate file, in bytes: enough for all public authorities.
const MAX_PEM_BYTES: u64 = 1024 * 1024;

/// Environment variables and files. Tests supply their own, and touch nothing real.
#[derive(Clone, Default)]
pub struct Environment {
    /// Whether the environment of the process and the disk are read as well.
    real: bool,
    /// Whether secrets are left unread.
    without_secrets: bool,
    variables: BTreeMap<String, OsString>,
    files: BTreeMap<PathBuf, Vec<u8>>,
    /// Records which files are read, for change detection.
    trace: Option<Arc<Mutex<Trace>>>,
}

impl Environment {
    /// The environment of this process, and the disk.
    #[must_use]
    pub fn process() -> Self {
        Self { real: true, ..Self::default() }
    }

    /// Leaves secrets unread; each is then empty. For commands that never log in, such as printing
    /// statements, on a machine without the password.
    #[must_use]
    pub fn without_secrets(self) -> Self {
        Self { without_secrets: true, ..self }
    }

    /// The same environment, and a record of the files that are read through it.
    pub(crate) fn traced(&self) -> (Self, Arc<Mutex<Trace>>) {
        let trace = Arc::<Mutex<Trace>>::default();
        (Self { trace: Some(Arc::clone(&trace)), ..self.clone() }, trace)
    }

    /// No variables and no files.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Adds an environment variable, which takes precedence over a real one of the same name.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the folder of systemd credentials.
    #[must_use]
    pub fn with_credentials_directory(self, directory: impl Into<PathBuf>) -> Self {
        self.with_variable(CREDENTIALS_DIRECTORY, directory.into())
    }

    /// Adds a file, which takes precedence over a real one at the same path.
    #[must_use]
    pub fn with_file(mut self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), content.into());
        self
    }

    /// The secret in a file, without the line end after it.
    ///
    /// # Errors
    ///
    /// What is wrong, naming the file, never its content.
    pub(crate) fn secret_from_file(&self, path: &Path) -> Result<Secret, String> {
        if self.without_secrets {
            return Ok(Secret::new(""));
        }
        let shown = path.display();
        let bytes = self.bounded(path, MAX_SECRET_BYTES, " for a password")?;
        let text = String::from_utf8(bytes).map_err(|_| format!("`{shown}` is not UTF-8 text"))?;
        let line = text.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        not_empty(line.unwrap_or(&text), &format!("`{shown}`"))
    }

    /// The bytes of a file that the configuration names, such as a certificate.
    ///
    /// # Errors
    ///
    /// What is wrong, naming the file, never its content.
    pub(crate) fn bytes_from_file(&self, path: &Path) -> Result<Vec<u8>, String> {
        self.bounded(path, MAX_PEM_BYTES, &format!("; at most {MAX_PEM_BYTES} bytes are read"))
    }

    fn bounded(&self, path: &Path, limit: u64, hint: &str) -> Result<Vec<u8>, String> {
        let shown = path.display();
        let bytes = self.read(path, limit).map_err(|error| format!("cannot read `{shown}`: {error}"))?;
        if u64::try_from(bytes.len()).is_ok_and(|length| length <= limit) {
            return Ok(bytes);
        }
        Err(format!("`{shown}` is too large{hint}"))
    }

    /// The secret in an environment variable.
    ///
    /// # Errors
    ///
    /// What is wrong. The variable is named only when it looks like one, because somebody may have written
    /// the password itself instead.
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
        let text = value.into_string().map_err(|_| format!("{shown} is not UTF-8 text"))?;
        not_empty(&text, &shown)
    }

    /// The secret in a systemd credential: a file of that name in `$CREDENTIALS_DIRECTORY`.
    ///
    /// # Errors
    ///
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
        // As with a variable: anything that does not look like a name may be the password itself.
        let conventional = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.chars().all(conventional) {
            secret
        } else {
            secret.map_err(|_| "the credential named here cannot be read".to_owned())
        }
    }

    fn variable(&self, name: &str) -> Option<OsString> {
        // The standard library may panic on a name that no variable can have.
        if name.is_empty() || name.contains(['=', '\0']) {
            return None;
        }
        let given = self.variables.get(name).cloned();
        given.or_else(|| if self.real { std::env::var_os(name) } else { None })
    }

    /// The first `limit` bytes of a file, and one more if there are more.
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let content = match self.files.get(path) {
            Some(content) => Ok(content.clone()),
            None if self.real => disk(path, limit),
            None => Err(io::Error::from_raw_os_error(2)),
        };
        self.note(path, limit, content)
    }

    /// Like `read`, for the configuration itself, which is always on the disk.
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

fn not_empty(text: &str, shown: &str) -> Result<Secret, String> {
    if text.is_empty() {
        Err(format!("{shown} is empty; it must hold the password"))
    } else {
        Ok(Secret::new(text))
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
