//! The exporter over TDS: the same configuration with `mssql:` in place of `sqlite:` gives the same series,
//! and the server's errors become their reasons.
//!
//! The simulated server answers each statement with the rows that SQLite returned for its twin. So these
//! tests cover statements, parameters, driver and decoding, but execute no T-SQL. An unexpected statement
//! fails the test.

mod errors;
mod recorder;
mod same_series;
mod server;
