//! YAML files: values with their locations, checks, and errors that name file, line and key.
//!
//! `read` turns a document into structs of `Field`s, which know where each value is. A `Checker` then
//! collects everything that is wrong, so that a file can be corrected in one go.

mod checker;
mod error;
mod files;
mod form;
mod key_paths;
mod read;
pub(crate) mod suggest;
#[cfg(test)]
mod tests;
mod types;

pub(crate) use checker::{Bounds, Checker, Names, Resolved};
pub use error::{ConfigError, InvalidFile, Problem};
pub(crate) use files::read_file;
pub(crate) use form::{Form, form};
pub(crate) use read::{read, word, write, write_true};
pub(crate) use serde_saphyr::Spanned;
pub(crate) use types::{Constant, Entries, Field, List, Located, Location, ScalarOr, Setting};

/// Limits on reading a file. A configuration has fewer than ten levels, and each costs stack; the library's
/// own limit on levels may be more than a thread has room for.
fn budget() -> Option<serde_saphyr::Budget> {
    serde_saphyr::budget! { max_depth: 24 }
}
