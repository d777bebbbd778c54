//! `tls_server_config`, key by key.

use super::{AUTHORITY, CERTIFICATE, KEY, config, errors, with_tls};

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
fn versions_are_understood_or_refused() {
    for version in ["TLS12", "TLS13"] {
        assert!(config(&with_tls(&format!("min_version: {version}"))).tls.is_some());
    }
    let old = errors(&with_tls("min_version: TLS10"));
    assert!(old.contains(":4:16: key `tls_server_config.min_version`: `TLS10` is insecure"), "{old}");
    let wrong = errors(&with_tls("min_version: TLS1.3"));
    assert!(wrong.contains("unknown value `TLS1.3`; did you mean `TLS13`?"), "{wrong}");
    for (more, expected) in [
        ("max_version: TLS11", ":4:16: key `tls_server_config.max_version`: `TLS11` is insecure"),
        ("min_version: TLS13\n  max_version: TLS12", ":5:16: key `tls_server_config.max_version`: is below"),
    ] {
        let found = errors(&with_tls(more));
        assert!(found.contains(expected), "{found}");
    }
    let range = "min_version: TLS12\n  max_version: TLS12";
    assert!(config(&with_tls(range)).tls.is_some());
}

#[test]
fn algorithms_have_the_names_that_go_gives_them() {
    let suites = |yaml: &str| {
        let tls = config(&with_tls(yaml)).tls.unwrap();
        let names = tls.crypto_provider().cipher_suites.iter().map(|suite| suite.suite().as_str().unwrap());
        names.filter(|name| !name.starts_with("TLS13_")).collect::<Vec<_>>()
    };
    let wanted = [
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    ];
    assert_eq!(suites(&format!("cipher_suites: [{}]", wanted.join(", "))), wanted, "in this order");
    assert_eq!(suites("cipher_suites: [TLS_AES_128_GCM_SHA256]"), [""; 0], "none for TLS 1.2");
    assert_eq!(suites("cipher_suites: []").len(), 6);
    let groups = |yaml: &str| {
        let tls = config(&with_tls(yaml)).tls.unwrap();
        tls.crypto_provider().kx_groups.iter().map(|group| format!("{:?}", group.name())).collect::<Vec<_>>()
    };
    assert_eq!(
        groups("curve_preferences: [CurveP384, CurveP256, X25519]"),
        ["secp384r1", "secp256r1", "X25519"]
    );
    assert!(!config(&with_tls("prefer_server_cipher_suites: false")).tls.unwrap().ignore_client_order);
    assert!(config(&with_tls("")).tls.unwrap().ignore_client_order);

    for (yaml, expected) in [
        (
            "cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA]",
            ":4:19: key `tls_server_config.cipher_suites[0]`: `TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA` is not \
             supported by this exporter; expected one of: TLS_AES_256_GCM_SHA384",
        ),
        ("cipher_suites: [ECDHE-RSA-AES128-GCM-SHA256]", "unknown value `ECDHE-RSA-AES128-GCM-SHA256`; "),
        ("curve_preferences: [X25519, CurveP521]", "`CurveP521` is not supported by this exporter"),
        ("curve_preferences: [P256]", "unknown value `P256`"),
        (
            "max_version: TLS12\n  cipher_suites: [TLS_AES_128_GCM_SHA256]",
            ":2:3: key `tls_server_config`: cannot be used: ",
        ),
    ] {
        let found = errors(&with_tls(yaml));
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn what_is_asked_of_clients_fits_together_or_is_refused() {
    let with = |kind: &str, more: &str| with_tls(&format!("client_auth_type: {kind}\n  {more}"));
    for kind in ["RequestClientCert", "RequireAnyClientCert", "RequireClientCert", "NoClientCert"] {
        assert!(config(&with(kind, "")).tls.is_some(), "{kind}");
    }
    for kind in ["VerifyClientCertIfGiven", "RequireAndVerifyClientCert"] {
        assert!(config(&with(kind, "client_ca_file: ca.crt")).tls.is_some(), "{kind}");
        let found = errors(&with(kind, ""));
        assert!(found.contains("`tls_server_config.client_ca_file`: is missing"), "{found}");
    }
    let indented: String = AUTHORITY.lines().map(|line| format!("    {line}\n")).collect();
    assert!(config(&with("RequireAndVerifyClientCert", &format!("client_ca: |\n{indented}"))).tls.is_some());

    let names = "client_allowed_sans: [prometheus.test]";
    assert!(config(&with("RequireAnyClientCert", names)).tls.is_some());
    for kind in ["NoClientCert", "RequestClientCert", "VerifyClientCertIfGiven"] {
        let authority = if kind.starts_with("Verify") { "client_ca_file: ca.crt" } else { "" };
        let found = errors(&with(kind, &format!("{names}\n  {authority}")));
        assert!(found.contains("`tls_server_config.client_allowed_sans`: needs each client"), "{found}");
    }
    for (yaml, expected) in [
        (with_tls("client_ca_file: ca.crt"), "client_ca_file`: has no effect without `client_auth_type`"),
        (with("NoClientCert", "client_ca_file: ca.crt"), "has no effect without `client_auth_type`"),
        (with("RequireAnyClientCert", "client_allowed_sans: []"), "is empty: no client could connect"),
        (with("RequireAndVerifyClientCert", "client_ca_file: text"), "holds no certificate in PEM"),
        (with("RequireAndVerifyClientCert", "client_ca_file: none"), "cannot read `/etc/web/none`"),
        (with("RequireAndVerifyClientCerts", ""), "did you mean `RequireAndVerifyClientCert`?"),
        (with("VerifyClientCertIfGiven", "client_ca_file: ca.crt\n  client_ca: x"), "keep one of them"),
    ] {
        let found = errors(&yaml);
        assert!(found.contains(expected), "{found}");
    }
    // Without a certificate of its own: who asks for those of clients does not want plain HTTP.
    for alone in ["client_auth_type: RequireAnyClientCert", "client_ca_file: ca.crt", "min_version: TLS13"] {
        let found = errors(&format!("tls_server_config: {{ {alone} }}"));
        assert!(found.contains("cert_file`: is missing"), "{found}");
    }
}
