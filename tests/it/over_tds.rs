//! The exporter over TDS: the same configuration with `mssql:` in place of `sqlite:` gives the same series,
//! and errors of the server become the reasons that they stand for.
//!
//! The simulated server answers each statement with the rows that SQLite returned for its twin. So these
//! tests cover statements, parameters, driver and decoding, and no T-SQL is executed. A statement that no
//! test expects fails the test.

mod errors;
mod recorder;
mod same_series;
mod server;
