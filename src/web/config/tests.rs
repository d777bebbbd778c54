//! The web configuration: what is understood, and how the rest is refused.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod tls;

use std::path::Path;
use std::time::Duration;

use super::{RateLimit, WebConfig, WebConfigFile, load, parse};
use crate::environment::Environment;
use crate::yaml::ConfigError;

const CERTIFICATE: &str = include_str!("../../../tests/fixtures/tls/server.crt");
const KEY: &str = include_str!("../../../tests/fixtures/tls/server.key");
const AUTHORITY: &str = include_str!("../../../tests/fixtures/tls/ca.crt");
const OTHER_KEY: &str = include_str!("../../../tests/fixtures/tls/other.key");

/// From the toolkit's documentation.
const HASH: &str = "$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG";

fn result(yaml: &str) -> Result<WebConfig, ConfigError> {
    let environment = Environment::empty()
        .with_file("/etc/web/server.crt", CERTIFICATE)
        .with_file("/etc/web/tls/server.key", KEY)
        .with_file("/etc/web/other.key", OTHER_KEY)
        .with_file("/etc/web/ca.crt", AUTHORITY)
        .with_file("/etc/web/text", "text\n");
    parse(yaml, Path::new("/etc/web/web.yml"), &environment)
}

#[track_caller]
fn config(yaml: &str) -> WebConfig {
    result(yaml).unwrap_or_else(|error| panic!("{error}\n---\n{yaml}"))
}

#[track_caller]
fn errors(yaml: &str) -> String {
    match result(yaml) {
        Ok(config) => panic!("no error in:\n{yaml}\n{config:?}"),
        Err(error) => error.to_string(),
    }
}

/// A file with a certificate and its key, and more keys below `tls_server_config` on line 4.
fn with_tls(more: &str) -> String {
    format!("tls_server_config:\n  cert_file: server.crt\n  key_file: tls/server.key\n  {more}\n")
}

#[test]
fn a_file_that_says_nothing_asks_for_nothing() {
    for yaml in [
        "",
        "\n",
        "# nothing\n",
        "---\n# nothing\n",
        "{}",
        "null",
        "tls_server_config:\nbasic_auth_users:\n",
        "tls_server_config: {}\nbasic_auth_users: {}\n",
        "http_server_config:\n",
        "http_server_config: { http2: false, headers: { X-Frame-Options: '' } }\n",
        "rate_limit: { interval: 0, burst: 0 }\n",
        "tls_server_config: { cert_file: '', key_file: '', client_ca_file: '', client_auth_type: '' }\n",
    ] {
        let config = config(yaml);
        assert!(config.is_open(), "{yaml}");
        assert!(config.headers.is_empty() && config.rate_limit.is_none(), "{yaml}");
    }
}

#[test]
fn a_file_written_for_another_exporter_works_unchanged() {
    let yaml = format!(
        "# TLS and basic authentication for node_exporter.\n---\n{}\nbasic_auth_users:\n  \
         alice: \"{HASH}\"\n  bob: {HASH}\n  \"o'neil, 2\": '{HASH}'\n",
        with_tls("# min_version: TLS13")
    );
    let config = config(&yaml);
    assert!(config.tls.is_some());
    let names: Vec<&str> = config.users.keys().map(String::as_str).collect();
    assert_eq!(names, ["alice", "bob", "o'neil, 2"]);
    assert!(config.users.values().all(|hash| hash.expose() == HASH));
    let shown = format!("{config:?}");
    assert!(shown.contains("tls: true") && shown.contains("Secret(***)"), "{shown}");
    assert!(!shown.contains("2y"), "{shown}");
}

/// Every key of the toolkit's format at once, in the order of its documentation.
#[test]
fn a_file_with_every_key_of_the_format_works_unchanged() {
    let yaml = format!(
        "tls_server_config:
  cert_file: server.crt
  key_file: tls/server.key
  client_auth_type: RequireAndVerifyClientCert
  client_ca_file: ca.crt
  client_allowed_sans: [prometheus.test, 192.0.2.7]
  min_version: TLS12
  max_version: TLS13
  cipher_suites:
    - TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384
    - TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384
  prefer_server_cipher_suites: true
  curve_preferences: [CurveP256, X25519]
http_server_config:
  http2: true
  headers:
    Content-Security-Policy: default-src 'self'
    X-Frame-Options: deny
    X-Content-Type-Options: nosniff
    X-XSS-Protection: 1; mode=block
    Strict-Transport-Security: max-age=63072000
basic_auth_users:
  alice: {HASH}
rate_limit:
  interval: 500ms
  burst: 20
"
    );
    let config = config(&yaml);
    let tls = config.tls.unwrap();
    assert!(tls.ignore_client_order);
    assert_eq!(tls.alpn_protocols, [b"h2".to_vec(), b"http/1.1".to_vec()]);
    assert_eq!(config.users.len(), 1);
    assert_eq!(config.headers.len(), 5);
    assert_eq!(config.headers["x-frame-options"], "deny");
    assert_eq!(config.rate_limit, Some(RateLimit { interval: Duration::from_millis(500), burst: 20 }));
}

#[test]
fn headers_are_those_that_the_toolkit_lets_a_file_set() {
    let headers = |yaml: &str| format!("http_server_config:\n  headers:\n    {yaml}\n");
    assert_eq!(config(&headers("X-Frame-Options: sameorigin")).headers["x-frame-options"], "sameorigin");
    assert!(config(&headers("X-Frame-Options: ''")).headers.is_empty());
    let key = "/etc/web/web.yml:3:5: key `http_server_config.headers.";
    for (yaml, expected) in [
        ("Server: mine", "Server`: cannot be set; the headers that can be set are: Content-Security-Policy"),
        ("x-frame-options: deny", "x-frame-options`: cannot be set; did you mean `X-Frame-Options`?"),
    ] {
        let found = errors(&headers(yaml));
        assert!(found.starts_with(&format!("{key}{expected}")), "{found}");
    }
    let found = errors(&headers("X-Frame-Options: allow"));
    assert!(
        found.contains("X-Frame-Options`: unknown value `allow`; expected one of: deny, same"),
        "{found}"
    );
    let found = errors(&headers("Content-Security-Policy: \"a\\nSet-Cookie: b\""));
    assert!(found.contains("has a character that no header can have"), "{found}");
}

#[test]
fn a_rate_limit_that_would_answer_nobody_is_refused() {
    for yaml in ["rate_limit: { interval: 0s }", "rate_limit: { burst: 5 }", "rate_limit: {}"] {
        assert_eq!(config(yaml).rate_limit, None, "{yaml}");
    }
    for (yaml, expected) in [
        ("rate_limit: { interval: 1s }", "`rate_limit.burst`: is missing"),
        ("rate_limit: { interval: 1s, burst: 0 }", "`rate_limit.burst`: 0 is not between 1 and"),
        ("rate_limit: { interval: 1s, burst: -1 }", "`rate_limit.burst`"),
        ("rate_limit: { interval: 1000000, burst: 1 }", "`rate_limit.interval`: a duration needs a unit"),
        ("rate_limit: { interval: 1s, bursts: 1 }", "did you mean `burst`?"),
    ] {
        let found = errors(yaml);
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn a_change_of_any_file_is_seen_and_a_mistake_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("web.yml", &with_tls("client_auth_type: NoClientCert").replace("tls/", ""));
    write("server.crt", CERTIFICATE);
    write("server.key", KEY);
    let path = folder.path().join("web.yml");
    let (mut file, first) = WebConfigFile::open(&path, &Environment::process()).unwrap();
    assert!(first.tls.is_some() && first.users.is_empty());
    assert!(file.reread().is_none(), "nothing has changed");
    write("web.yml", &std::fs::read_to_string(&path).unwrap());
    assert!(file.reread().is_none(), "written again with the same text");

    write("server.key", OTHER_KEY);
    let problem = file.reread().unwrap().unwrap_err().to_string();
    assert!(problem.contains("does not belong to the certificate"), "{problem}");
    assert!(file.reread().is_none(), "told once");
    std::fs::remove_file(folder.path().join("server.key")).unwrap();
    assert!(file.reread().unwrap().unwrap_err().to_string().contains("cannot read"));
    assert!(file.reread().is_none(), "told once");
    write("server.key", KEY);
    assert!(file.reread().unwrap().is_ok(), "a file that was not there has come");

    // What a broken file names is watched too.
    write("web.yml", &with_tls("client_ca_file: ca.crt").replace("tls/", ""));
    assert!(file.reread().unwrap().is_err());
    write("ca.crt", AUTHORITY);
    let problem = file.reread().unwrap().unwrap_err().to_string();
    assert!(problem.contains("has no effect without `client_auth_type`"), "{problem}");
}

#[test]
fn unknown_keys_are_answered_with_the_nearest() {
    assert_eq!(
        errors(&with_tls("min_verson: TLS12")),
        "/etc/web/web.yml:4:3: key `tls_server_config.min_verson`: unknown key; did you mean `min_version`?"
    );
    assert_eq!(
        errors("basic_auth_user: { a: b }"),
        "/etc/web/web.yml:1:1: key `basic_auth_user`: unknown key; did you mean `basic_auth_users`?"
    );
    let wrong = errors("tls_server_config: [a]");
    assert!(wrong.contains("key `tls_server_config`: expected a mapping"), "{wrong}");
}

#[test]
fn a_wrong_hash_is_refused_and_never_shown() {
    for (hash, expected) in [
        ("hunter2", "is not a bcrypt hash"),
        ("''", "is not a bcrypt hash"),
        ("12345", "is not a bcrypt hash"),
        (HASH.trim_end_matches('G'), "is not a bcrypt hash"),
        (&HASH.replace("$10$", "$03$"), "between 4 and 31, not 3"),
        ("[hunter2]", "expected a string"),
        ("{ hunter2: hunter2 }", "expected a string"),
    ] {
        let text = errors(&format!("basic_auth_users:\n  good: {HASH}\n  alice: {hash}\n"));
        assert!(text.contains("/etc/web/web.yml:3:10: key `basic_auth_users.alice`: "), "{text}");
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("hunter2") && !text.contains("X0h1g"), "{text}");
    }
}

#[test]
fn users_that_could_not_log_in_are_refused() {
    let colon = errors(&format!("basic_auth_users:\n  'a:b': {HASH}\n"));
    assert!(colon.contains(":2:3: key `basic_auth_users.a:b`: a user name with a colon"), "{colon}");
    let twice = errors(&format!("basic_auth_users:\n  a: {HASH}\n  a: {HASH}\n"));
    assert!(twice.contains(":3:3: key `basic_auth_users.a`: this key is given twice"), "{twice}");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = load(Path::new("/nonexistent/web.yml"), &Environment::empty()).unwrap_err();
    assert!(
        error.to_string().starts_with("/nonexistent/web.yml: cannot read the configuration: "),
        "{error}"
    );
}
