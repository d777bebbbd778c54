//! Single values: durations, identifiers, suggestions.

use std::time::Duration;

use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

use crate::config::{duration, identifier};
use crate::yaml::suggest;

fn parts(text: &str) -> Vec<String> {
    identifier::table(text).unwrap().0
}

#[test]
fn durations_are_written_as_prometheus_writes_them() {
    for (text, ms) in [
        ("500ms", 500),
        ("15s", 15_000),
        ("10m", 600_000),
        ("1h", 3_600_000),
        ("1h30m", 5_400_000),
        ("1m500ms", 60_500),
        ("1d", 86_400_000),
        ("1w2d", 777_600_000),
        ("0s", 0),
        ("90m", 5_400_000),
        ("1y", 31_536_000_000),
    ] {
        assert_eq!(duration::parse(text), Ok(Duration::from_millis(ms)), "{text}");
    }
}

#[test]
fn what_is_not_a_duration_says_how_to_write_one() {
    for text in ["", "s", "15 s", "-5s", "1.5s", "1h30", "٣s"] {
        assert_eq!(
            duration::parse(text),
            Err(format!("`{text}` is not a duration; write for example `500ms`, `15s`, `10m` or `1h30m`"))
        );
    }
    let units = "`y`, `w`, `d`, `h`, `m`, `s`, `ms`";
    for (text, unit) in [("5x", "x"), ("15S", "S"), ("300years", "years")] {
        let expected = format!("`{text}` has the unknown unit `{unit}`; units are {units}");
        assert_eq!(duration::parse(text), Err(expected));
    }
    for text in ["30m1h", "5s5s"] {
        let order = "has its units out of order; each appears at most once, from the longest";
        assert_eq!(duration::parse(text), Err(format!("`{text}` {order}: {units}")));
    }
    assert_eq!(duration::parse("15"), Err("a duration needs a unit; write `15s` for seconds".to_owned()));
    for text in ["99999999999999999w", "99999999999999999999999s"] {
        assert_eq!(duration::parse(text), Err(format!("`{text}` is too long")));
    }
}

#[test]
fn durations_are_shown_in_hours_and_less() {
    for (ms, text) in [(0, "0s"), (1, "1ms"), (90_000, "1m30s"), (90_000_000, "25h"), (3_600_001, "1h1ms")] {
        assert_eq!(duration::text(Duration::from_millis(ms)), text);
    }
}

#[test]
fn identifiers_are_unquoted() {
    assert_eq!(parts("JobQueue"), ["JobQueue"]);
    assert_eq!(parts("dbo.JobQueue"), ["dbo", "JobQueue"]);
    assert_eq!(parts("Orders.dbo.JobQueue"), ["Orders", "dbo", "JobQueue"]);
    assert_eq!(parts("dbo.[Job Queue]"), ["dbo", "Job Queue"]);
    assert_eq!(parts("[a.b].[c]]d]"), ["a.b", "c]d"]);
    assert_eq!(parts("\"a\"\"b\".\"c\""), ["a\"b", "c"]);
    assert_eq!(parts("[]]]"), ["]"]);
    assert_eq!(parts("zażółć_1$#@"), ["zażółć_1$#@"]);
    assert_eq!(parts("#temp"), ["#temp"]);
}

#[test]
fn bad_identifiers_are_refused() {
    for (text, expected) in [
        ("", "`` has an empty part; a name has at least one character"),
        ("dbo..T", "`dbo..T` has an empty part; a name has at least one character"),
        ("dbo.", "`dbo.` has an empty part; a name has at least one character"),
        ("[]", "`[]` has an empty part; a name has at least one character"),
        ("a.b.c.d", "`a.b.c.d` has 4 parts; a table is `table`, `schema.table` or `database.schema.table`"),
        ("[a", "`[a` lacks its closing `]`"),
        ("[a]]", "`[a]]` lacks its closing `]`"),
        ("\"a", "`\"a` lacks its closing `\"`"),
        ("[a]b", "`[a]b` continues after a closing bracket or quote without a dot"),
        (
            "dbo.Job Queue",
            "`Job Queue` is not a plain name; write it in brackets, and in quotes because of YAML: '[Job Queue]'",
        ),
        ("1st", "`1st` is not a plain name; write it in brackets, and in quotes because of YAML: '[1st]'"),
        ("a;b", "`a;b` is not a plain name; write it in brackets, and in quotes because of YAML: '[a;b]'"),
        ("a]b", "`a]b` is not a plain name; write it in brackets, and in quotes because of YAML: '[a]]b]'"),
        ("[a\0]", "a name has the control character U+0000; names here have none"),
        ("'a\nb'", "a name has the control character U+000A; names here have none"),
        (
            "'tasks'",
            "`'tasks'` is not a plain name; write it in brackets, and in quotes because of YAML: '[''tasks'']'",
        ),
    ] {
        assert_eq!(identifier::table(text), Err(expected.to_owned()), "{text}");
    }
    let long = "x".repeat(129);
    assert_eq!(
        identifier::column(&long),
        Err("a name has more than 128 characters, the limit of SQL Server".to_owned())
    );
    assert!(identifier::column(&"x".repeat(128)).is_ok());
}

#[test]
fn suggestions_are_near_or_not_at_all() {
    let keys = ["sample_interval", "query_timeout", "lock_timeout", "stale_after"];
    assert_eq!(suggest::nearest("query_timout", &keys), Some("query_timeout"));
    assert_eq!(suggest::nearest("QueryTimeout", &keys), Some("query_timeout"));
    assert_eq!(suggest::nearest("interval", &keys), Some("sample_interval"));
    assert_eq!(suggest::nearest("timeout", &keys), None);
    assert_eq!(suggest::nearest("zzz", &keys), None);
    assert_eq!(suggest::nearest("x", &[]), None);
}

proptest! {
    #[test]
    fn a_shown_duration_reads_back(ms in any::<u64>()) {
        let duration = Duration::from_millis(ms);
        prop_assert_eq!(duration::parse(&duration::text(duration)), Ok(duration));
    }

    #[test]
    fn what_is_advised_for_a_name_can_be_pasted_into_the_file(name in "[a-c'. ]{1,8}") {
        let Err(message) = identifier::column(&name) else { return Ok(()) };
        let advised = message.split_once(" YAML: ").or_else(|| message.split_once(", write "));
        if let Some((_, advice)) = advised {
            let read: String = serde_saphyr::from_str(advice).unwrap();
            let read = identifier::column(&read).unwrap();
            // For a name with dots, the advice is about all of it, or about the first part that needs it.
            prop_assert!(read == name || name.split('.').any(|part| part == read), "{message}");
        }
    }

    #[test]
    fn a_bracketed_name_reads_back(name in "[^\\p{Cc}]{1,40}") {
        let bracketed = format!("[{}]", name.replace(']', "]]"));
        prop_assert_eq!(identifier::column(&bracketed), Ok(name.clone()));
        let quoted = format!("\"{}\"", name.replace('"', "\"\""));
        prop_assert_eq!(identifier::table(&quoted).map(|table| table.0), Ok(vec![name]));
    }

    #[test]
    fn no_text_makes_the_parsers_fail_badly(text in any::<String>()) {
        let _ = duration::parse(&text);
        let _ = identifier::table(&text);
        let _ = crate::config::parse(&text, std::path::Path::new("f"), &crate::config::Environment::empty());
    }
}
