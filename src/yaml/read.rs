//! Reading YAML, with the deserializer's errors reworded for the user.

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, Location as Position, Spanned};

use super::error::Problem;
use super::key_paths::KeyPaths;
use super::suggest;

/// Reads one YAML document, with the location of its beginning.
///
/// # Errors
/// The first problem that the deserializer finds.
pub(crate) fn read<T: DeserializeOwned>(yaml: &str) -> Result<Spanned<T>, Problem> {
    let options = serde_saphyr::options! {
        // Lines of the file are kept out of errors: one of them may hold a misplaced password.
        with_snippet: false,
        budget: super::budget(),
        // `Y`, `no` and `on` are plausible codes in a state column, and `007` in a predicate.
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        reject_unsupported_tags: true,
    };
    serde_saphyr::from_str_with_options(yaml, options).map_err(|error| match KeyPaths::of(yaml) {
        Ok(paths) => problem(&error, &paths),
        // Broken syntax comes first: what precedes it may only look wrong because of it.
        Err(syntax) => problem(&syntax, &KeyPaths::default()),
    })
}

/// Writes a value as a YAML document.
///
/// # Errors
/// A value that cannot be written, which is a defect.
pub(crate) fn write(value: &impl Serialize) -> Result<String, String> {
    serde_saphyr::to_string(value).map_err(|error| error.to_string())
}

/// The word of a value that is one of a few, as it is written.
pub(crate) fn word(value: &impl Serialize) -> String {
    write(value).unwrap_or_default().trim_end().trim_matches('"').to_owned()
}

/// Writes a unit variant as `true`.
///
/// # Errors
/// Those of the serializer.
pub(crate) fn write_true<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(true)
}

/// What an error is about.
enum Subject {
    Value,
    Key,
    Nowhere,
}

fn problem(error: &Error, paths: &KeyPaths) -> Problem {
    let error = error.without_snippet();
    let (error, at) = match error {
        // The reader must look at the alias; its anchor may be fine elsewhere.
        Error::AliasError { error, locations, .. } => (error.without_snippet(), locations.reference_location),
        error => (error, error.location().unwrap_or(Position::UNKNOWN)),
    };
    let (subject, message) = describe(error, at, paths);
    let key = match subject {
        Subject::Value => paths.value_path_at(at),
        Subject::Key => match error {
            Error::SerdeUnknownField { field, .. } => paths.key_path_at(at, Some(field)),
            _ => paths.key_path_at(at, None),
        },
        Subject::Nowhere => None,
    };
    Problem {
        line: at.line().max(1),
        column: at.column().max(1),
        key: key.filter(|path| !path.is_empty()).map(ToOwned::to_owned),
        message,
    }
}

fn describe(error: &Error, at: Position, paths: &KeyPaths) -> (Subject, String) {
    let expected = |what: &str| {
        let found = paths.found_at(at).filter(|found| *found != what);
        let found = found.map(|found| format!(", found {found}")).unwrap_or_default();
        (Subject::Value, format!("expected {what}{found}"))
    };
    match error {
        Error::SerdeUnknownField { field, expected, .. } => (Subject::Key, unknown_key(field, expected)),
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            let remedy = suggest::remedy(variant, expected, "expected one of");
            (Subject::Value, format!("unknown value `{variant}`; {remedy}"))
        }
        Error::SerdeInvalidType { expected: what, .. } | Error::SerdeInvalidValue { expected: what, .. } => {
            expected(what)
        }
        Error::Unexpected { expected: what, .. } => match *what {
            "string scalar" if paths.found_at(at) == Some("a list") => {
                let (subject, message) = expected("a string");
                (subject, format!("{message}; quote a name that begins with a bracket: '[name]'"))
            }
            "string scalar" => expected("a string"),
            "mapping start" => expected("a mapping of keys to values"),
            "sequence start" => expected("a list"),
            other => expected(other),
        },
        Error::NullIntoString { .. } => expected("a string"),
        Error::InvalidBooleanStrict { .. } => expected("`true` or `false`"),
        // The only one is a port.
        Error::InvalidScalar { ty: "u16", .. } => expected("a whole number from 1 to 65535"),
        Error::InvalidScalar { ty: "u32", .. } => expected("a whole number from 0 to 4294967295"),
        Error::ExternallyTaggedEnumExpectedScalarOrMapping { .. } => expected("a single word"),
        Error::DuplicateMappingKey { .. } => {
            (Subject::Key, "this key is given twice in one mapping; keep one of them".to_owned())
        }
        Error::MultipleDocuments { .. } => (
            Subject::Nowhere,
            "a second YAML document begins here; a configuration is one document".to_owned(),
        ),
        // The tag itself is not shown: an unquoted password may begin with `!`.
        Error::UnsupportedTag { .. } => {
            (Subject::Value, "YAML tags are not used here; quote a value that begins with `!`".to_owned())
        }
        Error::NonFiniteFloat { .. } => {
            let what = "is a number without end, or too large for one; in quotes it is text";
            (Subject::Value, what.to_owned())
        }
        Error::Budget { breach, .. } => (Subject::Nowhere, too_much(breach).to_owned()),
        Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => (Subject::Nowhere, TOO_MANY_ALIASES.to_owned()),
        other => {
            let text = other.to_string();
            // The parser has a limit of its own, without an error type for it.
            if text.contains("recursion limit exceeded") {
                return (Subject::Nowhere, TOO_DEEP.to_owned());
            }
            let what = text.rfind(" at line ").and_then(|end| text.get(..end)).unwrap_or(&text);
            (Subject::Nowhere, format!("not valid YAML: {what}"))
        }
    }
}

const TOO_DEEP: &str = "lists and mappings lie too deep within each other; is it the right file?";
const TOO_LARGE: &str = "there is far more in the file than a configuration needs; is it the right file? A large configuration can be \
     split: `--config.file` may be a folder";
const TOO_MANY_ALIASES: &str = "YAML anchors and aliases (`&name`, `*name`, `<<`) expand to far more than a configuration needs; write the \
     values out";

/// What the file has too much of.
const fn too_much(breach: &BudgetBreach) -> &'static str {
    match breach {
        BudgetBreach::Depth { .. } => TOO_DEEP,
        BudgetBreach::Aliases { .. }
        | BudgetBreach::Anchors { .. }
        | BudgetBreach::AliasAnchorRatio { .. }
        | BudgetBreach::MergeKeys { .. }
        | BudgetBreach::RecordedAnchorEvents { .. }
        | BudgetBreach::RecordedAnchorBytes { .. } => TOO_MANY_ALIASES,
        _ => TOO_LARGE,
    }
}

fn unknown_key(key: &str, valid: &[&str]) -> String {
    if valid.contains(&"password_file") && matches!(key.to_lowercase().as_str(), "password" | "pwd") {
        return "a password is never written into this file; use `password_file`, `password_env` or \
                `password_credential`"
            .to_owned();
    }
    format!("unknown key; {}", suggest::remedy(key, valid, "valid keys"))
}
