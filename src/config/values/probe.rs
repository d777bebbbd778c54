//! Probes: what must hold for an answer to be believed.

use serde::Serialize;

use super::{ColumnOwner, Filter, MappedColumn, TableName, Value};
use crate::config::scope::{Backend, Scope};
use crate::yaml::form;
use crate::yaml::{Checker, Constant, Entries, Field, Located, Spanned};

/// What must hold for an answer to be believed. A view or a security policy that hides rows from a login
/// raises no error, and the result looks like an empty table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Probe {
    /// The table behind the view; rows are hidden when it has some and the target's table shows none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_table: Option<TableName>,
    /// The rows of that table that the view has to show.
    #[serde(rename = "where", skip_serializing_if = "filter_is_empty")]
    pub filter: Filter,
    /// A database or server role that the login is a member of; SQL Server only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

fn filter_is_empty(filter: &Filter) -> bool {
    filter.is_empty()
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
    /// Adds the columns that the probe names.
    pub(crate) fn map<'a>(&'a self, columns: &mut Vec<MappedColumn<'a>>) {
        self.filter.map_in(ColumnOwner::Probe, "probe.where", columns);
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
        if let (None, Field::Set(filter)) = (&base_table, &form.filter) {
            let message = "`where` narrows the rows of `base_table`; name that table";
            checker.report(filter.location(), message);
            return None;
        }
        let base_table = match base_table {
            Some(value) => Some(TableName::check(checker, value, scope)?),
            None => None,
        };
        let filter = match form.filter.given() {
            Some(filter) => Filter::check(checker, filter, scope)?,
            None => Filter::default(),
        };
        let role = match role {
            None => None,
            Some(value) if scope.backend == Backend::Sqlite => {
                let message = "a SQLite file has no roles; remove `role`, or probe a `base_table`";
                checker.report(value.location(), message);
                return None;
            }
            Some(value) => Some(checker.text(value)?),
        };
        Some(Self { base_table, filter, role })
    }
}
