//! The mock server, and the exporter that is configured for it.

use std::sync::{Arc, Mutex};

use mssql_mock_tds::{
    ColumnDefinition, ColumnValue, MockTdsServer, QueryRegistry, QueryResponse, Row, SqlDataType,
    TerminalError,
};
use sqlqueue_exporter::clock::SharedClock;
use sqlqueue_exporter::config::{Config, Environment, TargetConfig};
use sqlqueue_exporter::exporter::Exporter;
use sqlqueue_exporter::source::{Rows, Value};
use sqlqueue_exporter::statement::{self, Dialect, Statement, TailRequest};

use crate::proxy::{self, Key, Log};
use crate::support::patient_config;

/// A mock server behind the proxy. Dropping it fails the test when a statement came by that was
/// not registered.
pub struct Server {
    port: u16,
    registry: Arc<tokio::sync::Mutex<QueryRegistry>>,
    log: Arc<Mutex<Log>>,
}

impl Server {
    pub async fn start() -> Self {
        let mock = MockTdsServer::new("127.0.0.1:0").await.unwrap();
        let (address, registry) = (mock.local_addr(), mock.query_registry());
        tokio::spawn(mock.run());
        let log = Arc::default();
        let port = proxy::listen(address, Arc::clone(&log)).await;
        Self { port, registry, log }
    }

    /// The configuration of one source with these targets (YAML, indented by four): that of the
    /// embedded database with `mssql:` in place of `sqlite:`.
    pub fn config(&self, targets: &str) -> Config {
        let database = format!(
            "mssql: {{ host: 127.0.0.1, port: {}, database: Orders, user: sqlqueue, password_file: /password, \
             encryption: off }}",
            self.port
        );
        let environment = Environment::empty().with_file("/password", "p@ss;w{}rd'\" zażółć");
        patient_config(&database, targets, &environment)
    }

    pub fn exporter(&self, targets: &str, clock: SharedClock) -> Exporter {
        Exporter::new(self.config(targets), clock).unwrap()
    }

    /// Has the mock answer a statement; an earlier answer to the same text is forgotten.
    pub async fn answer(&self, statement: &Statement, answer: QueryResponse) {
        let key = key(statement);
        // The mock looks batches up without the white space around them.
        self.registry.lock().await.register(key.0.trim(), answer);
        let mut log = self.log.lock().unwrap();
        log.registered.retain(|known| known.0 != key.0);
        log.registered.push(key);
    }

    /// How many connections the exporter has opened so far.
    pub fn connections(&self) -> usize {
        self.log.lock().unwrap().connections
    }

    /// The statements that came by since the last call.
    pub fn seen(&self) -> Vec<Key> {
        std::mem::take(&mut self.log.lock().unwrap().seen)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test that fails already says enough.
        if std::thread::panicking() {
            return;
        }
        let unregistered = &self.log.lock().unwrap().unregistered;
        assert!(unregistered.is_empty(), "statements that are not registered: {unregistered:#?}");
    }
}

/// The SQL Server twin of a target's statement.
pub fn twin(config: &Config, target: TargetConfig<'_>, request: &TailRequest) -> Statement {
    statement::sample(Dialect::Mssql, target, request, config.global.lock_timeout).unwrap()
}

pub fn key(statement: &Statement) -> Key {
    let int = |value: &Value| match value {
        Value::Int(value) => *value,
        other => panic!("{other:?} is not a BIGINT"),
    };
    (statement.text.clone(), statement.parameters.iter().map(|parameter| int(&parameter.value)).collect())
}

/// An answer with these rows, in the types that the statement promises: BIGINT, and NVARCHAR for
/// the columns that hold text.
pub fn rows(rows: &Rows) -> QueryResponse {
    const TEXTS: [&str; 5] = ["queue", "state", "step", "outcome", "kind"];
    let kind = |name: &String| {
        // The mock has NULL in its NVARCHAR(MAX) only.
        if TEXTS.contains(&name.as_str()) { SqlDataType::NVarCharMax } else { SqlDataType::BigInt }
    };
    let columns: Vec<_> = rows.columns.iter().map(|name| ColumnDefinition::new(name, kind(name))).collect();
    let value = |value: &Value, kind: SqlDataType| match (value, kind) {
        (Value::Null, SqlDataType::NVarCharMax) => ColumnValue::NVarCharMaxNull,
        (Value::Null, _) => ColumnValue::Null,
        (Value::Int(value), SqlDataType::BigInt) => ColumnValue::BigInt(*value),
        (Value::Text(text), SqlDataType::NVarCharMax) if text.is_empty() => {
            ColumnValue::NVarCharMax(Vec::new())
        }
        (Value::Text(text), SqlDataType::NVarCharMax) => {
            ColumnValue::NVarCharMax(vec![text.encode_utf16().collect()])
        }
        (value, kind) => panic!("{value:?} in a column of type {kind:?}"),
    };
    let answer = rows.rows.iter().map(|row| {
        Row::new(row.iter().zip(&columns).map(|(cell, column)| value(cell, column.data_type)).collect())
    });
    let answer = answer.collect();
    QueryResponse::new(columns, answer)
}

/// An error in place of an answer.
pub fn error(number: u32, message: &str) -> QueryResponse {
    QueryResponse::error_only(TerminalError::new(number, 16, message))
}
