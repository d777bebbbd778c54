//! Keys of the web configuration, as serde reads them.

use serde::Deserialize;

use crate::secret::Secret;
use crate::yaml::{Entries, Field, Spanned};

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawWeb {
    pub(super) tls_server_config: Field<RawTls>,
    pub(super) http_server_config: Field<RawHttp>,
    pub(super) basic_auth_users: Field<Entries<String, Secret>>,
    pub(super) rate_limit: Field<RawRateLimit>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawTls {
    pub(super) cert_file: Field<String>,
    pub(super) key_file: Field<String>,
    pub(super) cert: Field<String>,
    pub(super) key: Field<Secret>,
    pub(super) client_auth_type: Field<String>,
    pub(super) client_ca_file: Field<String>,
    pub(super) client_ca: Field<String>,
    pub(super) client_allowed_sans: Field<Vec<Spanned<String>>>,
    pub(super) min_version: Field<String>,
    pub(super) max_version: Field<String>,
    pub(super) cipher_suites: Field<Vec<Spanned<String>>>,
    pub(super) prefer_server_cipher_suites: Field<bool>,
    pub(super) curve_preferences: Field<Vec<Spanned<String>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawHttp {
    pub(super) http2: Field<bool>,
    pub(super) headers: Field<Entries<String, String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawRateLimit {
    pub(super) interval: Field<String>,
    pub(super) burst: Field<u32>,
}

/// A string that is not empty: the toolkit treats an empty one, which templates write, as none.
pub(super) fn filled(field: Field<String>) -> Field<String> {
    match field {
        Field::Set(value) if value.value.is_empty() => Field::Null,
        field => field,
    }
}
