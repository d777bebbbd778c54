//! Filters: the `where` of a target, columns that must hold a constant.

use std::collections::BTreeMap;
use std::ops::Deref;

use serde::Serialize;

use super::{ColumnName, ColumnOwner, MappedColumn, Value, identifier};
use crate::config::scope::Scope;
use crate::yaml::{Checker, Constant, Entries, Located, Spanned};

/// A fixed predicate: columns, and the constant that each must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Filter(BTreeMap<ColumnName, String>);

impl Filter {
    /// Adds the columns, as columns of the table `owner`.
    pub(crate) fn map_in<'a>(
        &'a self,
        owner: ColumnOwner,
        key: &'static str,
        columns: &mut Vec<MappedColumn<'a>>,
    ) {
        self.0.keys().for_each(|column| column.map_in(owner, key, columns));
    }
}

impl FromIterator<(ColumnName, String)> for Filter {
    fn from_iter<I: IntoIterator<Item = (ColumnName, String)>>(conditions: I) -> Self {
        Self(conditions.into_iter().collect())
    }
}

impl Value for Filter {
    type Yaml = Entries<String, Constant>;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<Self::Yaml>, _: &Scope) -> Option<Self> {
        let mut filter = BTreeMap::new();
        for (key, value) in yaml.value.0 {
            let column = match identifier::column(&key.value) {
                Ok(column) => column,
                Err(message) => {
                    checker.report_key(key.location(), message);
                    continue;
                }
            };
            let Some(text) = checker.constant(&value) else { continue };
            if filter.insert(column.as_str().into(), text).is_some() {
                checker.report_key(key.location(), format!("the column `{column}` is given twice"));
            }
        }
        Some(Self(filter))
    }
}

impl Deref for Filter {
    type Target = BTreeMap<ColumnName, String>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}
