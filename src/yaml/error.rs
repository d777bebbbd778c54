//! Configuration errors: file, line, column, key, and the remedy.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// A configuration that cannot be used. It displays one line per problem, and never a secret.
#[derive(Debug)]
pub enum ConfigError {
    /// The file cannot be read, or is not text.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The files can be read, but at least one has a problem.
    Invalid(Vec<InvalidFile>),
}

/// A configuration file with problems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidFile {
    /// The file.
    pub file: PathBuf,
    /// The problems, in the order of the file; at least one.
    pub problems: Vec<Problem>,
}

/// One problem in a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Line of the offending value or key, from 1.
    pub line: u64,
    /// Its column, in characters from 1.
    pub column: u64,
    /// Path of the key, such as `sources[0].queues[1].lease.timeout`; list items count from 0.
    pub key: Option<String>,
    /// What is wrong, and what to do about it.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.line, self.column)?;
        if let Some(key) = &self.key {
            write!(f, "key `{}`: ", visible(key))?;
        }
        f.write_str(&visible(&self.message))
    }
}

/// Text from a file as one line that cannot control a terminal.
fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return text.into();
    }
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escaped).collect::<String>().into()
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, error } => {
                write!(f, "{}: cannot read the configuration: {error}", file.display())
            }
            Self::Invalid(files) => {
                let mut separator = "";
                for InvalidFile { file, problems } in files {
                    for problem in problems {
                        write!(f, "{separator}{}:{problem}", file.display())?;
                        separator = "\n";
                    }
                }
                Ok(())
            }
        }
    }
}

// No `source`: the operating system's text is already in the line.
impl std::error::Error for ConfigError {}
