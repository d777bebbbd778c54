//! The same pages over HTTP/2, which a client asks for during the TLS handshake.

use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::Options;
use super::harness::{Fake, Server};
use super::tls::{BOTH, Identity, client_config, options};
use crate::stopped_time::StoppedTime;

/// Requests, and what becomes of the connection.
type Connection = (SendRequest<Empty<Bytes>>, JoinHandle<hyper::Result<()>>);

async fn connect(server: &Server) -> Connection {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let connector = TlsConnector::from(Arc::new(client_config(&BOTH, &["h2"], Identity::None)));
    let stream = connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"h2".as_slice()));
    let mut builder = Builder::new(TokioExecutor::new());
    // Small windows: a client that does not read holds the server up early.
    builder.initial_stream_window_size(16 * 1024).initial_connection_window_size(64 * 1024);
    let (requests, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
    (requests, tokio::spawn(connection))
}

fn request(path: &str) -> Request<Empty<Bytes>> {
    Request::get(format!("https://localhost{path}")).body(Empty::new()).unwrap()
}

async fn text(response: Response<Incoming>) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

#[tokio::test]
async fn many_requests_on_one_connection_are_all_answered() {
    let page = "a line of the page\n".repeat(20_000);
    let served = page.clone();
    let server = Server::start(Fake::new(move |_| Ok(served.clone())), options("")).await;
    let (mut requests, _connection) = connect(&server).await;
    // With the first answer the client knows how many requests it may have under way.
    assert_eq!(text(requests.send_request(request("/-/healthy")).await.unwrap()).await, "healthy\n");
    let answers = (0..30).map(|_| {
        let answer = requests.send_request(request("/metrics"));
        async {
            let answer = answer.await.unwrap();
            assert_eq!((answer.status().as_u16(), answer.version()), (200, hyper::Version::HTTP_2));
            assert_eq!(answer.headers()["content-length"], page.len().to_string().as_str());
            assert_eq!(text(answer).await, page);
        }
    });
    // All at once: an answer that nobody reads would keep the others from coming.
    futures_util::future::join_all(answers).await;
    requests.ready().await.unwrap();
    assert_eq!(requests.send_request(request("/nowhere")).await.unwrap().status(), 404);
    let head = Request::head("https://localhost/metrics").body(Empty::new()).unwrap();
    let head = requests.send_request(head).await.unwrap();
    assert_eq!(head.headers()["content-length"], page.len().to_string().as_str());
    assert_eq!(text(head).await, "");
}

#[tokio::test]
async fn logins_headers_and_limits_hold_there_too() {
    let hash = bcrypt::hash("secret", 4).unwrap();
    let more = format!(
        "http_server_config: {{ headers: {{ X-Frame-Options: deny }} }}\n\
         basic_auth_users: {{ prometheus: '{hash}' }}\nrate_limit: {{ interval: 1h, burst: 2 }}\n"
    );
    let server = Server::start(Fake::plain(), options(&more)).await;
    let (mut requests, _connection) = connect(&server).await;
    let refused = requests.send_request(request("/metrics")).await.unwrap();
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["x-frame-options"]),
        (401, &"deny".parse().unwrap())
    );
    let mut login = request("/metrics");
    login.headers_mut().insert("authorization", "Basic cHJvbWV0aGV1czpzZWNyZXQ=".parse().unwrap());
    assert_eq!(requests.send_request(login.clone()).await.unwrap().status(), 200);
    assert_eq!(requests.send_request(login).await.unwrap().status(), 429);
}

#[tokio::test]
async fn a_head_without_an_end_is_refused() {
    let server = Server::start(Fake::plain(), options("")).await;
    let (mut requests, _connection) = connect(&server).await;
    let mut endless = request("/metrics");
    endless.headers_mut().insert("x", "x".repeat(100_000).parse().unwrap());
    let refused = requests.send_request(endless).await;
    assert!(refused.as_ref().map_or(true, |answer| answer.status() == 431), "{refused:?}");
    let (mut requests, _connection) = connect(&server).await;
    assert_eq!(requests.send_request(request("/metrics")).await.unwrap().status(), 200);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_asks_for_nothing_more_ends() {
    let time = StoppedTime::new();
    let options = options("");
    let limit = options.head_timeout;
    let server = Server::start(Fake::plain(), options).await;
    let (mut requests, connection) = connect(&server).await;
    assert_eq!(requests.send_request(request("/-/healthy")).await.unwrap().status(), 200);
    time.pass(limit).await;
    // Closed in order or not; what counts is that it ends.
    let _ = connection.await.unwrap();
}

#[tokio::test]
async fn a_client_that_never_takes_its_page_loses_its_place() {
    let page = "x".repeat(4 << 20);
    let quick = Options { max_connections: 1, idle_grace: Duration::ZERO, ..options("") };
    let server = Server::start(Fake::new(move |_| Ok(page.clone())), quick).await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let (mut requests, connection) = connect(&server).await;
    let greedy = requests.send_request(request("/metrics")).await.unwrap();
    let (mut others, _connection) = connect(&server).await;
    assert_eq!(others.send_request(request("/-/healthy")).await.unwrap().status(), 200);
    let _ = connection.await.unwrap();
    greedy.into_body().collect().await.unwrap_err();
    // Nothing of it stays behind, on either side.
    drop((requests, others));
    while tasks() > before {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn shutdown_finishes_the_request_in_flight() {
    let (pages, asked, release) = Fake::gated();
    let server = Server::start(pages, options("")).await;
    let (mut requests, connection) = connect(&server).await;
    let answer = tokio::spawn(requests.send_request(request("/metrics")));
    asked.notified().await;
    let (stopping, _port) = server.stop();
    release.send(()).unwrap();
    assert_eq!(text(answer.await.unwrap().unwrap()).await, "finished\n");
    let _ = connection.await.unwrap();
    stopping.await.unwrap().unwrap();
}

#[tokio::test]
async fn it_is_not_offered_when_it_is_switched_off() {
    let server = Server::start(Fake::plain(), options("http_server_config: { http2: false }\n")).await;
    let stream = TcpStream::connect(server.address).await.unwrap();
    let connector = TlsConnector::from(Arc::new(client_config(&BOTH, &["h2", "http/1.1"], Identity::None)));
    let stream = connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(b"http/1.1".as_slice()));
}
