//! Declared label values: exported from the start, at 0.

use super::Value;
use crate::config::scope::Scope;
use crate::yaml::{Checker, List, Located, Spanned};

/// Label values: none empty, none twice, and no more than are exported.
impl Value for Vec<String> {
    type Yaml = List<String>;

    fn check(checker: &mut Checker<'_>, yaml: Spanned<List<String>>, scope: &Scope) -> Option<Self> {
        let (at, List(items)) = (yaml.location(), yaml.value);
        if items.len() > scope.global.max_label_values {
            checker.report(
                at,
                format!(
                    "declares {} values, more than `global.max_label_values` ({}); raise that or declare fewer",
                    items.len(),
                    scope.global.max_label_values
                ),
            );
        }
        let mut values = Self::new();
        for item in items {
            let at = item.location();
            let Some(text) = checker.text(item) else { continue };
            if values.contains(&text) {
                checker.report(at, format!("`{text}` is given twice"));
            } else {
                values.push(text);
            }
        }
        Some(values)
    }
}
