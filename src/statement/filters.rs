//! Template filters: how a value of the configuration becomes SQL.
//!
//! The templates receive names as the configuration writes them (`Col`, `[my col]`, `dbo.[Job Q]`) and
//! everything else as plain text. What a filter returns is quoted and marked as safe; besides that, the
//! template engine writes only numbers.

use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind};

use super::{Dialect, quote};
use crate::config::{duration, identifier};

/// Adds the filters of one dialect.
pub(super) fn add(environment: &mut Environment<'static>, dialect: Dialect) {
    // A name, or a dotted table name, quoted. For a list: each name, separated by commas.
    environment.add_filter("ident", move |names: Value| {
        each(&names, |name| {
            let quoted = parts(name)?.into_iter().map(|part| quote::identifier(dialect, &part));
            Ok(quoted.collect::<Vec<_>>().join("."))
        })
    });
    // A column of the row source. Every statement calls the target's own table `t`, and the related table
    // of a queue `l`.
    environment.add_filter("column", move |name: String, alias: Option<String>| {
        let alias = alias.as_deref().unwrap_or("t");
        if !matches!(alias, "t" | "l") {
            return Err(invalid(format!("`{alias}` is no alias of a table")));
        }
        let name = identifier::column(&name).map_err(invalid)?;
        Ok(Value::from_safe_string(format!("{alias}.{}", quote::identifier(dialect, &name))))
    });
    // A text constant. For a list: each constant, separated by commas.
    environment
        .add_filter("literal", move |texts: Value| each(&texts, |text| Ok(quote::literal(dialect, text))));
    // The parts of a dotted name, without brackets and quotes: what the catalog holds.
    environment.add_filter("parts", |name: String| parts(&name));
    // One such part, or a name made of several, as an identifier.
    environment
        .add_filter("quote", move |part: String| Value::from_safe_string(quote::identifier(dialect, &part)));
    // The milliseconds of a duration such as `1m30s`.
    environment.add_filter("ms", |text: String| -> Result<u64, Error> {
        let duration = duration::parse(&text).map_err(invalid)?;
        Ok(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    });
    // The stored values of one state, from a mapping of values to states.
    environment.add_filter("values_of", move |map: Value, state: String| values_of(dialect, &map, &state));
}

/// The SQL of a text, or of each text in a list, separated by commas.
fn each(value: &Value, sql: impl Fn(&str) -> Result<String, Error>) -> Result<Value, Error> {
    let of_one = |value: &Value| match value.as_str() {
        Some(text) => sql(text),
        None => Err(invalid(format!("`{value}` is not text"))),
    };
    let sql = if matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        value.try_iter()?.map(|item| of_one(&item)).collect::<Result<Vec<_>, _>>()?.join(", ")
    } else {
        of_one(value)?
    };
    Ok(Value::from_safe_string(sql))
}

fn parts(name: &str) -> Result<Vec<String>, Error> {
    Ok(identifier::table(name).map_err(invalid)?.0)
}

/// The stored values of one state, in the ascending order of the column: as numbers when all are numbers,
/// since the column then most likely holds numbers; else as the database's usual collation sorts text, which
/// ignores case on SQL Server and compares bytes in the embedded one. (A wrong guess costs time, not rows:
/// two ranges that overlap read what lies between them.)
fn values_of(dialect: Dialect, map: &Value, state: &str) -> Result<Vec<String>, Error> {
    let mut values = Vec::new();
    // A state that is not stored has no mapping, and so no values.
    for value in map.try_iter()? {
        if map.get_item(&value)?.as_str() == Some(state) {
            values.push(value.to_string());
        }
    }
    let number = |value: &String| value.parse::<i64>().ok();
    if values.iter().all(|value| number(value).is_some()) {
        values.sort_by_key(number);
    } else if dialect == Dialect::Mssql {
        values.sort_by_key(|value| value.to_lowercase());
    }
    Ok(values)
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}
