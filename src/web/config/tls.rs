//! TLS: certificate, versions and algorithms from `tls_server_config`.

use std::sync::Arc;

use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::sign::SingleCertAndKey;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ServerConfig, SupportedProtocolVersion};

use super::client_auth::ClientAuth;
use super::names::named;
use super::pem::{Pem, identity, pem};
use super::raw::{RawTls, filled};
use super::{ciphers, client_auth};
use crate::yaml::{Checker, Field, Located as _, Location, Spanned};

/// The TLS configuration; `None` when there is none, or after a mistake.
pub(super) fn tls(
    checker: &mut Checker<'_>,
    raw: RawTls,
    at: Location,
    http2: bool,
) -> Option<Arc<ServerConfig>> {
    if !asks(&raw) {
        return None;
    }
    let versions = versions(checker, filled(raw.min_version), filled(raw.max_version));
    let suites = ciphers::suites(checker, raw.cipher_suites);
    let groups = ciphers::groups(checker, raw.curve_preferences);
    let text = |field: Field<String>| field.given().map(|text| (text.location(), text.value.into_bytes()));
    let secret = raw.key.given().map(|key| (key.location(), key.value.expose().as_bytes().to_vec()));
    let certificate = required_pem(checker, raw.cert_file, text(raw.cert), ["cert_file", "cert"], at);
    let key = required_pem(checker, raw.key_file, secret, ["key_file", "key"], at);
    let authorities = pem(checker, raw.client_ca_file, text(raw.client_ca), ["client_ca_file", "client_ca"]);
    let clients =
        ClientAuth { kind: filled(raw.client_auth_type), authorities, names: raw.client_allowed_sans };

    let mut provider = aws_lc_rs::default_provider();
    provider.cipher_suites = suites?;
    provider.kx_groups = groups?;
    let identity = match (certificate, key) {
        (Some(certificate), Some(key)) => identity(checker, &provider, &certificate, &key),
        _ => None,
    };
    let provider = Arc::new(provider);
    let clients = client_auth::verifier(checker, clients, at, &provider);
    let builder = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions?)
        .map_err(|error| checker.report(at, format!("cannot be used: {error}")))
        .ok()?;
    let builder = match clients? {
        Some(verifier) => builder.with_client_cert_verifier(verifier),
        None => builder.with_no_client_auth(),
    };
    let mut config = builder.with_cert_resolver(Arc::new(SingleCertAndKey::from(identity?)));
    config.ignore_client_order = raw.prefer_server_cipher_suites.given().is_none_or(|given| given.value);
    let protocols: &[&[u8]] = if http2 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Some(Arc::new(config))
}

/// Whether TLS is asked for: some key has a value that is not blank, as in the toolkit.
fn asks(raw: &RawTls) -> bool {
    let texts = [
        &raw.cert_file,
        &raw.key_file,
        &raw.cert,
        &raw.client_auth_type,
        &raw.client_ca_file,
        &raw.client_ca,
        &raw.min_version,
        &raw.max_version,
    ];
    let lists = [&raw.client_allowed_sans, &raw.cipher_suites, &raw.curve_preferences];
    texts.into_iter().any(|field| matches!(field, Field::Set(text) if !text.value.is_empty()))
        || lists.into_iter().any(|field| matches!(field, Field::Set(_)))
        || matches!(&raw.key, Field::Set(key) if !key.value.expose().is_empty())
        || matches!(raw.prefer_server_cipher_suites, Field::Set(_))
}

/// Text in PEM that TLS needs; reports when it is missing.
fn required_pem(
    checker: &mut Checker<'_>,
    file: Field<String>,
    inline: Option<(Location, Vec<u8>)>,
    keys: [&str; 2],
    parent: Location,
) -> Option<Pem> {
    let pem = pem(checker, file, inline, keys).ok()?;
    if pem.is_none() {
        let [file_key, inline_key] = keys;
        let remedy = format!("TLS needs a certificate and its key; name a file, or write `{inline_key}`");
        checker.missing(parent, file_key, &remedy);
    }
    pem
}

/// The versions from the lowest to the highest.
fn versions(
    checker: &mut Checker<'_>,
    lowest: Field<String>,
    highest: Field<String>,
) -> Option<Vec<&'static SupportedProtocolVersion>> {
    let (lowest, highest) = (lowest.given(), highest.given());
    let from = version(checker, lowest.as_ref(), 0);
    let to = version(checker, highest.as_ref(), 1);
    let (from, to) = (from?, to?);
    if from > to {
        checker.report(highest?.location(), "is below `min_version`: no version is left");
        return None;
    }
    Some([&TLS12, &TLS13].into_iter().skip(from).take(to - from + 1).collect())
}

/// The position of a version among the supported ones.
fn version(checker: &mut Checker<'_>, given: Option<&Spanned<String>>, default: usize) -> Option<usize> {
    let Some(given) = given else { return Some(default) };
    if let name @ ("TLS10" | "TLS11") = given.value.as_str() {
        let message = format!("`{name}` is insecure and not supported by this exporter; use TLS12 or TLS13");
        checker.report(given.location(), message);
        return None;
    }
    named(checker, given, &[("TLS12", 0), ("TLS13", 1)], &[])
}
