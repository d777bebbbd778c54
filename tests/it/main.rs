//! Integration tests: one binary, with one module per promise.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod attempts;
mod backend;
mod binary;
mod cli;
mod enqueued;
mod faults;
mod foreign_database;
mod foreign_rows;
mod foreign_state;
mod foreign_user;
mod hang;
mod hidden_rows;
mod incidents;
mod kill;
mod lease_cases;
mod local_time;
mod log_cases;
mod many_sources;
mod mssql;
mod mssql_scripts;
mod mutable_logs;
mod odd_rows;
mod over_tds;
mod overview;
mod page;
mod parse;
mod plan;
mod process;
mod protobuf;
mod published_tables;
mod queue_cases;
mod readme;
mod reclaims;
mod reference;
mod related_times;
mod reload;
mod rooms;
mod runbooks;
mod secrets;
mod service;
mod started_over;
mod stop;
#[path = "../support/stopped_time.rs"]
mod stopped_time;
mod support;
mod tailing;
#[path = "../support/tds/mod.rs"]
mod tds;
mod untyped_values;
