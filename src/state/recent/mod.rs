//! The recent past, for the charts of the status page: bounded, in memory only, and empty after each start.

mod runs;
mod trend;

pub use runs::{Run, Runs};
pub use trend::{Point, Trend, Trends};
