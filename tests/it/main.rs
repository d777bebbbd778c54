//! Integration tests: one binary, one module for each promise.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a test a panic is how a failure is told"
)]

mod support;

mod attempts;
mod cli;
mod kill;
mod log_cases;
mod page;
mod plan;
mod published_tables;
mod readme;
mod related_times;
mod tailing;
