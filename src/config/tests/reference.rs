//! The key tables of the documentation and the JSON schema, both made from the tables of keys.

use std::fmt::Write as _;

use schemars::generate::SchemaSettings;
use serde_json::{Value, json};

use super::{SQLITE, assert_current, config};
use crate::config::objectives::{Objective, Objectives};
use crate::config::{ConfigForm, TargetKind};

const REFERENCE: &str = "docs/reference.md";
const OBJECTIVES: &str = "dashboards/generate/objectives.json";
const SCHEMA: &str = "docs/configuration.schema.json";

/// Keys that every target has; they have a table of their own.
const COMMON: [&str; 7] = ["name", "table", "preset", "sample_interval", "where", "probe", "read_mode"];

/// The forms that a target's keys hold, by their name in the schema.
const VALUES: [(&str, &str); 11] = [
    ("TimeForm", "Time columns"),
    ("StateForm", "`state`"),
    ("LeaseForm", "`lease`"),
    ("LookupForm", "`lookup`"),
    ("AttemptsForm", "`attempts`"),
    ("MaxAttemptsForm", "`max_attempts`"),
    ("DurationForm", "`duration`"),
    ("OutcomeForm", "`outcome`"),
    ("RuleForm", "`outcome.rules[]`"),
    ("LockForm", "`lock`"),
    ("ProbeForm", "`probe`"),
];

const INTRODUCTION: &str = "\
# Every key

Made from the code by a test: do not edit. [`configuration.md`](configuration.md) explains what the keys
are for; [`configuration.schema.json`](configuration.schema.json) is the same for editors. Begin a file with

```yaml
# yaml-language-server: $schema=configuration.schema.json
```

and an editor completes keys and shows their meaning.
";

/// The schema of a configuration file.
fn schema() -> Value {
    let generator = SchemaSettings::draft07().into_generator();
    let mut schema = generator.into_root_schema_for::<ConfigForm>().to_value();
    schema["title"] = "sqlqueue-exporter configuration".into();
    schema
}

/// One line of text, as a cell of a table.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

/// The definition whose name begins with this; a generic one has its parameters appended.
fn definition<'a>(schema: &'a Value, name: &str) -> &'a Value {
    let all = schema["definitions"].as_object().unwrap();
    all.get(name)
        .or_else(|| all.iter().find(|(known, _)| known.starts_with(name)).map(|(_, found)| found))
        .unwrap_or_else(|| panic!("the schema has no {name}: {:?}", all.keys()))
}

/// A table of the keys of a form; `defaults` is what a mapping without them amounts to.
fn table(form: &Value, defaults: &Value, is_wanted: impl Fn(&str) -> bool) -> String {
    let mut text = "| Key | Default | Meaning |\n|---|---|---|\n".to_owned();
    for (key, property) in form["properties"].as_object().unwrap().iter().filter(|(key, _)| is_wanted(key)) {
        let default = match &defaults[key.as_str()] {
            Value::Null => String::new(),
            Value::String(text) => format!("`{text}`"),
            Value::Object(object) if object.len() > 2 => "see below".to_owned(),
            other => format!("`{}`", other.to_string().replace('"', "")),
        };
        let meaning = property["description"].as_str().unwrap_or_else(|| panic!("{key} has no description"));
        writeln!(text, "| `{key}` | {default} | {} |", cell(meaning)).unwrap();
    }
    text
}

/// The name of the metric of an objective, as Prometheus shows it.
fn metric(objective: &Objective) -> String {
    let unit = if objective.is_duration { "_seconds" } else { "" };
    format!("{}{unit}", objective.metric)
}

/// The table of objectives.
fn objectives(defaults: &Value) -> String {
    let mut text =
        "| Key | Default | For | Limits | Metric | No effect where |\n|---|---|---|---|---|---|\n".to_owned();
    for (list, objectives) in Objectives::ALL {
        for objective in *objectives {
            let default = &defaults[objective.key];
            let default = default.as_str().map_or_else(|| default.to_string(), ToOwned::to_owned);
            let limits = objective.help.trim_start_matches("Objective: ");
            writeln!(
                text,
                "| `{}` | `{default}` | `{list}` | {limits} | `{}` | {} |",
                objective.key,
                metric(objective),
                objective.lacking
            )
            .unwrap();
        }
    }
    text
}

fn reference() -> String {
    let schema = schema();
    let least = "id: i\nkind: k\nstep: s\nstate: { constant: ready }\noutcome: { default: ok }\npreset: null\ntable: t";
    let in_force = |kind: TargetKind| {
        let wanted: Vec<&str> = least
            .lines()
            .filter(|line| {
                let key = line.split(':').next().unwrap();
                // The id of a queue is of no use without a lease.
                (kind != TargetKind::Queue || key != "id")
                    && definition(&schema, &format!("{kind:?}Form"))["properties"].get(key).is_some()
            })
            .collect();
        let target = format!("name: n, {}", wanted.join(", "));
        let config = config(&format!("sources:\n  - name: s\n    {SQLITE}\n    {kind}: [{{ {target} }}]\n"));
        let mut yaml = serde_json::to_value(&config).unwrap();
        let mut target = yaml["sources"][0][kind.key()][0].take();
        for given in wanted.iter().map(|line| line.split(':').next().unwrap()).chain(["name", "objectives"]) {
            target.as_object_mut().unwrap().remove(given);
        }
        (yaml["global"].take(), target)
    };
    let (global, _) = in_force(TargetKind::Queue);
    let none = Value::Null;
    let mut text = INTRODUCTION.to_owned();
    let mut section = |title: &str, table: String| write!(text, "\n## {title}\n\n{table}").unwrap();
    section("The file", table(&schema, &none, |_| true));
    section("`global`", table(definition(&schema, "GlobalForm"), &global, |_| true));
    section("`objectives`", objectives(&global["objectives"]));
    section("`sources[]`", table(definition(&schema, "SourceForm"), &none, |_| true));
    section("`sources[].mssql`", table(definition(&schema, "MssqlForm"), &none, |_| true));
    section("`sources[].sqlite`", table(definition(&schema, "SqliteForm"), &none, |_| true));
    section("Every target", table(definition(&schema, "QueueForm"), &none, |key| COMMON.contains(&key)));
    for kind in TargetKind::ALL {
        let form = definition(&schema, &format!("{kind:?}Form"));
        let (_, defaults) = in_force(*kind);
        section(&format!("`{kind}[]`"), table(form, &defaults, |key| !COMMON.contains(&key)));
    }
    for (form, title) in VALUES {
        section(title, table(definition(&schema, form), &none, |_| true));
    }
    text
}

#[test]
fn the_tables_of_keys_are_those_of_the_code() {
    assert_current(REFERENCE, &reference());
}

#[test]
fn the_dashboards_have_the_objectives_of_the_code() {
    let all = Objectives::ALL.iter().flat_map(|(list, objectives)| {
        let one = |objective: &Objective| json!({ "key": objective.key, "list": list, "metric": metric(objective) });
        objectives.iter().map(one).collect::<Vec<_>>()
    });
    let text = serde_json::to_string_pretty(&all.collect::<Vec<_>>()).unwrap();
    assert_current(OBJECTIVES, &format!("{text}\n"));
}

#[test]
fn the_json_schema_is_that_of_the_code() {
    let text = serde_json::to_string_pretty(&schema()).unwrap();
    assert_current(SCHEMA, &format!("{text}\n"));
}

#[test]
fn every_key_of_the_schema_says_what_it_means() {
    let schema = schema();
    let mut seen = 0;
    for (name, form) in schema["definitions"].as_object().unwrap() {
        for (key, property) in form["properties"].as_object().into_iter().flatten() {
            let text =
                property["description"].as_str().unwrap_or_else(|| panic!("{name}.{key} says nothing"));
            assert!(text.ends_with('.'), "{name}.{key}: {text}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}
