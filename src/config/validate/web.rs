//! The web configuration: a certificate with its key, and the users.

use std::path::Path;
use std::sync::Arc;

use bcrypt::HashParts;
use serde_saphyr::Spanned;
use tokio_rustls::rustls::crypto::{CryptoProvider, aws_lc_rs};
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::sign::{CertifiedKey, SingleCertAndKey};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{Error, InconsistentKeys, ServerConfig, SupportedProtocolVersion};

use super::checker::{Checker, Finding};
use crate::config::environment::Environment;
use crate::config::secret::Secret;
use crate::config::setting::{Entries, Field, Placed as _, Spot};
use crate::config::suggest;
use crate::config::web::{RawTls, RawWeb, Unsupported, WebConfig, WebUser};

const UNSUPPORTED: &str = "is not supported yet by this exporter; remove it";

/// What may be in `min_version`, with the versions that are then spoken.
const VERSIONS: [(&str, &[&SupportedProtocolVersion]); 2] =
    [("TLS12", &[&TLS13, &TLS12]), ("TLS13", &[&TLS13])];

/// The costs that bcrypt is defined for.
const COSTS: std::ops::RangeInclusive<u32> = 4..=31;

/// Turns a raw web configuration into the model.
///
/// # Errors
///
/// Everything that is wrong; at least one finding.
pub(in crate::config) fn web(
    raw: RawWeb,
    file: &Path,
    environment: &Environment,
) -> Result<WebConfig, Vec<Finding>> {
    let mut checker = Checker::new(environment, file);
    for field in [raw.http_server_config, raw.rate_limit] {
        checker.unsupported(field);
    }
    let tls = raw.tls_server_config.given().and_then(|raw| {
        let at = raw.spot();
        tls(&mut checker, raw.value, at)
    });
    let users = raw.basic_auth_users.given().map(|users| self::users(&mut checker, users.value));
    checker.finish(WebConfig { tls, users: users.unwrap_or_default() })
}

impl Checker<'_> {
    fn unsupported(&mut self, field: Unsupported) {
        if let Some(value) = field.given() {
            self.report_key_of(value.spot(), UNSUPPORTED);
        }
    }
}

/// Text in PEM, with where it comes from and the words for it.
struct Pem {
    at: Spot,
    bytes: Vec<u8>,
    shown: String,
}

fn tls(checker: &mut Checker<'_>, raw: RawTls, at: Spot) -> Option<Arc<ServerConfig>> {
    let unsupported = [
        raw.max_version,
        raw.client_auth_type,
        raw.client_ca_file,
        raw.client_ca,
        raw.client_allowed_sans,
        raw.cipher_suites,
        raw.prefer_server_cipher_suites,
        raw.curve_preferences,
    ];
    // A mapping without a value in it asks for nothing, as in the toolkit.
    let asks = unsupported.iter().any(is_set)
        || [&raw.cert_file, &raw.key_file, &raw.cert, &raw.min_version].into_iter().any(is_set)
        || is_set(&raw.key);
    for field in unsupported {
        checker.unsupported(field);
    }
    if !asks {
        return None;
    }
    let versions = versions(checker, raw.min_version);
    let inline = raw.cert.given().map(|text| (text.spot(), text.value.into_bytes()));
    let certificate = pem(checker, at, raw.cert_file, inline, ["cert_file", "cert"]);
    let inline = raw.key.given().map(|text| (text.spot(), text.value.expose().as_bytes().to_vec()));
    let key = pem(checker, at, raw.key_file, inline, ["key_file", "key"]);

    let provider = aws_lc_rs::default_provider();
    let identity = identity(checker, &provider, certificate?, key?)?;
    let builder = ServerConfig::builder_with_provider(Arc::new(provider));
    let builder = match builder.with_protocol_versions(versions?) {
        Ok(builder) => builder,
        Err(error) => {
            checker.report(at, format!("cannot be used: {error}"));
            return None;
        }
    };
    let resolver = Arc::new(SingleCertAndKey::from(identity));
    let mut config = builder.with_no_client_auth().with_cert_resolver(resolver);
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(Arc::new(config))
}

fn is_set<T>(field: &Field<T>) -> bool {
    matches!(field, Field::Set(_))
}

fn versions(
    checker: &mut Checker<'_>,
    field: Field<String>,
) -> Option<&'static [&'static SupportedProtocolVersion]> {
    let given = field.given();
    let name = given.as_ref().map_or("TLS12", |given| given.value.as_str());
    if let Some((_, versions)) = VERSIONS.iter().find(|(known, _)| *known == name) {
        return Some(versions);
    }
    let message = if matches!(name, "TLS10" | "TLS11") {
        format!("`{name}` is insecure and not supported by this exporter; use TLS12 or TLS13")
    } else {
        let remedy = suggest::remedy(name, &VERSIONS.map(|(known, _)| known), "expected one of");
        format!("unknown value `{name}`; {remedy}")
    };
    checker.report(given?.spot(), message);
    None
}

/// What stands in a file or in the configuration itself; one of the two `keys` must be there.
fn pem(
    checker: &mut Checker<'_>,
    parent: Spot,
    file: Field<String>,
    inline: Option<(Spot, Vec<u8>)>,
    keys: [&str; 2],
) -> Option<Pem> {
    let [file_key, inline_key] = keys;
    match (file.given(), inline) {
        (Some(file), None) => {
            let at = file.spot();
            let path = checker.path(file)?;
            match checker.environment.bytes_from_file(&path) {
                Ok(bytes) => Some(Pem { at, bytes, shown: format!("`{}`", path.display()) }),
                Err(message) => {
                    checker.report(at, message);
                    None
                }
            }
        }
        (None, Some((at, bytes))) => Some(Pem { at, bytes, shown: format!("`{inline_key}`") }),
        (Some(_), Some((at, _))) => {
            checker.report(at, format!("`{file_key}` is given too; keep one of them"));
            None
        }
        (None, None) => {
            let remedy = format!("TLS needs a certificate and its key; name a file, or write `{inline_key}`");
            checker.missing(parent, file_key, &remedy);
            None
        }
    }
}

/// A certificate chain and the private key that belongs to it.
fn identity(
    checker: &mut Checker<'_>,
    provider: &CryptoProvider,
    certificate: Pem,
    key: Pem,
) -> Option<CertifiedKey> {
    let chain = chain(checker, &certificate);
    let signer = PrivateKeyDer::from_pem_slice(&key.bytes)
        .map_err(|_| format!("{} holds no private key in PEM; an encrypted one cannot be used", key.shown))
        .and_then(|der| {
            let loaded = provider.key_provider.load_private_key(der);
            loaded.map_err(|error| format!("the private key in {} cannot be used: {error}", key.shown))
        });
    let signer = match signer {
        Ok(signer) => Some(signer),
        Err(message) => {
            checker.report(key.at, message);
            None
        }
    };
    let identity = CertifiedKey::new(chain?, signer?);
    match identity.keys_match() {
        // Unknown is for keys that do not tell their public half.
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => Some(identity),
        Err(Error::InconsistentKeys(_)) => {
            let message = format!(
                "the private key in {} does not belong to the certificate in {}",
                key.shown, certificate.shown
            );
            checker.report(key.at, message);
            None
        }
        Err(error) => {
            let message = format!("the certificate in {} cannot be used: {error}", certificate.shown);
            checker.report(certificate.at, message);
            None
        }
    }
}

fn chain(checker: &mut Checker<'_>, pem: &Pem) -> Option<Vec<CertificateDer<'static>>> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem.bytes).collect();
    match certificates {
        Ok(chain) if !chain.is_empty() => Some(chain),
        Ok(_) | Err(_) => {
            checker.report(pem.at, format!("{} holds no certificate in PEM", pem.shown));
            None
        }
    }
}

fn users(checker: &mut Checker<'_>, entries: Entries<String, Secret>) -> Vec<WebUser> {
    let Entries(entries) = entries;
    entries.into_iter().filter_map(|(name, hash)| user(checker, name, hash)).collect()
}

fn user(checker: &mut Checker<'_>, name: Spanned<String>, hash: Spanned<Secret>) -> Option<WebUser> {
    if name.value.contains(':') || name.value.chars().any(char::is_control) {
        let message = "a user name with a colon or a control character cannot log in; rename it";
        checker.report_key(name.spot(), message);
        return None;
    }
    // Whatever is there may be the password itself, and is not shown.
    match hash.value.expose().parse::<HashParts>() {
        Ok(parts) if COSTS.contains(&parts.get_cost()) => {
            Some(WebUser { name: name.value, hash: hash.value })
        }
        Ok(parts) => {
            let (least, most) = (COSTS.start(), COSTS.end());
            let message = format!("a bcrypt cost is between {least} and {most}, not {}", parts.get_cost());
            checker.report(hash.spot(), message);
            None
        }
        Err(_) => {
            checker.report(
                hash.spot(),
                "is not a bcrypt hash; make one with `htpasswd -nBC 10 \"\" | tr -d ':\\n'`",
            );
            None
        }
    }
}
