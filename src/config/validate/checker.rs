//! What every check uses: the collected findings, and the checks of single values.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_saphyr::Spanned;

use super::InForce;
use crate::config::duration;
use crate::config::environment::Environment;
use crate::config::setting::{Field, Placed, Spot};

/// Something that is wrong, and where.
#[derive(Debug)]
pub(in crate::config) struct Finding {
    pub(super) at: Spot,
    pub(super) place: Place,
    pub(super) message: String,
}

/// Which key a finding is about.
#[derive(Debug)]
pub(super) enum Place {
    /// The one whose value stands at the place.
    Value,
    /// The one that itself stands at the place.
    Key,
    /// The one whose value stands at the place, and it is the key itself that is wrong.
    KeyOfValue,
    /// One that is missing in the mapping at the place.
    Child(String),
}

/// The shortest and the longest duration that make sense.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) least: Duration,
    pub(super) most: Duration,
}

/// Names that were given within one scope, with their lines.
#[derive(Debug)]
pub(super) struct Names {
    scope: &'static str,
    /// The file and the line of each.
    seen: HashMap<String, (PathBuf, u64)>,
}

impl Names {
    /// No names yet; `scope` says in an error where names must be unique.
    pub(super) fn new(scope: &'static str) -> Self {
        Self { scope, seen: HashMap::new() }
    }
}

/// Collects what is wrong.
#[derive(Debug)]
pub(super) struct Checker<'a> {
    pub(super) environment: &'a Environment,
    /// The file that is checked; relative paths in it start from its folder.
    file: &'a Path,
    findings: Vec<Finding>,
}

impl<'a> Checker<'a> {
    pub(super) fn new(environment: &'a Environment, file: &'a Path) -> Self {
        Self { environment, file, findings: Vec::new() }
    }

    /// What was checked, unless something is wrong.
    pub(super) fn finish<T>(self, checked: T) -> Result<T, Vec<Finding>> {
        if self.findings.is_empty() { Ok(checked) } else { Err(self.findings) }
    }

    /// What is wrong.
    pub(super) fn findings(self) -> Vec<Finding> {
        self.findings
    }

    /// The file that is checked.
    pub(super) const fn file(&self) -> &'a Path {
        self.file
    }

    /// Something is wrong with the value at a place.
    pub(super) fn report(&mut self, at: Spot, message: impl Into<String>) {
        self.findings.push(Finding { at, place: Place::Value, message: message.into() });
    }

    /// Something is wrong with the key at a place.
    pub(super) fn report_key(&mut self, at: Spot, message: impl Into<String>) {
        self.findings.push(Finding { at, place: Place::Key, message: message.into() });
    }

    /// A key should not be there; its value stands at the place.
    pub(super) fn report_key_of(&mut self, value: Spot, message: impl Into<String>) {
        self.findings.push(Finding { at: value, place: Place::KeyOfValue, message: message.into() });
    }

    /// The mapping at a place lacks a key.
    pub(super) fn missing(&mut self, parent: Spot, key: &str, remedy: &str) {
        let message = format!("is missing; {remedy}");
        self.findings.push(Finding { at: parent, place: Place::Child(key.to_owned()), message });
    }

    /// Two settings do not stand in the relation that they must. The one that the file sets is
    /// reported; of two, the first.
    pub(super) fn relation(&mut self, first: &InForce, must: &str, second: &InForce) {
        let Some(at) = first.at.or(second.at) else { return };
        self.report(at, format!("{} {must} {}; change one of them", first.described(), second.described()));
    }

    /// A setting that the mapping at `parent` must have.
    pub(super) fn required<T>(
        &mut self,
        field: Field<T>,
        parent: Spot,
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
    pub(super) fn text(&mut self, value: Spanned<String>) -> Option<String> {
        let at = value.spot();
        if value.value.trim().is_empty() {
            self.report(at, "is empty");
            return None;
        }
        if value.value.chars().any(char::is_control) {
            self.report(at, "has a control character");
            return None;
        }
        Some(value.value)
    }

    /// A file name; a relative one starts from the directory of the configuration.
    pub(super) fn path(&mut self, value: Spanned<String>) -> Option<PathBuf> {
        self.text(value).map(|path| self.file.parent().unwrap_or(Path::new("")).join(path))
    }

    /// A name, unique within its scope.
    pub(super) fn name(&mut self, field: Field<String>, parent: Spot, names: &mut Names) -> Option<String> {
        let value = self.required(field, parent, "name", "it becomes the value of a label")?;
        let at = value.spot();
        let name = self.text(value)?;
        if let Some((file, line)) = names.seen.get(&name) {
            let scope = names.scope;
            let file = if file == self.file { String::new() } else { format!(" of {}", file.display()) };
            let message =
                format!("`{name}` is also the name on line {line}{file}; names in {scope} are unique");
            self.report(at, message);
            return None;
        }
        names.seen.insert(name.clone(), (self.file.to_owned(), at.line_and_column().0));
        Some(name)
    }

    /// A duration within bounds, with its place; `Err` when there is one and it is wrong.
    pub(super) fn duration(
        &mut self,
        field: Field<String>,
        bounds: Bounds,
    ) -> Result<Option<(Duration, Spot)>, ()> {
        let Some(value) = field.given() else { return Ok(None) };
        let at = value.spot();
        let message = match duration::parse(&value.value) {
            Ok(parsed) if parsed < bounds.least => {
                format!("`{}` is too short; at least `{}`", value.value, duration::text(bounds.least))
            }
            Ok(parsed) if parsed > bounds.most => {
                format!("`{}` is too long; at most `{}`", value.value, duration::text(bounds.most))
            }
            Ok(parsed) => return Ok(Some((parsed, at))),
            Err(message) => message,
        };
        self.report(at, message);
        Err(())
    }

    /// A duration within bounds, or the default.
    pub(super) fn duration_or(
        &mut self,
        field: Field<String>,
        bounds: Bounds,
        default: Duration,
    ) -> Duration {
        match self.duration(field, bounds) {
            Ok(Some((value, _))) => value,
            Ok(None) | Err(()) => default,
        }
    }

    /// A whole number within bounds.
    pub(super) fn number(&mut self, field: Field<u32>, least: u32, most: u32) -> Option<u32> {
        let value = field.given()?;
        if (least..=most).contains(&value.value) {
            return Some(value.value);
        }
        self.report(value.spot(), format!("{} is not between {least} and {most}", value.value));
        None
    }
}
