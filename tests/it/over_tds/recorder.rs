//! A recording connector: it keeps the statements sent through it and their answers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sqlqueue_exporter::source::{BoxFuture, Connection, Connector, Rows, SourceError, Value};
use sqlqueue_exporter::statement::{Dialect, Statement, TailRequest};

/// Statements and their answers, in order.
pub type Record = Arc<Mutex<Vec<(Statement, Rows)>>>;

/// Passes everything on to another connector.
#[derive(Debug)]
pub struct Recorder<C> {
    pub inner: C,
    pub record: Record,
}

#[derive(Debug)]
struct Recording {
    inner: Box<dyn Connection>,
    record: Record,
}

impl<C: Connector> Connector for Recorder<C> {
    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }

    fn connect(&self, deadline: Duration) -> BoxFuture<'_, Result<Box<dyn Connection>, SourceError>> {
        Box::pin(async move {
            let inner = self.inner.connect(deadline).await?;
            Ok(Box::new(Recording { inner, record: Arc::clone(&self.record) }) as Box<dyn Connection>)
        })
    }
}

impl Connection for Recording {
    fn query<'a>(
        &'a mut self,
        statement: &'a Statement,
        deadline: Duration,
    ) -> BoxFuture<'a, Result<Rows, SourceError>> {
        Box::pin(async move {
            let rows = self.inner.query(statement, deadline).await?;
            self.record.lock().unwrap().push((statement.clone(), rows.clone()));
            Ok(rows)
        })
    }
}

/// The request behind a log's statement, from its parameters.
pub fn request(statement: &Statement) -> TailRequest {
    let values: Vec<i64> = statement
        .parameters
        .iter()
        .map(|parameter| match parameter.value {
            Value::Int(value) => value,
            ref other => panic!("{other:?} is not a BIGINT"),
        })
        .collect();
    match values.as_slice() {
        [] => TailRequest::Head,
        [watermark, ranges @ ..] => TailRequest::After {
            watermark: *watermark,
            // Unused ranges end before they begin.
            gaps: ranges
                .chunks(2)
                .map(|range| (range[0], range[1]))
                .filter(|(from, to)| from <= to)
                .collect(),
        },
    }
}
