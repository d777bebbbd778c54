//! Configuration file text, read within bounds.

use std::io;
use std::path::Path;

use super::error::ConfigError;
use crate::environment::Environment;

/// The largest configuration file that is read, in bytes: far more than one needs, and far less than a device
/// or a log given by mistake.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// The text of a configuration file.
///
/// # Errors
/// When it cannot be read, is not text, or is too large to be one.
pub(crate) fn read_file(path: &Path, env: &Environment) -> Result<String, ConfigError> {
    let unreadable = |error| ConfigError::Unreadable { file: path.to_owned(), error };
    let bytes = env.read_configuration(path, MAX_FILE_BYTES).map_err(unreadable)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > MAX_FILE_BYTES {
        let limit = format!("it is larger than {} MiB: is it the right file?", MAX_FILE_BYTES / 1024 / 1024);
        return Err(unreadable(io::Error::other(limit)));
    }
    String::from_utf8(bytes).map_err(|_| unreadable(io::Error::other("it is not UTF-8 text")))
}
