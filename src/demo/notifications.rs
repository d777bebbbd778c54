//! Notifications: a control row makes one message an event, a run log says what each run did, and
//! an application lock keeps runs from overlapping.

use std::time::Duration;

use rusqlite::{Connection, Result, Transaction, TransactionBehavior, named_params};

use super::{ms, schema};

/// The lock that a run holds.
pub const RUN_LOCK: &str = "notifications";

/// The step that stands for a whole run in the log.
pub const RUN: &str = "run";

/// How many notifications one step of the demo writes in one run at most: the fuse against a mass
/// mailing.
pub const CAP_PER_RUN: u32 = 20;

/// The steps of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    /// A new comment on an item.
    Comments,
    /// An order came in.
    Orders,
    /// An order's reminder is due.
    Reminders,
}

impl Step {
    /// Every step, in the order of a run.
    pub const ALL: [Self; 3] = [Self::Comments, Self::Orders, Self::Reminders];

    /// What the run log calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Comments => "comments",
            Self::Orders => "orders",
            Self::Reminders => "reminders",
        }
    }

    /// What the control table calls its notifications.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Comments => "comment",
            Self::Orders => "order",
            Self::Reminders => "reminder",
        }
    }

    const fn candidates(self) -> &'static str {
        match self {
            Self::Comments => include_str!("../../sql/sqlite/notifications/candidates_comments.sql"),
            Self::Orders => include_str!("../../sql/sqlite/notifications/candidates_orders.sql"),
            Self::Reminders => include_str!("../../sql/sqlite/notifications/candidates_reminders.sql"),
        }
    }

    fn subject(self, key: i64) -> String {
        match self {
            Self::Comments => format!("New comment on item {key}"),
            Self::Orders => format!("We received your order {key}"),
            Self::Reminders => format!("Your order {key} is waiting for you"),
        }
    }
}

/// How a step or a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All well.
    Ok,
    /// It worked, with a remark.
    Warning,
    /// It failed, and left nothing behind.
    Error,
}

impl Outcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What the log says of a step or a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// How many events it found; none for a whole run.
    pub candidates: Option<u32>,
    /// The remark or the error.
    pub message: Option<String>,
}

/// Takes the application lock; `false` at once when somebody holds it.
pub fn take_lock(connection: &Connection, resource: &str, holder: &str) -> Result<bool> {
    let taken = connection
        .prepare_cached(include_str!("../../sql/sqlite/notifications/lock_take.sql"))?
        .execute(named_params! { ":resource": resource, ":holder": holder })?;
    Ok(taken == 1)
}

/// Gives the lock back; `false` when `holder` did not have it.
pub fn release_lock(connection: &Connection, resource: &str, holder: &str) -> Result<bool> {
    let released = connection
        .prepare_cached(include_str!("../../sql/sqlite/notifications/lock_release.sql"))?
        .execute(named_params! { ":resource": resource, ":holder": holder })?;
    Ok(released == 1)
}

/// Logs a run that found the lock taken.
pub fn log_skipped(connection: &Connection, started_at: &str) -> Result<()> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/notifications/log_skipped.sql"))?
        .execute(named_params! { ":step": RUN, ":started_at": started_at })
        .map(drop)
}

/// Logs a step or a run that ends now.
pub fn log(connection: &Connection, step: &str, started_at: &str, report: &Report) -> Result<()> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/notifications/log_write.sql"))?
        .execute(named_params! {
            ":step": step,
            ":started_at": started_at,
            ":candidates": report.candidates,
            ":outcome": report.outcome.as_str(),
            ":message": report.message,
        })
        .map(drop)
}

/// Deletes at most `batch` rows of the log older than `keep`, and returns how many.
pub fn purge_log(connection: &Connection, keep: Duration, batch: u32) -> Result<usize> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/notifications/log_purge.sql"))?
        .execute(named_params! { ":keep_ms": ms(keep), ":batch": batch })
}

/// Records a comment on an item, and returns its id.
pub fn add_comment(connection: &Connection, item_id: i64, author: &str, recipient: &str) -> Result<i64> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/notifications/comment_add.sql"))?
        .insert(named_params! { ":item_id": item_id, ":author": author, ":recipient": recipient })
}

/// Records an order, with a reminder after `remind_after` if there is one, and returns its id.
pub fn add_order(connection: &Connection, recipient: &str, remind_after: Option<Duration>) -> Result<i64> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/notifications/order_add.sql"))?
        .insert(named_params! { ":recipient": recipient, ":remind_ms": remind_after.map(ms) })
}

/// Runs one step and logs it.
///
/// Whatever goes wrong in the step is its row in the log and not an error here, so that the next
/// step runs; but a database that is merely busy is, as nothing has happened and the caller can
/// repeat the step. It tells of at most `cap` events; reaching that is a warning, as there may be more.
/// `broken` makes the step fail, after it has marked its events: its messages come out without a
/// subject, which the table refuses.
pub fn run_step(
    connection: &mut Connection,
    step: Step,
    started_at: &str,
    cap: u32,
    broken: bool,
) -> Result<Report> {
    let mut found = 0;
    let written = write_messages(connection, step, cap, broken, &mut found);
    let (outcome, message) = match written {
        Ok(()) if found >= cap => {
            let message = format!("warning: the cap of {cap} notifications per run was reached");
            (Outcome::Warning, Some(message))
        }
        Ok(()) => (Outcome::Ok, None),
        Err(busy) if schema::is_busy(&busy) => return Err(busy),
        Err(error) => (Outcome::Error, Some(format!("error: {error}"))),
    };
    let report = Report { outcome, candidates: Some(found), message };
    log(connection, step.name(), started_at, &report)?;
    Ok(report)
}

/// Marks an event as told. A second mark for the same event is refused by the unique key.
pub fn add_control(connection: &Connection, kind: &str, key: i64, key2: i64) -> Result<i64> {
    connection
        .prepare_cached(include_str!("../../sql/sqlite/notifications/control_add.sql"))?
        .insert(named_params! { ":kind": kind, ":key": key, ":key2": key2 })
}

struct Candidate {
    key: i64,
    key2: i64,
    recipient: String,
}

fn write_messages(
    connection: &mut Connection,
    step: Step,
    cap: u32,
    broken: bool,
    found: &mut u32,
) -> Result<()> {
    // Looking for events takes long and needs no lock; only what it found is written in one.
    let candidates = connection
        .prepare_cached(step.candidates())?
        .query_map(named_params! { ":cap": cap }, |row| {
            Ok(Candidate { key: row.get("Key")?, key2: row.get("Key2")?, recipient: row.get("Recipient")? })
        })?
        .collect::<Result<Vec<_>>>()?;
    *found = u32::try_from(candidates.len()).unwrap_or(u32::MAX);

    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for candidate in &candidates {
        add_control(&transaction, step.kind(), candidate.key, candidate.key2)?;
    }
    for candidate in &candidates {
        let subject = (!broken).then(|| step.subject(candidate.key));
        add_message(&transaction, subject.as_deref(), &candidate.recipient)?;
    }
    if broken {
        // Also without candidates.
        add_message(&transaction, None, "")?;
    }
    transaction.commit()
}

fn add_message(transaction: &Transaction<'_>, subject: Option<&str>, recipient: &str) -> Result<()> {
    transaction
        .prepare_cached(include_str!("../../sql/sqlite/notifications/message_add.sql"))?
        .execute(named_params! { ":subject": subject, ":recipient": recipient })
        .map(drop)
}

/// Deletes events and messages beyond the newest `keep`, and control rows that outlived their event,
/// at most `batch` of each; returns how many.
pub fn purge_history(connection: &mut Connection, keep: u32, batch: u32) -> Result<usize> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut deleted = 0;
    for statement in [
        include_str!("../../sql/sqlite/notifications/purge_comments.sql"),
        include_str!("../../sql/sqlite/notifications/purge_orders.sql"),
        include_str!("../../sql/sqlite/notifications/purge_control.sql"),
        include_str!("../../sql/sqlite/notifications/purge_messages.sql"),
    ] {
        deleted += transaction
            .prepare_cached(statement)?
            .execute(named_params! { ":keep": keep, ":batch": batch })?;
    }
    transaction.commit()?;
    Ok(deleted)
}
