//! The checker: collects findings, and checks single values.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_saphyr::Spanned;

use super::error::{InvalidFile, Problem};
use super::key_paths::{KeyPaths, child};
use super::types::{Field, Located, Location};
use crate::duration;
use crate::environment::Environment;

/// A mistake and its location.
#[derive(Debug)]
struct Finding {
    at: Location,
    subject: Subject,
    message: String,
}

impl Finding {
    /// The finding as a line of an error, with the path of its key.
    fn problem(self, paths: &KeyPaths) -> Problem {
        let key = match &self.subject {
            Subject::Value | Subject::KeyOfValue => paths.value_path(self.at).map(ToOwned::to_owned),
            Subject::Key => paths.key_path(self.at).map(ToOwned::to_owned),
            Subject::MissingKey(key) => Some(child(paths.value_path(self.at).unwrap_or_default(), key)),
        };
        let at = match &self.subject {
            Subject::KeyOfValue => key.as_deref().and_then(|path| paths.key_location(path)),
            Subject::Value | Subject::Key | Subject::MissingKey(_) => None,
        };
        let (line, column) = at.unwrap_or(self.at).line_and_column();
        Problem { line, column, key: key.filter(|path| !path.is_empty()), message: self.message }
    }
}

/// Which key a finding is about.
#[derive(Debug)]
enum Subject {
    /// The key whose value is at the location.
    Value,
    /// The key that is itself at the location.
    Key,
    /// The key whose value is at the location, when the key itself is wrong.
    KeyOfValue,
    /// A key that the mapping at the location lacks.
    MissingKey(String),
}

/// The shortest and the longest duration that make sense.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) least: Duration,
    pub(crate) most: Duration,
}

/// Names that were given within one scope, with their lines.
#[derive(Debug)]
pub(crate) struct Names {
    scope: String,
    /// The file and the line of each.
    seen: HashMap<String, (PathBuf, u64)>,
}

impl Names {
    /// No names yet; `scope` says in an error where names must be unique.
    pub(crate) fn new(scope: impl Into<String>) -> Self {
        Self { scope: scope.into(), seen: HashMap::new() }
    }
}

/// A duration in force: the value, and its location unless it is the default.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resolved {
    pub(crate) key: &'static str,
    pub(crate) value: Duration,
    pub(crate) at: Option<Location>,
}

impl Resolved {
    fn described(&self) -> String {
        let default = if self.at.is_none() { ", the default" } else { "" };
        format!("`{}` ({}{default})", self.key, duration::text(self.value))
    }
}

/// Checks the values of one file, and collects what is wrong.
#[derive(Debug)]
pub(crate) struct Checker<'a> {
    pub(crate) environment: &'a Environment,
    /// The file that is checked; relative paths in it start from its folder.
    file: &'a Path,
    findings: Vec<Finding>,
}

impl<'a> Checker<'a> {
    pub(crate) fn new(environment: &'a Environment, file: &'a Path) -> Self {
        Self { environment, file, findings: Vec::new() }
    }

    /// What was checked, unless something is wrong.
    pub(crate) fn finish<T>(self, checked: T, yaml: &str) -> Result<T, InvalidFile> {
        self.invalid_file(yaml).map_or(Ok(checked), Err)
    }

    /// What is wrong in the file, whose text is `yaml`; `None` when nothing is.
    pub(crate) fn invalid_file(self, yaml: &str) -> Option<InvalidFile> {
        if self.findings.is_empty() {
            return None;
        }
        // The file was read once, so it can be read again; without paths the errors still hold.
        let paths = KeyPaths::of(yaml).unwrap_or_default();
        let mut problems: Vec<Problem> =
            self.findings.into_iter().map(|finding| finding.problem(&paths)).collect();
        problems.sort_by_key(|problem| (problem.line, problem.column));
        Some(InvalidFile { file: self.file.to_owned(), problems })
    }

    /// The file that is checked.
    pub(crate) const fn file(&self) -> &'a Path {
        self.file
    }

    /// Reports what is wrong with the value at a location.
    pub(crate) fn report(&mut self, at: Location, message: impl Into<String>) {
        self.findings.push(Finding { at, subject: Subject::Value, message: message.into() });
    }

    /// Reports what is wrong with the value at a location, which leaves nothing to use.
    pub(crate) fn refuse<T>(&mut self, at: Location, message: impl Into<String>) -> Option<T> {
        self.report(at, message);
        None
    }

    /// The checked value; reports what is wrong with it instead.
    pub(crate) fn accept<T>(&mut self, at: Location, checked: Result<T, String>) -> Option<T> {
        checked.map_err(|message| self.report(at, message)).ok()
    }

    /// Reports the second key of those that exclude each other, if there is one; `why` they do, and the remedy.
    pub(crate) fn only_one(&mut self, keys: &[(&str, Option<Location>)], why: &str) -> Option<()> {
        let mut given = keys.iter().filter_map(|(key, at)| Some((key, (*at)?)));
        match (given.next(), given.next()) {
            (Some((first, _)), Some((second, at))) => {
                self.refuse(at, format!("`{second}` contradicts `{first}`: {why}"))
            }
            _ => Some(()),
        }
    }

    /// Reports what is wrong with the key at a location.
    pub(crate) fn report_key(&mut self, at: Location, message: impl Into<String>) {
        self.findings.push(Finding { at, subject: Subject::Key, message: message.into() });
    }

    /// Reports a key that should not be there, by the location of its value.
    pub(crate) fn report_key_of(&mut self, value: Location, message: impl Into<String>) {
        self.findings.push(Finding { at: value, subject: Subject::KeyOfValue, message: message.into() });
    }

    /// Reports a key that the mapping at a location lacks.
    pub(crate) fn missing(&mut self, parent: Location, key: &str, remedy: &str) {
        let message = format!("is missing; {remedy}");
        self.findings.push(Finding { at: parent, subject: Subject::MissingKey(key.to_owned()), message });
    }

    /// Reports two settings that contradict each other, at the one that the file sets; of two, at the
    /// first.
    pub(crate) fn relation(&mut self, first: &Resolved, must: &str, second: &Resolved) {
        let Some(at) = first.at.or(second.at) else { return };
        self.report(at, format!("{} {must} {}; change one of them", first.described(), second.described()));
    }

    /// A setting that the mapping at `parent` must have.
    pub(crate) fn required<T>(
        &mut self,
        field: Field<T>,
        parent: Location,
        key: &str,
        remedy: &str,
    ) -> Option<Spanned<T>> {
        let given = field.given();
        if given.is_none() {
            self.missing(parent, key, remedy);
        }
        given
    }

    /// A string that is not empty and has no control characters.
    pub(crate) fn text(&mut self, value: Spanned<String>) -> Option<String> {
        let at = value.location();
        if value.value.trim().is_empty() {
            return self.refuse(at, "is empty");
        }
        if value.value.chars().any(char::is_control) {
            return self.refuse(at, "has a control character");
        }
        Some(value.value)
    }

    /// A text that the mapping at `parent` must have.
    pub(crate) fn required_text(
        &mut self,
        field: Field<String>,
        parent: Location,
        key: &str,
        remedy: &str,
    ) -> Option<String> {
        let value = self.required(field, parent, key, remedy)?;
        self.text(value)
    }

    /// A file name; a relative one starts from the directory of the configuration.
    pub(crate) fn path(&mut self, value: Spanned<String>) -> Option<PathBuf> {
        self.text(value).map(|path| self.file.parent().unwrap_or(Path::new("")).join(path))
    }

    /// A name, unique within its scope.
    pub(crate) fn name(
        &mut self,
        field: Field<String>,
        parent: Location,
        names: &mut Names,
    ) -> Option<String> {
        let value = self.required(field, parent, "name", "it becomes the value of a label")?;
        let at = value.location();
        let name = self.text(value)?;
        if let Some((file, line)) = names.seen.get(&name) {
            let scope = &names.scope;
            let file = if file == self.file { String::new() } else { format!(" of {}", file.display()) };
            let message =
                format!("`{name}` is also the name on line {line}{file}; names in {scope} are unique");
            return self.refuse(at, message);
        }
        names.seen.insert(name.clone(), (self.file.to_owned(), at.line_and_column().0));
        Some(name)
    }

    /// A duration within bounds.
    pub(crate) fn duration(&mut self, value: &Spanned<String>, bounds: Bounds) -> Option<Duration> {
        let text = &value.value;
        let checked = duration::parse(text).and_then(|parsed| match parsed {
            _ if parsed < bounds.least => {
                Err(format!("`{text}` is too short; at least `{}`", duration::text(bounds.least)))
            }
            _ if parsed > bounds.most => {
                Err(format!("`{text}` is too long; at most `{}`", duration::text(bounds.most)))
            }
            _ => Ok(parsed),
        });
        self.accept(value.location(), checked)
    }

    /// A whole number within bounds.
    pub(crate) fn number(&mut self, value: &Spanned<u32>, least: u32, most: u32) -> Option<u32> {
        let number = value.value;
        if (least..=most).contains(&number) {
            return Some(number);
        }
        self.refuse(value.location(), format!("{number} is not between {least} and {most}"))
    }
}
