//! Clients that send or take their bytes too slowly.

use tokio::io::AsyncWriteExt as _;

use super::SOON;
use super::harness::{Fake, Server, patient};
use crate::web::Options;

#[tokio::test]
async fn half_open_connections_do_not_block_others() {
    let server = Server::plain().await;
    let mut held = Vec::new();
    for start in ["", "GET /met", "GET /metrics HTTP/1.1\r\nHost: te"] {
        let mut client = server.client().await;
        client.send(start).await;
        held.push(client);
    }
    assert_eq!(server.get("/metrics", &[]).await.status(), 200);
    // And each of them may still go on.
    held.pop().unwrap().send("st\r\n\r\n").await;
}

#[tokio::test]
async fn clients_that_send_no_request_in_time_lose_their_place() {
    let options = Options { max_connections: 1, head_timeout: SOON, ..patient() };
    let server = Server::start(Fake::plain(), options).await;
    for start in ["", "GET /metrics HTTP/1.1\r\nHost: te"] {
        let mut client = server.client().await;
        client.send(start).await;
        client.rest().await;
    }
    // An idle connection is closed too, after its answer. On a busy machine even this client may
    // be too late, and then has to come again.
    let mut idle = Vec::new();
    while idle.is_empty() {
        let mut client = server.client().await;
        let _ = client.stream.write_all(b"GET /-/healthy HTTP/1.1\r\nHost: test\r\n\r\n").await;
        idle = client.rest().await;
    }
    assert!(idle.ends_with(b"\r\n\r\nhealthy\n"));
}

#[tokio::test]
async fn a_client_that_never_takes_its_page_loses_its_place() {
    // Far more than the sockets of both sides can hold between them.
    let page = "x".repeat(64 << 20);
    let options = Options { max_connections: 1, write_timeout: SOON, ..patient() };
    let server = Server::start(Fake::new(move |_| Ok(page.clone())), options).await;
    let mut greedy = server.client().await;
    greedy.send("GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n").await;
    assert_eq!(server.get("/-/healthy", &[]).await.status(), 200);
    assert!(greedy.rest().await.len() < 64 << 20);
}
