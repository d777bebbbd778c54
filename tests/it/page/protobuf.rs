//! The page in protobuf: the same as the text, with native histograms.

use super::{EVERYTHING, SCHEMA, comparable, full_exporter, pages};
use crate::protobuf::ProtobufPage;
use crate::support::Bench;

#[tokio::test]
async fn protobuf_says_what_the_text_says() {
    let bench = Bench::new(&[]);
    let exporter = full_exporter(&bench).await;
    let (text, _) = pages(&exporter);
    let protobuf = ProtobufPage::of(&exporter).classic;
    let described = |page: &crate::parse::ParsedPage| -> Vec<_> {
        page.families
            .iter()
            .map(|family| (family.name.clone(), family.kind.clone(), family.help.clone()))
            .collect()
    };
    assert_eq!(described(&protobuf), described(&text));
    assert_eq!(comparable(&protobuf), comparable(&text));
}

#[tokio::test]
async fn every_histogram_is_classic_and_native_with_the_same_count_and_sum() {
    let bench = Bench::new(&[]);
    let exporter = full_exporter(&bench).await;
    bench.execute(
        "INSERT INTO RunLog (Step, StartedAt, EndedAt, DurationMs, Candidates, Outcome)
            VALUES ('run', '2026-11-30 11:59:00.000', '2026-11-30 11:59:00.000', 0, 0, 'ok'),
                ('run', '2026-11-30 11:59:00.000', '2026-11-30 11:59:01.000', 1000, 2, 'ok'),
                ('run', '2026-11-30 11:59:00.000', '2026-11-30 11:59:01.000', 1001, 2, 'ok');",
    );
    exporter.sample_once().await;
    let page = ProtobufPage::of(&exporter);
    let names: std::collections::BTreeSet<&str> = page.native.keys().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names.into_iter().collect::<Vec<_>>(),
        [
            "sqlqueue_attempt_duration_seconds",
            "sqlqueue_completion_delay_seconds",
            "sqlqueue_run_step_duration_seconds",
            "sqlqueue_sample_duration_seconds",
        ]
    );
    for ((name, labels), native) in &page.native {
        let classic = |suffix: &str| {
            let wanted = format!("{name}{suffix}");
            let mut found = page
                .classic
                .named(&wanted)
                .filter(|sample| sample.labels == *labels)
                .map(|sample| sample.value);
            found.next().unwrap()
        };
        #[allow(clippy::cast_precision_loss, reason = "a handful")]
        let count = native.count as f64;
        assert_eq!((count, native.sum), (classic("_count"), classic("_sum")), "{name} {labels:?}");
    }
    let label = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let runs = vec![label("source", "db"), label("run_log", "runs"), label("step", "run")];
    let steps = &page.native[&("sqlqueue_run_step_duration_seconds".to_owned(), runs)];
    // 1 s is itself a bound, 1.001 s is in the next bucket, and 0 s is in the zero bucket.
    assert_eq!((steps.count, steps.sum, steps.schema), (3, 2.001, 3));
    assert_eq!(steps.buckets, [(0, 1), (1, 1)].into());
}

#[tokio::test]
async fn a_state_saved_before_there_were_native_histograms_goes_on_with_both() {
    let bench = Bench::new(&[]);
    bench.execute(SCHEMA);
    let state_file = bench.file.with_extension("state");
    let config = format!("{EVERYTHING}state_file: '{}'\n", state_file.display())
        .replace("      - { name: live, preset: notification_run_log, table: LiveLog, mutable: true }\n", "");
    let insert = |duration: u32| {
        bench.execute(&format!(
            "INSERT INTO RunLog (Step, StartedAt, EndedAt, DurationMs, Candidates, Outcome)
                VALUES ('run', '2026-11-30 11:59:00.000', '2026-11-30 11:59:00.000', {duration}, 0, 'ok')"
        ));
    };
    let native = |exporter: &_| {
        let mut found = ProtobufPage::of(exporter).native.into_iter();
        found.find(|((name, _), _)| name == "sqlqueue_run_step_duration_seconds").unwrap().1
    };
    {
        let exporter = bench.exporter(&config);
        exporter.sample_once().await;
        insert(70);
        insert(7_000_000);
        exporter.sample_once().await;
        assert_eq!(native(&exporter).count, 2);
    }
    // As written by version 0.1, which had only classic buckets.
    let mut saved: serde_json::Value = serde_json::from_slice(&std::fs::read(&state_file).unwrap()).unwrap();
    assert_eq!(remove_native(&mut saved), 3, "of a step, and two of a queue");
    std::fs::write(&state_file, saved.to_string()).unwrap();

    let exporter = bench.exporter(&config);
    let first = native(&exporter);
    assert_eq!((first.count, first.sum), (2, 7_000.07), "no counter has gone down");
    // 70 ms counts at 0.1 s, the bound of its classic bucket. A value above the last bound counts just above
    // it.
    assert_eq!(first.buckets, [(-26, 1), (95, 1)].into());
    insert(1_000);
    exporter.sample_once().await;
    let then = native(&exporter);
    assert_eq!((then.count, then.sum), (3, 7_001.07), "each row is counted once");
    assert_eq!(then.buckets, [(-26, 1), (0, 1), (95, 1)].into());
}

/// Removes every `native`. Returns how many there were.
fn remove_native(value: &mut serde_json::Value) -> usize {
    match value {
        serde_json::Value::Object(map) => {
            let removed = usize::from(map.remove("native").is_some());
            removed + map.values_mut().map(remove_native).sum::<usize>()
        }
        serde_json::Value::Array(items) => items.iter_mut().map(remove_native).sum(),
        _ => 0,
    }
}
