//! Names: values that are chosen from a table.

use crate::yaml::{Checker, Located as _, Spanned, suggest};

/// The value of a name; reports a name that is not in the table. `refused` names have a meaning in the
/// toolkit, and are not supported here.
pub(super) fn named<T: Copy>(
    checker: &mut Checker<'_>,
    name: &Spanned<String>,
    known: &[(&str, T)],
    refused: &[&str],
) -> Option<T> {
    let value = name.value.as_str();
    if let Some((_, found)) = known.iter().find(|(known, _)| *known == value) {
        return Some(*found);
    }
    let known: Vec<&str> = known.iter().map(|(known, _)| *known).collect();
    let message = if refused.contains(&value) {
        format!("`{value}` is not supported by this exporter; expected one of: {}", known.join(", "))
    } else {
        format!("unknown value `{value}`; {}", suggest::remedy(value, &known, "expected one of"))
    };
    checker.report(name.location(), message);
    None
}

/// The values of several names; `None` when one of them is not in the table.
pub(super) fn all_named<T: Copy>(
    checker: &mut Checker<'_>,
    names: &[Spanned<String>],
    known: &[(&str, T)],
    refused: &[&str],
) -> Option<Vec<T>> {
    let values: Vec<_> = names.iter().map(|name| named(checker, name, known, refused)).collect();
    values.into_iter().collect()
}
