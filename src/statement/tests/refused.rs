//! SQL that SQL Server refuses or reads differently while another implementation of T-SQL may not. No test
//! that executes a statement elsewhere would notice.

use std::collections::BTreeSet;

use super::{LOCK_TIMEOUT, TARGETS, config, requests};
use crate::config::{TargetConfig, TargetKind, presets};
use crate::statement::{Dialect, columns, indexes, quote, sample, seek};

/// The mappings that are executed on a real server.
pub(super) const EVERY_MAPPING: &str = include_str!("../../../tests/support/every_mapping.yaml");

/// A target for each preset.
fn every_preset() -> String {
    let mut targets = String::new();
    for kind in TargetKind::ALL {
        targets += &format!("    {kind}:\n");
        for preset in presets().iter().filter(|preset| preset.kind == *kind) {
            targets += &format!("      - {{ name: {0}, preset: {0} }}\n", preset.name);
        }
    }
    targets
}

/// Each statement that is sent to SQL Server for these targets.
fn statements(targets: &str) -> Vec<String> {
    let config = config(Dialect::Mssql, targets);
    let mut texts = Vec::new();
    for target in config.sources[0].targets() {
        for request in requests() {
            texts.push(sample(Dialect::Mssql, target, &request, LOCK_TIMEOUT).unwrap().text);
        }
        for index in indexes(target) {
            texts.push(seek(Dialect::Mssql, &index, LOCK_TIMEOUT).unwrap().text);
        }
    }
    texts
}

/// The tokens of a statement: names and constants with their quotes, numbers, and single characters.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '@');
        let length = match first {
            '\'' => quoted(rest, '\''),
            '[' => quoted(rest, ']'),
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        words.push(word.to_owned());
        rest = after.trim_start();
    }
    words
}

/// The length of a quoted text, in which the closing quote is doubled.
fn quoted(text: &str, close: char) -> usize {
    let mut end = 1;
    loop {
        end += text[end..].find(close).unwrap() + close.len_utf8();
        if !text[end..].starts_with(close) {
            return end;
        }
        end += close.len_utf8();
    }
}

/// Everything wrong with a statement.
fn objections(text: &str) -> Vec<String> {
    let words = words(text);
    let at = |index: usize| words.get(index).map_or("", String::as_str);
    let before = |index: usize, count: usize| index.checked_sub(count).map_or("", at);
    let is_cast = |index| (before(index, 2), before(index, 1), at(index + 1)) == ("CAST", "(", "AS");
    let is_step =
        |name: &str| words.windows(3).any(|found| found[0] == name && found[1] == "AS" && found[2] == "(");
    let mut found = Vec::new();
    // For each open bracket, whether its SELECT has a TOP.
    let mut tops = vec![true];
    for (index, word) in words.iter().enumerate() {
        let mut object = |what: &str| {
            let around = &words[index.saturating_sub(4)..words.len().min(index + 6)];
            found.push(format!("{what}: {}", around.join(" ")));
        };
        match word.as_str() {
            // Error 8117 when an aggregate adds it up, 8133 when it is the only result of a CASE.
            "NULL" if !matches!(before(index, 1), "IS" | "NOT") && !is_cast(index) => {
                object("a NULL without a type");
            }
            "(" => tops.push(false),
            ")" => _ = tops.pop(),
            // In a UNION, the SELECT before an ORDER BY is the last one.
            "SELECT" if tops.len() > 1 => *tops.last_mut().unwrap() = at(index + 1) == "TOP",
            // Error 1033.
            "ORDER" if !tops.last().unwrap() => object("ORDER BY without TOP"),
            // A login may be denied a column that the mapping does not name.
            "*" if before(index, 1) != "(" && !is_step(at(index + 2)) && at(index + 1) == "FROM" => {
                object("every column of a table");
            }
            // Error 156 when the alias comes after the hints.
            "WITH" if at(index + 1) == "(" && before(index, 2) != "AS" => object("hints before the alias"),
            // Error 156 before anything else.
            "OPTION" if at(index + 4 + 1) != ";" => object("OPTION is not the end"),
            // Neither INT nor BIGINT but NUMERIC, whose division leaves a fraction.
            number if number.parse::<u128>().is_ok_and(|n| n > i32::MAX as u128) && !is_cast(index) => {
                object("a number that is NUMERIC");
            }
            _ => {}
        }
    }
    found
}

#[test]
fn no_statement_has_what_sql_server_alone_refuses() {
    let mut seen = 0;
    for targets in [TARGETS, EVERY_MAPPING, &every_preset()] {
        for text in statements(targets) {
            assert_eq!(objections(&text), [""; 0], "{text}");
            seen += 1;
        }
    }
    assert!(seen > 2 * presets().len(), "{seen}");
}

#[test]
fn each_of_these_is_objected_to() {
    for (text, what) in [
        ("WITH q AS (SELECT NULL AS a) SELECT MAX(a) FROM q;", "a NULL without a type"),
        ("SELECT MAX(CASE WHEN t.[a] IS NULL THEN NULL END) FROM x AS t;", "a NULL without a type"),
        ("SELECT 1 UNION ALL SELECT NULL;", "a NULL without a type"),
        ("WITH q AS (SELECT t.[a] FROM x AS t ORDER BY t.[a]) SELECT a FROM q;", "ORDER BY without TOP"),
        ("SELECT a FROM (SELECT TOP (1) a FROM x UNION ALL SELECT a FROM y ORDER BY a) AS z;", "ORDER BY"),
        ("WITH q AS (SELECT TOP (5) * FROM [x] AS t) SELECT a FROM q;", "every column of a table"),
        ("SELECT 1 FROM x WITH (READPAST) AS t;", "hints before the alias"),
        ("SELECT a FROM x OPTION (MAXDOP 1) ORDER BY a;", "OPTION is not the end"),
        ("SELECT (a - 621355968000000000) / 10000 FROM x;", "a number that is NUMERIC"),
    ] {
        let found = objections(text);
        assert!(found.len() == 1 && found[0].starts_with(what), "{text}: {found:?}");
    }
    let fine = "WITH q AS (SELECT TOP (5) t.[NULL], 'NULL', CAST(NULL AS BIGINT) AS a FROM [x] AS t WITH (READPAST) \
                WHERE t.[a] IS NOT NULL ORDER BY t.[a]) SELECT COUNT_BIG(*), 2 * 3 FROM (SELECT * FROM q) AS r \
                OPTION (MAXDOP 1);";
    assert_eq!(objections(fine), [""; 0]);
}

/// The columns of `t` that a text names.
fn named(text: &str) -> BTreeSet<String> {
    let words = words(text);
    let of_t = words.windows(3).filter(|found| found[0] == "t" && found[1] == ".");
    of_t.map(|found| found[2].clone()).collect()
}

#[test]
fn the_columns_that_a_sample_reads_are_known() {
    for targets in [TARGETS, EVERY_MAPPING, &every_preset()] {
        let config = config(Dialect::Mssql, targets);
        // A probe reads columns of another table.
        for target in config.sources[0].targets().filter(|target| target.target().probe.is_none()) {
            let known: BTreeSet<String> = columns::own(target)
                .into_iter()
                .map(|name| quote::identifier(Dialect::Mssql, name))
                .collect();
            for request in requests() {
                let text = sample(Dialect::Mssql, target, &request, LOCK_TIMEOUT).unwrap().text;
                let read = named(&text);
                if matches!(target, TargetConfig::Queue(_)) {
                    assert_eq!(read, known, "{text}");
                }
                assert!(read.is_subset(&known), "{read:?} {known:?} {text}");
            }
        }
    }
}
