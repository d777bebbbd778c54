//! The recent past, for the page that draws it: bounded, in memory only, and never saved.
//!
//! It starts anew with each start of the exporter. What must survive one is counted elsewhere.

mod runs;
mod trend;

pub use runs::{Run, Runs};
pub use trend::{Point, Trend, Trends};
