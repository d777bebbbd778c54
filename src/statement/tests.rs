//! Statements as text.
