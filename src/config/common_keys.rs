//! Common keys: those that every target has.

use std::time::Duration;

use serde::ser::SerializeMap;

use super::scope::{Backend, Scope};
use super::values::{ColumnOwner, Filter, MappedColumn, Probe, TableName, Value};
use super::{ReadMode, SAMPLE_INTERVALS, TargetKind, presets};
use crate::duration;
use crate::yaml::{Checker, Field, Location, Names, Resolved};

/// The part that every target has in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The value of the label that names the target.
    pub name: String,
    /// The table.
    pub table: TableName,
    /// Columns that must hold a constant: a fixed predicate.
    pub filter: Filter,
    /// The test that distinguishes an empty table from one whose rows are hidden from the login.
    pub probe: Option<Probe>,
    /// How locked rows are read.
    pub read_mode: ReadMode,
    /// Whether a sample can miss existing rows: locked ones, in mode `readpast` on SQL Server.
    pub misses_locked_rows: bool,
    /// Time between two samples.
    pub sample_interval: Duration,
}

impl Target {
    /// Writes these keys into the target's mapping.
    pub(crate) fn serialize_into<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("table", &self.table)?;
        if !self.filter.is_empty() {
            map.serialize_entry("where", &self.filter)?;
        }
        if let Some(probe) = &self.probe {
            map.serialize_entry("probe", probe)?;
        }
        map.serialize_entry("read_mode", &self.read_mode)?;
        map.serialize_entry("sample_interval", &duration::text(self.sample_interval))
    }

    /// Adds the columns that these keys name.
    pub(crate) fn columns<'a>(&'a self, columns: &mut Vec<MappedColumn<'a>>) {
        self.filter.map_in(ColumnOwner::Target, "where", columns);
        self.probe.iter().for_each(|probe| probe.map(columns));
    }
}

/// The keys that every target has, as written in the file.
#[derive(Debug, Default)]
pub(crate) struct CommonKeys {
    pub(crate) name: Field<String>,
    pub(crate) table: Field<String>,
    pub(crate) filter: Field<<Filter as Value>::Yaml>,
    pub(crate) probe: Field<<Probe as Value>::Yaml>,
    pub(crate) read_mode: Field<ReadMode>,
    pub(crate) sample_interval: Field<String>,
}

impl Checker<'_> {
    /// The common part of a target.
    pub(super) fn common(
        &mut self,
        keys: CommonKeys,
        at: Location,
        kind: TargetKind,
        scope: &Scope,
        names: &mut Names,
    ) -> Option<Target> {
        let name = self.name(keys.name, at, names);
        let remedy = presets::or_preset("name the table", kind);
        let table = self.required(keys.table, at, "table", &remedy);
        let table = table.and_then(|yaml| TableName::check(self, yaml, scope));
        let filter = keys.filter.given().map(|yaml| Filter::check(self, yaml, scope));
        // A wrong probe must not leave its target unprobed.
        let probe = keys.probe.given().map(|yaml| Probe::check(self, yaml, scope));
        let sample_interval = match self.duration(keys.sample_interval, SAMPLE_INTERVALS) {
            Ok(None) => scope.sample_interval,
            Ok(Some((value, at))) => {
                if let Some(stale_after) = &scope.stale_after
                    && value > stale_after.value
                {
                    let own = Resolved { key: "sample_interval", value, at: Some(at) };
                    let global = Resolved { key: "global.stale_after", ..*stale_after };
                    self.relation(&own, "must not be longer than", &global);
                }
                value
            }
            Err(()) => return None,
        };
        Some(Target {
            name: name?,
            table: table?,
            filter: filter.unwrap_or_else(|| Some(Filter::default()))?,
            probe: probe.map_or(Some(None), |probe| probe.map(Some))?,
            read_mode: scope.read_mode,
            misses_locked_rows: scope.backend == Backend::Mssql && scope.read_mode == ReadMode::ReadPast,
            sample_interval,
        })
    }
}
