//! A problem on the page, and its severity.

use serde::Serialize;

/// The severity of a problem: that of the alert on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Severity {
    /// The alert pages somebody.
    Problem,
    /// The alert files a ticket: it can wait.
    Notice,
}

/// Something that somebody has to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    pub(super) severity: Severity,
    /// What it is about: `queue jobs of orders_db`.
    pub(super) subject: String,
    /// What is wrong.
    pub(super) what: String,
    /// The server's message, if any.
    pub(super) detail: Option<String>,
    /// What to do.
    pub(super) remedy: String,
}

impl Problem {
    pub(super) fn new(severity: Severity, subject: &str, what: impl Into<String>, remedy: &str) -> Self {
        let (subject, remedy) = (subject.to_owned(), remedy.to_owned());
        Self { severity, subject, what: what.into(), detail: None, remedy }
    }
}
