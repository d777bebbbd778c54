//! Recovery of the lease queue: workers die, hang, or never get the answer.

use std::time::Duration;

use sqlqueue_exporter::demo::queue::Ownership::{Held, Lost};
use sqlqueue_exporter::demo::queue::Recovered;

use super::database::{Conveniences as _, Database, Enqueued, NewJob, Session};
use super::{LONG, NOW, on_both_databases};

on_both_databases! {
    a_job_whose_worker_died_is_done_by_another
    a_worker_that_outlives_its_lease_cannot_complete
    a_completion_whose_answer_was_lost_has_no_second_effect
    recovery_takes_only_what_has_lapsed_and_not_more_than_it_is_told
    a_job_that_kills_its_workers_is_given_up
}

/// Makes the lease of a job lapse.
async fn lapse<D: Database>(session: &mut D::Session, job_id: i64) {
    let hour_ago = D::AN_HOUR_AGO;
    session.execute(&format!("UPDATE JobQueue SET LeaseUntil = {hour_ago} WHERE JobId = {job_id}")).await;
}

async fn a_job_whose_worker_died_is_done_by_another<D: Database>(db: D) {
    let mut session = db.session().await;
    let id = session.add("send invoice", 5).await;
    let dead = {
        let mut worker = db.session().await;
        worker.take().await
        // Its session ends here.
    };
    assert_eq!(session.claim_one().await, None, "nobody else gets it before its lease has lapsed");
    assert_eq!(session.recover(NOW, 10).await, Recovered { ready: 0, failed: 0 });
    lapse::<D>(&mut session, id).await;
    assert_eq!(session.claim_one().await, None, "only a recovery may give it away");
    assert_eq!(session.recover(NOW, 10).await, Recovered { ready: 1, failed: 0 });

    let job = session.job(id).await;
    assert_eq!((job.state.as_str(), job.attempts, job.token, job.has_lease), ("R", 1, None, false));
    let claim = session.take().await;
    assert_eq!((claim.job_id, claim.attempts), (id, 2));
    assert_ne!(claim.token, dead.token);
    assert_eq!(session.complete(id, &dead.token).await, Lost, "its token is void");
    assert_eq!(session.complete(id, &claim.token).await, Held);

    let mut history = session.attempts(id).await;
    let lapsed = history[0].2.take().unwrap();
    assert!(lapsed.starts_with("lease lapsed at 20"), "{lapsed}");
    assert!(lapsed.ends_with(" in attempt 1 of 5"), "{lapsed}");
    assert_eq!(history, [(1, "lost".to_owned(), None), (2, "ok".to_owned(), None)]);
}

async fn a_worker_that_outlives_its_lease_cannot_complete<D: Database>(db: D) {
    let (mut slow, mut other) = (db.session().await, db.session().await);
    let id = slow.add("send invoice", 5).await;
    let late = slow.take().await;
    lapse::<D>(&mut other, id).await;
    assert_eq!(other.recover(NOW, 10).await, Recovered { ready: 1, failed: 0 });
    // Before the job is claimed again, while another worker has it, and after it was done.
    let refused = async |slow: &mut D::Session, job| {
        assert_eq!(slow.heartbeat(id, &late.token, LONG).await, Lost);
        assert_eq!(slow.complete(id, &late.token).await, Lost);
        assert_eq!(slow.fail(id, &late.token, "too late", NOW).await, Lost);
        assert_eq!(slow.job(id).await, job);
    };
    let job = other.job(id).await;
    refused(&mut slow, job).await;
    let claim = other.take().await;
    let job = other.job(id).await;
    refused(&mut slow, job).await;
    assert_eq!(other.complete(id, &claim.token).await, Held);
    let job = other.job(id).await;
    refused(&mut slow, job).await;
    let outcomes: Vec<_> = other.attempts(id).await.into_iter().map(|(_, outcome, _)| outcome).collect();
    assert_eq!(outcomes, ["lost", "ok"], "what was refused is no attempt");
}

async fn a_completion_whose_answer_was_lost_has_no_second_effect<D: Database>(db: D) {
    let mut session = db.session().await;
    let id = session.add("send invoice", 5).await;
    let claim = session.take().await;
    // The effect of the work is a job for the mailer, under a business key.
    let effect =
        NewJob { payload: "mail", delay: NOW, max_attempts: 5, business_key: Some("mail invoice 1") };
    let Enqueued::New(mail) = session.enqueue(effect).await else { panic!("it is new") };
    // The result of this one never arrives: the session is gone with its answer.
    let mut unheard = db.session().await;
    let _ = unheard.complete(id, &claim.token).await;
    drop(unheard);

    // So the worker does it all again.
    assert_eq!(session.enqueue(effect).await, Enqueued::Known(mail));
    assert_eq!(session.complete(id, &claim.token).await, Lost);
    // And finds in the row that the completion was its own.
    let job = session.job(id).await;
    assert_eq!(job.state, "D");
    assert_eq!(job.token.map(|token| token.to_lowercase()), Some(claim.token));
    assert_eq!(session.count("JobQueue").await, 2);
    assert_eq!(session.attempts(id).await, [(1, "ok".to_owned(), None)]);
}

async fn recovery_takes_only_what_has_lapsed_and_not_more_than_it_is_told<D: Database>(db: D) {
    let mut session = db.session().await;
    let mut lapsed = Vec::new();
    for _ in 0..5 {
        lapsed.push(session.add("send invoice", 5).await);
        session.take().await;
    }
    let alive = session.add("alive", 5).await;
    let token = session.take().await.token;
    let ready = session.add("ready", 5).await;
    for id in lapsed.iter().chain([&alive]) {
        lapse::<D>(&mut session, *id).await;
    }
    // A heartbeat that comes first keeps its job.
    assert_eq!(session.heartbeat(alive, &token, LONG).await, Held);
    assert_eq!(
        session.recover(Duration::from_secs(7200), 10).await,
        Recovered::default(),
        "within the grace"
    );
    for ready in [2, 2, 1, 0] {
        assert_eq!(session.recover(NOW, 2).await, Recovered { ready, failed: 0 });
    }
    assert_eq!(session.job(alive).await.state, "W");
    assert_eq!(session.job(ready).await.attempts, 0);
    assert_eq!(session.count("JobAttempt").await, 5);
    assert_eq!(session.complete(alive, &token).await, Held);
}

async fn a_job_that_kills_its_workers_is_given_up<D: Database>(db: D) {
    let mut session = db.session().await;
    let id = session.add("poison", 2).await;
    for expected in [Recovered { ready: 1, failed: 0 }, Recovered { ready: 0, failed: 1 }] {
        drop(db.session().await.take().await);
        lapse::<D>(&mut session, id).await;
        assert_eq!(session.recover(NOW, 10).await, expected);
    }
    let job = session.job(id).await;
    assert_eq!((job.state.as_str(), job.attempts, job.token, job.is_finished), ("F", 2, None, true));
    assert!(job.last_error.is_some_and(|error| error.ends_with(" in attempt 2 of 2")));
    assert_eq!(session.claim_one().await, None);
    let outcomes: Vec<_> = session.attempts(id).await.into_iter().map(|(_, outcome, _)| outcome).collect();
    assert_eq!(outcomes, ["lost", "lost"]);
    assert!(session.requeue(id, None).await);
    assert_eq!(session.take().await.attempts, 3);
}
