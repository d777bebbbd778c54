//! Shutdown with requests in flight.

use tokio::net::TcpStream;

use super::SOON;
use super::harness::{Fake, Server, patient};
use crate::web::Options;

#[tokio::test]
async fn shutdown_finishes_the_request_in_flight_and_closes_idle_connections() {
    let (pages, asked, release) = Fake::gated();
    let server = Server::start(pages, patient()).await;
    let address = server.address;
    let mut fresh = server.client().await;
    let mut idle = server.client().await;
    assert_eq!(idle.request("GET", "/-/healthy", &[]).await.status(), 200);
    let mut busy = server.client().await;
    busy.send("GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n").await;
    asked.notified().await;

    let (stopping, _reserved) = server.stop();
    assert_eq!(idle.rest().await, b"");
    assert_eq!(fresh.rest().await, b"");
    let refused = TcpStream::connect(address).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);

    release.send(()).unwrap();
    let last = busy.answer(true).await;
    assert_eq!((last.status(), last.text()), (200, "finished\n"));
    assert_eq!(last.header("connection"), Some("close"));
    assert_eq!(busy.rest().await, b"");
    stopping.await.unwrap().unwrap();
}

#[tokio::test]
async fn shutdown_does_not_wait_for_ever_for_a_request_in_flight() {
    let (pages, asked, release) = Fake::gated();
    let server = Server::start(pages, Options { grace: SOON, ..patient() }).await;
    let mut stuck = server.client().await;
    stuck.send("GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n").await;
    let mut dawdling = server.client().await;
    dawdling.send("GET /-/healthy HTT").await;
    asked.notified().await;

    server.stop().0.await.unwrap().unwrap();
    assert_eq!(stuck.rest().await, b"");
    assert_eq!(dawdling.rest().await, b"");
    // The thread that writes the page is still waiting; the runtime waits for it in turn.
    drop(release);
}
