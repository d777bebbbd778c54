//! More clients than there are places.

use std::io::ErrorKind;
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;

use super::Options;
use super::harness::{Client, Fake, Server, patient};

#[tokio::test]
async fn who_may_still_be_about_to_ask_keeps_its_place_and_the_others_wait() {
    let options = Options { max_connections: 2, ..patient() };
    let server = Server::start(Fake::plain(), options).await;
    let (mut first, mut second) = (server.client().await, server.client().await);
    assert_eq!(first.request("GET", "/-/healthy", &[]).await.status(), 200);
    assert_eq!(second.request("GET", "/-/healthy", &[]).await.status(), 200);

    let mut third = server.client().await;
    third.send("GET /-/healthy HTTP/1.1\r\nHost: test\r\n\r\n").await;
    assert_eq!(second.request("GET", "/-/healthy", &[]).await.status(), 200);
    let waiting = third.stream.get_ref().try_read(&mut [0; 1]).unwrap_err();
    assert_eq!(waiting.kind(), ErrorKind::WouldBlock);

    drop(first);
    assert_eq!(third.answer(true).await.status(), 200);
}

/// A server with a few places, which every silent client has to give up at once.
async fn crowded(places: usize) -> Server {
    let options = Options { max_connections: places, idle_grace: Duration::ZERO, ..patient() };
    Server::start(Fake::plain(), options).await
}

/// Whether the server has ended the connection.
fn is_closed(client: &Client) -> bool {
    !matches!(client.stream.get_ref().try_read(&mut [0; 1]), Err(error) if error.kind() == ErrorKind::WouldBlock)
}

#[tokio::test]
async fn silent_connections_make_room_for_whoever_asks() {
    let server = crowded(8).await;
    let beginnings = ["", "GET /met", "GET /metrics HTTP/1.1\r\nHost: te", "\x16\x03\x01"];
    let mut silent = Vec::new();
    for n in 0..500 {
        let mut client = server.client().await;
        // A server that has dropped it already makes this fail, which is its good right.
        let beginning = beginnings.iter().cycle().nth(n).unwrap();
        let _ = client.stream.write_all(beginning.as_bytes()).await;
        silent.push(client);
        if n % 50 == 0 {
            assert_eq!(server.get("/metrics", &[]).await.status(), 200, "after {n}");
        }
    }
    assert_eq!(server.get("/metrics", &[]).await.status(), 200);
    let open = || silent.iter().filter(|client| !is_closed(client)).count();
    let closing = async {
        while open() > 8 {
            tokio::task::yield_now().await;
        }
    };
    let closed = tokio::time::timeout(Duration::from_secs(300), closing).await;
    assert!(closed.is_ok(), "{} connections are still open", open());
}

#[tokio::test]
async fn a_byte_now_and_then_is_no_sign_of_life() {
    let server = crowded(1).await;
    let mut loris = server.client().await;
    for byte in "GET /metrics HTTP/1.1\r\n".chars() {
        loris.send(byte.to_string()).await;
    }
    assert_eq!(server.get("/metrics", &[]).await.status(), 200);
    loris.rest().await;
}

#[tokio::test]
async fn who_waits_for_an_answer_is_not_sent_away() {
    let (pages, asked, release) = Fake::gated();
    let options = Options { max_connections: 1, idle_grace: Duration::ZERO, ..patient() };
    let server = Server::start(pages, options).await;
    let mut first = server.client().await;
    first.send("GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n").await;
    asked.notified().await;
    let mut second = server.client().await;
    second.send("GET /-/healthy HTTP/1.1\r\nHost: test\r\n\r\n").await;
    release.send(()).unwrap();
    assert_eq!(first.answer(true).await.text(), "finished\n");
    assert_eq!(second.answer(true).await.status(), 200, "as soon as the first has its answer");
}
