//! Names of tables and columns, as SQL writes them: bare, `[in brackets]` or `"in quotes"`.

use super::TableName;

/// The longest identifier that SQL Server takes, in UTF-16 code units.
const MAX_LENGTH: usize = 128;

/// Reads a table name of one to three parts.
///
/// # Errors
/// What is wrong, without the key.
pub(crate) fn table(text: &str) -> Result<TableName, String> {
    let parts = parts(text)?;
    if parts.len() > 3 {
        return Err(format!(
            "`{text}` has {} parts; a table is `table`, `schema.table` or `database.schema.table`",
            parts.len()
        ));
    }
    Ok(TableName(parts))
}

/// Reads a column name.
///
/// # Errors
/// What is wrong, without the key.
pub(crate) fn column(text: &str) -> Result<String, String> {
    let mut parts = parts(text)?;
    match (parts.pop(), parts.is_empty()) {
        (Some(name), true) => Ok(name),
        _ => Err(format!(
            "`{text}` has a dot, and a column has no parts; if the dot is part of the name, write {}",
            yaml_quoted(&bracketed(text))
        )),
    }
}

/// A name in a form that can be read again: bare where possible, else in brackets.
pub(crate) fn written(name: &str) -> String {
    if is_plain(name) { name.to_owned() } else { bracketed(name) }
}

/// The parts of a dotted name, unquoted.
fn parts(text: &str) -> Result<Vec<String>, String> {
    if let Some(control) = text.chars().find(|c| c.is_control()) {
        let code = u32::from(control);
        return Err(format!("a name has the control character U+{code:04X}; names here have none"));
    }
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let (part, after) = first_part(rest, text)?;
        check(&part, text)?;
        parts.push(part);
        match after.strip_prefix('.') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(parts),
            None => return Err(format!("`{text}` continues after a closing bracket or quote without a dot")),
        }
    }
}

/// The first part of a dotted name, unquoted, and what follows it.
fn first_part<'a>(rest: &'a str, whole: &str) -> Result<(String, &'a str), String> {
    if let Some(quoted) = rest.strip_prefix('[') {
        return quoted_part(quoted, ']', whole);
    }
    if let Some(quoted) = rest.strip_prefix('"') {
        return quoted_part(quoted, '"', whole);
    }
    let (part, after) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    if is_plain(part) {
        return Ok((part.to_owned(), after));
    }
    Err(format!(
        "`{part}` is not a plain name; write it in brackets, and in quotes because of YAML: {}",
        yaml_quoted(&bracketed(part))
    ))
}

/// Whether a name needs no brackets. An empty one is refused elsewhere.
fn is_plain(name: &str) -> bool {
    let mut characters = name.chars();
    let starts_well = characters.next().is_none_or(|c| c.is_alphabetic() || c == '_' || c == '#');
    starts_well && characters.all(|c| c.is_alphanumeric() || matches!(c, '_' | '@' | '$' | '#'))
}

/// A part up to its closing mark, which is doubled inside the name.
fn quoted_part<'a>(quoted: &'a str, close: char, whole: &str) -> Result<(String, &'a str), String> {
    let mut name = String::new();
    let mut rest = quoted;
    while let Some((before, after)) = rest.split_once(close) {
        name.push_str(before);
        match after.strip_prefix(close) {
            Some(next) => {
                name.push(close);
                rest = next;
            }
            None => return Ok((name, after)),
        }
    }
    Err(format!("`{whole}` lacks its closing `{close}`"))
}

fn check(part: &str, whole: &str) -> Result<(), String> {
    if part.is_empty() {
        return Err(format!("`{whole}` has an empty part; a name has at least one character"));
    }
    if part.encode_utf16().count() > MAX_LENGTH {
        return Err(format!("a name has more than {MAX_LENGTH} characters, the limit of SQL Server"));
    }
    Ok(())
}

fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

/// Text as a YAML string in single quotes, which alone have to be doubled.
fn yaml_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
