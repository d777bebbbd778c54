//! SQL Server errors: each error of the driver becomes a reason and a message.

use tiberius::error::{Error, IoErrorKind, TokenError};

use crate::config::{Encryption, Mssql, Trust};
use crate::source::{Reason, SourceError};

/// The severity from which the server closes the connection ("Database Engine Error Severities").
const FATAL_CLASS: u8 = 20;

/// The reason behind an error number of the server, unless it is "other".
///
/// Numbers and texts are those of `sys.messages`; Azure's are from "Troubleshooting connectivity
/// issues and other errors with Azure SQL Database".
pub(super) fn reason_of(number: u32) -> Option<Reason> {
    Some(match number {
        // Lock request time out period exceeded.
        1222 => Reason::LockTimeout,
        // Chosen as the deadlock victim.
        1205 => Reason::Deadlock,
        // Stopped by an attention signal.
        3617 => Reason::Timeout,
        // Permission denied: on an object, on a column, in the database, for a server-wide view,
        // for another database; by an external policy.
        229 | 230 | 262 | 297 | 300 | 371 | 373 | 916 => Reason::Permission,
        // No such column, object, database, procedure; a name that binds to nothing.
        207 | 208 | 911 | 1088 | 2812 | 4104 | 4121 | 4902 => Reason::MissingObject,
        // The login: failed, untrusted domain, disabled, locked out, expired, to be changed.
        18452 | 18456 | 18470 | 18486 | 18487 | 18488 => Reason::Login,
        // The database: cannot be opened, or is restoring, offline, restricted, a closed replica.
        4060 | 921..=924 | 926 | 927 | 941 | 942 | 945 | 952 | 954..=956 => Reason::Login,
        976 | 978 | 979 | 982 | 983 | 988 => Reason::Login,
        // Azure: the firewall, a database that is unavailable for now.
        40613 | 40615 => Reason::Login,
        // The session is being killed.
        596 => Reason::Connect,
        _ => return None,
    })
}

/// The remedy for an error number whose text does not suggest one; else nothing.
fn remedy_of(number: u32) -> &'static str {
    match number {
        // An option is not supported with memory-optimized tables; the only one used here is READPAST.
        10794 => "; give the target `read_mode: read_committed`, which reads without a hint",
        // The parameter of AT TIME ZONE is invalid: another version of Windows has other zones.
        9820 => "; sys.time_zone_info lists the zones that this server has",
        _ => "",
    }
}

/// An error while a statement ran.
pub(super) fn query_failure(error: &Error) -> SourceError {
    match error {
        Error::Server(token) => {
            let reason = reason_of(token.code()).unwrap_or(Reason::Other);
            SourceError {
                connection_lost: token.class() >= FATAL_CLASS,
                ..SourceError::new(reason, describe(token) + remedy_of(token.code()))
            }
        }
        Error::Io { kind: IoErrorKind::TimedOut, message } => SourceError::lost(Reason::Timeout, message),
        // A value that the driver could not decode: the rest of its row has not been read.
        Error::Encoding(_) | Error::Conversion(_) | Error::Utf8 | Error::Utf16 | Error::ParseInt(_) => {
            SourceError::lost(Reason::Decode, format!("cannot decode the answer: {}", plain(error)))
        }
        _ => SourceError::lost(Reason::Connect, format!("connection broken: {}", plain(error))),
    }
}

/// An error during the login: there is no connection to keep.
pub(super) fn login_failure(error: &Error, settings: &Mssql) -> SourceError {
    match error {
        // Whatever this number means for a statement, here it is why the server refuses the login.
        Error::Server(token) => SourceError::lost(Reason::Login, describe(token)),
        Error::Io { kind: IoErrorKind::TimedOut, .. } => login_timeout(settings, ""),
        Error::Tls(message) => {
            // The rest names functions of the driver, which a user of this program cannot call.
            let cause = message.split(" To connect anyway").next().unwrap_or(message);
            SourceError::lost(Reason::Connect, format!("TLS: {cause}{}", trust_hint(&settings.trust)))
        }
        Error::Io { kind: IoErrorKind::InvalidData | IoErrorKind::InvalidInput, message } => {
            SourceError::lost(Reason::Connect, format!("TLS: {message}{}", trust_hint(&settings.trust)))
        }
        Error::Protocol(message) if message.contains("encryption level") => SourceError::lost(
            Reason::Connect,
            format!(
                "the server offers no encryption, and encryption is {}",
                encryption_name(settings.encryption)
            ),
        ),
        _ => SourceError::lost(Reason::Connect, format!("cannot log in: {}", plain(error))),
    }
}

/// The deadline passed before the login was done; `within` is the deadline in words.
pub(super) fn login_timeout(settings: &Mssql, within: &str) -> SourceError {
    let name = encryption_name(settings.encryption);
    let hint = match settings.encryption {
        // The driver starts a TLS handshake whatever the server answers, and a server without TLS
        // ignores it (prelogin, MS-TDS 2.2.6.5).
        Encryption::LoginOnly => ": a server without TLS does not answer under this setting",
        Encryption::Required | Encryption::Off => "",
    };
    SourceError::lost(
        Reason::Timeout,
        format!("the server did not finish the login{within}; encryption is {name}{hint}"),
    )
}

/// The driver's error without the preamble of its `Display`.
pub(super) fn plain(error: &Error) -> String {
    match error {
        Error::Io { message, .. } | Error::Tls(message) => message.clone(),
        Error::Protocol(message) | Error::Encoding(message) | Error::Conversion(message) => {
            message.to_string()
        }
        other => other.to_string(),
    }
}

/// "error 208, level 16, state 1: Invalid object name 'x'. (line 3)"
fn describe(token: &TokenError) -> String {
    // The text is shortened here, so that the line number after it is not cut off.
    let text: String = token.message().chars().take(400).collect();
    format!(
        "error {}, level {}, state {}: {text} (line {})",
        token.code(),
        token.class(),
        token.state(),
        token.line()
    )
}

fn trust_hint(trust: &Trust) -> String {
    match trust {
        Trust::System => " (trusted: the machine's root certificates)".to_owned(),
        Trust::CaFile(path) => {
            format!(" (trusted: {} and the machine's root certificates)", path.display())
        }
        Trust::Any => String::new(),
    }
}

/// The setting as the configuration spells it.
fn encryption_name(encryption: Encryption) -> &'static str {
    match encryption {
        Encryption::Required => "`required`",
        Encryption::LoginOnly => "`login_only`",
        Encryption::Off => "`off`",
    }
}
