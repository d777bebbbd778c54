//! Columns: their names, how times are stored in them, and constants to compare them with.

use crate::yaml::Spanned;

use super::target::Backend;
use crate::config::identifier;
use crate::config::model::{TimeColumn, TimeEncoding, TimeZone};
use crate::config::raw::{RawTimeColumn, TimeSetting};
use crate::config::time_zone::{self, Known};
use crate::yaml::Checker;
use crate::yaml::suggest;
use crate::yaml::{Constant, Field, Located, Location, ScalarOr};

/// The zones that are not names of time zones.
const ZONES: [&str; 3] = ["utc", "offset", "server"];

impl Checker<'_> {
    /// A column name.
    pub(super) fn column(&mut self, value: &Spanned<String>) -> Option<String> {
        match identifier::column(&value.value) {
            Ok(name) => Some(name),
            Err(message) => {
                self.report(value.location(), message);
                None
            }
        }
    }

    /// A column name, if one is given.
    pub(super) fn optional_column(&mut self, field: Field<String>) -> Option<String> {
        field.given().and_then(|value| self.column(&value))
    }

    /// A column name that the mapping at `parent` must have.
    pub(super) fn required_column(
        &mut self,
        field: Field<String>,
        parent: Location,
        remedy: &str,
    ) -> Option<String> {
        let value = self.required(field, parent, "column", remedy)?;
        self.column(&value)
    }

    /// A value whose short form is a column name: the name, or the long form.
    pub(super) fn column_or<T>(
        &mut self,
        setting: Spanned<ScalarOr<T>>,
        keys: &str,
    ) -> Option<Result<String, (T, Location)>> {
        let at = setting.location();
        match setting.value {
            ScalarOr::Text(name) => self.column(&at.with(name)).map(Ok),
            ScalarOr::Mapping(mapping) => Some(Err((mapping, at))),
            other => {
                let found = other.found();
                self.report(at, format!("expected a column name or a mapping of {keys}, found {found}"));
                None
            }
        }
    }

    /// A column that holds a time, if one is given.
    pub(super) fn time(&mut self, field: Field<TimeSetting>, backend: Backend) -> Option<TimeColumn> {
        let setting = field.given()?;
        match self.column_or(setting, "`column`, `encoding`, `zone`, `sentinels` and `lookup`")? {
            Ok(column) => Some(TimeColumn {
                column,
                encoding: TimeEncoding::default(),
                zone: TimeZone::default(),
                sentinels: Vec::new(),
                lookup: false,
            }),
            Err((mapping, at)) => self.time_mapping(mapping, at, backend),
        }
    }

    /// The same where there is no related table to look it up in.
    pub(super) fn own_time(&mut self, field: Field<TimeSetting>, backend: Backend) -> Option<TimeColumn> {
        let at = match &field {
            Field::Set(setting) => setting.location(),
            Field::Absent | Field::Null => return None,
        };
        let time = self.time(field, backend)?;
        if time.lookup {
            self.report(
                at,
                "`lookup: true` is for `claimed_at`, `available_at` and `enqueued_at` of a queue",
            );
            return None;
        }
        Some(time)
    }

    fn time_mapping(&mut self, raw: RawTimeColumn, at: Location, backend: Backend) -> Option<TimeColumn> {
        let encoding = raw.encoding.given().map(|encoding| encoding.value).unwrap_or_default();
        let zone = match raw.zone.given() {
            None => Some(TimeZone::Utc),
            Some(value) => {
                let zone = self.zone(&value, backend);
                if encoding != TimeEncoding::Native
                    && zone.as_ref().is_some_and(|zone| *zone != TimeZone::Utc)
                {
                    self.report(
                        value.location(),
                        "`zone` contradicts `encoding`: a number counts from a moment in UTC; remove `zone`, \
                         or use `encoding: native`",
                    );
                }
                zone
            }
        };
        let given = raw.sentinels.given().map(|list| list.value).unwrap_or_default();
        let sentinels = given.iter().filter_map(|value| self.constant(value)).collect();
        let lookup = raw.lookup.given().is_some_and(|given| given.value);
        let column = self.required_column(raw.column, at, "name the column that holds the time")?;
        Some(TimeColumn { column, encoding, zone: zone?, sentinels, lookup })
    }

    /// A constant that the statement compares with.
    fn constant(&mut self, value: &Spanned<Constant>) -> Option<String> {
        match constant(&value.value) {
            Ok(text) => Some(text),
            Err(found) => {
                self.report(value.location(), format!("expected a constant, found {found}"));
                None
            }
        }
    }

    fn zone(&mut self, value: &Spanned<String>, backend: Backend) -> Option<TimeZone> {
        let zone = match value.value.as_str() {
            "utc" => Ok(TimeZone::Utc),
            "offset" => Ok(TimeZone::Offset),
            "server" => Ok(TimeZone::Server),
            name => named_zone(name, backend),
        };
        zone.map_err(|message| self.report(value.location(), message)).ok()
    }
}

/// A zone by its IANA or its Windows name; `Err` says what is wrong with it.
fn named_zone(name: &str, backend: Backend) -> Result<TimeZone, String> {
    let windows = match time_zone::find(name) {
        Some(Known::Windows("UTC")) => return Ok(TimeZone::Utc),
        Some(Known::Windows(windows)) => windows,
        Some(Known::IanaOnly) => {
            return Err(format!("`{name}` has no Windows time zone, and SQL Server knows no other zones"));
        }
        None if name.chars().any(char::is_control) => return Err("has a control character".to_owned()),
        None if !is_like_windows(name) => return Err(unknown_zone(name, backend)),
        None => match time_zone::meant_by(name) {
            Some(near) if backend == Backend::Mssql => {
                return Err(format!("unknown zone `{name}`; did you mean `{near}`?"));
            }
            // The server may have a newer Windows than we know.
            _ => name,
        },
    };
    match backend {
        Backend::Mssql => Ok(TimeZone::Named(windows.to_owned())),
        Backend::Sqlite => Err(format!(
            "SQLite has no rules of time zones, so `{name}` needs SQL Server; with sqlite a zone is one of {}",
            ZONES.join(", ")
        )),
    }
}

/// Windows names have a space, but for those like `UTC-11`.
fn is_like_windows(name: &str) -> bool {
    let offset = name.strip_prefix("UTC+").or_else(|| name.strip_prefix("UTC-"));
    name.contains(' ')
        || offset.is_some_and(|hours| hours.len() == 2 && hours.bytes().all(|byte| byte.is_ascii_digit()))
}

fn unknown_zone(name: &str, backend: Backend) -> String {
    let near = suggest::nearest(name, &ZONES).or_else(|| match backend {
        Backend::Mssql => suggest::nearest(name, &time_zone::places()),
        Backend::Sqlite => None,
    });
    let remedy = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if backend == Backend::Sqlite => format!("expected one of: {}", ZONES.join(", ")),
        None => {
            format!("expected the IANA or Windows name of a time zone, or one of: {}", ZONES.join(", "))
        }
    };
    format!("unknown zone `{name}`; {remedy}")
}

/// A constant as the text that a statement compares with; `Err` says what it is instead.
pub(super) fn constant(value: &Constant) -> Result<String, String> {
    match value {
        ScalarOr::Text(text) => Ok(text.clone()),
        ScalarOr::Integer(number) => Ok(number.to_string()),
        // A bit column, which both databases compare with a number.
        ScalarOr::Bool(bit) => Ok(u8::from(*bit).to_string()),
        other => {
            let found = other.found();
            Err(format!("expected a string, a whole number or true or false, found {found}; quote a string"))
        }
    }
}
