//! Connecting and logging in.

use std::path::PathBuf;

use tokio::net::TcpSocket;

use super::fake::{DONE_ERROR, ENCRYPT_NOT_SUP, error, logged_in, login_password, login_text, routing};
use super::*;
use crate::config::{Encryption, Endpoint, Trust};

#[tokio::test]
async fn it_describes_itself_without_the_password() {
    let server = Server::listen().await;
    let settings = server.settings();
    let connector = MssqlConnector::new(settings.clone());
    assert_eq!(connector.describe(), format!("127.0.0.1:{}/Orders", server.port()));
    assert_eq!(connector.dialect(), Dialect::Mssql);
    assert!(!format!("{connector:?}").contains("p@ss"));

    let endpoint = Endpoint::Instance("BOX".to_owned());
    let named = MssqlConnector::new(Mssql { endpoint, ..settings });
    assert_eq!(named.describe(), "127.0.0.1\\BOX/Orders");
}

/// The fields of the login packet (MS-TDS 2.2.6.4).
#[tokio::test]
async fn the_login_says_who_and_what() {
    let server = Server::listen().await;
    let served = async {
        let mut peer = server.accept().await;
        peer.prelogin(ENCRYPT_NOT_SUP).await;
        let (kind, login) = peer.read().await;
        peer.answer(&logged_in()).await;
        assert_eq!(kind, 0x10);
        login
    };
    let (connected, login) = tokio::join!(connect(server.settings(), PATIENCE), served);
    assert_eq!(login_text(&login, 40), "watcher");
    assert_eq!(login_password(&login), "p@ss;w{}rd'\" zażółć");
    assert_eq!(login_text(&login, 48), "sqlqueue-exporter");
    assert_eq!(login_text(&login, 68), "Orders");
    // TypeFlags: fReadOnlyIntent.
    assert_eq!(login[26] & 0x20, 0x20);
    assert!(!format!("{:?}", connected.unwrap()).contains("p@ss"));
}

#[tokio::test]
async fn a_refused_login_names_the_error() {
    for number in [18456, 4060, 911, 916, 50000] {
        let server = Server::listen().await;
        let served = async {
            let mut peer = server.accept().await;
            peer.prelogin(ENCRYPT_NOT_SUP).await;
            peer.read().await;
            let refusal = error(number, 14, "Login failed for user 'watcher'.");
            peer.answer(&[refusal, done(DONE_ERROR)].concat()).await;
        };
        let (connected, ()) = tokio::join!(connect(server.settings(), PATIENCE), served);
        let refused = connected.unwrap_err();
        assert_eq!((refused.reason, refused.connection_lost), (Reason::Login, true), "{refused}");
        let expected =
            format!("error {number}, level 14, state 1: Login failed for user 'watcher'. (line 3)");
        assert_eq!(refused.message, expected);
    }
}

#[tokio::test]
async fn an_unreachable_port_is_a_failed_connect() {
    // Taken, so that nobody else can, and not listened on.
    let closed = TcpSocket::new_v4().unwrap();
    closed.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let endpoint = Endpoint::Port(closed.local_addr().unwrap().port());
    let settings = Mssql { endpoint, ..Server::listen().await.settings() };
    let error = connect(settings, PATIENCE).await.unwrap_err();
    assert_eq!((error.reason, error.connection_lost), (Reason::Connect, true), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_never_answers_is_a_timeout() {
    let time = StoppedTime::new();
    let server = Server::listen().await;
    for (encryption, hint) in [
        (Encryption::Required, "`required`"),
        (Encryption::LoginOnly, "a server without TLS does not answer"),
        (Encryption::Off, "`off`"),
    ] {
        let settings = Mssql { encryption, ..server.settings() };
        let served = async {
            let mut peer = server.accept().await;
            peer.read().await;
            time.pass(DEADLINE).await;
            peer.closed().await;
        };
        let (connected, ()) = tokio::join!(connect(settings, DEADLINE), served);
        let error = connected.unwrap_err();
        assert_eq!((error.reason, error.connection_lost), (Reason::Timeout, true), "{error}");
        assert!(error.message.contains(hint), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_without_tls_is_told_from_one_that_is_down() {
    let time = StoppedTime::new();
    let server = Server::listen().await;
    for (encryption, reason) in
        [(Encryption::Required, Reason::Connect), (Encryption::LoginOnly, Reason::Timeout)]
    {
        let settings = Mssql { encryption, ..server.settings() };
        let served = async {
            let mut peer = server.accept().await;
            peer.prelogin(ENCRYPT_NOT_SUP).await;
            if reason == Reason::Timeout {
                // The TLS handshake, which is ignored.
                peer.read().await;
                time.pass(DEADLINE).await;
            }
            peer.closed().await;
        };
        let (connected, ()) = tokio::join!(connect(settings, DEADLINE), served);
        let error = connected.unwrap_err();
        assert_eq!(error.reason, reason, "{error}");
        assert!(error.message.contains("encryption is"), "{error}");
    }
}

#[tokio::test]
async fn a_ca_file_that_cannot_be_used_is_named() {
    let server = Server::listen().await;
    let directory = tempfile::tempdir().unwrap();
    let missing = directory.path().join("missing.pem");
    let settings = Mssql { trust: Trust::CaFile(missing.clone()), ..server.settings() };
    let error = connect(settings, PATIENCE).await.unwrap_err();
    assert_eq!(error.reason, Reason::Connect);
    assert!(error.message.contains(&missing.display().to_string()), "{error}");

    // Without a certificate in it; the extension does not matter.
    let empty = directory.path().join("empty.txt");
    std::fs::write(&empty, "-----BEGIN NOTHING-----\n-----END NOTHING-----\n").unwrap();
    let trust = Trust::CaFile(PathBuf::from(&empty));
    let settings = Mssql { trust, encryption: Encryption::Required, ..server.settings() };
    let served = async {
        let mut peer = server.accept().await;
        peer.prelogin(0x01).await;
        peer.closed().await;
    };
    let (connected, ()) = tokio::join!(connect(settings, PATIENCE), served);
    let error = connected.unwrap_err();
    assert_eq!(error.reason, Reason::Connect, "{error}");
    assert!(error.message.contains(&empty.display().to_string()), "{error}");
}

#[tokio::test]
async fn a_redirect_is_followed_to_the_other_address() {
    let gateway = Server::listen().await;
    let node = Server::listen().await;
    let served = async {
        let mut peer = gateway.accept().await;
        peer.prelogin(ENCRYPT_NOT_SUP).await;
        peer.read().await;
        peer.answer(&[routing("127.0.0.1\\BOX", node.port()), done(DONE_FINAL)].concat()).await;
        node.accept_login().await
    };
    let (connected, mut peer) = tokio::join!(connect(gateway.settings(), PATIENCE), served);
    assert_usable(&mut connected.unwrap(), &mut peer).await;
}

#[tokio::test]
async fn redirects_do_not_go_round_in_circles() {
    let server = Server::listen().await;
    let served = async {
        for _ in 0..3 {
            let mut peer = server.accept().await;
            peer.prelogin(ENCRYPT_NOT_SUP).await;
            peer.read().await;
            peer.answer(&[routing("127.0.0.1", server.port()), done(DONE_FINAL)].concat()).await;
        }
    };
    let (connected, ()) = tokio::join!(connect(server.settings(), PATIENCE), served);
    let error = connected.unwrap_err();
    assert_eq!(error.reason, Reason::Connect);
    assert!(error.message.contains("redirected"), "{error}");
}
