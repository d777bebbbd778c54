//! Common keys: what every target has.

use std::time::Duration;

use serde::ser::SerializeMap;

use super::scope::{Backend, Scope};
use super::values::{Filter, MappedColumn, Probe, TableName, Value};
use super::{ReadMode, SAMPLE_INTERVALS, TargetKind, presets};
use crate::duration;
use crate::yaml::{Checker, Field, Located, Location, Names, Resolved};

/// What every target has.
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
    /// Whether a sample can miss rows that are there: locked ones, in the mode `readpast`
    /// on SQL Server.
    pub misses_locked_rows: bool,
    /// Time between two samples.
    pub sample_interval: Duration,
}

impl Target {
    /// Writes its keys into the mapping of its target.
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

    /// Adds the columns that its keys name.
    pub(crate) fn columns<'a>(&'a self, columns: &mut Vec<MappedColumn<'a>>) {
        self.filter.columns("where", columns);
        self.probe.iter().for_each(|probe| probe.map(columns));
    }
}

/// The keys that every target has, as they are written.
#[derive(Debug, Default)]
pub(crate) struct CommonKeys {
    pub(crate) name: Field<String>,
    pub(crate) table: Field<String>,
    pub(crate) filter: Field<<Filter as Value>::Yaml>,
    pub(crate) probe: Field<<Probe as Value>::Yaml>,
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
        let table = self.required_value(keys.table, at, "table", &remedy, scope);
        let filter = self.optional_value(keys.filter, scope).unwrap_or_default();
        let probe = self.optional_value(keys.probe, scope);
        let sample_interval = keys.sample_interval.given().and_then(|yaml| {
            let value = self.duration(&yaml, SAMPLE_INTERVALS)?;
            if let Some(stale_after) = &scope.stale_after
                && value > stale_after.value
            {
                let own = Resolved { key: "sample_interval", value, at: Some(yaml.location()) };
                let global = Resolved { key: "global.stale_after", ..*stale_after };
                self.relation(&own, "must not be longer than", &global);
            }
            Some(value)
        });
        Some(Target {
            name: name?,
            table: table?,
            filter,
            probe,
            read_mode: scope.read_mode,
            misses_locked_rows: scope.backend == Backend::Mssql && scope.read_mode == ReadMode::ReadPast,
            sample_interval: sample_interval.unwrap_or(scope.global.sample_interval),
        })
    }
}
