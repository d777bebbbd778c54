//! TLS: certificate, versions and algorithms from `tls_server_config`.

use std::sync::Arc;

use crate::yaml::Spanned;
use tokio_rustls::rustls::crypto::aws_lc_rs;
use tokio_rustls::rustls::sign::SingleCertAndKey;
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{ServerConfig, SupportedProtocolVersion};

use super::client_auth::ClientAuth;
use super::pem::{Pem, identity, pem};
use super::raw::{RawTls, filled};
use super::{ciphers, client_auth};
use crate::yaml::Checker;
use crate::yaml::suggest;
use crate::yaml::{Field, Located as _, Location};

/// The versions that are spoken, the older first.
const VERSIONS: [(&str, &SupportedProtocolVersion); 2] = [("TLS12", &TLS12), ("TLS13", &TLS13)];

/// The TLS to serve with; `None` when none is asked for, or when something is wrong.
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
    let inline = raw.cert.given().map(|text| (text.location(), text.value.into_bytes()));
    let certificate = pem(checker, raw.cert_file, inline, ["cert_file", "cert"]);
    let certificate = needed(checker, at, certificate, ["cert_file", "cert"]);
    let inline = raw.key.given().map(|text| (text.location(), text.value.expose().as_bytes().to_vec()));
    let key = pem(checker, raw.key_file, inline, ["key_file", "key"]);
    let key = needed(checker, at, key, ["key_file", "key"]);
    let inline = raw.client_ca.given().map(|text| (text.location(), text.value.into_bytes()));
    let authorities = pem(checker, raw.client_ca_file, inline, ["client_ca_file", "client_ca"]);
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
    let builder = match ServerConfig::builder_with_provider(provider).with_protocol_versions(&versions?) {
        Ok(builder) => builder,
        Err(error) => {
            checker.report(at, format!("cannot be used: {error}"));
            return None;
        }
    };
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

/// Whether there is a key with a value that is not blank. A mapping without one asks for nothing, as in
/// the toolkit.
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

/// What must be there for TLS; reports when it is not.
fn needed(
    checker: &mut Checker<'_>,
    parent: Location,
    pem: Result<Option<Pem>, ()>,
    keys: [&str; 2],
) -> Option<Pem> {
    let [file_key, inline_key] = keys;
    let pem = pem.ok()?;
    if pem.is_none() {
        let remedy = format!("TLS needs a certificate and its key; name a file, or write `{inline_key}`");
        checker.missing(parent, file_key, &remedy);
    }
    pem
}

/// The versions between the lowest and the highest that are wanted.
fn versions(
    checker: &mut Checker<'_>,
    lowest: Field<String>,
    highest: Field<String>,
) -> Option<Vec<&'static SupportedProtocolVersion>> {
    let (lowest, highest) = (lowest.given(), highest.given());
    let from = version(checker, lowest.as_ref(), 0);
    let to = version(checker, highest.as_ref(), VERSIONS.len() - 1);
    let (from, to) = (from?, to?);
    if from > to {
        let message = "is below `min_version`: no version is left";
        checker.report(highest?.location(), message);
        return None;
    }
    Some(VERSIONS.iter().skip(from).take(to - from + 1).map(|(_, version)| *version).collect())
}

/// Where a version stands among those that are spoken.
fn version(checker: &mut Checker<'_>, given: Option<&Spanned<String>>, default: usize) -> Option<usize> {
    let Some(given) = given else { return Some(default) };
    let name = given.value.as_str();
    let position = VERSIONS.iter().position(|(known, _)| *known == name);
    if position.is_none() {
        let message = if matches!(name, "TLS10" | "TLS11") {
            format!("`{name}` is insecure and not supported by this exporter; use TLS12 or TLS13")
        } else {
            let remedy = suggest::remedy(name, &VERSIONS.map(|(known, _)| known), "expected one of");
            format!("unknown value `{name}`; {remedy}")
        };
        checker.report(given.location(), message);
    }
    position
}
