#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that panics has failed, as it should")]

mod auth;
mod clients;
mod crowd;
mod following;
mod harness;
mod http2;
mod shutdown;
mod slow_clients;
mod tls;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::page::content_security_policy;
use super::{Format, Options, TelemetryPath, serve};
use harness::{Fake, Server, patient};

/// Short enough that a test of a time limit is over at once.
const SOON: Duration = Duration::from_millis(20);

const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[test]
fn content_types_are_the_registered_ones() {
    assert_eq!(Format::PrometheusText.content_type(), TEXT);
    assert_eq!(Format::OpenMetrics.content_type(), OPENMETRICS);
    assert_eq!(
        Format::Protobuf.content_type(),
        "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
    );
}

#[tokio::test]
async fn the_metrics_come_in_the_format_that_was_asked_for() {
    let server = Server::plain().await;
    let plain = server.get("/metrics", &[]).await;
    assert_eq!((plain.status(), plain.text()), (200, "page PrometheusText\n"));
    assert_eq!(plain.header("content-type"), Some(TEXT));
    assert_eq!(plain.header("vary"), Some("Accept, Accept-Encoding"));
    assert_eq!(plain.header("content-encoding"), None);
    assert_eq!(plain.header("x-content-type-options"), Some("nosniff"));

    let accept = "Accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2";
    let open = server.get("/metrics", &[accept]).await;
    assert_eq!((open.status(), open.text()), (200, "page OpenMetrics\n"));
    assert_eq!(open.header("content-type"), Some(OPENMETRICS));

    let parts = ["Accept: text/plain;q=0.1", "Accept: application/openmetrics-text;q=0.9"];
    assert_eq!(server.get("/metrics", &parts).await.header("content-type"), Some(OPENMETRICS));
    assert_eq!(server.get("/metrics", &["Accept: image/png"]).await.status(), 200);
}

#[tokio::test]
async fn gzip_is_used_when_asked_for_and_unpacks_to_the_same_page() {
    let page: String = (0..10_000).map(|n| format!("sqlqueue_jobs{{queue=\"q{n}\"}} {n}\n")).collect();
    let expected = page.clone();
    let server = Server::start(Fake::new(move |_| Ok(page.clone())), patient()).await;

    let zipped = server.get("/metrics", &["Accept-Encoding: GZIP;q=0.5, deflate"]).await;
    assert_eq!(zipped.header("content-encoding"), Some("gzip"));
    assert_eq!(zipped.unzipped(), expected);
    assert!(zipped.body.len() * 4 < expected.len(), "{} bytes", zipped.body.len());

    for refusal in ["Accept-Encoding: gzip;q=0", "Accept-Encoding: identity", "X-None: x"] {
        let plain = server.get("/metrics", &[refusal]).await;
        assert_eq!(plain.header("content-encoding"), None, "{refusal}");
        assert_eq!(plain.text(), expected, "{refusal}");
    }
}

#[tokio::test]
async fn head_answers_with_the_length_and_no_body() {
    let server = Server::plain().await;
    // On one connection: a stray byte of a body would spoil the next status line.
    let mut client = server.client().await;
    for path in ["/metrics", "/", "/config", "/-/healthy", "/-/ready", "/nowhere"] {
        let head = client.request("HEAD", path, &[]).await;
        let get = client.request("GET", path, &[]).await;
        assert_eq!(head.status(), get.status(), "{path}");
        assert_eq!(head.header("content-length"), Some(get.body.len().to_string().as_str()), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"), "{path}");
    }
}

#[tokio::test]
async fn unknown_paths_get_a_hint_and_other_methods_what_is_allowed() {
    let server = Server::plain().await;
    for path in ["/metric", "/metrics/", "/-/nothing", "/../metrics", "/%6detrics"] {
        let missing = server.get(path, &[]).await;
        assert_eq!((missing.status(), missing.text()), (404, "not found: the metrics are at /metrics\n"));
        assert_eq!(missing.header("x-content-type-options"), Some("nosniff"));
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "BREW"] {
        for path in ["/metrics", "/", "/config", "/-/healthy", "/-/ready"] {
            let refused = server.client().await.request(method, path, &[]).await;
            assert_eq!(
                (refused.status(), refused.header("allow")),
                (405, Some("GET, HEAD")),
                "{method} {path}"
            );
        }
    }
    assert_eq!(server.client().await.request("POST", "/nowhere", &[]).await.status(), 404);
}

#[tokio::test]
async fn a_query_an_absolute_url_and_http_1_0_are_understood() {
    let server = Server::plain().await;
    assert_eq!(server.get("/metrics?name=x", &[]).await.status(), 200);
    assert_eq!(server.get("http://test/metrics", &[]).await.status(), 200);
    let mut old = server.client().await;
    old.send("GET /metrics HTTP/1.0\r\n\r\n").await;
    assert!(String::from_utf8(old.rest().await).unwrap().ends_with("\r\n\r\npage PrometheusText\n"));
}

#[tokio::test]
async fn a_client_that_ends_its_side_first_is_still_answered() {
    let server = Server::plain().await;
    let mut client = server.client().await;
    client.send("GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n").await;
    client.stream.shutdown().await.unwrap();
    assert_eq!(client.answer(true).await.text(), "page PrometheusText\n");
}

#[tokio::test]
async fn html_pages_load_nothing_and_are_not_cached() {
    let server = Server::plain().await;
    for (path, title) in [("/", "Overview"), ("/config", "Configuration")] {
        let page = server.get(path, &[]).await;
        assert_eq!(page.status(), 200, "{path}");
        for (name, value) in [
            ("content-type", "text/html; charset=utf-8"),
            ("content-security-policy", content_security_policy()),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cache-control", "no-store"),
            ("vary", "Accept-Encoding"),
        ] {
            assert_eq!(page.header(name), Some(value), "{path}");
        }
        assert_eq!(page.header("content-encoding"), None, "{path}");
        assert!(page.text().contains(&format!("aria-current=\"page\">{title}</a>")), "{path}");

        let zipped = server.get(path, &["Accept-Encoding: gzip"]).await;
        assert_eq!(zipped.header("content-encoding"), Some("gzip"), "{path}");
        assert_eq!(zipped.unzipped(), page.text(), "{path}");
    }
}

#[tokio::test]
async fn the_telemetry_path_can_be_moved_even_to_the_root() {
    let moved = |path: &str| Options { telemetry_path: path.parse().unwrap(), ..patient() };
    let server = Server::start(Fake::plain(), moved("/probe/sql")).await;
    assert_eq!(server.get("/probe/sql", &[]).await.header("content-type"), Some(TEXT));
    assert_eq!(server.get("/metrics", &[]).await.text(), "not found: the metrics are at /probe/sql\n");

    let server = Server::start(Fake::plain(), moved("/")).await;
    assert_eq!(server.get("/", &[]).await.header("content-type"), Some(TEXT));
    assert_eq!(server.get("/metrics", &[]).await.status(), 404);
}

#[tokio::test]
async fn readiness_follows_the_exporter_and_health_does_not() {
    let pages = Fake::plain();
    pages.ready.store(false, Ordering::SeqCst);
    let server = Server::start(Arc::clone(&pages), patient()).await;
    let early = server.get("/-/ready", &[]).await;
    assert_eq!((early.status(), early.text()), (503, "no sample yet\n"));
    assert_eq!(server.get("/-/healthy", &[]).await.text(), "healthy\n");
    pages.ready.store(true, Ordering::SeqCst);
    assert_eq!(server.get("/-/ready", &[]).await.status(), 200);
}

#[tokio::test]
async fn a_page_that_cannot_be_encoded_is_a_500_and_not_the_end() {
    let failing = Server::start(Fake::new(|_| Err(fmt::Error)), patient()).await;
    let panicking = Server::start(Fake::new(|_| panic!("a defect")), patient()).await;
    for server in [failing, panicking] {
        let mut client = server.client().await;
        // More often than there are places to render: a failure must give its place back.
        for _ in 0..10 {
            let failed = client.request("GET", "/metrics", &["Accept-Encoding: gzip"]).await;
            assert_eq!(failed.status(), 500);
            assert_eq!(failed.header("content-type"), Some("text/plain; charset=utf-8"));
            assert!(failed.text().contains("log"), "{}", failed.text());
        }
        assert_eq!(client.request("GET", "/-/healthy", &[]).await.status(), 200);
    }
}

#[tokio::test]
async fn bodies_are_ignored_and_never_waited_for() {
    let server = Server::plain().await;
    let mut client = server.client().await;
    client.send("GET /metrics HTTP/1.1\r\nHost: test\r\nContent-Length: 5\r\n\r\nhello").await;
    assert_eq!(client.answer(true).await.status(), 200);

    for announced in ["Content-Length: 9999999999", "Transfer-Encoding: chunked"] {
        for expect in ["Expect: 100-continue", "X-Expect: nothing"] {
            let mut client = server.client().await;
            let refused = client.request("POST", "/metrics", &[announced, expect]).await;
            assert_eq!(refused.status(), 405, "{announced}, {expect}");
            // The rest of the body would be taken for requests: the connection must end.
            assert_eq!(client.rest().await, b"", "{announced}, {expect}");
        }
    }
}

#[tokio::test]
async fn garbage_costs_the_sender_its_connection_and_nobody_else_anything() {
    let server = Server::plain().await;
    let endless = format!("GET /metrics HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(100_000));
    let crowded = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(2_000));
    let garbage: [&[u8]; 10] = [
        b"\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET /metrics\r\n\r\n",
        b"GET /metrics HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\nno colon\r\n\r\n",
        endless.as_bytes(),
        crowded.as_bytes(),
    ];
    for bytes in garbage {
        let mut client = server.client().await;
        // The server may have hung up before the last byte.
        let _ = client.stream.write_all(bytes).await;
        let _ = client.stream.shutdown().await;
        let answer = client.rest().await;
        let status = String::from_utf8_lossy(answer.get(..12).unwrap_or_default()).into_owned();
        assert!(status.is_empty() || status.starts_with("HTTP/1.1 4"), "{status} to {bytes:?}");
        assert_eq!(server.get("/metrics", &[]).await.status(), 200);
    }
}

#[tokio::test]
async fn what_comes_behind_a_request_is_answered_in_turn_or_ends_the_connection() {
    let server = Server::plain().await;
    let mut client = server.client().await;
    let request = |method: &str| format!("{method} /metrics HTTP/1.1\r\nHost: test\r\n\r\n");
    client.send(["GET", "HEAD", "BREW", "GET"].map(request).concat()).await;
    for (status, with_body) in [(200, true), (200, false), (405, true), (200, true)] {
        assert_eq!(client.answer(with_body).await.status(), status);
    }
    client.send(format!("{}\0\x01 rubbish\r\n\r\n{}", request("GET"), request("GET"))).await;
    assert_eq!(client.answer(true).await.status(), 200);
    assert_eq!(client.answer(true).await.status(), 400);
    assert_eq!(client.rest().await, b"", "what follows is not looked at");
}

#[tokio::test]
async fn many_scrapes_at_once_all_get_the_whole_page() {
    let page = "a line of the page\n".repeat(20_000);
    let expected = Arc::new(page.clone());
    let options = Options { max_connections: 16, ..patient() };
    let server = Arc::new(Server::start(Fake::new(move |_| Ok(page.clone())), options).await);
    let mut scrapes = JoinSet::new();
    for n in 0..150 {
        let (server, expected) = (Arc::clone(&server), Arc::clone(&expected));
        scrapes.spawn(async move {
            if n % 2 == 0 {
                assert_eq!(server.get("/metrics", &["Connection: close"]).await.text(), *expected);
            } else {
                assert_eq!(server.get("/metrics", &["Accept-Encoding: gzip"]).await.unzipped(), *expected);
            }
        });
    }
    while let Some(scrape) = scrapes.join_next().await {
        scrape.unwrap();
    }
}

#[tokio::test]
async fn a_page_in_the_making_does_not_hold_up_anything_else() {
    // On the test's single thread: were the page written on it, nothing else could move.
    let (pages, asked, release) = Fake::gated();
    let server = Server::start(pages, patient()).await;
    let mut slow = server.client().await;
    slow.send("GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n").await;
    asked.notified().await;
    assert_eq!(server.get("/-/healthy", &[]).await.status(), 200);
    release.send(()).unwrap();
    assert_eq!(slow.answer(true).await.text(), "finished\n");
}

#[tokio::test]
async fn all_listeners_are_served_and_none_is_an_error() {
    let mut listeners = Vec::new();
    for _ in 0..3 {
        listeners.push(TcpListener::bind("127.0.0.1:0").await.unwrap());
    }
    let addresses: Vec<_> = listeners.iter().map(|listener| listener.local_addr().unwrap()).collect();
    let barrier = Arc::new(Barrier::new(2));
    let gate = Arc::clone(&barrier);
    let shutdown = async move {
        gate.wait().await;
    };
    let task = tokio::spawn(serve(listeners, Fake::plain(), patient(), shutdown));
    for address in addresses.into_iter().cycle().take(6) {
        let stream = tokio::io::BufReader::new(TcpStream::connect(address).await.unwrap());
        let mut client = harness::Client { stream };
        assert_eq!(client.request("GET", "/metrics", &[]).await.status(), 200);
    }
    barrier.wait().await;
    task.await.unwrap().unwrap();

    let nothing = serve(Vec::new(), Fake::plain(), patient(), std::future::pending());
    assert_eq!(nothing.await.unwrap_err().kind(), std::io::ErrorKind::InvalidInput);
}

#[test]
fn the_default_path_is_the_usual_one() {
    assert_eq!(TelemetryPath::default().as_str(), "/metrics");
}
