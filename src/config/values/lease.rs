//! Leases: how a claim is recognized in a queue table.

use std::time::Duration;

use serde::Serialize;

use super::{ColumnName, MappedColumn, TimeColumn, Value};
use crate::config::ReadMode;
use crate::config::scope::{Scope, invisible_locks};
use crate::duration::{self, DAY};
use crate::words::{Word as _, words};
use crate::yaml::{Bounds, Checker, Field, Located, ScalarOr, Spanned, form};

const TIMEOUTS: Bounds = Bounds { least: Duration::from_millis(1), most: DAY.saturating_mul(30) };
const TOLERANCES: Bounds = Bounds { least: Duration::ZERO, most: DAY };

/// Why a claim that is only a lock needs READPAST.
const LOCKS_NEED_READPAST: &str = "`kind: rowlock` contradicts `read_mode: read_committed`: rows in flight are those that READPAST leaves \
     out; give the queue `read_mode: readpast`";

/// How a claim is recognized in the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Lease {
    /// A column holds the end of the lease.
    Until {
        /// The column.
        column: TimeColumn,
        /// The claim token; NULL means that the row is not claimed.
        #[serde(skip_serializing_if = "Option::is_none")]
        token: Option<ColumnName>,
        /// Grace added to the end of the lease.
        #[serde(serialize_with = "duration::serialize")]
        tolerance: Duration,
    },
    /// A column holds the time of the claim or of its last heartbeat.
    Since {
        /// The column.
        column: TimeColumn,
        /// How long a claim lives after that time.
        #[serde(serialize_with = "duration::serialize")]
        timeout: Duration,
        /// Grace added to the timeout.
        #[serde(serialize_with = "duration::serialize")]
        tolerance: Duration,
    },
    /// A column holds the owner of the row; the lease has no end.
    Owner {
        /// The column; NULL when the row has no owner.
        column: ColumnName,
    },
    /// A claim is a row lock in the worker's open transaction; nothing is stored.
    RowLock,
    /// There are no claims.
    None,
}

words! {
    /// The kinds of lease, as the file names them.
    #[cfg_attr(test, derive(schemars::JsonSchema))]
    pub(crate) enum LeaseKind {
        Until = "until",
        Since = "since",
        Owner = "owner",
        RowLock = "rowlock",
        None = "none",
    }
}

form! {
    pub struct LeaseForm {
        /// `until` (the column holds the end), `since` (the time of the claim or its last heartbeat),
        /// `owner`, `rowlock` (a claim is a lock), or `none`.
        kind: Field<LeaseKind>,
        /// The column.
        column: Field<ScalarOr<super::time_column::TimeForm>>,
        /// The claim token: a row with NULL in it is not claimed (`until` only).
        token: Field<String>,
        /// How long a claim lives after the time in the column (`since` only).
        timeout: Field<String>,
        /// Grace before a lease counts as lapsed.
        tolerance: Field<String>,
    }
}

impl Lease {
    /// Whether a lease has an end, so that it can lapse.
    #[must_use]
    pub const fn has_end(&self) -> bool {
        matches!(self, Self::Until { .. } | Self::Since { .. })
    }
}

impl Value for Lease {
    type Yaml = LeaseForm;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<LeaseForm>, scope: &Scope) -> Option<Self> {
        // A lease is in the queue's own table.
        let own = Scope { takes_lookup: false, ..scope.clone() };
        let (at, form) = (yaml.location(), yaml.value);
        let remedy = format!("one of {}", LeaseKind::list());
        let kind = checker.required(form.kind, at, "kind", &remedy)?.value;
        // Each kind takes some of the keys; the rest would silently have no effect.
        let takes = |kinds: &[LeaseKind]| kinds.contains(&kind);
        use LeaseKind::{Owner, Since, Until};
        let column = fitting(checker, form.column, "column", kind, takes(&[Until, Since, Owner]));
        let token = fitting(checker, form.token, "token", kind, takes(&[Until]));
        let timeout = fitting(checker, form.timeout, "timeout", kind, takes(&[Since]));
        let tolerance = fitting(checker, form.tolerance, "tolerance", kind, takes(&[Until, Since]));
        let tolerance = tolerance.given().and_then(|yaml| checker.duration(&yaml, TOLERANCES));
        let tolerance = tolerance.unwrap_or_default();
        match kind {
            Until => {
                let token = checker.optional_value(token, scope);
                let remedy = "name the column that holds the end of the lease";
                let column = checker.required_value(column, at, "column", remedy, &own)?;
                Some(Self::Until { column, token, tolerance })
            }
            Since => {
                let remedy =
                    "`kind: since` needs the time after which a claim lapses, as the workers have it";
                let timeout = checker.required(timeout, at, "timeout", remedy);
                let timeout = timeout.and_then(|yaml| checker.duration(&yaml, TIMEOUTS));
                let remedy = "name the column that holds the time of the claim or its last heartbeat";
                let column = checker.required_value(column, at, "column", remedy, &own)?;
                Some(Self::Since { column, timeout: timeout?, tolerance })
            }
            Owner => {
                let remedy = "name the column that holds the owner";
                let column = checker.required(column, at, "column", remedy)?;
                owner_column(checker, column).map(|column| Self::Owner { column })
            }
            LeaseKind::RowLock => {
                if scope.read_mode == ReadMode::ReadCommitted {
                    checker.report(at, LOCKS_NEED_READPAST);
                }
                if scope.reads_secondary {
                    checker.report(at, invisible_locks("kind: rowlock", "claimed rows would look ready"));
                }
                Some(Self::RowLock)
            }
            LeaseKind::None => Some(Self::None),
        }
    }

    fn columns<'a>(&'a self, _: &'static str, columns: &mut Vec<MappedColumn<'a>>) {
        match self {
            Self::Until { column, token, .. } => {
                column.columns("lease.column", columns);
                token.iter().for_each(|token| token.columns("lease.token", columns));
            }
            Self::Since { column, .. } => column.columns("lease.column", columns),
            Self::Owner { column } => column.columns("lease.column", columns),
            Self::RowLock | Self::None => {}
        }
    }
}

/// A key of a lease, if its kind takes it.
fn fitting<T>(
    checker: &mut Checker<'_>,
    field: Field<T>,
    key: &str,
    kind: LeaseKind,
    fits: bool,
) -> Field<T> {
    match field {
        Field::Set(value) if !fits => {
            let message = format!("`{key}` contradicts `kind: {}`, which has none; remove it", kind.as_str());
            checker.report(value.location(), message);
            Field::Absent
        }
        field => field,
    }
}

fn owner_column(
    checker: &mut Checker<'_>,
    column: Spanned<<TimeColumn as Value>::Yaml>,
) -> Option<ColumnName> {
    let at = column.location();
    match column.value {
        ScalarOr::Text(name) => checker.column(&at.with(name)),
        other => {
            let found = other.found();
            checker.refuse(at, format!("expected a column name, found {found}: an owner is not a time"))
        }
    }
}
