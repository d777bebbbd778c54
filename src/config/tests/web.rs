//! The web configuration: what is understood, and how the rest is refused.

use std::path::Path;

use crate::config::{ConfigError, Environment, WebConfig, load_web, parse_web};

const CERTIFICATE: &str = include_str!("../../../tests/fixtures/tls/server.crt");
const KEY: &str = include_str!("../../../tests/fixtures/tls/server.key");
const OTHER_KEY: &str = include_str!("../../../tests/fixtures/tls/other.key");

/// From the toolkit's documentation.
const HASH: &str = "$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG";

fn result(yaml: &str) -> Result<WebConfig, ConfigError> {
    let environment = Environment::empty()
        .with_file("/etc/web/server.crt", CERTIFICATE)
        .with_file("/etc/web/tls/server.key", KEY)
        .with_file("/etc/web/other.key", OTHER_KEY)
        .with_file("/etc/web/text", "text\n");
    parse_web(yaml, Path::new("/etc/web/web.yml"), &environment)
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
    ] {
        let config = config(yaml);
        assert!(config.tls.is_none() && config.users.is_empty(), "{yaml}");
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
    let names: Vec<&str> = config.users.iter().map(|user| user.name.as_str()).collect();
    assert_eq!(names, ["alice", "bob", "o'neil, 2"]);
    assert!(config.users.iter().all(|user| user.hash.expose() == HASH));
    let shown = format!("{config:?}");
    assert!(shown.contains("tls: true") && shown.contains("Secret(***)"), "{shown}");
    assert!(!shown.contains("2y"), "{shown}");
}

#[test]
fn a_certificate_may_stand_in_the_file_itself() {
    let indented = |pem: &str| pem.lines().map(|line| format!("    {line}\n")).collect::<String>();
    let (certificate, key) = (indented(CERTIFICATE), indented(KEY));
    let yaml = format!("tls_server_config:\n  cert: |\n{certificate}  key: |\n{key}");
    assert!(config(&yaml).tls.is_some());
    let twice = errors(&format!("{yaml}  cert_file: server.crt\n"));
    assert!(twice.contains("key `tls_server_config.cert`: `cert_file` is given too"), "{twice}");
    let wrong = errors(&format!("tls_server_config:\n  cert: |\n{certificate}  key: hunter2\n"));
    assert!(wrong.contains("key `tls_server_config.key`: `key` holds no private key"), "{wrong}");
    assert!(!wrong.contains("hunter2"), "{wrong}");
}

#[test]
fn what_is_not_supported_yet_is_refused_by_name() {
    for key in [
        "client_auth_type: RequireAndVerifyClientCert",
        "client_ca_file: ca.crt",
        "client_ca: text",
        "client_allowed_sans: [a, b]",
        "cipher_suites:\n    - TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        "prefer_server_cipher_suites: true",
        "curve_preferences: [X25519]",
        "max_version: TLS13",
    ] {
        let name = key.split(':').next().unwrap();
        let expected = format!(
            "/etc/web/web.yml:4:3: key `tls_server_config.{name}`: is not supported yet by this exporter; \
             remove it"
        );
        assert_eq!(errors(&with_tls(key)), expected);
    }
    for key in ["http_server_config:\n  http2: false", "rate_limit: { interval: 1s, burst: 2 }"] {
        let name = key.split(':').next().unwrap();
        let expected =
            format!("/etc/web/web.yml:1:1: key `{name}`: is not supported yet by this exporter; remove it");
        assert_eq!(errors(key), expected);
    }
    // Without a certificate too: who asks for client certificates does not want plain HTTP.
    let alone = errors("tls_server_config: { client_ca_file: ca.crt }");
    assert!(alone.contains("client_ca_file`: is not supported yet"), "{alone}");
    assert!(alone.contains("cert_file`: is missing"), "{alone}");
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
fn versions_are_understood_or_refused() {
    for version in ["TLS12", "TLS13"] {
        assert!(config(&with_tls(&format!("min_version: {version}"))).tls.is_some());
    }
    let old = errors(&with_tls("min_version: TLS10"));
    assert!(old.contains(":4:16: key `tls_server_config.min_version`: `TLS10` is insecure"), "{old}");
    let wrong = errors(&with_tls("min_version: TLS1.3"));
    assert!(wrong.contains("unknown value `TLS1.3`; did you mean `TLS13`?"), "{wrong}");
}

#[test]
fn a_certificate_and_a_key_that_cannot_be_used_are_named() {
    let pair = |certificate: &str, key: &str| {
        errors(&format!("tls_server_config:\n  cert_file: {certificate}\n  key_file: {key}\n"))
    };
    assert_eq!(
        pair("server.crt", "other.key"),
        "/etc/web/web.yml:3:13: key `tls_server_config.key_file`: the private key in `/etc/web/other.key` does \
         not belong to the certificate in `/etc/web/server.crt`"
    );
    let missing = pair("no.crt", "no.key");
    assert!(missing.contains(":2:14: key `tls_server_config.cert_file`: cannot read `/etc/web/no.crt`"));
    assert!(missing.contains(":3:13: key `tls_server_config.key_file`: cannot read `/etc/web/no.key`"));
    let text = pair("text", "text");
    assert!(text.contains("`/etc/web/text` holds no certificate in PEM"), "{text}");
    assert!(text.contains("`/etc/web/text` holds no private key in PEM"), "{text}");
    let swapped = pair("tls/server.key", "server.crt");
    assert!(swapped.contains("`/etc/web/tls/server.key` holds no certificate in PEM"), "{swapped}");
    assert!(swapped.contains("`/etc/web/server.crt` holds no private key in PEM"), "{swapped}");

    for (yaml, missing) in [
        ("tls_server_config:\n  cert_file: server.crt\n", "key_file"),
        ("tls_server_config:\n  key_file: tls/server.key\n", "cert_file"),
        ("tls_server_config:\n  min_version: TLS13\n", "cert_file"),
    ] {
        let text = errors(yaml);
        assert!(text.contains(&format!("key `tls_server_config.{missing}`: is missing")), "{text}");
    }
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
    let error = load_web(Path::new("/nonexistent/web.yml"), &Environment::empty()).unwrap_err();
    assert!(
        error.to_string().starts_with("/nonexistent/web.yml: cannot read the configuration: "),
        "{error}"
    );
}
