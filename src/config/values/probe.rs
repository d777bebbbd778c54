//! Probes: what must hold for an answer to be believed.

use serde::Serialize;

use super::{ColumnOwner, Filter, MappedColumn, TableName, Value};
use crate::config::scope::{Backend, Scope};
use crate::yaml::{Checker, Constant, Entries, Field, Located, Spanned, form};

/// What must hold for an answer to be believed: a view or a security policy that hides rows from a
/// login raises no error, and what it leaves looks like an empty table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// The table behind the view; it is not empty while the target's table shows nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_table: Option<TableName>,
    /// Which rows of that table the view has to show.
    #[serde(rename = "where", skip_serializing_if = "Filter::is_empty")]
    pub filter: Filter,
    /// A database or server role that the login is a member of; SQL Server only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

form! {
    pub struct ProbeForm {
        /// The table behind the view.
        base_table: Field<String>,
        /// Columns of that table that must hold a constant.
        #[serde(rename = "where")]
        filter: Field<Entries<String, Constant>>,
        /// A role that the login must be a member of.
        role: Field<String>,
    }
}

impl Probe {
    /// Adds the columns that it names.
    pub(crate) fn map<'a>(&'a self, columns: &mut Vec<MappedColumn<'a>>) {
        self.filter.keys().for_each(|column| column.map_in(ColumnOwner::Probe, "probe.where", columns));
    }
}

impl Value for Probe {
    type Yaml = ProbeForm;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<ProbeForm>, scope: &Scope) -> Option<Self> {
        let (at, form) = (yaml.location(), yaml.value);
        let (base_table, role) = (form.base_table.given(), form.role.given());
        if base_table.is_none() && role.is_none() {
            checker.missing(at, "base_table", "name the table behind the view, or give `role`");
            return None;
        }
        if let (None, Some(at)) = (&base_table, form.filter.location()) {
            return checker.refuse(at, "`where` narrows the rows of `base_table`; name that table");
        }
        let base_table = base_table.and_then(|value| TableName::check(checker, value, scope));
        let filter = checker.optional_value(form.filter, scope).unwrap_or_default();
        let role = role.and_then(|value| {
            if scope.backend == Backend::Sqlite {
                let message = "a SQLite file has no roles; remove `role`, or probe a `base_table`";
                return checker.refuse(value.location(), message);
            }
            checker.text(value)
        });
        Some(Self { base_table, filter, role })
    }
}
