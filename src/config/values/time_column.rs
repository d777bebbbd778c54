//! Time columns: a column, how a time is stored in it, and which clock wrote it.

use serde::{Deserialize, Serialize};

use super::time_zone::{self, Known};
use super::{ColumnName, ColumnOwner, MappedColumn, Value};
use crate::config::scope::{Backend, Scope};
use crate::yaml::{Checker, Constant, Field, List, Located, ScalarOr, Spanned, form, suggest};

/// The zones that are not names of time zones.
const ZONES: [&str; 3] = ["utc", "offset", "server"];

/// A column and how a time is stored in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TimeColumn {
    /// Column name.
    pub column: ColumnName,
    /// How the time is stored.
    pub encoding: TimeEncoding,
    /// Which clock wrote it.
    pub zone: TimeZone,
    /// Stored values that are not times; they are read as NULL. A row with one in `available_at` is never
    /// available, and is not counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sentinels: Vec<String>,
    /// The column is one of the queue's [`Lookup`](super::Lookup) table.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lookup: bool,
}

/// How a time is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TimeEncoding {
    /// A date and time type of the database; in the embedded one, ISO 8601 text.
    #[default]
    Native,
    /// Seconds since 1970-01-01T00:00:00Z.
    UnixS,
    /// Milliseconds since 1970-01-01T00:00:00Z.
    UnixMs,
    /// .NET ticks: 100 ns since 0001-01-01T00:00:00, UTC.
    DotnetTicks,
}

/// Which clock wrote a native time.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeZone {
    /// UTC.
    #[default]
    Utc,
    /// The value carries its offset (`datetimeoffset`).
    Offset,
    /// The database server's local time.
    Server,
    /// A Windows time zone name for `AT TIME ZONE`, however the configuration names the zone; SQL Server
    /// only.
    #[serde(untagged)]
    Named(String),
}

form! {
    pub struct TimeForm {
        /// The column.
        column: Field<String>,
        /// `native` (a date and time type), `unix_s`, `unix_ms` or `dotnet_ticks`.
        encoding: Field<TimeEncoding>,
        /// `utc`, `offset` (the value carries it), `server`, or the IANA or Windows name of a time zone.
        zone: Field<String>,
        /// Stored values that are not times.
        sentinels: Field<List<Constant>>,
        /// Whether the column is one of the `lookup` table.
        lookup: Field<bool>,
    }
}

impl Value for TimeColumn {
    type Yaml = ScalarOr<TimeForm>;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<Self::Yaml>, scope: &Scope) -> Option<Self> {
        let keys = "`column`, `encoding`, `zone`, `sentinels` and `lookup`";
        let of_column = |column| TimeForm { column, ..TimeForm::default() };
        let (at, form) = checker.long_form(yaml, keys, of_column)?;
        let encoding = form.encoding.value_or_default();
        let zone = match form.zone.given() {
            None => Some(TimeZone::Utc),
            Some(value) => {
                let zone = zone(checker, &value, scope.backend);
                if encoding != TimeEncoding::Native
                    && zone.as_ref().is_some_and(|zone| *zone != TimeZone::Utc)
                {
                    checker.report(
                        value.location(),
                        "`zone` contradicts `encoding`: a number counts from a moment in UTC; remove `zone`, \
                         or use `encoding: native`",
                    );
                }
                zone
            }
        };
        let List(given) = form.sentinels.value_or_default();
        let sentinels = given.iter().filter_map(|value| checker.constant(value)).collect();
        let remedy = "name the column that holds the time";
        let column = checker.required_value(form.column, at, "column", remedy, scope)?;
        let lookup = form.lookup.value_or_default();
        if lookup && !scope.takes_lookup {
            let message = "`lookup: true` is for `claimed_at`, `available_at` and `enqueued_at` of a queue";
            return checker.refuse(at, message);
        }
        Some(Self { column, encoding, zone: zone?, sentinels, lookup })
    }

    fn columns<'a>(&'a self, key: &'static str, columns: &mut Vec<MappedColumn<'a>>) {
        let owner = if self.lookup { ColumnOwner::Lookup } else { ColumnOwner::Target };
        self.column.map_in(owner, key, columns);
    }
}

fn zone(checker: &mut Checker<'_>, value: &Spanned<String>, backend: Backend) -> Option<TimeZone> {
    let zone = match value.value.as_str() {
        "utc" => Ok(TimeZone::Utc),
        "offset" => Ok(TimeZone::Offset),
        "server" => Ok(TimeZone::Server),
        name => named_zone(name, backend),
    };
    checker.accept(value.location(), zone)
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
        None => match time_zone::nearest_windows_zone(name) {
            Some(near) if backend == Backend::Mssql => {
                return Err(format!("unknown zone `{name}`; did you mean `{near}`?"));
            }
            // The server may have a newer Windows than this table.
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

/// Windows names contain a space, except those like `UTC-11`.
fn is_like_windows(name: &str) -> bool {
    let offset = name.strip_prefix("UTC+").or_else(|| name.strip_prefix("UTC-"));
    name.contains(' ')
        || offset.is_some_and(|hours| hours.len() == 2 && hours.bytes().all(|byte| byte.is_ascii_digit()))
}

fn unknown_zone(name: &str, backend: Backend) -> String {
    let near = suggest::nearest(name, &ZONES).or_else(|| match backend {
        Backend::Mssql => suggest::nearest(name, &time_zone::iana_names()),
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
