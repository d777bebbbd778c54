//! An open connection of either driver: a statement takes the handle, and only a good one comes back.

use std::fmt;
use std::time::Duration;

use super::{BoxFuture, Connection, Reason, Rows, SourceError};
use crate::statement::Statement;

/// The handle of a driver on one open connection.
pub(super) trait Handle: Send + Sized + 'static {
    /// The reason of every error after the connection was lost.
    const LOST: Reason;

    /// Runs one statement within `deadline`. Returns the handle with the outcome, unless it cannot be
    /// used again. Dropping the future drops the handle.
    fn run(
        self,
        statement: &Statement,
        deadline: Duration,
    ) -> impl Future<Output = (Option<Self>, Result<Rows, SourceError>)> + Send;
}

/// One open connection.
pub(super) struct Session<H> {
    name: String,
    /// Absent while a statement runs, and for good once the connection was lost.
    handle: Option<H>,
}

impl<H: Handle> Session<H> {
    /// The connection behind `handle`, called `name` in `Debug` output.
    pub(super) fn boxed(name: String, handle: H) -> Box<dyn Connection> {
        Box::new(Self { name, handle: Some(handle) })
    }
}

/// Without the handle: a driver's own `Debug` may dump its buffer, which holds rows of the watched tables.
impl<H> fmt::Debug for Session<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("name", &self.name).field("open", &self.handle.is_some()).finish()
    }
}

impl<H: Handle> Connection for Session<H> {
    fn query<'a>(
        &'a mut self,
        statement: &'a Statement,
        deadline: Duration,
    ) -> BoxFuture<'a, Result<Rows, SourceError>> {
        Box::pin(async move {
            let Some(handle) = self.handle.take() else {
                return Err(SourceError::lost(H::LOST, "the connection was lost earlier"));
            };
            let (handle, outcome) = handle.run(statement, deadline).await;
            if !matches!(&outcome, Err(error) if error.connection_lost) {
                self.handle = handle;
            }
            outcome
        })
    }
}
