//! Limits that several parts of the program share.

/// The most rows one statement may return before the sample is refused. The statements bound
/// their rows themselves; this keeps memory bounded should a mapping defeat that.
pub const MAX_RESULT_ROWS: usize = 20_000;

/// How many missing id ranges one sample of a log asks for again. Fixed, so that the text of a statement,
/// and with it its plan, stays the same from sample to sample.
pub const GAPS_PER_SAMPLE: usize = 16;

/// The most claimed rows that one sample of a queue lists, lapsed leases first.
pub const CLAIMS_PER_SAMPLE: usize = 1000;
