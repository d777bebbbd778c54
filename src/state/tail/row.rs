//! Rows as the tail sees them.

/// One row of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TailRow {
    /// Its id.
    pub id: i64,
    /// Whether it counts.
    pub stage: Stage,
}

/// Whether a row counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// What it records has ended: the row counts.
    Over,
    /// What it records has not ended: the row will change, and counts later.
    Open,
    /// It does not fit the target's predicate, and never counts.
    Foreign,
}
