//! Client-certificate policy: which clients need a certificate, and how it is verified.

use std::sync::Arc;

use crate::yaml::Spanned;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::server::danger::ClientCertVerifier;

use super::client_certificates::{AllowedNames, AnyCertificate};
use super::pem::{Pem, certificates};
use crate::yaml::Checker;
use crate::yaml::suggest;
use crate::yaml::{Field, Located as _, Location};

/// The keys about client certificates, as far as they were read.
pub(super) struct ClientAuth {
    pub(super) kind: Field<String>,
    pub(super) authorities: Result<Option<Pem>, ()>,
    pub(super) names: Field<Vec<Spanned<String>>>,
}

/// What a client has to show.
#[derive(Clone, Copy, PartialEq)]
enum Policy {
    Nothing,
    AnyIfGiven,
    Any,
    VerifiedIfGiven,
    Verified,
}

/// The values of `client_auth_type`; `RequireClientCert` is an older name.
const POLICIES: [(&str, Policy); 6] = [
    ("NoClientCert", Policy::Nothing),
    ("RequestClientCert", Policy::AnyIfGiven),
    ("RequireAnyClientCert", Policy::Any),
    ("RequireClientCert", Policy::Any),
    ("VerifyClientCertIfGiven", Policy::VerifiedIfGiven),
    ("RequireAndVerifyClientCert", Policy::Verified),
];

type Verifier = Arc<dyn ClientCertVerifier>;

/// How certificates of clients are verified, `Some(None)` when none are asked for; `None` when
/// something is wrong.
pub(super) fn verifier(
    checker: &mut Checker<'_>,
    raw: ClientAuth,
    parent: Location,
    provider: &Arc<CryptoProvider>,
) -> Option<Option<Verifier>> {
    let policy = policy(checker, raw.kind);
    let names = raw.names.given();
    let (policy, authorities) = (policy?, raw.authorities.ok()?);
    if let (Policy::Nothing, Some(authorities)) = (policy, &authorities) {
        checker.report(
            authorities.at,
            "has no effect without `client_auth_type`; write RequireAndVerifyClientCert there",
        );
        return None;
    }
    if let (Some(names), false) = (&names, matches!(policy, Policy::Any | Policy::Verified)) {
        let message = "wants each client to have a certificate; let `client_auth_type` be \
             RequireAndVerifyClientCert or RequireAnyClientCert";
        checker.report(names.location(), message);
        return None;
    }
    let verifier = match policy {
        Policy::Nothing => return Some(None),
        Policy::AnyIfGiven | Policy::Any => Arc::new(AnyCertificate {
            required: policy == Policy::Any,
            algorithms: provider.signature_verification_algorithms,
        }),
        Policy::VerifiedIfGiven | Policy::Verified => {
            let Some(authorities) = authorities else {
                let remedy = "client certificates are verified with it; name a file, or write `client_ca`";
                checker.missing(parent, "client_ca_file", remedy);
                return None;
            };
            signed(checker, &authorities, policy == Policy::Verified, provider)?
        }
    };
    let Some(names) = names else { return Some(Some(verifier)) };
    if names.value.is_empty() {
        checker.report(names.location(), "is empty: no client could connect; name one, or remove the key");
        return None;
    }
    let names = names.value.into_iter().map(|name| name.value).collect();
    Some(Some(Arc::new(AllowedNames { names, inner: verifier })))
}

fn policy(checker: &mut Checker<'_>, field: Field<String>) -> Option<Policy> {
    let Some(given) = field.given() else { return Some(Policy::Nothing) };
    let name = given.value.as_str();
    let policy = POLICIES.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy);
    if policy.is_none() {
        let remedy = suggest::remedy(name, &POLICIES.map(|(known, _)| known), "expected one of");
        checker.report(given.location(), format!("unknown value `{name}`; {remedy}"));
    }
    policy
}

/// Accepts what one of these authorities has signed.
fn signed(
    checker: &mut Checker<'_>,
    authorities: &Pem,
    required: bool,
    provider: &Arc<CryptoProvider>,
) -> Option<Verifier> {
    let mut roots = RootCertStore::empty();
    // A bundle may hold some that no longer read; the others count, as in Go.
    roots.add_parsable_certificates(certificates(checker, authorities)?);
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
    let builder = if required { builder } else { builder.allow_unauthenticated() };
    match builder.build() {
        Ok(verifier) => Some(verifier),
        Err(error) => {
            let message = format!("the certificates in {} cannot be used: {error}", authorities.shown);
            checker.report(authorities.at, message);
            None
        }
    }
}
