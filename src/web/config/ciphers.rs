//! Cipher suites and curves, by their names in Go.

use crate::yaml::Spanned;
use tokio_rustls::rustls::SupportedCipherSuite;
use tokio_rustls::rustls::crypto::SupportedKxGroup;
use tokio_rustls::rustls::crypto::aws_lc_rs::{ALL_CIPHER_SUITES, DEFAULT_KX_GROUPS, kx_group};

use crate::yaml::Checker;
use crate::yaml::suggest;
use crate::yaml::{Field, Located as _};

/// Cipher suites that the toolkit knows and rustls leaves out: their way to authenticate what is
/// encrypted has been attacked time and again.
const WEAK_SUITES: [&str; 4] = [
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
];

/// Curves by their names in Go.
const CURVES: [(&str, &dyn SupportedKxGroup); 3] =
    [("X25519", kx_group::X25519), ("CurveP256", kx_group::SECP256R1), ("CurveP384", kx_group::SECP384R1)];

/// The cipher suites to use, in the order of the file; `None` when a name is wrong.
///
/// As in Go, the list is for TLS 1.2: the suites of TLS 1.3 are always there.
pub(super) fn suites(
    checker: &mut Checker<'_>,
    field: Field<Vec<Spanned<String>>>,
) -> Option<Vec<SupportedCipherSuite>> {
    let known: Vec<(String, SupportedCipherSuite)> =
        ALL_CIPHER_SUITES.iter().map(|suite| (go_name(suite), *suite)).collect();
    let Some(wanted) = field.given().filter(|wanted| !wanted.value.is_empty()) else {
        return Some(ALL_CIPHER_SUITES.to_vec());
    };
    let mut chosen: Vec<SupportedCipherSuite> =
        ALL_CIPHER_SUITES.iter().filter(|suite| suite.tls13().is_some()).copied().collect();
    let mut complete = true;
    for name in wanted.value {
        match known.iter().find(|(known, _)| *known == name.value) {
            Some((_, suite)) if chosen.contains(suite) => {}
            Some((_, suite)) => chosen.push(*suite),
            None => {
                complete = false;
                let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
                checker.report(name.location(), unknown(&name.value, &WEAK_SUITES, &names));
            }
        }
    }
    complete.then_some(chosen)
}

/// The curves to agree on keys with, in the order of the file; `None` when a name is wrong.
pub(super) fn groups(
    checker: &mut Checker<'_>,
    field: Field<Vec<Spanned<String>>>,
) -> Option<Vec<&'static dyn SupportedKxGroup>> {
    let Some(wanted) = field.given().filter(|wanted| !wanted.value.is_empty()) else {
        return Some(DEFAULT_KX_GROUPS.to_vec());
    };
    let mut chosen = Vec::new();
    let mut complete = true;
    for name in wanted.value {
        if let Some((_, group)) = CURVES.iter().find(|(known, _)| *known == name.value) {
            chosen.push(*group);
        } else {
            complete = false;
            checker
                .report(name.location(), unknown(&name.value, &["CurveP521"], &CURVES.map(|(name, _)| name)));
        }
    }
    complete.then_some(chosen)
}

fn go_name(suite: &SupportedCipherSuite) -> String {
    suite.suite().as_str().unwrap_or_default().replace("TLS13_", "TLS_")
}

fn unknown(name: &str, elsewhere: &[&str], known: &[&str]) -> String {
    if elsewhere.contains(&name) {
        return format!("`{name}` is not supported by this exporter; expected one of: {}", known.join(", "));
    }
    format!("unknown value `{name}`; {}", suggest::remedy(name, known, "expected one of"))
}
