//! The steps that only the demo has, a step that is made to fail, and what may be forgotten. Whole runs are
//! tested with the workload.

use std::time::Duration;

use super::super::notifications::{CAP_PER_RUN, Step, add_comment, add_order, purge_history, run_step};
use super::super::now;
use super::{LONG, Lab, counts, run_log, tick};
use crate::config::Outcome;

#[test]
fn an_order_is_confirmed_once_and_reminded_of_once_it_is_due() {
    let lab = Lab::new();
    let mut db = lab.connect();
    add_order(&db, "buyer@example.org", Some(Duration::ZERO)).unwrap();
    add_order(&db, "buyer@example.org", Some(LONG)).unwrap();
    add_order(&db, "buyer@example.org", None).unwrap();
    tick();
    let started = now(&db).unwrap();
    for (step, candidates) in
        [(Step::Orders, 3), (Step::Reminders, 1), (Step::Orders, 0), (Step::Reminders, 0)]
    {
        let report = run_step(&mut db, step, &started, CAP_PER_RUN, false).unwrap();
        assert_eq!((report.outcome, report.candidates), (Outcome::Ok, Some(candidates)), "{step:?}");
    }
    assert_eq!(counts(&db).messages, 4);
}

#[test]
fn a_broken_step_leaves_nothing_behind_but_its_row_in_the_log() {
    let lab = Lab::new();
    let mut db = lab.connect();
    add_order(&db, "buyer@example.org", None).unwrap();
    let started = now(&db).unwrap();

    let report = run_step(&mut db, Step::Orders, &started, CAP_PER_RUN, true).unwrap();
    assert_eq!((report.outcome, report.candidates), (Outcome::Error, Some(1)));
    let counted = counts(&db);
    assert_eq!((counted.control, counted.messages, counted.log), (0, 0, 1));
    let row = run_log(&db).remove(0);
    assert_eq!((row.step.as_str(), row.outcome.as_str()), ("orders", "error"));
    let message = row.message.unwrap();
    assert!(message.starts_with("error: ") && message.contains("OutgoingMessage.Subject"), "{message}");

    // So the next run makes up for it.
    assert_eq!(run_step(&mut db, Step::Orders, &started, CAP_PER_RUN, false).unwrap().candidates, Some(1));
    assert_eq!(counts(&db).messages, 1);
    // Also when there is nothing to tell.
    assert_eq!(run_step(&mut db, Step::Orders, &started, CAP_PER_RUN, true).unwrap().outcome, Outcome::Error);
}

#[test]
fn retention_never_makes_an_event_news_again() {
    let lab = Lab::new();
    let mut db = lab.connect();
    for n in 0..12 {
        add_comment(&db, n % 3, "a", "owner@example.org").unwrap();
        add_order(&db, "buyer@example.org", Some(Duration::ZERO)).unwrap();
    }
    tick();
    let started = now(&db).unwrap();
    // Nothing was told yet: only comments that are not their item's newest may go.
    while purge_history(&mut db, 0, 2).unwrap() > 0 {}
    let left = counts(&db);
    assert_eq!((left.comments, left.orders), (3, 12));

    for step in Step::ALL {
        run_step(&mut db, step, &started, CAP_PER_RUN, false).unwrap();
    }
    assert_eq!(counts(&db).control, 3 + 12 + 12);
    while purge_history(&mut db, 2, 2).unwrap() > 0 {
        for step in Step::ALL {
            let report = run_step(&mut db, step, &started, CAP_PER_RUN, false).unwrap();
            assert_eq!(report.candidates, Some(0), "{step:?}");
        }
    }
    let left = counts(&db);
    assert_eq!((left.comments, left.orders, left.messages), (2, 2, 2));
    assert!(left.control >= 2 + 4, "what is still there must stay marked: {left:?}");
}

#[test]
fn an_old_comment_does_not_outlive_the_told_one() {
    let lab = Lab::new();
    let mut db = lab.connect();
    for author in ["a", "b", "c"] {
        add_comment(&db, 1, author, "owner@example.org").unwrap();
    }
    let started = now(&db).unwrap();
    run_step(&mut db, Step::Comments, &started, CAP_PER_RUN, false).unwrap();
    while purge_history(&mut db, 0, 1).unwrap() > 0 {
        let report = run_step(&mut db, Step::Comments, &started, CAP_PER_RUN, false).unwrap();
        assert_eq!(report.candidates, Some(0));
    }
    assert_eq!(counts(&db).comments, 0);
}

#[test]
fn an_order_that_waits_for_its_reminder_is_kept() {
    let lab = Lab::new();
    let mut db = lab.connect();
    add_order(&db, "buyer@example.org", Some(LONG)).unwrap();
    let started = now(&db).unwrap();
    run_step(&mut db, Step::Orders, &started, CAP_PER_RUN, false).unwrap();
    while purge_history(&mut db, 0, 9).unwrap() > 0 {}
    let left = counts(&db);
    assert_eq!((left.orders, left.control), (1, 1));
}
