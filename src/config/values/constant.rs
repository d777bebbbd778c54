//! Constants that a statement compares a column with.

use crate::yaml::{Checker, Constant, Located, ScalarOr, Spanned};

impl Checker<'_> {
    /// A constant, as the text that a statement compares with.
    pub(crate) fn constant(&mut self, value: &Spanned<Constant>) -> Option<String> {
        self.accept(value.location(), constant(&value.value))
    }

    /// A constant that is the key of a mapping.
    pub(crate) fn constant_key(&mut self, key: &Spanned<Constant>) -> Option<String> {
        constant(&key.value).map_err(|message| self.report_key(key.location(), message)).ok()
    }
}

/// A constant as text; `Err` says what it is instead.
fn constant(value: &Constant) -> Result<String, String> {
    match value {
        ScalarOr::Text(text) => Ok(text.clone()),
        ScalarOr::Integer(number) => Ok(number.to_string()),
        // A bit column, which both databases compare with a number.
        ScalarOr::Bool(bit) => Ok(u8::from(*bit).to_string()),
        other => {
            let found = other.found();
            Err(format!("expected a string, a whole number or true or false, found {found}; quote a string"))
        }
    }
}
