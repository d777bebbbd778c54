//! Columns: names, encodings, zones and the constants of a predicate.

use super::{MSSQL, queue, queue_errors, result, with_target};
use crate::config::{Filter, TimeColumn, TimeEncoding, TimeZone};

fn enqueued_at(value: &str) -> TimeColumn {
    queue(&format!("preset: lease\nenqueued_at: {value}")).enqueued_at.unwrap()
}

fn enqueued_at_errors(value: &str) -> String {
    let text = queue_errors(&format!("preset: lease\nenqueued_at: {value}"));
    text.strip_prefix("config.yaml:7:").unwrap().to_owned()
}

fn time(encoding: TimeEncoding, zone: TimeZone) -> TimeColumn {
    TimeColumn { column: "E".into(), encoding, zone, sentinels: Vec::new(), lookup: false }
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
        "41: key `sources[0].queues[0].enqueued_at.zone`: unknown zone `local`; expected one of: utc, offset, \
         server"
    );
}

/// The zone of a column in SQL Server, or what is wrong with it.
fn zone_on_sql_server(name: &str) -> Result<TimeZone, String> {
    let file =
        with_target(MSSQL, "queues", &format!("preset: lease\nenqueued_at: {{ column: E, zone: '{name}' }}"));
    match result(&file) {
        Ok(config) => Ok(config.sources[0].queues[0].enqueued_at.clone().unwrap().zone),
        Err(error) => {
            let error = error.to_string();
            let place = "config.yaml:7:41: key `sources[0].queues[0].enqueued_at.zone`: ";
            Err(error.strip_prefix(place).unwrap_or_else(|| panic!("{error}")).to_owned())
        }
    }
}

#[test]
fn a_zone_is_named_as_iana_or_as_windows_names_it() {
    for (name, windows) in [
        ("Europe/Warsaw", "Central European Standard Time"),
        ("Europe/Kiev", "FLE Standard Time"),
        ("Europe/Kyiv", "FLE Standard Time"),
        ("Asia/Tokyo", "Tokyo Standard Time"),
        ("Europe/Moscow", "Russian Standard Time"),
        ("Central European Standard Time", "Central European Standard Time"),
        // From a Windows newer than this program.
        ("Mars Standard Time", "Mars Standard Time"),
        ("UTC+14", "UTC+14"),
    ] {
        assert_eq!(zone_on_sql_server(name), Ok(TimeZone::Named(windows.to_owned())), "{name}");
    }
    for utc in ["utc", "UTC", "Etc/UTC", "GMT"] {
        assert_eq!(zone_on_sql_server(utc), Ok(TimeZone::Utc), "{utc}");
        assert_eq!(enqueued_at(&format!("{{ column: E, zone: {utc} }}")).zone, TimeZone::Utc, "{utc}");
    }
}

#[test]
fn an_unknown_zone_is_answered_with_the_nearest_one() {
    let otherwise = "expected the IANA or Windows name of a time zone, or one of: utc, offset, server";
    for (name, remedy) in [
        ("Europe/Warszawa", "did you mean `Europe/Warsaw`?"),
        ("Warsaw", "did you mean `Europe/Warsaw`?"),
        ("sever", "did you mean `server`?"),
        ("Central Europaen Standard Time", "did you mean `Central European Standard Time`?"),
        ("Mars/Olympus_Mons", otherwise),
        ("local", otherwise),
        ("CEST", otherwise),
        ("UTC+2", otherwise),
        ("+02:00", otherwise),
    ] {
        assert_eq!(zone_on_sql_server(name), Err(format!("unknown zone `{name}`; {remedy}")));
    }
    let none = "`Antarctica/Troll` has no Windows time zone, and SQL Server knows no other zones";
    assert_eq!(zone_on_sql_server("Antarctica/Troll"), Err(none.to_owned()));
    assert_eq!(
        enqueued_at_errors("{ column: E, zone: Mars/Olympus_Mons }"),
        "41: key `sources[0].queues[0].enqueued_at.zone`: unknown zone `Mars/Olympus_Mons`; expected one of: utc, \
         offset, server"
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
    assert_eq!(&*enqueued_at("'[Enqueued at]'").column, "Enqueued at");
    assert_eq!(
        enqueued_at_errors("Enqueued at"),
        "22: key `sources[0].queues[0].enqueued_at`: `Enqueued at` is not a plain name; write it in brackets, \
         and in quotes because of YAML: '[Enqueued at]'"
    );
    assert_eq!(
        enqueued_at_errors("t.E"),
        "22: key `sources[0].queues[0].enqueued_at`: `t.E` has a dot, and a column has no parts; if the dot is \
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
    let expected: Filter =
        expected.into_iter().map(|(column, value)| (column.into(), value.to_owned())).collect();
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
        "config.yaml:7:24: key `sources[0].queues[0].where.a.b`: `a.b` has a dot, and a column has no parts; \
         if the dot is part of the name, write '[a.b]'\n\
         config.yaml:7:32: key `sources[0].queues[0].where.[A]`: the column `A` is given twice"
    );
}
