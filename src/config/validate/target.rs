//! What every target has: name, table, predicate and pace.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_saphyr::Spanned;

use super::checker::{Checker, Names};
use super::column::constant;
use super::{InForce, SAMPLE_INTERVALS};
use crate::config::TargetKind;
use crate::config::presets::{self, Overridable};
use crate::config::raw::{List, RawProbe, RawTarget, Where};
use crate::config::setting::{Field, Placed, Spot};
use crate::config::{BaseTable, Objectives, Probe, ReadMode, Target, identifier, suggest, yaml};

/// The kind of database that a target is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Backend {
    Mssql,
    Sqlite,
}

/// What a target takes from its source and from the global settings.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub(super) backend: Backend,
    /// The database that the source logs in to; `None` in a file, or when it is wrong itself.
    pub(super) database: Option<String>,
    /// Whether the source asks for a readable secondary.
    pub(super) reads_secondary: bool,
    pub(super) sample_interval: Duration,
    /// The target's own, where it has one.
    pub(super) read_mode: ReadMode,
    /// `None` when it is wrong itself.
    pub(super) stale_after: Option<InForce>,
    pub(super) max_label_values: usize,
    pub(super) objectives: Objectives,
}

/// Why a setting that looks at locks is refused where a readable secondary is asked for.
pub(super) fn unseen_locks(setting: &str, consequence: &str) -> String {
    format!(
        "`{setting}` contradicts `application_intent: read_only`: on a readable secondary the locks of the \
         primary cannot be seen, so {consequence}; watch it through a source with `application_intent: \
         read_write`"
    )
}

/// The remedy for a missing key that a preset could give.
pub(super) fn or_preset(remedy: &str, kind: TargetKind) -> String {
    let names: Vec<&str> = presets::of_kind(kind).map(|preset| preset.name).collect();
    format!("{remedy}, or start from a preset; for {kind} there are {}", names.join(", "))
}

impl Checker<'_> {
    /// The targets of one list, completed by their presets. `check` is given what is left of a
    /// target beside its common part.
    pub(super) fn targets<R: Overridable, M>(
        &mut self,
        list: Field<List<R>>,
        scope: &Scope,
        check: impl Fn(&mut Self, Spanned<R>, &Scope, Option<Target>) -> Option<M>,
    ) -> Vec<M> {
        let mut names = Names::new(match R::KIND {
            TargetKind::Queue => "the queues of a source",
            TargetKind::AttemptLog => "the attempt logs of a source",
            TargetKind::EnqueueLog => "the enqueue logs of a source",
            TargetKind::RunLog => "the run logs of a source",
            TargetKind::ControlTable => "the control tables of a source",
        });
        let raw = list.given().map(|list| list.value).unwrap_or_default();
        raw.into_iter()
            .filter_map(|raw| {
                let completed = self.completed(raw)?;
                let at = completed.spot();
                let mut own = completed.value;
                let mut common = own.take_common();
                let read_mode = std::mem::take(&mut common.read_mode).given();
                let read_mode = read_mode.map_or(scope.read_mode, |given| given.value);
                let scope = Scope { read_mode, ..scope.clone() };
                let target = self.target(common, at, R::KIND, &scope, &mut names);
                check(self, at.with(own), &scope, target)
            })
            .collect()
    }

    /// A target, completed by its preset; `None` when there is no such preset, since most keys
    /// would then seem to be missing.
    fn completed<R: Overridable>(&mut self, raw: Spanned<R>) -> Option<Spanned<R>> {
        let at = raw.spot();
        let mut own = raw.value;
        let name = match own.take_preset() {
            Field::Set(name) => name,
            // A table that is described in part is somebody's own, and no guess of ours fits it.
            Field::Absent if !own.maps_columns() => at.with(R::KIND.default_preset().to_owned()),
            Field::Absent | Field::Null => return Some(at.with(own)),
        };
        let named = name.spot();
        let Some(preset) = presets::of_kind(R::KIND).find(|preset| preset.name == name.value) else {
            let message = unknown_preset(&name.value, R::KIND);
            self.report(named, message);
            return None;
        };
        match yaml::read::<R>(preset.yaml) {
            Ok(base) => Some(at.with(own.or_preset(base.value, named))),
            Err(problem) => {
                self.report(named, format!("the preset itself is wrong at {problem}"));
                None
            }
        }
    }

    /// The common part of a target.
    fn target(
        &mut self,
        common: RawTarget,
        at: Spot,
        kind: TargetKind,
        scope: &Scope,
        names: &mut Names,
    ) -> Option<Target> {
        let name = self.name(common.name, at, names);
        let remedy = or_preset("name the table", kind);
        let table = self
            .required(common.table, at, "table", &remedy)
            .and_then(|value| self.table(&value, scope.backend));
        let filter = self.filter(common.filter);
        let probe = self.probe(common.probe, scope);
        let sample_interval = match self.duration(common.sample_interval, SAMPLE_INTERVALS) {
            Ok(None) => scope.sample_interval,
            Ok(Some((value, at))) => {
                if let Some(stale_after) = &scope.stale_after
                    && value > stale_after.value
                {
                    let own = InForce { key: "sample_interval", value, at: Some(at) };
                    let global = InForce { key: "global.stale_after", ..*stale_after };
                    self.relation(&own, "must not be longer than", &global);
                }
                value
            }
            Err(()) => return None,
        };
        Some(Target {
            name: name?,
            table: table?,
            filter,
            probe: probe.ok()?,
            read_mode: scope.read_mode,
            misses_locked_rows: scope.backend == Backend::Mssql && scope.read_mode == ReadMode::ReadPast,
            sample_interval,
        })
    }

    pub(super) fn table(
        &mut self,
        value: &Spanned<String>,
        backend: Backend,
    ) -> Option<crate::config::TableName> {
        let message = match identifier::table(&value.value) {
            Ok(table) if backend == Backend::Sqlite && table.0.len() > 2 => {
                format!("`{}` has three parts; in sqlite a table is `table` or `schema.table`", value.value)
            }
            Ok(table) => return Some(table),
            Err(message) => message,
        };
        self.report(value.spot(), message);
        None
    }

    /// How a target is probed. `Err` when that is wrong, so that no target goes unprobed.
    fn probe(&mut self, field: Field<RawProbe>, scope: &Scope) -> Result<Option<Probe>, ()> {
        let Some(raw) = field.given() else { return Ok(None) };
        let at = raw.spot();
        let RawProbe { base_table, filter, role } = raw.value;
        let (base_table, role) = (base_table.given(), role.given());
        if base_table.is_none() && role.is_none() {
            let remedy = "name the table behind the view, or give `role`";
            self.missing(at, "base_table", remedy);
            return Err(());
        }
        let base_table = match base_table {
            None => {
                if let Field::Set(filter) = filter {
                    let message = "`where` narrows the rows of `base_table`; name that table".to_owned();
                    self.report(filter.spot(), message);
                    return Err(());
                }
                None
            }
            Some(value) => {
                let table = self.table(&value, scope.backend);
                let filter = self.filter(filter);
                Some(BaseTable { table: table.ok_or(())?, filter })
            }
        };
        let role = match role {
            None => None,
            Some(value) if scope.backend == Backend::Sqlite => {
                let message = "a SQLite file has no roles; remove `role`, or probe a `base_table`";
                self.report(value.spot(), message.to_owned());
                return Err(());
            }
            Some(value) => Some(self.text(value).ok_or(())?),
        };
        Ok(Some(Probe { base_table, role }))
    }

    fn filter(&mut self, field: Field<Where>) -> BTreeMap<String, String> {
        let mut filter = BTreeMap::new();
        let entries = field.given().map(|entries| entries.value.0).unwrap_or_default();
        for (key, value) in entries {
            let column = match identifier::column(&key.value) {
                Ok(column) => column,
                Err(message) => {
                    self.report_key(key.spot(), message);
                    continue;
                }
            };
            match constant(&value.value) {
                Ok(text) => {
                    if filter.insert(column.clone(), text).is_some() {
                        self.report_key(key.spot(), format!("the column `{column}` is given twice"));
                    }
                }
                Err(message) => self.report(value.spot(), message),
            }
        }
        filter
    }

    /// Declared values of a label: not empty, each once, no more than are exported.
    pub(super) fn declared(&mut self, field: Field<List<String>>, scope: &Scope) -> Vec<String> {
        let Some(list) = field.given() else { return Vec::new() };
        if list.value.len() > scope.max_label_values {
            self.report(
                list.spot(),
                format!(
                    "declares {} values, more than `global.max_label_values` ({}); raise that or declare fewer",
                    list.value.len(),
                    scope.max_label_values
                ),
            );
        }
        let mut values: Vec<String> = Vec::new();
        for item in list.value {
            let at = item.spot();
            let Some(text) = self.text(item) else { continue };
            if values.contains(&text) {
                self.report(at, format!("`{text}` is given twice"));
            } else {
                values.push(text);
            }
        }
        values
    }
}

fn unknown_preset(name: &str, kind: TargetKind) -> String {
    if let Some(other) = presets::presets().iter().find(|preset| preset.name == name) {
        let names: Vec<&str> = presets::of_kind(kind).map(|preset| preset.name).collect();
        return format!(
            "the preset `{name}` is for {}; for {kind} there are {}",
            other.kind,
            names.join(", ")
        );
    }
    let names: Vec<&str> = presets::of_kind(kind).map(|preset| preset.name).collect();
    let remedy = suggest::remedy(name, &names, &format!("for {kind} there are"));
    format!("there is no preset `{name}`; {remedy}")
}
