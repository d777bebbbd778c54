//! How a claim shows in a queue table.

use std::time::Duration;

use crate::yaml::Spanned;

use super::DAY;
use super::target::{Backend, Scope, unseen_locks};
use crate::config::model::{Lease, ReadMode, TimeColumn};
use crate::config::raw::{RawLease, RawLeaseKind, TimeSetting};
use crate::yaml::{Bounds, Checker};
use crate::yaml::{Field, Located, Location, ScalarOr};

const TIMEOUTS: Bounds =
    Bounds { least: Duration::from_millis(1), most: Duration::from_secs(30 * 24 * 3600) };
const TOLERANCES: Bounds = Bounds { least: Duration::ZERO, most: DAY };

/// Why a claim that is nothing but a lock cannot be seen in every way of reading.
const UNTOLD_LOCKS: &str = "`kind: rowlock` contradicts `read_mode: read_committed`: rows in flight are those that READPAST leaves \
     out; give the queue `read_mode: readpast`";

/// The lease of a queue; a queue that says nothing of claims has none.
pub(super) fn lease(checker: &mut Checker<'_>, field: Field<RawLease>, scope: &Scope) -> Option<Lease> {
    let Some(raw) = field.given() else { return Some(Lease::None) };
    let at = raw.location();
    let raw = raw.value;
    let remedy = "one of until, since, owner, rowlock, none";
    let kind = checker.required(raw.kind, at, "kind", remedy)?.value;
    let word = word(kind);
    // Each kind takes some of the keys, and the rest would be silently without effect.
    let takes = |kinds: &[RawLeaseKind]| kinds.contains(&kind);
    use RawLeaseKind::{Owner, Since, Until};
    let column = checker.fitting(raw.column, "column", word, takes(&[Until, Since, Owner]));
    let token = checker.fitting(raw.token, "token", word, takes(&[Until]));
    let timeout = checker.fitting(raw.timeout, "timeout", word, takes(&[Since]));
    let tolerance = checker.fitting(raw.tolerance, "tolerance", word, takes(&[Until, Since]));
    let tolerance = checker.duration_or(tolerance, TOLERANCES, Duration::ZERO);
    match kind {
        RawLeaseKind::Until => {
            let token = checker.optional_column(token);
            let remedy = "name the column that holds the end of the lease";
            let column = time_column(checker, column, at, remedy, scope.backend)?;
            Some(Lease::Until { column, token, tolerance })
        }
        RawLeaseKind::Since => {
            let remedy = "`kind: since` needs the time after which a claim lapses, as the workers have it";
            let timeout = match checker.required(timeout, at, "timeout", remedy) {
                Some(timeout) => checker.duration(Field::Set(timeout), TIMEOUTS).ok().flatten(),
                None => None,
            };
            let remedy = "name the column that holds the time of the claim or its last heartbeat";
            let column = time_column(checker, column, at, remedy, scope.backend)?;
            Some(Lease::Since { column, timeout: timeout?.0, tolerance })
        }
        RawLeaseKind::Owner => {
            let remedy = "name the column that holds the owner";
            let column = checker.required(column, at, "column", remedy)?;
            owner_column(checker, column)
        }
        RawLeaseKind::RowLock => {
            if scope.read_mode == ReadMode::ReadCommitted {
                checker.report(at, UNTOLD_LOCKS);
            }
            if scope.reads_secondary {
                checker.report(at, unseen_locks("kind: rowlock", "claimed rows would look ready"));
            }
            Some(Lease::RowLock)
        }
        RawLeaseKind::None => Some(Lease::None),
    }
}

fn word(kind: RawLeaseKind) -> &'static str {
    match kind {
        RawLeaseKind::Until => "until",
        RawLeaseKind::Since => "since",
        RawLeaseKind::Owner => "owner",
        RawLeaseKind::RowLock => "rowlock",
        RawLeaseKind::None => "none",
    }
}

impl Checker<'_> {
    /// A setting of a lease, if its kind takes it.
    fn fitting<T>(&mut self, field: Field<T>, key: &str, kind: &str, fits: bool) -> Field<T> {
        match field {
            Field::Set(value) if !fits => {
                let message = format!("`{key}` contradicts `kind: {kind}`, which has none; remove it");
                self.report(value.location(), message);
                Field::Absent
            }
            field => field,
        }
    }
}

fn time_column(
    checker: &mut Checker<'_>,
    field: Field<TimeSetting>,
    parent: Location,
    remedy: &str,
    backend: Backend,
) -> Option<TimeColumn> {
    let value = checker.required(field, parent, "column", remedy)?;
    checker.own_time(Field::Set(value), backend)
}

fn owner_column(checker: &mut Checker<'_>, column: Spanned<TimeSetting>) -> Option<Lease> {
    let at = column.location();
    match column.value {
        ScalarOr::Text(name) => checker.column(&at.with(name)).map(|column| Lease::Owner { column }),
        other => {
            checker.report(
                at,
                format!("expected a column name, found {}: an owner is not a time", other.found()),
            );
            None
        }
    }
}
