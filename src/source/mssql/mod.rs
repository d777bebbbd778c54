//! SQL Server and Azure SQL over TDS, by the driver tiberius.
//!
//! A connection that may be out of step with the server is never used again: while a statement runs,
//! the client is out of its session, and it only goes back once the whole answer has been read or the
//! server has confirmed that it stopped.

mod connect;
mod decode;
mod error;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::time::Duration;

use futures_util::TryStreamExt;
use tiberius::Query;
use tokio::time::timeout;

use self::connect::TdsClient;
use self::decode::Answer;
use super::session::{Handle, Session};
use super::{BoxFuture, Connection, Connector, Reason, Rows, SourceError, Value};
use crate::config::Mssql;
use crate::statement::{Dialect, Statement};

/// How long the server may take to confirm that it stopped a statement. SQL Server answers an
/// attention signal at once unless it is rolling back, and these statements only read.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

/// Opens connections to one SQL Server database.
#[derive(Debug)]
pub struct MssqlConnector {
    settings: Mssql,
}

impl MssqlConnector {
    /// A connector with these settings. Nothing is opened or read yet: a CA file is read again for each
    /// connection, so that it can be renewed while the exporter runs.
    #[must_use]
    pub fn new(settings: Mssql) -> Self {
        Self { settings }
    }
}

impl Connector for MssqlConnector {
    fn dialect(&self) -> Dialect {
        Dialect::Mssql
    }

    fn describe(&self) -> String {
        self.settings.to_string()
    }

    fn connect(&self, deadline: Duration) -> BoxFuture<'_, Result<Box<dyn Connection>, SourceError>> {
        Box::pin(async move {
            let client = connect::open(&self.settings, deadline).await?;
            Ok(Session::boxed(self.describe(), Box::new(client)))
        })
    }
}

/// Boxed, as the driver's client is large and moves with each statement.
impl Handle for Box<TdsClient> {
    const LOST: Reason = Reason::Connect;

    async fn run(
        mut self,
        statement: &Statement,
        deadline: Duration,
    ) -> (Option<Self>, Result<Rows, SourceError>) {
        let outcome = run(&mut self, statement, deadline).await;
        (Some(self), outcome)
    }
}

async fn run(client: &mut TdsClient, statement: &Statement, deadline: Duration) -> Result<Rows, SourceError> {
    let mut answer = Answer::default();
    // The stream borrows the client; it is dropped with the future, before the client is used again.
    let ended = timeout(deadline, receive(client, statement, &mut answer)).await;
    match ended {
        Ok(Ok(ControlFlow::Continue(()))) => answer.finish(),
        Ok(Ok(ControlFlow::Break(()))) => {
            // The stream stopped between two tokens, so what follows can be skipped safely.
            Err(SourceError { connection_lost: !cancel(client).await, ..SourceError::too_many_rows() })
        }
        Ok(Err(error)) => Err(error::query_failure(&error)),
        Err(_elapsed) => {
            let cancelled = cancel(client).await;
            let message = format!(
                "the statement did not end within {} ms{}",
                deadline.as_millis(),
                if cancelled { " and was cancelled" } else { "; the server did not confirm its end" }
            );
            // Once rows were flowing, the deadline may have passed in the middle of one, and a
            // confirmation found in the rest of it cannot be trusted.
            let in_step = cancelled && !answer.has_begun();
            Err(SourceError { connection_lost: !in_step, ..SourceError::new(Reason::Timeout, message) })
        }
    }
}

/// Sends the statement and reads its answer into `answer`: `Break` when there are more rows than are
/// allowed.
///
/// The driver reports a server's error only after the whole answer was read, so such an error leaves
/// the connection in step.
async fn receive(
    client: &mut TdsClient,
    statement: &Statement,
    answer: &mut Answer,
) -> tiberius::Result<ControlFlow<()>> {
    let mut stream = if statement.parameters.is_empty() {
        client.simple_query(statement.text.as_str()).await?
    } else {
        let mut query = Query::new(statement.text.as_str());
        for parameter in &statement.parameters {
            match &parameter.value {
                // As BIGINT, as the printed statement declares it. For the NULL of a text the driver
                // would send a type of its own that not every server knows.
                Value::Null => query.bind(Option::<i64>::None),
                Value::Int(value) => query.bind(*value),
                Value::Text(value) => query.bind(value.as_str()),
            }
        }
        query.query(client).await?
    };
    while let Some(item) = stream.try_next().await? {
        if answer.add(item).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Asks the server to stop the running statement. Returns whether it confirmed.
async fn cancel(client: &mut TdsClient) -> bool {
    matches!(timeout(CANCEL_TIMEOUT, client.cancel_query()).await, Ok(Ok(())))
}
