//! Incidents: things that go wrong with queues and runs, on purpose.
//!
//! An incident is a variation of the workload: somebody stops working, works badly, or leaves
//! something in a table or a folder. The exporter is unchanged and knows nothing of it.

mod facts;
pub(super) mod files;

use std::time::Duration;

pub use facts::{Facts, Incident};

/// An incident with its start and its end, in real time whatever the demo's speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Episode {
    /// What goes wrong.
    pub incident: Incident,
    /// How long all goes well first.
    pub after: Duration,
    /// How long it lasts; `None`: until the demo is stopped.
    pub lasting: Option<Duration>,
}
