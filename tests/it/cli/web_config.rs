//! `--web.config.file`: TLS and logins of the real binary.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::binary::{Running, run, run_in, wait_for};
use crate::process::{Process, TERM, eventually, exporter};
use crate::support::project_file;

const CONFIG: &str =
    "sources: [{ name: db, sqlite: { file: queue.db }, queues: [{ name: jobs, preset: lease }] }]";

/// A configuration that both `sqlqueue-exporter` and `node_exporter` take. The password is `secret`.
fn web_config() -> String {
    let hash = bcrypt::hash("secret", 4).unwrap();
    format!(
        "tls_server_config:\n  cert_file: tls/server.crt\n  key_file: tls/server.key\n\n\
         basic_auth_users:\n  prometheus: {hash}\n"
    )
}

/// Writes a web configuration into a folder, and its certificates below it.
fn write(folder: &Path, yaml: &str) -> PathBuf {
    let tls = folder.join("tls");
    std::fs::create_dir_all(&tls).unwrap();
    for name in ["server.crt", "server.key", "other.key"] {
        std::fs::write(tls.join(name), project_file(&format!("tests/fixtures/tls/{name}"))).unwrap();
    }
    replace(folder, yaml)
}

/// Replaces a web configuration atomically, so that a reader never sees half of it.
fn replace(folder: &Path, yaml: &str) -> PathBuf {
    let (file, new) = (folder.join("web.yml"), folder.join("web.yml.new"));
    std::fs::write(&new, yaml).unwrap();
    std::fs::rename(new, &file).unwrap();
    file
}

/// The header of a login.
fn login(password: &str) -> String {
    format!("Authorization: Basic {}\r\n", STANDARD.encode(format!("prometheus:{password}")))
}

/// The status line of a request over TLS.
fn status(address: impl ToSocketAddrs, header: &str) -> String {
    let mut roots = RootCertStore::empty();
    let authority = project_file("tests/fixtures/tls/ca.crt");
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, TcpStream::connect(address).unwrap());
    let request = format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\n{header}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn the_demo_is_served_over_tls_to_those_who_log_in() {
    let folder = tempfile::tempdir().unwrap();
    let web = write(folder.path(), &web_config());
    let output = folder.path().join("output");
    let demo = Running::start(
        &[
            "demo",
            &format!("--folder={}", folder.path().join("demo").display()),
            &format!("--web.config.file={}", web.display()),
        ],
        Stdio::from(File::create(&output).unwrap()),
    );
    assert_eq!(demo.scheme, "https");
    assert_eq!(status(demo.address, ""), "HTTP/1.1 401 Unauthorized");
    assert_eq!(status(demo.address, &login("secret")), "HTTP/1.1 200 OK");
    let banner = format!("https://{}/metrics", demo.address);
    wait_for("the banner", || {
        let text = std::fs::read_to_string(&output).unwrap();
        if text.contains(&banner) && !text.contains("http://") { Ok(()) } else { Err(text) }
    });
    assert_eq!(demo.terminate().code(), Some(0));
}

#[test]
fn no_log_tells_who_logs_in_or_with_what() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = web_config();
    let web = write(folder.path(), &yaml);
    let config = folder.path().join("config.yaml");
    std::fs::write(&config, CONFIG).unwrap();
    let mut command = exporter(&config);
    command.arg(format!("--web.config.file={}", web.display()));
    let server = Process::start(command);
    for (password, answer) in [("secret", "200 OK"), ("secret", "200 OK"), ("hunter2", "401 Unauthorized")] {
        assert_eq!(status(server.address(), &login(password)), format!("HTTP/1.1 {answer}"));
    }
    // A client that speaks no TLS may be sending a login in clear text.
    let mut plain = TcpStream::connect(server.address()).unwrap();
    let _ = plain.write_all(format!("GET / HTTP/1.1\r\n{}\r\n", login("secret")).as_bytes());
    let _ = plain.read_to_end(&mut Vec::new());

    let (ended, log) = server.stop(TERM);
    assert_eq!(ended.code(), Some(0));
    assert!(log.contains("request answered") && log.contains("the TLS handshake failed"), "{log}");
    let hash = yaml.lines().last().unwrap().rsplit(' ').next().unwrap();
    for secret in ["secret", "hunter2", "cHJvbWV0aGV1", hash] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}

#[test]
fn a_wrong_web_configuration_ends_the_start_and_the_check() {
    let folder = tempfile::tempdir().unwrap();
    let web = write(folder.path(), &web_config().replace("server.key", "other.key"));
    let option = format!("--web.config.file={}", web.display());
    for command in ["serve", "check", "demo"] {
        let arguments = [command, option.as_str()];
        // The demo has a configuration of its own.
        let ended =
            if command == "demo" { run(&arguments) } else { run_in(folder.path(), CONFIG, &arguments) };
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let expected = format!("{}:3:13: key `tls_server_config.key_file`: the private key", web.display());
        assert!(ended.stderr.contains(&expected), "{ended:?}");
    }
}

#[test]
fn the_check_says_that_the_web_configuration_is_valid_too() {
    let folder = tempfile::tempdir().unwrap();
    let web = write(folder.path(), &web_config());
    let option = format!("--web.config.file={}", web.display());
    let ended = run_in(folder.path(), CONFIG, &["check", &option]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected = format!("{}: the web configuration is valid\n", web.display());
    assert!(ended.stdout.contains(&expected), "{ended:?}");
}

#[test]
fn a_change_is_taken_over_without_a_restart_and_a_mistake_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = web_config();
    let web = write(folder.path(), &yaml);
    let config = folder.path().join("config.yaml");
    std::fs::write(&config, CONFIG).unwrap();
    let mut command = exporter(&config);
    command.arg(format!("--web.config.file={}", web.display()));
    let server = Process::start(command);
    assert_eq!(status(server.address(), &login("secret")), "HTTP/1.1 200 OK");

    replace(folder.path(), &yaml.replace("server.key", "other.key"));
    eventually("the mistake is told", || {
        assert_eq!(status(server.address(), &login("secret")), "HTTP/1.1 200 OK");
        server.log().matches("does not belong to the certificate").count() > 0
    });
    let changed = yaml.replace("  prometheus: ", "  other: ");
    replace(folder.path(), &changed);
    eventually("the change is in force", || {
        status(server.address(), &login("secret")) == "HTTP/1.1 401 Unauthorized"
    });
    let (ended, log) = server.stop(TERM);
    assert_eq!(ended.code(), Some(0));
    assert_eq!(log.matches("does not belong to the certificate").count(), 1);
    assert_eq!(log.matches("the web configuration has changed").count(), 1);
    let hash = yaml.lines().last().unwrap().rsplit(' ').next().unwrap();
    assert!(!log.contains(hash), "{log}");
}

#[test]
fn the_help_says_that_the_file_is_read_again() {
    let help = run(&["serve", "--help"]).stdout;
    let words = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("certificates that it names are read again when they change"), "{help}");
}
