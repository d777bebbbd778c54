//! Client-certificate policy: which clients need a certificate, and how it is verified.

use std::sync::Arc;

use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;

use super::client_certificates::ClientCertificates;
use super::names::named;
use super::pem::{Pem, certificates};
use crate::yaml::{Checker, Field, Located as _, Location, Spanned};

/// The keys about client certificates.
pub(super) struct ClientAuth {
    pub(super) kind: Field<String>,
    pub(super) authorities: Result<Option<Pem>, ()>,
    pub(super) names: Field<Vec<Spanned<String>>>,
}

/// What a client has to present.
#[derive(Clone, Copy)]
struct Policy {
    /// Every client needs a certificate.
    required: bool,
    /// An authority must have signed it.
    signed: bool,
}

/// The values of `client_auth_type`, with `None` for no certificates; `RequireClientCert` is an older name.
const POLICIES: [(&str, Option<Policy>); 6] = [
    ("NoClientCert", None),
    ("RequestClientCert", Some(Policy { required: false, signed: false })),
    ("RequireAnyClientCert", Some(Policy { required: true, signed: false })),
    ("RequireClientCert", Some(Policy { required: true, signed: false })),
    ("VerifyClientCertIfGiven", Some(Policy { required: false, signed: true })),
    ("RequireAndVerifyClientCert", Some(Policy { required: true, signed: true })),
];

type Verifier = Arc<dyn ClientCertVerifier>;

/// The verifier of client certificates, `Some(None)` when none are asked for; `None` after a mistake.
pub(super) fn verifier(
    checker: &mut Checker<'_>,
    raw: ClientAuth,
    parent: Location,
    provider: &Arc<CryptoProvider>,
) -> Option<Option<Verifier>> {
    let policy = match raw.kind.given() {
        Some(name) => named(checker, &name, &POLICIES, &[]),
        None => Some(None),
    };
    let names = raw.names.given();
    let (policy, authorities) = (policy?, raw.authorities.ok()?);
    if let (None, Some(authorities)) = (policy, &authorities) {
        checker.report(
            authorities.at,
            "has no effect without `client_auth_type`; write RequireAndVerifyClientCert there",
        );
        return None;
    }
    if let Some(names) = &names {
        let message = if !policy.is_some_and(|policy| policy.required) {
            "needs each client to have a certificate; set `client_auth_type` to RequireAndVerifyClientCert or \
             RequireAnyClientCert"
        } else if names.value.is_empty() {
            "is empty: no client could connect; name one, or remove the key"
        } else {
            ""
        };
        if !message.is_empty() {
            checker.report(names.location(), message);
            return None;
        }
    }
    let Some(Policy { required, signed }) = policy else { return Some(None) };
    let authorities = match authorities {
        _ if !signed => None,
        Some(authorities) => Some(self::signed(checker, &authorities, provider)?),
        None => {
            let remedy = "client certificates are verified with it; name a file, or write `client_ca`";
            checker.missing(parent, "client_ca_file", remedy);
            return None;
        }
    };
    let names = names.map(|names| names.value.into_iter().map(|name| name.value).collect());
    let algorithms = provider.signature_verification_algorithms;
    Some(Some(Arc::new(ClientCertificates { required, authorities, names, algorithms })))
}

/// Accepts certificates that one of these authorities has signed.
fn signed(checker: &mut Checker<'_>, authorities: &Pem, provider: &Arc<CryptoProvider>) -> Option<Verifier> {
    let mut roots = RootCertStore::empty();
    // Unreadable certificates in a bundle are ignored, as in Go.
    roots.add_parsable_certificates(certificates(checker, authorities)?);
    let built = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    let message = |error| format!("the certificates in {} cannot be used: {error}", authorities.shown);
    built.map_err(|error| checker.report(authorities.at, message(error))).ok()
}
