#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[path = "../../../../tests/support/tds/wire.rs"]
mod fake;
mod login;
mod query;

use self::fake::{DONE_FINAL, Kind, Peer, Server, columns, done, fixed, row};
use super::*;
use crate::statement::Parameter;
use crate::stopped_time::StoppedTime;

/// Long enough that only a bug lets it pass.
const PATIENCE: Duration = Duration::from_secs(300);

/// The deadline where the server does not keep it. The time that passes is that of a test.
const DEADLINE: Duration = Duration::from_secs(5);

fn statement(text: &str) -> Statement {
    Statement { text: text.to_owned(), parameters: Vec::new() }
}

async fn connect(settings: Mssql, deadline: Duration) -> Result<Box<dyn Connection>, SourceError> {
    MssqlConnector::new(settings).connect(deadline).await
}

/// A connection to a fake server, and the server's end of it.
async fn session() -> (Box<dyn Connection>, Peer) {
    let server = Server::listen().await;
    let (connected, peer) = tokio::join!(connect(server.settings(), PATIENCE), server.accept_login());
    (connected.unwrap(), peer)
}

/// Runs one statement against one answer of the server.
async fn ask(
    connection: &mut Box<dyn Connection>,
    peer: &mut Peer,
    answer: &[u8],
) -> Result<Rows, SourceError> {
    let asked = statement("SELECT 1");
    let served = async {
        peer.read().await;
        peer.answer(answer).await;
    };
    tokio::join!(connection.query(&asked, PATIENCE), served).0
}

fn one_bigint(value: i64) -> Vec<u8> {
    [columns(&[("n", Kind::Integer(8))]), row(&[fixed(&value.to_le_bytes())]), done(DONE_FINAL)].concat()
}

/// The connection is in step: the next answer is that of the next statement.
async fn assert_usable(connection: &mut Box<dyn Connection>, peer: &mut Peer) {
    let rows = ask(connection, peer, &one_bigint(42)).await.unwrap();
    assert_eq!(rows.rows, [vec![Value::Int(42)]]);
}

/// The client is gone, and says so.
async fn assert_lost(connection: &mut Box<dyn Connection>, peer: &mut Peer) {
    peer.closed().await;
    let error = connection.query(&statement("SELECT 1"), PATIENCE).await.unwrap_err();
    assert!(error.connection_lost);
}

#[test]
fn error_numbers_have_reasons() {
    for (number, reason) in [
        (1222, Some(Reason::LockTimeout)),
        (1205, Some(Reason::Deadlock)),
        (3617, Some(Reason::Timeout)),
        (229, Some(Reason::Permission)),
        (230, Some(Reason::Permission)),
        (262, Some(Reason::Permission)),
        (297, Some(Reason::Permission)),
        (300, Some(Reason::Permission)),
        (371, Some(Reason::Permission)),
        (373, Some(Reason::Permission)),
        (916, Some(Reason::Permission)),
        (207, Some(Reason::MissingObject)),
        (208, Some(Reason::MissingObject)),
        (911, Some(Reason::MissingObject)),
        (2812, Some(Reason::MissingObject)),
        (4902, Some(Reason::MissingObject)),
        (4060, Some(Reason::Login)),
        (942, Some(Reason::Login)),
        (978, Some(Reason::Login)),
        (18452, Some(Reason::Login)),
        (18456, Some(Reason::Login)),
        (18470, Some(Reason::Login)),
        (18486, Some(Reason::Login)),
        (18487, Some(Reason::Login)),
        (18488, Some(Reason::Login)),
        (40613, Some(Reason::Login)),
        (40615, Some(Reason::Login)),
        (596, Some(Reason::Connect)),
        // Out of memory, memory grant timeout, a syntax error, division by zero.
        (701, None),
        (8645, None),
        (102, None),
        (8134, None),
    ] {
        assert_eq!(error::reason_of(number), reason, "{number}");
    }
}
