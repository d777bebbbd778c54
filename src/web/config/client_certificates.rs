//! Client certificates: the verifier for every policy.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use tokio_rustls::rustls::client::danger::HandshakeSignatureValid;
use tokio_rustls::rustls::crypto::{
    WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use tokio_rustls::rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use tokio_rustls::rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, SignatureScheme,
};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;

/// Verifies that a client holds the key of its certificate, and what else the policy demands.
#[derive(Debug)]
pub(super) struct ClientCertificates {
    /// Whether a client without a certificate is turned away.
    pub(super) required: bool,
    /// Verifies who signed a certificate; `None` accepts any signature.
    pub(super) authorities: Option<Arc<dyn ClientCertVerifier>>,
    /// The names of which a certificate must have one, compared letter by letter with its DNS names,
    /// addresses and URIs; `None` accepts any name.
    pub(super) names: Option<BTreeSet<String>>,
    pub(super) algorithms: WebPkiSupportedAlgorithms,
}

impl ClientCertVerifier for ClientCertificates {
    fn client_auth_mandatory(&self) -> bool {
        self.required
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.authorities.as_ref().map_or(&[], |authorities| authorities.root_hint_subjects())
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        if let Some(authorities) = &self.authorities {
            authorities.verify_client_cert(end_entity, intermediates, now)?;
        }
        if let Some(allowed) = &self.names {
            let names = subject_alternative_names(end_entity)
                .ok_or(Error::InvalidCertificate(CertificateError::BadEncoding))?;
            if !names.iter().any(|name| allowed.contains(name)) {
                return Err(Error::InvalidCertificate(CertificateError::ApplicationVerificationFailure));
            }
        }
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, cert, dss, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// The textual names of a certificate; `None` when it cannot be read.
fn subject_alternative_names(certificate: &[u8]) -> Option<Vec<String>> {
    let certificate = Certificate::from_der(certificate).ok()?;
    let extension = certificate.tbs_certificate().get_extension::<SubjectAltName>().ok()?;
    let Some((_critical, SubjectAltName(names))) = extension else { return Some(Vec::new()) };
    let text = |name: GeneralName| match name {
        GeneralName::DnsName(name)
        | GeneralName::Rfc822Name(name)
        | GeneralName::UniformResourceIdentifier(name) => Some(name.to_string()),
        GeneralName::IpAddress(octets) => {
            let octets = octets.as_bytes();
            let address = <[u8; 4]>::try_from(octets).map(IpAddr::from);
            address.or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from)).ok().map(|ip| ip.to_string())
        }
        _ => None,
    };
    Some(names.into_iter().filter_map(text).collect())
}
