//! A simulated SQL Server: it speaks TDS and knows no SQL. It answers each statement well, unless a test
//! asks for a fault or scripts the answers.

pub mod answers;
pub mod request;
pub mod server;
mod session;
pub mod wire;
