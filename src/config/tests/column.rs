//! Columns: names, encodings, zones and the constants of a predicate.

use std::collections::BTreeMap;

use super::{queue, queue_errors};
use crate::config::{TimeColumn, TimeEncoding, TimeZone};

fn enqueued_at(value: &str) -> TimeColumn {
    queue(&format!("preset: lease\nenqueued_at: {value}")).enqueued_at.unwrap()
}

fn enqueued_at_errors(value: &str) -> String {
    let text = queue_errors(&format!("preset: lease\nenqueued_at: {value}"));
    text.strip_prefix("config.yaml:7:").unwrap().to_owned()
}

fn time(encoding: TimeEncoding, zone: TimeZone) -> TimeColumn {
    TimeColumn { column: "E".to_owned(), encoding, zone, sentinels: Vec::new(), lookup: false }
}

#[test]
fn a_time_column_is_a_name_or_a_mapping() {
    assert_eq!(enqueued_at("E"), time(TimeEncoding::Native, TimeZone::Utc));
    assert_eq!(enqueued_at("{ column: E }"), time(TimeEncoding::Native, TimeZone::Utc));
    assert_eq!(enqueued_at("{ column: E, zone: server }"), time(TimeEncoding::Native, TimeZone::Server));
    assert_eq!(enqueued_at("{ column: E, zone: offset }"), time(TimeEncoding::Native, TimeZone::Offset));
    assert_eq!(enqueued_at("{ column: E, zone: UTC }"), time(TimeEncoding::Native, TimeZone::Utc));
    for (word, encoding) in [
        ("native", TimeEncoding::Native),
        ("unix_s", TimeEncoding::UnixS),
        ("unix_ms", TimeEncoding::UnixMs),
        ("dotnet_ticks", TimeEncoding::DotnetTicks),
    ] {
        assert_eq!(
            enqueued_at(&format!("{{ column: E, encoding: {word}, zone: utc }}")),
            time(encoding, TimeZone::Utc)
        );
    }
}

#[test]
fn a_time_mapping_needs_its_column() {
    assert_eq!(
        enqueued_at_errors("{ zone: utc }"),
        "22: key `sources[0].queues[0].enqueued_at.column`: is missing; name the column that holds the time"
    );
}

#[test]
fn a_number_has_no_zone() {
    assert_eq!(
        enqueued_at_errors("{ column: E, encoding: unix_s, zone: server }"),
        "59: key `sources[0].queues[0].enqueued_at.zone`: `zone` contradicts `encoding`: a number counts from \
         a moment in UTC; remove `zone`, or use `encoding: native`"
    );
}

#[test]
fn a_zone_that_cannot_exist_is_refused() {
    assert_eq!(
        enqueued_at_errors("{ column: E, zone: sever }"),
        "41: key `sources[0].queues[0].enqueued_at.zone`: unknown zone `sever`; did you mean `server`?"
    );
    assert_eq!(
        enqueued_at_errors("{ column: E, zone: local }"),
        "41: key `sources[0].queues[0].enqueued_at.zone`: unknown zone `local`; expected a Windows time zone \
         name or one of: utc, offset, server"
    );
    assert_eq!(
        enqueued_at_errors("{ column: E, zone: Europe/Warsaw }"),
        "41: key `sources[0].queues[0].enqueued_at.zone`: `Europe/Warsaw` is an IANA name, and SQL Server \
         knows Windows names only, such as `Central European Standard Time`"
    );
}

#[test]
fn an_unknown_encoding_suggests_the_nearest() {
    assert_eq!(
        enqueued_at_errors("{ column: E, encoding: unix }"),
        "45: key `sources[0].queues[0].enqueued_at.encoding`: unknown value `unix`; did you mean `unix_s`?"
    );
}

#[test]
fn column_names_may_be_quoted() {
    assert_eq!(enqueued_at("'[E]'"), time(TimeEncoding::Native, TimeZone::Utc));
    assert_eq!(enqueued_at("'[Enqueued at]'").column, "Enqueued at");
    assert_eq!(
        enqueued_at_errors("Enqueued at"),
        "22: key `sources[0].queues[0].enqueued_at`: `Enqueued at` is not a plain name; write it in brackets, \
         and in quotes because of YAML: '[Enqueued at]'"
    );
    assert_eq!(
        enqueued_at_errors("t.E"),
        "22: key `sources[0].queues[0].enqueued_at`: `t.E` has a dot, and a column stands alone; if the dot is \
         part of the name, write '[t.E]'"
    );
}

#[test]
fn a_predicate_compares_columns_with_constants() {
    let filter = queue(
        "preset: lease\nwhere: { TaskHub: default, Type: 1, Code: 007, '[Is Active]': true, Low: -5, Word: 'true', No: no }",
    )
    .target
    .filter;
    let expected = [
        ("TaskHub", "default"),
        ("Type", "1"),
        ("Code", "007"),
        // A bit column compares with 1, on both databases.
        ("Is Active", "1"),
        ("Low", "-5"),
        ("Word", "true"),
        ("No", "no"),
    ];
    let expected: BTreeMap<String, String> =
        expected.into_iter().map(|(column, value)| (column.to_owned(), value.to_owned())).collect();
    assert_eq!(filter, expected);
}

#[test]
fn a_predicate_refuses_what_is_not_a_constant() {
    let expected = "expected a string, a whole number or true or false, found";
    for (value, found) in
        [("null", "nothing"), ("1.5", "a decimal number"), ("[1]", "a list"), ("{ a: b }", "a mapping")]
    {
        assert_eq!(
            queue_errors(&format!("preset: lease\nwhere: {{ Type: {value} }}")),
            format!(
                "config.yaml:7:24: key `sources[0].queues[0].where.Type`: {expected} {found}; quote a string"
            )
        );
    }
}

#[test]
fn a_predicate_refuses_bad_and_repeated_columns() {
    assert_eq!(
        queue_errors("preset: lease\nwhere: { A: 1, a.b: 1, '[A]': 2 }"),
        "config.yaml:7:24: key `sources[0].queues[0].where.a.b`: `a.b` has a dot, and a column stands alone; \
         if the dot is part of the name, write '[a.b]'\n\
         config.yaml:7:32: key `sources[0].queues[0].where.[A]`: the column `A` is given twice"
    );
}
