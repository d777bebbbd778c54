//! Integration tests: one binary, one module for each promise.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a test a panic is how a failure is told"
)]

mod backend;
mod support;

mod lease_cases;
mod log_cases;
mod published_tables;
mod queue_cases;
mod real_server;
