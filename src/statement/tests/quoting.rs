//! Quoting: no name and no constant can leave its quotes, and a template that forgets to quote fails.

use std::collections::BTreeSet;

use minijinja::value::{Serde, Value, ValueKind};
use minijinja::{Error, context};

use super::refused::EVERY_MAPPING;
use super::{DIALECTS, TARGETS, config};
use crate::config::{TargetConfig, identifier};
use crate::statement::templates::{environment, files};
use crate::statement::{Context, Dialect, Index, indexes, quote};

/// A name that tries to end its quotes, and the statement.
const HOSTILE: &str = "a]; DROP TABLE t; --\"'";

/// What a template renders for the variable `value`.
fn rendered(dialect: Dialect, template: &str, value: impl Into<Value>) -> Result<String, Error> {
    environment(dialect).render_str(template, context! { value => value.into() })
}

fn both(template: &str, value: &str) -> [String; 2] {
    DIALECTS.map(|dialect| rendered(dialect, template, value).unwrap())
}

#[test]
fn names_cannot_leave_their_quotes() {
    let names =
        |dialect| ["a b", "x]y", "x\"y", "it's"].map(|name| quote::identifier(dialect, name)).join(" ");
    assert_eq!(names(Dialect::Mssql), "[a b] [x]]y] [x\"y] [it's]");
    assert_eq!(names(Dialect::Sqlite), "\"a b\" \"x]y\" \"x\"\"y\" \"it's\"");
    assert_eq!(
        both("{{ value | ident }}", "dbo.[Job]]Queue]"),
        ["[dbo].[Job]]Queue]", "\"dbo\".\"Job]Queue\""]
    );
    assert_eq!(both("{{ value | column }}", "S"), ["t.[S]", "t.\"S\""]);
    assert_eq!(both("{{ value | column('l') }}", "[a.b]"), ["l.[a.b]", "l.\"a.b\""]);
    assert_eq!(both("{{ value | parts | last | quote }}", "d.s.[a]]b]"), ["[a]]b]", "\"a]b\""]);
}

#[test]
fn constants_cannot_leave_their_quotes_and_are_nvarchar_only_where_they_must_be() {
    for dialect in DIALECTS {
        assert_eq!(quote::literal(dialect, "it's; --"), "'it''s; --'");
        assert_eq!(quote::literal(dialect, ""), "''");
    }
    assert_eq!(both("{{ value | literal }}", "błąd'"), ["N'błąd'''", "'błąd'''"]);
    for dialect in DIALECTS {
        let list = rendered(dialect, "{{ value | literal }}", Value::from(vec!["a", "it's"])).unwrap();
        assert_eq!(list, "'a', 'it''s'");
    }
}

#[test]
fn a_value_that_no_filter_has_quoted_is_an_error_with_its_place() {
    let written = identifier::written(HOSTILE);
    for dialect in DIALECTS {
        for forgotten in [
            "{{ value }}",
            "{{ value ~ ', ' }}",
            "{{ value | column ~ value }}",
            "{{ [value, value] | join(', ') }}",
            "{{ [value | column, value] | join(', ' | safe) }}",
            "{{ value | upper }}",
            "{{ value | replace('a', 'b') }}",
            "{{ 'NULL' }}",
            "{{ true }}",
            "{{ [value] }}",
            "{{ { value: 1 } }}",
            "{%- macro own(sql) %}{{ sql }}{% endmacro %}{{ own(value) }}",
            "{%- set sql %}{{ value }}{% endset %}{{ sql }}",
        ] {
            let error = rendered(dialect, forgotten, written.as_str()).unwrap_err();
            let message = format!("{error:#}");
            assert!(message.contains("reaches SQL unquoted"), "{forgotten}: {message}");
            assert!(message.contains(":1)"), "{forgotten}: {message}");
        }
        let column = rendered(dialect, "{{ value | column }}", written.as_str()).unwrap();
        assert_eq!(column, format!("t.{}", quote::identifier(dialect, HOSTILE)));
        // A value that is not a name, or is absent, is not quoted either.
        for (template, value) in [
            ("{{ value | column }}", HOSTILE),
            ("{{ value | ident }}", HOSTILE),
            ("{{ value | column }}", "a.b"),
            ("{{ 'S' | column(value) }}", HOSTILE),
            ("{{ absent | column }}", ""),
            ("{{ absent | ident }}", ""),
            ("{{ absent | literal }}", ""),
            ("{{ 1 | literal }}", ""),
            ("{{ value | ms }}", HOSTILE),
        ] {
            assert!(rendered(dialect, template, value).is_err(), "{template}");
        }
    }
}

#[test]
fn a_piece_of_sql_is_written_as_it_is() {
    for (template, sql) in [
        ("{{ 'NULL' | safe }}", "NULL"),
        ("{{ 7 }}", "7"),
        ("{{ value | literal ~ (' || ' | safe) ~ 7 }}", "'x' || 7"),
        ("{%- macro own(sql) %}({{ sql }}){% endmacro %}{{ own(value | literal) }}", "('x')"),
        ("{%- set sql %}{{ value | literal }}{% endset %}{{ sql }}", "'x'"),
        ("{%- set sql %}it's {{ value | literal }}{% endset %}{{ sql | literal }}", "'it''s ''x'''"),
        ("{{ 'NULL' | safe if false }}", ""),
    ] {
        assert_eq!(both(template, "x"), [sql, sql], "{template}");
    }
}

/// The keys of a value and of its nested mappings, joined by dots.
fn keys(prefix: &str, value: &Value, found: &mut BTreeSet<String>) {
    if value.kind() == ValueKind::Map {
        for key in value.try_iter().unwrap() {
            let path = format!("{prefix}{key}");
            keys(&format!("{path}."), &value.get_item(&key).unwrap(), found);
            found.insert(path);
        }
    }
}

/// A misspelt key is absent; in a condition it is false, and not an error.
#[test]
fn every_variable_of_a_template_is_a_key_of_some_target_or_index() {
    let mut known = BTreeSet::new();
    for targets in [TARGETS, EVERY_MAPPING] {
        let config = config(Dialect::Mssql, targets);
        for described in config.sources[0].targets() {
            let context = Context::<TargetConfig<'_>> { described, lock_timeout_ms: 0, is_first: true };
            keys("", &Value::from(Serde(context)), &mut known);
            for described in indexes(described) {
                let context = Context::<Index<'_>> { described, lock_timeout_ms: 0, is_first: true };
                keys("", &Value::from(Serde(context)), &mut known);
            }
        }
    }
    for dialect in DIALECTS {
        known.extend(environment(dialect).globals().map(|(name, _)| name.to_owned()));
        for (name, text) in files() {
            let read = environment(dialect).get_template(name).unwrap().undeclared_variables(true);
            // A macro may be called before it is defined.
            let is_known =
                |variable: &String| known.contains(variable) || text.contains(&format!("macro {variable}("));
            let unknown: Vec<_> = read.into_iter().filter(|variable| !is_known(variable)).collect();
            assert!(unknown.is_empty(), "{name}: {unknown:?}");
        }
    }
}

#[test]
fn only_a_constant_of_a_template_is_marked_as_sql() {
    for (name, text) in files() {
        for (before, _) in text.match_indices("safe").map(|(at, _)| text.split_at(at)) {
            let marked = before.trim_end().strip_suffix('|').map(str::trim_end);
            assert!(marked.is_none_or(|value| value.ends_with('"')), "{name}: {before}");
        }
        assert!(!text.contains("autoescape"), "{name}");
    }
}
