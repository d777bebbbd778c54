//! The lease queue: who may have a job, when, and how often.

use std::collections::BTreeSet;
use std::time::Duration;

use sqlqueue_exporter::demo::pause::IdlePause;
use sqlqueue_exporter::demo::queue::Finished::{Done, Failed};
use sqlqueue_exporter::demo::queue::Ownership::{Held, Lost};

use super::database::{Conveniences as _, Database, Enqueued, NewJob, Session};
use super::{LONG, NOW, on_both_databases};

on_both_databases! {
    a_claimed_job_is_hidden_from_others_until_it_is_done
    a_delayed_job_is_not_claimed_before_its_time
    a_batch_is_the_longest_claimable_jobs_each_with_a_token_of_its_own
    a_claim_within_a_transaction_is_refused
    a_heartbeat_with_an_old_token_is_refused
    a_failed_attempt_waits_for_its_backoff
    a_business_key_makes_enqueuing_idempotent
    a_poison_job_ends_in_the_failed_state_with_its_diagnostic
    a_requeued_job_gets_attempts_again
    an_empty_queue_leads_to_a_pause_that_grows_to_its_bound
    a_purge_is_bounded_and_spares_the_young_and_the_unfinished
    the_history_is_purged_apart_from_the_jobs
}

async fn a_claimed_job_is_hidden_from_others_until_it_is_done<D: Database>(db: D) {
    let (mut one, mut other) = (db.session().await, db.session().await);
    let id = one.add("send invoice", 5).await;
    let claim = one.take().await;
    assert_eq!((claim.job_id, claim.attempts, claim.payload.as_str()), (id, 1, "send invoice"));
    assert_eq!(other.claim_one().await, None);
    let job = other.job(id).await;
    assert_eq!((job.state.as_str(), job.attempts, job.has_lease), ("W", 1, true));
    assert_eq!(job.token.map(|token| token.to_lowercase()), Some(claim.token.clone()));
    assert_eq!(other.attempts(id).await, [], "an attempt that runs is no history yet");

    assert_eq!(one.heartbeat(id, &claim.token, LONG).await, Held);
    assert_eq!(one.complete(id, &claim.token).await, Held);
    let job = other.job(id).await;
    assert_eq!((job.state.as_str(), job.has_lease, job.is_finished), ("D", false, true));
    assert_eq!(other.attempts(id).await, [(1, "ok".to_owned(), None)]);
    assert_eq!(other.claim_one().await, None);
    assert_eq!(one.heartbeat(id, &claim.token, LONG).await, Lost, "nobody owns what is done");
    assert_eq!(one.fail(id, &claim.token, "too late", NOW).await, Lost);
    assert_eq!(other.job(id).await, job);
}

async fn a_delayed_job_is_not_claimed_before_its_time<D: Database>(db: D) {
    let mut session = db.session().await;
    let job = NewJob { payload: "later", delay: LONG, max_attempts: 5, business_key: None };
    let Enqueued::New(later) = session.enqueue(job).await else { panic!("known") };
    let now = session.add("now", 5).await;
    let claims = session.claim(LONG, 10).await.unwrap();
    assert_eq!(claims.iter().map(|claim| claim.job_id).collect::<Vec<_>>(), [now]);
    assert_eq!(session.job(later).await.state, "R");
    make_claimable::<D>(&mut session, later).await;
    assert_eq!(session.take().await.job_id, later);
}

async fn make_claimable<D: Database>(session: &mut D::Session, job_id: i64) {
    let hour_ago = D::AN_HOUR_AGO;
    session.execute(&format!("UPDATE JobQueue SET AvailableAt = {hour_ago} WHERE JobId = {job_id}")).await;
}

async fn a_batch_is_the_longest_claimable_jobs_each_with_a_token_of_its_own<D: Database>(db: D) {
    let mut session = db.session().await;
    let mut jobs = Vec::new();
    for n in 0..5 {
        jobs.push(session.add(&format!("job {n}"), 5).await);
    }
    // The last one has waited longest.
    make_claimable::<D>(&mut session, jobs[4]).await;
    let first = session.claim(LONG, 3).await.unwrap();
    let ids: BTreeSet<i64> = first.iter().map(|claim| claim.job_id).collect();
    assert_eq!(ids, [jobs[4], jobs[0], jobs[1]].into());
    let tokens: BTreeSet<&str> = first.iter().map(|claim| claim.token.as_str()).collect();
    assert_eq!(tokens.len(), 3);
    for claim in &first {
        let position = jobs.iter().position(|id| *id == claim.job_id).unwrap();
        assert_eq!((claim.payload.clone(), claim.attempts), (format!("job {position}"), 1));
    }
    assert_eq!(session.complete(first[0].job_id, &first[1].token).await, Lost, "a token is of one job");
    assert_eq!(session.job(first[0].job_id).await.state, "W");
    assert_eq!(session.complete(first[0].job_id, &first[0].token).await, Held);
    let rest = session.claim(LONG, 3).await.unwrap();
    assert_eq!(rest.iter().map(|claim| claim.job_id).collect::<BTreeSet<_>>(), [jobs[2], jobs[3]].into());
}

async fn a_claim_within_a_transaction_is_refused<D: Database>(db: D) {
    let mut session = db.session().await;
    let id = session.add("send invoice", 5).await;
    session.execute("BEGIN TRANSACTION").await;
    let refusal = session.claim(LONG, 1).await.unwrap_err();
    assert!(refusal.message.contains("transaction"), "{refusal:?}");
    session.execute("ROLLBACK TRANSACTION").await;
    let job = session.job(id).await;
    assert_eq!((job.state.as_str(), job.attempts), ("R", 0));
    assert_eq!(session.take().await.job_id, id);
}

async fn a_heartbeat_with_an_old_token_is_refused<D: Database>(db: D) {
    let mut session = db.session().await;
    let id = session.add("send invoice", 5).await;
    let old = session.take().await.token;
    assert_eq!(session.fail(id, &old, "no network", NOW).await, Held);
    assert_eq!(session.heartbeat(id, &old, LONG).await, Lost);
    let new = session.take().await.token;
    assert_ne!(new, old);
    let job = session.job(id).await;
    assert_eq!(session.heartbeat(id, &old, LONG).await, Lost);
    assert_eq!(session.complete(id, &old).await, Lost);
    assert_eq!(session.fail(id, &old, "too late", NOW).await, Lost);
    assert_eq!(session.job(id).await, job, "nothing was changed");
    assert_eq!(session.heartbeat(id, &new, LONG).await, Held);
    assert_eq!(session.complete(id, &new).await, Held);
}

async fn a_failed_attempt_waits_for_its_backoff<D: Database>(db: D) {
    let mut session = db.session().await;
    let id = session.add("send invoice", 5).await;
    let claim = session.take().await;
    assert_eq!(session.fail(id, &claim.token, "no network", LONG).await, Held);
    let job = session.job(id).await;
    assert_eq!((job.state.as_str(), job.token, job.has_lease, job.is_finished), ("R", None, false, false));
    assert_eq!(job.last_error.as_deref(), Some("no network"));
    assert_eq!(session.claim_one().await, None);
    make_claimable::<D>(&mut session, id).await;
    assert_eq!(session.take().await.attempts, 2);
}

async fn a_business_key_makes_enqueuing_idempotent<D: Database>(db: D) {
    let (mut session, mut other) = (db.session().await, db.session().await);
    let job = |key| NewJob { payload: "invoice", delay: NOW, max_attempts: 5, business_key: Some(key) };
    let Enqueued::New(id) = session.enqueue(job("invoice 1")).await else { panic!("it is new") };
    let row = session.job(id).await;
    let again = NewJob { payload: "other", delay: LONG, max_attempts: 1, ..job("invoice 1") };
    assert_eq!(other.enqueue(again).await, Enqueued::Known(id));
    assert_eq!(session.job(id).await, row, "it stays as it is");
    assert!(matches!(session.enqueue(job("INVOICE 1")).await, Enqueued::New(_)), "another key");
    session.add("no key", 5).await;
    session.add("no key", 5).await;
    assert_eq!(session.count("JobQueue").await, 4);

    // Whatever happens to the job, until its row is gone.
    for claim in session.claim(LONG, 10).await.unwrap() {
        assert_eq!(session.complete(claim.job_id, &claim.token).await, Held);
    }
    assert_eq!(session.enqueue(job("invoice 1")).await, Enqueued::Known(id));
    let hour_ago = D::AN_HOUR_AGO;
    session.execute(&format!("UPDATE JobQueue SET FinishedAt = {hour_ago}")).await;
    assert_eq!(session.purge(Done, NOW, 10).await, 4);
    assert!(matches!(session.enqueue(job("invoice 1")).await, Enqueued::New(again) if again > id));

    // Together with the data that it concerns, or not at all.
    session.execute("BEGIN TRANSACTION").await;
    assert!(matches!(session.enqueue(job("invoice 3")).await, Enqueued::New(_)));
    session.execute("ROLLBACK TRANSACTION").await;
    assert!(matches!(session.enqueue(job("invoice 3")).await, Enqueued::New(_)));
}

async fn a_poison_job_ends_in_the_failed_state_with_its_diagnostic<D: Database>(db: D) {
    let mut session = db.session().await;
    let id = session.add("import broken file", 3).await;
    for attempt in 1..=3 {
        let claim = session.take().await;
        assert_eq!((claim.job_id, claim.attempts), (id, attempt));
        // Neither quotes nor non-ASCII letters get lost.
        assert_eq!(session.fail(id, &claim.token, "it's żle", NOW).await, Held);
    }
    let job = session.job(id).await;
    assert_eq!((job.state.as_str(), job.attempts, job.token, job.is_finished), ("F", 3, None, true));
    let diagnostic = Some("given up after 3 attempts: it's żle".to_owned());
    assert_eq!(job.last_error, diagnostic);
    assert_eq!(session.claim_one().await, None, "it is not tried for ever");
    let error = || Some("it's żle".to_owned());
    assert_eq!(
        session.attempts(id).await,
        [
            (1, "error".to_owned(), error()),
            (2, "error".to_owned(), error()),
            (3, "error".to_owned(), diagnostic)
        ]
    );
}

async fn a_requeued_job_gets_attempts_again<D: Database>(db: D) {
    let mut session = db.session().await;
    let id = session.add("import broken file", 2).await;
    assert!(!session.requeue(id, None).await, "it is ready");
    give_up(&mut session, id, 1..=2).await;
    let failed = session.job(id).await;
    assert!(session.requeue(id, None).await);
    let job = session.job(id).await;
    assert_eq!((job.state.as_str(), job.attempts, job.max_attempts, job.is_finished), ("R", 2, 4, false));
    assert_eq!(job.last_error, failed.last_error, "until the next failure");
    // As many as it was allowed, then as many more as it is given.
    give_up(&mut session, id, 3..=4).await;
    assert!(session.requeue(id, Some(1)).await);
    give_up(&mut session, id, 5..=5).await;
    assert!(session.requeue(id, Some(3)).await);
    let claim = session.take().await;
    assert_eq!(claim.attempts, 6);
    assert!(!session.requeue(id, Some(3)).await, "it is being worked on");
    assert_eq!(session.complete(id, &claim.token).await, Held);
    assert!(!session.requeue(id, None).await, "it is done");
    let attempts: Vec<i64> = session.attempts(id).await.into_iter().map(|(attempt, ..)| attempt).collect();
    assert_eq!(attempts, [1, 2, 3, 4, 5, 6], "the history knows every attempt by one number");
}

/// Fails a job in these attempts, the last of which is one too many.
async fn give_up(session: &mut impl Session, id: i64, attempts: std::ops::RangeInclusive<u32>) {
    let last = *attempts.end();
    for attempt in attempts {
        assert_eq!(session.job(id).await.state, "R");
        let claim = session.take().await;
        assert_eq!((claim.job_id, claim.attempts), (id, attempt));
        assert_eq!(session.fail(id, &claim.token, "bad data", NOW).await, Held);
    }
    let job = session.job(id).await;
    assert_eq!(job.state, "F");
    assert_eq!(job.last_error, Some(format!("given up after {last} attempts: bad data")));
}

async fn an_empty_queue_leads_to_a_pause_that_grows_to_its_bound<D: Database>(db: D) {
    let mut session = db.session().await;
    let mut idle = IdlePause::default();
    let mut pauses = Vec::new();
    for _ in 0..8 {
        assert_eq!(session.claim_one().await, None);
        pauses.push(idle.after_nothing());
    }
    assert_eq!(pauses[0], IdlePause::SHORTEST);
    assert!(IdlePause::SHORTEST > Duration::ZERO, "an idle worker must not spin");
    for pair in pauses.windows(2) {
        assert!(pair[0] < pair[1] || pair == [IdlePause::LONGEST; 2], "{pauses:?}");
    }
    assert_eq!(pauses.last(), Some(&IdlePause::LONGEST));

    // A result of nothing for this attempt does not hold for ever.
    let id = session.add("send invoice", 5).await;
    assert_eq!(session.take().await.job_id, id);
    idle.reset();
    assert_eq!(session.claim_one().await, None);
    assert_eq!(idle.after_nothing(), IdlePause::SHORTEST);
}

async fn a_purge_is_bounded_and_spares_the_young_and_the_unfinished<D: Database>(db: D) {
    let mut session = db.session().await;
    let mut done = Vec::new();
    for _ in 0..4 {
        done.push(session.add("send invoice", 1).await);
        let claim = session.take().await;
        assert_eq!(session.complete(claim.job_id, &claim.token).await, Held);
    }
    let failed = session.add("poison", 1).await;
    let claim = session.take().await;
    assert_eq!(session.fail(failed, &claim.token, "bad data", NOW).await, Held);
    let running = session.add("running", 1).await;
    session.take().await;
    let ready = session.add("ready", 1).await;

    assert_eq!(session.purge(Done, Duration::from_secs(60), 10).await, 0, "all are young");
    let hour_ago = D::AN_HOUR_AGO;
    let old = format!("FinishedAt IS NOT NULL AND JobId <> {}", done[3]);
    session.execute(&format!("UPDATE JobQueue SET FinishedAt = {hour_ago} WHERE {old}")).await;
    assert_eq!(session.purge(Done, Duration::from_secs(7200), 10).await, 0, "not yet");
    for purged in [2, 1, 0] {
        assert_eq!(session.purge(Done, Duration::from_secs(60), 2).await, purged);
    }
    assert_eq!(session.purge(Failed, Duration::from_secs(60), 2).await, 1);
    assert_eq!(session.count("JobQueue").await, 3);
    for (id, state) in [(done[3], "D"), (running, "W"), (ready, "R")] {
        assert_eq!(session.job(id).await.state, state);
    }
}

async fn the_history_is_purged_apart_from_the_jobs<D: Database>(db: D) {
    let mut session = db.session().await;
    let mut jobs = Vec::new();
    for _ in 0..4 {
        jobs.push(session.add("send invoice", 1).await);
        let claim = session.take().await;
        assert_eq!(session.complete(claim.job_id, &claim.token).await, Held);
    }
    assert_eq!(session.purge_attempts(Duration::from_secs(60), 10).await, 0, "all are young");
    let hour_ago = D::AN_HOUR_AGO;
    let old = format!("JobId <> {}", jobs[3]);
    session.execute(&format!("UPDATE JobAttempt SET EndedAt = {hour_ago} WHERE {old}")).await;
    for purged in [2, 1, 0] {
        assert_eq!(session.purge_attempts(Duration::from_secs(60), 2).await, purged);
    }
    assert_eq!(session.attempts(jobs[3]).await.len(), 1);
    assert_eq!(session.count("JobAttempt").await, 1);
    assert_eq!(session.count("JobQueue").await, 4);
}
