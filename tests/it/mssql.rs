//! Tests that only a real server can pass, and the server side of those that run on both databases.
//!
//! Each of them is ignored unless asked for, and `SQLQUEUE_TEST_MSSQL` names the server (see [`settings`]):
//!
//! ```text
//! SQLQUEUE_TEST_MSSQL='host=...;user=...;password=...' cargo test --test it -- --ignored
//! ```
//!
//! The login must be allowed to create databases. T-SQL is read from its files and run unchanged, except on
//! Babelfish, for which [`babelfish`] rewrites what that server lacks.

mod babelfish;
pub mod database;
mod driver;
mod installation;
pub mod installed;
mod locks;
mod permissions;
mod procedures;
mod runbooks;
mod script;
mod session;
mod settings;
mod statements;
mod zones;

/// Makes each case a test that `$run` gives a database.
macro_rules! tests_on {
    ($run:ident: $($case:ident)*) => {
        mod tests {
            $(#[tokio::test]
            #[ignore = "needs SQLQUEUE_TEST_MSSQL"]
            async fn $case() {
                super::$run(super::$case).await;
            })*
        }
    };
}
use tests_on;
