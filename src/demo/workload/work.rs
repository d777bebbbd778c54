//! Actors of the transactional queue: its producer and its consumers.

use super::super::DemoError;
use super::super::pause::IdlePause;
use super::super::transactional;
use super::DemoSummary;
use super::actor::Actor;
use super::script;

pub(super) async fn producer(actor: Actor) -> Result<DemoSummary, DemoError> {
    let mut summary = DemoSummary::default();
    let mut rng = actor.generator();
    for n in 0.. {
        let (rows, then) = script::production(&mut rng, n);
        for _ in 0..rows {
            actor.database(|db| transactional::enqueue(db, "pick goods")).await?;
            summary.work_enqueued += 1;
        }
        if !actor.pause(then).await {
            break;
        }
    }
    Ok(summary)
}

/// Consumer `number` of `consumers`; the two numbers determine its transaction ids.
pub(super) async fn consumer(actor: Actor, number: i64, consumers: i64) -> Result<DemoSummary, DemoError> {
    let mut summary = DemoSummary::default();
    let mut rng = actor.generator();
    let mut tran_id = number;
    let mut transactions = 0;
    let mut idle = IdlePause::default();
    while !actor.stopping() {
        if actor.database(move |db| transactional::take(db, tran_id)).await?.is_none() {
            actor.pause_for(idle.after_nothing()).await;
            continue;
        }
        idle.reset();
        // Decided only when there is work: idling must not advance the decision stream.
        let consumption = script::consumption(&mut rng, transactions);
        for _ in 1..consumption.rows {
            actor.database(move |db| transactional::take(db, tran_id)).await?;
        }
        // A consumer that is stopped in the middle rolls back, as at the end of a session.
        if actor.pause(consumption.hold).await && !consumption.rollback {
            let rows = actor.database(move |db| transactional::commit(db, tran_id)).await?;
            summary.work_committed += rows as u64;
        } else {
            let rows = actor.database(move |db| transactional::rollback(db, tran_id)).await?;
            summary.work_rolled_back += rows as u64;
        }
        transactions += 1;
        tran_id += consumers;
    }
    Ok(summary)
}
