//! The exporter over TDS: the same configuration with `mssql:` in place of `sqlite:` gives the same
//! series, and a server's errors become the reasons they stand for.
//!
//! The server is a mock that knows the protocol and no SQL: it answers statements by their text.
//! What it answers is what the SQLite twin of each statement returned, so that the statements, the
//! driver and the decoding are what is tested, and a statement that nobody registered fails a test.

#[allow(dead_code, reason = "the integration tests of the exporter use the rest of it")]
#[path = "../../it/support.rs"]
mod support;

mod errors;
mod message;
mod proxy;
mod recorder;
mod same_series;
mod server;
