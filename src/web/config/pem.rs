//! PEM: certificates and keys, in files or in the configuration itself.

use tokio_rustls::rustls::crypto::CryptoProvider;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{Error, InconsistentKeys};

use super::raw::filled;
use crate::yaml::{Checker, Field, Located as _, Location};

/// Text in PEM, with its location in the configuration and a name for messages.
pub(super) struct Pem {
    pub(super) at: Location,
    bytes: Vec<u8>,
    pub(super) shown: String,
}

/// Text from a file or from the configuration itself, under one of two `keys`: `None` when neither is
/// given, `Err` after a mistake.
pub(super) fn pem(
    checker: &mut Checker<'_>,
    file: Field<String>,
    inline: Option<(Location, Vec<u8>)>,
    keys: [&str; 2],
) -> Result<Option<Pem>, ()> {
    let [file_key, inline_key] = keys;
    let inline = inline.filter(|(_, bytes)| !bytes.is_empty());
    match (filled(file).given(), inline) {
        (Some(file), None) => {
            let at = file.location();
            let path = checker.path(file).ok_or(())?;
            let read = checker.environment.bytes_from_file(&path);
            let bytes = read.map_err(|message| checker.report(at, message))?;
            Ok(Some(Pem { at, bytes, shown: format!("`{}`", path.display()) }))
        }
        (None, Some((at, bytes))) => Ok(Some(Pem { at, bytes, shown: format!("`{inline_key}`") })),
        (Some(_), Some((at, _))) => {
            checker.report(at, format!("`{file_key}` is given too; keep one of them"));
            Err(())
        }
        (None, None) => Ok(None),
    }
}

/// A certificate chain and its private key.
pub(super) fn identity(
    checker: &mut Checker<'_>,
    provider: &CryptoProvider,
    certificate: &Pem,
    key: &Pem,
) -> Option<CertifiedKey> {
    let chain = certificates(checker, certificate);
    let signer = PrivateKeyDer::from_pem_slice(&key.bytes)
        .map_err(|_| format!("{} holds no private key in PEM; an encrypted one cannot be used", key.shown))
        .and_then(|der| {
            let loaded = provider.key_provider.load_private_key(der);
            loaded.map_err(|error| format!("the private key in {} cannot be used: {error}", key.shown))
        });
    let signer = signer.map_err(|message| checker.report(key.at, message)).ok();
    let identity = CertifiedKey::new(chain?, signer?);
    let (at, message) = match identity.keys_match() {
        // Unknown: a key that does not reveal its public half.
        Ok(()) | Err(Error::InconsistentKeys(InconsistentKeys::Unknown)) => return Some(identity),
        Err(Error::InconsistentKeys(_)) => (
            key.at,
            format!(
                "the private key in {} does not belong to the certificate in {}",
                key.shown, certificate.shown
            ),
        ),
        Err(error) => {
            (certificate.at, format!("the certificate in {} cannot be used: {error}", certificate.shown))
        }
    };
    checker.report(at, message);
    None
}

/// The certificates in a text, at least one.
pub(super) fn certificates(checker: &mut Checker<'_>, pem: &Pem) -> Option<Vec<CertificateDer<'static>>> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem.bytes).collect();
    let chain = found.ok().filter(|chain| !chain.is_empty());
    if chain.is_none() {
        checker.report(pem.at, format!("{} holds no certificate in PEM", pem.shown));
    }
    chain
}
