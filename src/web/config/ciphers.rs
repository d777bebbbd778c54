//! Cipher suites and curves, by their names in Go.

use tokio_rustls::rustls::SupportedCipherSuite;
use tokio_rustls::rustls::crypto::SupportedKxGroup;
use tokio_rustls::rustls::crypto::aws_lc_rs::{ALL_CIPHER_SUITES, DEFAULT_KX_GROUPS, kx_group};

use super::names::all_named;
use crate::yaml::{Checker, Field, Spanned};

/// Cipher suites that the toolkit knows and rustls leaves out: their authentication has been attacked
/// repeatedly.
const WEAK_SUITES: [&str; 4] = [
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
];

/// Curves by their names in Go.
const CURVES: [(&str, &dyn SupportedKxGroup); 3] =
    [("X25519", kx_group::X25519), ("CurveP256", kx_group::SECP256R1), ("CurveP384", kx_group::SECP384R1)];

/// The cipher suites to use, in the order of the file; `None` after a mistake.
///
/// As in Go, the list is for TLS 1.2: the suites of TLS 1.3 are always offered.
pub(super) fn suites(
    checker: &mut Checker<'_>,
    field: Field<Vec<Spanned<String>>>,
) -> Option<Vec<SupportedCipherSuite>> {
    let Some(wanted) = field.given().filter(|wanted| !wanted.value.is_empty()) else {
        return Some(ALL_CIPHER_SUITES.to_vec());
    };
    let suites = ALL_CIPHER_SUITES.iter().copied();
    let go_name =
        |suite: SupportedCipherSuite| suite.suite().as_str().unwrap_or_default().replace("TLS13_", "TLS_");
    let names: Vec<String> = suites.clone().map(go_name).collect();
    let known: Vec<_> = names.iter().map(String::as_str).zip(suites.clone()).collect();
    let mut chosen: Vec<_> = suites.filter(|suite| suite.tls13().is_some()).collect();
    for suite in all_named(checker, &wanted.value, &known, &WEAK_SUITES)? {
        if !chosen.contains(&suite) {
            chosen.push(suite);
        }
    }
    Some(chosen)
}

/// The curves for key exchange, in the order of the file; `None` after a mistake.
pub(super) fn groups(
    checker: &mut Checker<'_>,
    field: Field<Vec<Spanned<String>>>,
) -> Option<Vec<&'static dyn SupportedKxGroup>> {
    match field.given().filter(|wanted| !wanted.value.is_empty()) {
        Some(wanted) => all_named(checker, &wanted.value, &CURVES, &["CurveP521"]),
        None => Some(DEFAULT_KX_GROUPS.to_vec()),
    }
}
