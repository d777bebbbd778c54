//! Filters: the `where` of a target, columns that must hold a constant.

use std::collections::BTreeMap;

use super::{ColumnName, MappedColumn, Value, identifier};
use crate::config::scope::Scope;
use crate::yaml::{Checker, Constant, Entries, Located, Spanned};

/// A fixed predicate: columns, and the constant that each must hold.
pub type Filter = BTreeMap<ColumnName, String>;

impl Value for Filter {
    type Yaml = Entries<String, Constant>;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<Self::Yaml>, _: &Scope) -> Option<Self> {
        let mut filter = Self::new();
        for (key, value) in yaml.value.0 {
            let column = identifier::column(&key.value);
            let column = column.map_err(|message| checker.report_key(key.location(), message));
            let Ok(column) = column else { continue };
            let Some(text) = checker.constant(&value) else { continue };
            if filter.insert(column.clone().into(), text).is_some() {
                checker.report_key(key.location(), format!("the column `{column}` is given twice"));
            }
        }
        Some(filter)
    }

    fn columns<'a>(&'a self, key: &'static str, columns: &mut Vec<MappedColumn<'a>>) {
        self.keys().for_each(|column| column.columns(key, columns));
    }
}
