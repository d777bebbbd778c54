//! The same pages over TLS, and clients that speak something else.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{
    ClientConfig, NamedGroup, ProtocolVersion, RootCertStore, SupportedProtocolVersion,
};

use super::harness::{Client, Fake, Server, patient, protected};
use super::{SOON, TEXT};
use crate::environment::Environment;
use crate::web::config::parse;
use crate::web::{Options, Security};

pub(super) const BOTH: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

/// Where the certificates are; they are made by the script next to them.
pub(super) const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/tls");

/// The options that a web configuration makes, with more keys below `tls_server_config`.
pub(super) fn options(more: &str) -> Options {
    let yaml = format!("tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n{more}");
    let file = Path::new(FOLDER).join("web.yml");
    let config = parse(&yaml, &file, &Environment::process()).unwrap();
    protected(Security::new(config, None).unwrap())
}

async fn server(more: &str) -> Server {
    Server::start(Fake::plain(), options(more)).await
}

/// What a client shows of itself.
#[derive(Clone, Copy)]
pub(super) enum Identity {
    /// Nothing.
    None,
    /// A certificate that the test CA has signed.
    Client,
    /// One that nobody vouches for.
    Stranger,
    /// One that the test CA has signed for a server.
    Server,
}

/// How a client that trusts the test CA only connects.
pub(super) fn client_config(
    versions: &[&'static SupportedProtocolVersion],
    protocols: &[&str],
    identity: Identity,
) -> ClientConfig {
    let file = |name: &str| Path::new(FOLDER).join(name);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file("ca.crt")).unwrap()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions).unwrap();
    let config = config.with_root_certificates(roots);
    let shown = match identity {
        Identity::None => None,
        Identity::Client => Some(("client.crt", "client.key")),
        Identity::Stranger => Some(("stranger.crt", "client.key")),
        Identity::Server => Some(("server.crt", "server.key")),
    };
    let mut config = match shown {
        None => config.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = vec![CertificateDer::from_pem_file(file(certificate)).unwrap()];
            let key = PrivateKeyDer::from_pem_file(file(key)).unwrap();
            config.with_client_auth_cert(chain, key).unwrap()
        }
    };
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    config
}

async fn connect(server: &Server, config: ClientConfig) -> io::Result<TlsStream<TcpStream>> {
    let stream = TcpStream::connect(server.address).await.unwrap();
    TlsConnector::from(Arc::new(config)).connect(ServerName::try_from("localhost").unwrap(), stream).await
}

async fn shake(
    server: &Server,
    versions: &[&'static SupportedProtocolVersion],
    protocols: &[&str],
) -> io::Result<TlsStream<TcpStream>> {
    connect(server, client_config(versions, protocols, Identity::None)).await
}

/// One scrape of a new server; with TLS 1.3 a client is sent away only after its own handshake is done.
pub(super) async fn scrape(more: &str, identity: Identity) -> io::Result<()> {
    let server = server(more).await;
    let mut stream = connect(&server, client_config(&BOTH, &["http/1.1"], identity)).await?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    Ok(())
}

/// Connects to a server whose certificate is good, as curl does without HTTP/2.
pub(super) async fn try_client(server: &Server) -> io::Result<Client<TlsStream<TcpStream>>> {
    Ok(Client { stream: BufReader::new(shake(server, &BOTH, &["http/1.1"]).await?) })
}

pub(super) async fn client(server: &Server) -> Client<TlsStream<TcpStream>> {
    try_client(server).await.unwrap()
}

#[tokio::test]
async fn a_scrape_works_over_tls() {
    let server = server("").await;
    let mut client = client(&server).await;
    assert_eq!(client.stream.get_ref().get_ref().1.alpn_protocol(), Some(b"http/1.1".as_slice()));
    for _ in 0..2 {
        let page = client.request("GET", "/metrics", &[]).await;
        assert_eq!((page.status(), page.text()), (200, "page PrometheusText\n"));
        assert_eq!(page.header("content-type"), Some(TEXT));
    }
    // The end is a proper one: a stream cut short would be an error here.
    let last = client.request("GET", "/-/healthy", &["Connection: close"]).await;
    assert_eq!(last.status(), 200);
    let end = client.stream.read(&mut [0; 1]).await;
    assert_eq!(end.unwrap(), 0);
}

#[tokio::test]
async fn sources_that_are_listed_over_tls_are_scraped_over_tls() {
    let server = server("").await;
    let list = client(&server).await.request("GET", "/sd", &[]).await;
    let list: serde_json::Value = serde_json::from_str(list.text()).unwrap();
    let scheme = list.pointer("/0/labels/__scheme__").and_then(serde_json::Value::as_str);
    assert_eq!(scheme, Some("https"), "{list}");
}

#[tokio::test]
async fn a_large_page_arrives_whole() {
    let page = "a line of the page\n".repeat(200_000);
    let served = page.clone();
    let server = Server::start(Fake::new(move |_| Ok(served.clone())), options("")).await;
    assert_eq!(client(&server).await.request("GET", "/metrics", &[]).await.text(), page);
}

#[tokio::test]
async fn no_version_is_spoken_but_those_between_the_lowest_and_the_highest() {
    let version = async |more: &str, version| {
        let stream = shake(&server(more).await, &[version], &[]).await.ok()?;
        stream.get_ref().1.protocol_version()
    };
    for more in ["", "  min_version: TLS12\n"] {
        assert_eq!(version(more, &TLS12).await, Some(ProtocolVersion::TLSv1_2), "{more}");
        assert_eq!(version(more, &TLS13).await, Some(ProtocolVersion::TLSv1_3), "{more}");
    }
    assert_eq!(version("  max_version: TLS12\n", &TLS12).await, Some(ProtocolVersion::TLSv1_2));
    assert_eq!(version("  max_version: TLS12\n", &TLS13).await, None);
    assert_eq!(version("  min_version: TLS13\n", &TLS12).await, None);
    assert_eq!(version("  min_version: TLS13\n", &TLS13).await, Some(ProtocolVersion::TLSv1_3));
}

#[tokio::test]
async fn no_algorithm_is_used_but_those_that_are_wanted() {
    let shaken = async |more: &str| {
        let stream = shake(&server(more).await, &[&TLS12], &[]).await.ok()?;
        let connection = stream.get_ref().1;
        let suite = connection.negotiated_cipher_suite()?.suite();
        Some((suite.as_str()?, connection.negotiated_key_exchange_group()?.name()))
    };
    let wanted = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256";
    let more = format!("  cipher_suites: [{wanted}]\n  curve_preferences: [CurveP384]\n");
    assert_eq!(shaken(&more).await, Some((wanted, NamedGroup::secp384r1)));
    // The certificate is not for RSA, and suites of TLS 1.3 are not for TLS 1.2.
    for none in ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256"] {
        assert_eq!(shaken(&format!("  cipher_suites: [{none}]\n")).await, None);
    }
}

#[tokio::test]
async fn who_speaks_no_tls_is_turned_away_and_nobody_else_notices() {
    let server = server("").await;
    let mut client = client(&server).await;
    for bytes in
        ["GET /metrics HTTP/1.1\r\nHost: test\r\n\r\n", "\0\0\0\0\0\0\0\0", "\x16\x03\x01\x00\x01\x01"]
    {
        let mut plain = server.client().await;
        let _ = plain.stream.write_all(bytes.as_bytes()).await;
        let _ = plain.stream.shutdown().await;
        let answer = plain.rest().await;
        assert!(!answer.starts_with(b"HTTP"), "{}", String::from_utf8_lossy(&answer));
        assert!(answer.len() < 16, "no more than an alert: {answer:?}");
        assert_eq!(client.request("GET", "/metrics", &[]).await.status(), 200);
    }
    // Neither does one that insists on a protocol that is not served.
    shake(&server, &BOTH, &["spdy/3"]).await.unwrap_err();
    assert_eq!(client.request("GET", "/metrics", &[]).await.status(), 200);
}

#[tokio::test]
async fn handshakes_that_hang_hold_up_nobody_and_end() {
    let waiting = server("").await;
    let mut silent = Vec::new();
    for _ in 0..10 {
        silent.push(waiting.client().await);
    }
    assert_eq!(client(&waiting).await.request("GET", "/metrics", &[]).await.status(), 200);

    let options = Options { max_connections: 1, head_timeout: SOON, ..options("") };
    let server = Server::start(Fake::plain(), options).await;
    for start in ["", "\x16\x03\x01"] {
        let mut slow = server.client().await;
        slow.send(start).await;
        assert_eq!(slow.rest().await, b"");
    }
}

#[tokio::test]
async fn shutdown_does_not_wait_for_a_handshake() {
    let server = Server::start(Fake::plain(), options("")).await;
    let mut silent = server.client().await;
    let mut idle = client(&server).await;
    assert_eq!(idle.request("GET", "/metrics", &[]).await.status(), 200);
    server.stop().0.await.unwrap().unwrap();
    assert_eq!(silent.rest().await, b"");
    assert_eq!(idle.rest().await, b"");
}

#[tokio::test]
async fn tls_and_a_login_go_together() {
    let hash = bcrypt::hash("secret", 4).unwrap();
    let server = server(&format!("basic_auth_users:\n  prometheus: {hash}\n")).await;
    let mut client = client(&server).await;
    assert_eq!(client.request("GET", "/metrics", &[]).await.status(), 401);
    let login = "Authorization: Basic cHJvbWV0aGV1czpzZWNyZXQ=";
    assert_eq!(client.request("GET", "/metrics", &[login]).await.status(), 200);
}

#[test]
fn the_options_say_how_addresses_begin_and_show_no_key() {
    assert_eq!(patient().scheme(), "http");
    assert_eq!(options("").scheme(), "https");
    assert!(format!("{:?}", options("")).contains("tls: true"), "{:?}", options(""));
}
