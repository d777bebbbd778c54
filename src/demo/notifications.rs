//! Notifications: a control row limits each event to one message, a run log records each run, and an
//! application lock keeps runs from overlapping.

use std::time::Duration;

use rusqlite::{Connection, Result, Transaction, TransactionBehavior, named_params};

use super::{execute, insert, ms, sql};
use crate::config::Outcome;
use crate::source::sqlite::is_locked;

/// The lock held during a run.
pub const RUN_LOCK: &str = "notifications";

/// The name of a whole run in the log, beside those of its steps.
pub const RUN: &str = "run";

/// The most notifications that one step of the demo writes in one run: the fuse against a mass mailing.
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

    /// Its name in the run log.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.texts().0
    }

    /// The kind of its notifications in the control table.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        self.texts().1
    }

    /// Its name, its kind, and the query for its events.
    const fn texts(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Comments => ("comments", "comment", sql!("notifications/candidates_comments")),
            Self::Orders => ("orders", "order", sql!("notifications/candidates_orders")),
            Self::Reminders => ("reminders", "reminder", sql!("notifications/candidates_reminders")),
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

/// The log entry of a step or a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// How many events it found; none for a whole run.
    pub candidates: Option<u32>,
    /// The warning or the error.
    pub message: Option<String>,
}

/// Takes the application lock. Returns `false` at once when somebody holds it.
pub fn take_lock(connection: &Connection, resource: &str, holder: &str) -> Result<bool> {
    let parameters = named_params! { ":resource": resource, ":holder": holder };
    Ok(execute(connection, sql!("notifications/lock_take"), parameters)? == 1)
}

/// Releases the lock. Returns `false` when `holder` did not have it.
pub fn release_lock(connection: &Connection, resource: &str, holder: &str) -> Result<bool> {
    let parameters = named_params! { ":resource": resource, ":holder": holder };
    Ok(execute(connection, sql!("notifications/lock_release"), parameters)? == 1)
}

/// Logs a run that found the lock taken.
pub fn log_skipped(connection: &Connection, started_at: &str) -> Result<()> {
    let parameters = named_params! { ":step": RUN, ":started_at": started_at };
    execute(connection, sql!("notifications/log_skipped"), parameters).map(drop)
}

/// Logs a step or a run that ends now.
pub fn log(connection: &Connection, step: &str, started_at: &str, report: &Report) -> Result<()> {
    let parameters = named_params! {
        ":step": step,
        ":started_at": started_at,
        ":candidates": report.candidates,
        ":outcome": report.outcome.as_str(),
        ":message": report.message,
    };
    execute(connection, sql!("notifications/log_write"), parameters).map(drop)
}

/// Deletes at most `batch` rows of the log older than `keep`, and returns how many.
pub fn purge_log(connection: &Connection, keep: Duration, batch: u32) -> Result<usize> {
    let parameters = named_params! { ":keep_ms": ms(keep), ":batch": batch };
    execute(connection, sql!("notifications/log_purge"), parameters)
}

/// Records a comment on an item, and returns its id.
pub fn add_comment(connection: &Connection, item_id: i64, author: &str, recipient: &str) -> Result<i64> {
    let parameters = named_params! { ":item_id": item_id, ":author": author, ":recipient": recipient };
    insert(connection, sql!("notifications/comment_add"), parameters)
}

/// Records an order, with a reminder after `remind_after` if given, and returns its id.
pub fn add_order(connection: &Connection, recipient: &str, remind_after: Option<Duration>) -> Result<i64> {
    let parameters = named_params! { ":recipient": recipient, ":remind_ms": remind_after.map(ms) };
    insert(connection, sql!("notifications/order_add"), parameters)
}

/// Runs one step and logs it.
///
/// A failure of the step becomes its row in the log, not an error here, so that the next step runs. A
/// database that is merely busy is an error: nothing has happened, and the caller can repeat the step.
/// A step writes at most `cap` notifications; reaching the cap is a warning, as there may be more.
/// `broken` makes the step fail after it has marked its events: its messages then have no subject,
/// which the table refuses.
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
        Err(busy) if is_locked(&busy) => return Err(busy),
        Err(error) => (Outcome::Error, Some(format!("error: {error}"))),
    };
    let report = Report { outcome, candidates: Some(found), message };
    log(connection, step.name(), started_at, &report)?;
    Ok(report)
}

fn write_messages(
    connection: &mut Connection,
    step: Step,
    cap: u32,
    broken: bool,
    found: &mut u32,
) -> Result<()> {
    // The search for events is slow and needs no lock; only its result is written under one.
    let candidates = connection
        .prepare_cached(step.texts().2)?
        .query_map(named_params! { ":cap": cap }, |row| {
            Ok((row.get("Key")?, row.get("Key2")?, row.get("Recipient")?))
        })?
        .collect::<Result<Vec<(i64, i64, String)>>>()?;
    *found = u32::try_from(candidates.len()).unwrap_or(u32::MAX);

    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (key, key2, _) in &candidates {
        let mark = named_params! { ":kind": step.kind(), ":key": key, ":key2": key2 };
        // The unique key refuses a second mark for the same event.
        execute(&transaction, sql!("notifications/control_add"), mark)?;
    }
    for (key, _, recipient) in &candidates {
        let subject = (!broken).then(|| step.subject(*key));
        add_message(&transaction, subject.as_deref(), recipient)?;
    }
    if broken {
        // Fails even without candidates.
        add_message(&transaction, None, "")?;
    }
    transaction.commit()
}

fn add_message(transaction: &Transaction<'_>, subject: Option<&str>, recipient: &str) -> Result<()> {
    let parameters = named_params! { ":subject": subject, ":recipient": recipient };
    execute(transaction, sql!("notifications/message_add"), parameters).map(drop)
}

/// Deletes events and messages beyond the newest `keep`, and control rows that outlived their event,
/// at most `batch` of each; returns how many.
pub fn purge_history(connection: &mut Connection, keep: u32, batch: u32) -> Result<usize> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut deleted = 0;
    for statement in [
        sql!("notifications/purge_comments"),
        sql!("notifications/purge_orders"),
        sql!("notifications/purge_control"),
        sql!("notifications/purge_messages"),
    ] {
        deleted += execute(&transaction, statement, named_params! { ":keep": keep, ":batch": batch })?;
    }
    transaction.commit()?;
    Ok(deleted)
}
