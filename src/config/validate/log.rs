//! What the logs that grow by id have in common.

use std::time::Duration;

use super::DAY;
use super::checker::{Bounds, Checker};
use super::target::or_preset;
use crate::config::TargetKind;
use crate::config::model::{DurationColumn, DurationUnit};
use crate::config::raw::RawDuration;
use crate::config::setting::{Field, Short, Spot};
use crate::source::MAX_RESULT_ROWS;
use crate::statement::GAPS_PER_SAMPLE;

const BATCH_SIZE: u32 = 1000;
/// At least the rows that a sample asks for again one by one: one that is left out for want of room
/// would pass for deleted. At most what an answer holds of late rows and as many new ones.
const BATCH_SIZES: (u32, u32) = (GAPS_PER_SAMPLE as u32, (MAX_RESULT_ROWS / 2) as u32);
const LATE_WINDOW: Duration = Duration::from_secs(600);
/// Zero has a meaning: a row that commits late is not waited for.
const LATE_WINDOWS: Bounds = Bounds { least: Duration::ZERO, most: DAY };

/// A column that a target must have.
pub(super) fn key_column(
    checker: &mut Checker<'_>,
    field: Field<String>,
    parent: Spot,
    key: &str,
    remedy: &str,
    kind: TargetKind,
) -> Option<String> {
    let value = checker.required(field, parent, key, &or_preset(remedy, kind))?;
    checker.column(&value)
}

/// How the rows of a table are followed: rows per sample, and the wait for late ones.
pub(super) fn tail(
    checker: &mut Checker<'_>,
    batch_size: Field<u32>,
    late_window: Field<String>,
) -> (u32, Duration) {
    let (least, most) = BATCH_SIZES;
    let batch_size = checker.number(batch_size, least, most).unwrap_or(BATCH_SIZE);
    (batch_size, checker.duration_or(late_window, LATE_WINDOWS, LATE_WINDOW))
}

/// A column that holds a duration, if one is given.
pub(super) fn duration(
    checker: &mut Checker<'_>,
    field: Field<Short<RawDuration>>,
) -> Option<DurationColumn> {
    let setting = field.given()?;
    match checker.column_or(setting, "`column` and `unit`")? {
        Ok(column) => Some(DurationColumn { column, unit: DurationUnit::default() }),
        Err((raw, at)) => {
            let unit = raw.unit.given().map(|unit| unit.value).unwrap_or_default();
            let column =
                checker.required_column(raw.column, at, "name the column that holds the duration")?;
            Some(DurationColumn { column, unit })
        }
    }
}
