//! TDS.
