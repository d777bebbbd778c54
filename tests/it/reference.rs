//! The queues and notification runs of `sql/`: one list of promises, kept by the procedures of `sql/mssql` on
//! a real server and by their twin on the embedded database.
//!
//! Leases lapse and delays pass because a test moves a time, not because it waits.

pub mod database;
mod embedded;
pub mod exporter;
mod leases;
mod many_workers;
mod notifications;
mod recovery;
mod twin;
mod work_queue;

/// Makes each case a test on the embedded database and one on a real server, with everything installed.
macro_rules! on_both_databases {
    ($($case:ident)*) => {
        mod embedded {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
            async fn $case() {
                super::$case(crate::reference::embedded::Embedded::new()).await;
            })*
        }
        mod mssql {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
            #[ignore = "needs SQLQUEUE_TEST_MSSQL"]
            async fn $case() {
                crate::mssql::installed::on_installed_server(async |db| super::$case(db).await).await;
            })*
        }
    };
}
use on_both_databases;

/// Long enough that it cannot pass within a test.
const LONG: std::time::Duration = std::time::Duration::from_secs(3600);

/// At once.
const NOW: std::time::Duration = std::time::Duration::ZERO;

/// Polls until there is an answer, for a bounded time.
pub async fn in_time<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    for _ in 0..1200 {
        if let Some(answer) = ask().await {
            return answer;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("it did not happen in time");
}
