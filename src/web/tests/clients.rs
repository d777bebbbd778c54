//! Certificates of clients: whom each `client_auth_type` lets in.

use super::tls::{FOLDER, Identity, scrape};

const VERIFIED: &str = "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n";

#[tokio::test]
async fn each_policy_lets_in_whom_it_says() {
    let verified = |kind: &str| format!("  client_auth_type: {kind}\n  client_ca_file: ca.crt\n");
    let any = |kind: &str| format!("  client_auth_type: {kind}\n");
    for (policy, [none, own, stranger]) in [
        (any("NoClientCert"), [true, true, true]),
        (any("RequestClientCert"), [true, true, true]),
        (any("RequireAnyClientCert"), [false, true, true]),
        (any("RequireClientCert"), [false, true, true]),
        (verified("VerifyClientCertIfGiven"), [true, true, false]),
        (verified("RequireAndVerifyClientCert"), [false, true, false]),
    ] {
        for version in ["TLS12", "TLS13"] {
            let more = format!("{policy}  max_version: {version}\n  min_version: {version}\n");
            let get_in = async |identity| scrape(&more, identity).await.is_ok();
            assert_eq!(get_in(Identity::None).await, none, "without, {more}");
            assert_eq!(get_in(Identity::Client).await, own, "with a good one, {more}");
            assert_eq!(get_in(Identity::Stranger).await, stranger, "with a stranger's, {more}");
        }
    }
}

#[tokio::test]
async fn a_name_of_any_kind_opens_and_only_the_whole_name() {
    for (names, opens) in [
        ("prometheus.test", true),
        ("ops@example.test", true),
        ("'spiffe://test/prometheus'", true),
        ("192.0.2.7", true),
        ("'2001:db8::7'", true),
        ("elsewhere.test, prometheus.test", true),
        ("prometheus", false),
        ("Prometheus.test", false),
        ("test", false),
        ("'*.test'", false),
        ("192.0.2.70", false),
        ("'2001:DB8::7'", false),
    ] {
        let more = format!("{VERIFIED}  client_allowed_sans: [{names}]\n");
        assert_eq!(scrape(&more, Identity::Client).await.is_ok(), opens, "{names}");
        assert!(scrape(&more, Identity::Stranger).await.is_err(), "its name does not make it known");
    }
    let any = "  client_auth_type: RequireAnyClientCert\n  client_allowed_sans: [prometheus.test]\n";
    assert!(scrape(any, Identity::Stranger).await.is_ok());
    // A certificate of a server has other names.
    assert!(scrape(any, Identity::Server).await.is_err());
}

#[tokio::test]
async fn an_authority_may_stand_in_the_file_itself() {
    let authority = std::fs::read_to_string(std::path::Path::new(FOLDER).join("ca.crt")).unwrap();
    let indented: String = authority.lines().map(|line| format!("    {line}\n")).collect();
    let more = format!("  client_auth_type: RequireAndVerifyClientCert\n  client_ca: |\n{indented}");
    assert!(scrape(&more, Identity::Client).await.is_ok());
    assert!(scrape(&more, Identity::Stranger).await.is_err());
}
