//! `sqlqueue-exporter`: Prometheus metrics from the work-queue and run-log tables of SQL Server.
//!
//! Data flows one way: [`config`] -> [`statement`] -> [`source`] -> [`sample`] -> [`state`] ->
//! [`exposition`] -> [`web`]. Nothing on the right calls back to the left, and a scrape never waits for
//! a database. [`sampler`] drives the first half at an interval, and [`state_file`] stores what must
//! survive a restart.

#![forbid(unsafe_code)]

// Lets tests/support name this crate the same way from unit tests and from integration tests.
#[cfg(test)]
extern crate self as sqlqueue_exporter;

pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
pub(crate) mod duration;
pub mod environment;
pub mod exporter;
pub mod exposition;
pub(crate) mod files;
pub mod limits;
pub mod sample;
pub mod sampler;
pub mod secret;
pub mod source;
pub mod state;
pub mod state_file;
pub mod statement;
#[cfg(test)]
#[path = "../tests/support/stopped_time.rs"]
mod stopped_time;
pub mod web;
pub mod words;
pub mod yaml;
