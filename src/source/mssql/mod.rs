//! SQL Server and Azure SQL, over TDS.
//!
//! The driver is tiberius. A connection that is not known to be in step with the server is never
//! used again: while a statement runs the client is out of its connection, and it only goes back
//! when the whole answer has been read, or when the server has confirmed that it stopped.

mod connect;
mod decode;
mod error;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use futures_util::TryStreamExt;
use tiberius::Query;
use tokio::time::timeout;

use self::connect::TdsClient;
use self::decode::Answer;
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
    /// A connector for these settings. Nothing is opened or read yet: a CA file is read anew for
    /// each connection, so that it can be renewed under a running exporter.
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
            let connection = MssqlConnection { name: self.describe(), client: Some(Box::new(client)) };
            Ok(Box::new(connection) as Box<dyn Connection>)
        })
    }
}

/// One logged-in session.
struct MssqlConnection {
    name: String,
    /// Absent while a statement runs and for ever after the connection was lost. A caller that
    /// drops the future of a running statement drops the session with it.
    client: Option<Box<TdsClient>>,
}

/// The driver's own `Debug` dumps its buffer, which holds rows of the watched tables.
impl fmt::Debug for MssqlConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MssqlConnection")
            .field("name", &self.name)
            .field("open", &self.client.is_some())
            .finish()
    }
}

impl Connection for MssqlConnection {
    fn query<'a>(
        &'a mut self,
        statement: &'a Statement,
        deadline: Duration,
    ) -> BoxFuture<'a, Result<Rows, SourceError>> {
        Box::pin(async move {
            let Some(mut client) = self.client.take() else {
                return Err(SourceError::lost(Reason::Connect, "the connection was lost earlier"));
            };
            let outcome = run(&mut client, statement, deadline).await;
            if !matches!(&outcome, Err(error) if error.connection_lost) {
                self.client = Some(client);
            }
            outcome
        })
    }
}

/// How far the answer of a statement was read.
enum Received {
    /// To its end: the connection is in step.
    All,
    /// Until it turned out to be longer than allowed.
    TooMuch,
}

async fn run(client: &mut TdsClient, statement: &Statement, deadline: Duration) -> Result<Rows, SourceError> {
    let mut answer = Answer::default();
    // The stream borrows the client; it is dropped with the future, before the client is used again.
    let ended = timeout(deadline, receive(client, statement, &mut answer)).await;
    match ended {
        Ok(Ok(Received::All)) => answer.finish(),
        Ok(Ok(Received::TooMuch)) => {
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
            // Once rows were flowing the deadline may have struck in the middle of one, and a
            // confirmation found in the rest of it is not to be trusted.
            let in_step = cancelled && !answer.has_begun();
            Err(SourceError { connection_lost: !in_step, ..SourceError::new(Reason::Timeout, message) })
        }
    }
}

/// Sends the statement and reads its answer into `answer`.
///
/// The driver reports a server's error only after the whole answer was read, so that such an
/// error leaves the connection in step.
async fn receive(
    client: &mut TdsClient,
    statement: &Statement,
    answer: &mut Answer,
) -> tiberius::Result<Received> {
    let mut stream = if statement.parameters.is_empty() {
        client.simple_query(statement.text.as_str()).await?
    } else {
        let mut query = Query::new(statement.text.as_str());
        for parameter in &statement.parameters {
            match &parameter.value {
                // As BIGINT, which is how the printed statement declares it. The driver would send
                // the NULL of a text with a type of its own that not every server knows.
                Value::Null => query.bind(Option::<i64>::None),
                Value::Int(value) => query.bind(*value),
                Value::Text(value) => query.bind(value.as_str()),
            }
        }
        query.query(client).await?
    };
    while let Some(item) = stream.try_next().await? {
        if answer.add(item).is_break() {
            return Ok(Received::TooMuch);
        }
    }
    Ok(Received::All)
}

/// Asks the server to stop the running statement; whether it has confirmed.
async fn cancel(client: &mut TdsClient) -> bool {
    matches!(timeout(CANCEL_TIMEOUT, client.cancel_query()).await, Ok(Ok(())))
}
