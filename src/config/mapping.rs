//! Mappings: the macros that make everything about a kind of target from one table of its keys.

use serde::de::DeserializeOwned;

use super::TargetKind;
pub(crate) use super::common_keys::CommonKeys;
use super::presets;
use super::scope::Scope;
use crate::yaml::{self, Checker, Field, Form, List, Located, Location, Names, Spanned, suggest};

/// A kind of target, by its checked model. [`mapping!`] implements it.
pub(crate) trait Mapping: Sized {
    /// The target as it is written, which can take what it lacks from a preset.
    type Form: Form + DeserializeOwned;

    /// Which presets fit.
    const KIND: TargetKind;

    /// Takes out the name of the preset that it starts from.
    fn take_preset(form: &mut Self::Form) -> Field<String>;

    /// Whether the target says itself what some column means, be it that there is none (`null`).
    fn maps_columns(form: &Self::Form) -> bool;

    /// Checks each key, then the keys against each other.
    fn check(
        form: Self::Form,
        at: Location,
        checker: &mut Checker<'_>,
        source: &Scope,
        names: &mut Names,
    ) -> Option<Self>;
}

/// Declares a kind of target by the table of its keys.
///
/// A line is `maps NEED key: Type` for a key that says what a column means, or `keeps NEED key: Type`
/// for another one. The need is `optional`, `required` (with the remedy for its absence), `default`
/// (with the value) or `objectives`. The doc comment of a key is also its text in the documentation
/// and in the JSON schema. From the table come the form as it is written (completed by a
/// preset key by key), the checked model with its columns and its YAML, and what the cross-checks are
/// given: `Draft`, where a key that is absent or wrong is `None`, and `Locations`.
///
/// The module supplies `fn cross_check(&mut Draft, &Locations, &mut Checker, &Scope, Option<&Target>)`
/// and, where there are objectives, `fn can_measure(&Draft, &Locations, Observation) -> bool`.
macro_rules! mapping {
    (
        $(#[$meta:meta])*
        pub struct $Model:ident as $Form:ident {
            $(
                $(#[$key_meta:meta])*
                $role:ident $need:ident $key:ident: $type:ty $(= $argument:expr)?;
            )*
        }
    ) => {
        #[allow(unused_imports, reason = "not every kind of target has every need")]
        use $crate::config::mapping::prelude::*;

        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $Model {
            /// Name, table, predicate and pace.
            pub target: Target,
            $($(#[$key_meta])* pub $key: mapping!(@model $need $type),)*
        }

        form! {
            pub struct $Form {
                /// The value of the label that names the target; unique in its list.
                name: Field<String>,
                /// The table, a name of one to three parts: `JobQueue`, `dbo.JobQueue`, `Orders.dbo.[Order]]s
                /// Queue]`.
                table: Field<String>,
                /// The preset that the mapping starts from; `null` starts from nothing.
                preset: Field<String>,
                /// Time between two samples; without it, `global.sample_interval`.
                sample_interval: Field<String>,
                /// Columns that must hold a constant: `where: { Hub: default, Type: 1 }`.
                #[serde(rename = "where")]
                filter: Field<<Filter as Value>::Yaml>,
                /// What must hold for an answer to be believed, see [probes](configuration.md#probes).
                probe: Field<<Probe as Value>::Yaml>,
                /// How locked rows are read, `readpast` or `read_committed`; without it,
                /// `global.read_mode`. See [read modes](configuration.md#read-modes).
                read_mode: Field<ReadMode>,
                $($(#[$key_meta])* $key: Field<mapping!(@form $need $type)>,)*
            }
        }

        /// What the cross-checks are given: `None` where a key is absent or wrong.
        #[derive(Debug)]
        struct Draft {
            $($key: Option<$type>,)*
        }

        /// Where the value of each key is, if it has one.
        #[derive(Debug)]
        #[allow(dead_code, reason = "not every key has a cross-check")]
        struct Locations {
            target: Location,
            $($key: Option<Location>,)*
        }

        impl Mapping for $Model {
            type Form = $Form;

            const KIND: TargetKind = TargetKind::$Model;

            fn take_preset(form: &mut $Form) -> Field<String> {
                std::mem::take(&mut form.preset)
            }

            fn maps_columns(form: &$Form) -> bool {
                $(mapping!(@maps $role form.$key))||*
            }

            fn check(
                form: $Form,
                at: Location,
                checker: &mut Checker<'_>,
                source: &Scope,
                names: &mut Names,
            ) -> Option<Self> {
                let common = CommonKeys {
                    name: form.name,
                    table: form.table,
                    filter: form.filter,
                    probe: form.probe,
                    sample_interval: form.sample_interval,
                };
                let scope = &source.of_target(form.read_mode.value(), Self::KIND);
                let target = checker.common(common, at, Self::KIND, scope, names);
                let locations = Locations { target: at, $($key: form.$key.location(),)* };
                let mut draft = Draft {
                    $($key: mapping!(@check $need form.$key, $type, $key, at, checker, scope $(, $argument)?),)*
                };
                cross_check(&mut draft, &locations, checker, scope, target.as_ref());
                $(mapping!(@objectives $need form.$key, $type, $key, checker, scope, draft, locations);)*
                Some(Self { target: target?, $($key: mapping!(@finish $need draft.$key),)* })
            }
        }

        impl $Model {
            /// Every column that the target names, in the order of its keys. One that a preset gives is there, too.
            #[must_use]
            pub fn columns(&self) -> Vec<MappedColumn<'_>> {
                let mut columns = Vec::new();
                $(mapping!(@columns $need self.$key, $key, columns);)*
                self.target.columns(&mut columns);
                columns
            }
        }

        impl serde::Serialize for $Model {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                self.target.serialize_into(&mut map)?;
                $(mapping!(@write $need map, $key, self.$key);)*
                map.end()
            }
        }
    };

    (@form objectives $type:ty) => { <$type as ObjectiveSet>::Form };
    (@form $need:ident $type:ty) => { <$type as Value>::Yaml };

    (@model optional $type:ty) => { Option<$type> };
    (@model $need:ident $type:ty) => { $type };

    (@maps maps $field:expr) => { !matches!($field, Field::Absent) };
    (@maps keeps $field:expr) => { false };

    (@check optional $field:expr, $type:ty, $key:ident, $at:ident, $checker:ident, $scope:ident) => {
        $checker.optional_value::<$type>($field, $scope)
    };
    (@check required $field:expr, $type:ty, $key:ident, $at:ident, $checker:ident, $scope:ident, $remedy:expr) => {
        $checker.required_value::<$type>(
            $field, $at, stringify!($key), &or_preset($remedy, Self::KIND), $scope
        )
    };
    (@check default $field:expr, $type:ty, $key:ident, $at:ident, $checker:ident, $scope:ident, $default:expr) => {
        match $field.given() {
            Some(yaml) => <$type as Value>::check($checker, yaml, $scope),
            None => Some($default),
        }
    };
    (@check objectives $($unused:tt)*) => { None };

    // The last to be checked, because they depend on what the other keys let a sample measure.
    (@objectives objectives $field:expr, $type:ty, $key:ident, $checker:ident, $scope:ident, $draft:ident, $locations:ident) => {
        let inherited = <$type as ObjectiveSet>::of(&$scope.global.objectives);
        $draft.$key = Some(<$type as ObjectiveSet>::check(
            $checker, $field.value_or_default(), inherited, &|what| can_measure(&$draft, &$locations, what)
        ));
    };
    (@objectives $($unused:tt)*) => {};

    (@finish optional $field:expr) => { $field };
    (@finish $need:ident $field:expr) => { $field? };

    (@columns optional $field:expr, $key:ident, $columns:ident) => {
        $field.iter().for_each(|value| value.columns(stringify!($key), &mut $columns))
    };
    (@columns objectives $($unused:tt)*) => {};
    (@columns $need:ident $field:expr, $key:ident, $columns:ident) => {
        $field.columns(stringify!($key), &mut $columns)
    };

    (@write optional $map:ident, $key:ident, $field:expr) => {
        if let Some(value) = &$field {
            $map.serialize_entry(stringify!($key), value)?;
        }
    };
    (@write $need:ident $map:ident, $key:ident, $field:expr) => {
        $map.serialize_entry(stringify!($key), &$field)?
    };
}
pub(crate) use mapping;

/// What the code that [`mapping!`] makes names, so that a file of a kind need not import it.
pub(crate) mod prelude {
    pub(crate) use serde::ser::SerializeMap;

    pub(crate) use super::{CommonKeys, Mapping};
    pub(crate) use crate::config::objectives::{ObjectiveSet, Observation};
    pub(crate) use crate::config::presets::or_preset;
    pub(crate) use crate::config::scope::Scope;
    pub(crate) use crate::config::values::{ColumnName, Filter, MappedColumn, Probe, TimeColumn, Value};
    pub(crate) use crate::config::{BatchSize, LateWindow, ReadMode, Target, TargetKind};
    pub(crate) use crate::yaml::{Checker, Field, Location, Names, form};
}

impl Checker<'_> {
    /// The targets of one list, completed by their presets.
    pub(crate) fn targets<M: Mapping>(&mut self, list: Field<List<M::Form>>, scope: &Scope) -> Vec<M> {
        let mut names = Names::new(M::KIND.scope_of_names());
        let List(items) = list.value_or_default();
        let mut target = |yaml: Spanned<M::Form>| {
            let (at, form) = self.completed::<M>(yaml)?;
            M::check(form, at, self, scope, &mut names)
        };
        items.into_iter().filter_map(&mut target).collect()
    }

    /// A target, completed by its preset; `None` when there is no such preset, since most keys
    /// would then seem to be missing.
    fn completed<M: Mapping>(&mut self, yaml: Spanned<M::Form>) -> Option<(Location, M::Form)> {
        let (at, mut own) = (yaml.location(), yaml.value);
        let name = match M::take_preset(&mut own) {
            Field::Set(name) => name,
            // A table that is described in part is the user's own, and no guess fits it.
            Field::Absent if !M::maps_columns(&own) => at.with(M::KIND.default_preset().to_owned()),
            Field::Absent | Field::Null => return Some((at, own)),
        };
        let named = name.location();
        let Some(preset) = presets::of_kind(M::KIND).find(|preset| preset.name == name.value) else {
            return self.refuse(named, unknown_preset(&name.value, M::KIND));
        };
        match yaml::read::<M::Form>(preset.yaml) {
            Ok(base) => Some((at, own.or_preset(base.value, named))),
            Err(problem) => self.refuse(named, format!("the preset itself is wrong at {problem}")),
        }
    }
}

fn unknown_preset(name: &str, kind: TargetKind) -> String {
    let names: Vec<&str> = presets::of_kind(kind).map(|preset| preset.name).collect();
    if let Some(other) = presets::presets().iter().find(|preset| preset.name == name) {
        let names = names.join(", ");
        return format!("the preset `{name}` is for {}; for {kind} there are {names}", other.kind);
    }
    let remedy = suggest::remedy(name, &names, &format!("for {kind} there are"));
    format!("there is no preset `{name}`; {remedy}")
}
