//! Web configuration file: read again when it or a file that it names changes.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::load::load;
use super::model::WebConfig;
use crate::environment::{Environment, Trace};
use crate::yaml::ConfigError;

/// A web configuration file and the certificates that it names, with what was read of them to notice
/// changes.
#[derive(Debug)]
pub struct WebConfigFile {
    pub(in crate::web) path: PathBuf,
    environment: Environment,
    read: Trace,
}

impl WebConfigFile {
    /// Reads and checks a file for the first time.
    ///
    /// # Errors
    /// As for [`load`].
    pub fn open(path: &Path, environment: &Environment) -> Result<(Self, WebConfig), ConfigError> {
        let mut file =
            Self { path: path.to_owned(), environment: environment.clone(), read: Trace::default() };
        let config = file.load()?;
        Ok((file, config))
    }

    /// Reads it again if it or a file that it names has changed. A mistake is returned once, and not again
    /// until the next change. Reads the disk, and may block.
    pub fn reread(&mut self) -> Option<Result<WebConfig, ConfigError>> {
        self.read.is_outdated().then(|| self.load())
    }

    fn load(&mut self) -> Result<WebConfig, ConfigError> {
        let (environment, trace) = self.environment.traced();
        let config = load(&self.path, &environment);
        self.read = trace.lock().unwrap_or_else(PoisonError::into_inner).clone();
        config
    }
}
