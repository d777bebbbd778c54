//! Basic authentication against bcrypt hashes.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use aws_lc_rs::hmac;
use aws_lc_rs::rand::SystemRandom;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{self, HeaderMap};
use tokio::sync::Semaphore;

use crate::secret::Secret;

/// The number of passwords that are verified at the same time; more logins wait. bcrypt is meant to cost
/// processor time, which strangers must not take from the samplers.
const CONCURRENT_VERIFICATIONS: usize = 2;

/// The number of logins that are remembered. Several passwords can be right for one user, because bcrypt
/// ignores what exceeds 72 bytes.
const REMEMBERED: usize = 64;

/// Verifies a password against a bcrypt hash.
type Verify = dyn Fn(&[u8], &str) -> bool + Send + Sync;

/// An HMAC of a login under a key of this process, by which it is remembered without its password.
type Fingerprint = [u8; 32];

/// The users, and their verified logins.
#[derive(Clone)]
pub(super) struct BasicAuth {
    users: BTreeMap<String, Secret>,
    /// Random, so that nobody else can compute a fingerprint or predict a decoy.
    key: hmac::Key,
    verified: Arc<Verified>,
    turns: Arc<Semaphore>,
    verify: Arc<Verify>,
}

/// Verified logins, the latest last.
#[derive(Default)]
struct Verified(Mutex<VecDeque<Fingerprint>>);

impl BasicAuth {
    /// Admits only these users; `None` when there are none, and no login is needed.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub(super) fn new(users: BTreeMap<String, Secret>) -> io::Result<Option<Self>> {
        Self::with_verifier(users, |password, hash| bcrypt::verify(password, hash).unwrap_or(false))
    }

    /// [`BasicAuth::new`] with another verifier, for tests.
    pub(super) fn with_verifier(
        users: BTreeMap<String, Secret>,
        verify: impl Fn(&[u8], &str) -> bool + Send + Sync + 'static,
    ) -> io::Result<Option<Self>> {
        if users.is_empty() {
            return Ok(None);
        }
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &SystemRandom::new())
            .map_err(|_| io::Error::other("the system has no random numbers for basic authentication"))?;
        Ok(Some(Self {
            users,
            key,
            verified: Arc::default(),
            turns: Arc::new(Semaphore::new(CONCURRENT_VERIFICATIONS)),
            verify: Arc::new(verify),
        }))
    }

    /// Replaces the users. Verified logins stay verified for users whose hash is unchanged, and
    /// verifications still share one limit.
    pub(super) fn with_users(&self, users: BTreeMap<String, Secret>) -> Option<Self> {
        (!users.is_empty()).then(|| Self { users, ..self.clone() })
    }

    /// Whether the headers of a request contain the login of a user.
    pub(super) async fn admits(&self, headers: &HeaderMap) -> bool {
        let Some((user, password)) = login(headers) else { return false };
        // An unknown name is verified against the hash of some user, so that the time of a response does
        // not reveal who exists.
        let known = self.users.get(&user);
        let Some(hash) = known.or_else(|| self.decoy(&user)) else { return false };
        let fingerprint = self.tag(&[b"login", user.as_bytes(), hash.expose().as_bytes(), &password]);
        let is_known = known.is_some();
        // A removed user may still be remembered, hence `is_known`.
        if is_known && self.verified.has(&fingerprint) {
            return true;
        }
        // The task holds the permit, because it continues when the client disconnects. The semaphore is
        // never closed.
        let permit = Arc::clone(&self.turns).acquire_owned().await.ok();
        // Another connection may have verified the same login meanwhile.
        if is_known && self.verified.has(&fingerprint) {
            return true;
        }
        let (verify, hash, verified) = (Arc::clone(&self.verify), hash.clone(), Arc::clone(&self.verified));
        let task = tokio::task::spawn_blocking(move || {
            // Released last, so that the next in turn finds what was remembered.
            let _permit = permit;
            let admitted = verify(&password, hash.expose()) && is_known;
            if admitted {
                verified.remember(fingerprint);
            }
            admitted
        });
        task.await.unwrap_or_else(|error| {
            tracing::error!(%error, "verifying a password was interrupted");
            false
        })
    }

    /// The hash to verify an unknown name against: always the same one for the same name, because their
    /// costs may differ.
    fn decoy(&self, user: &str) -> Option<&Secret> {
        let tag = self.tag(&[b"decoy", user.as_bytes()]);
        let number = tag.iter().take(8).fold(0_usize, |number, byte| (number << 8) | usize::from(*byte));
        self.users.values().nth(number.checked_rem(self.users.len())?)
    }

    fn tag(&self, parts: &[&[u8]]) -> Fingerprint {
        let mut context = hmac::Context::with_key(&self.key);
        for part in parts {
            // The length separates a part from the next.
            context.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            context.update(part);
        }
        // SHA-256 always has this length.
        context.sign().as_ref().try_into().unwrap_or_default()
    }
}

impl Verified {
    fn has(&self, fingerprint: &Fingerprint) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(fingerprint)
    }

    fn remember(&self, fingerprint: Fingerprint) {
        let mut verified = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if verified.contains(&fingerprint) {
            return;
        }
        if verified.len() >= REMEMBERED {
            verified.pop_front();
        }
        verified.push_back(fingerprint);
    }
}

impl fmt::Debug for BasicAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasicAuth").field("users", &self.users.len()).finish_non_exhaustive()
    }
}

/// The name and the password in the headers, if they are valid.
fn login(headers: &HeaderMap) -> Option<(String, Vec<u8>)> {
    let (scheme, encoded) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let mut user = STANDARD.decode(encoded.trim()).ok()?;
    let colon = user.iter().position(|byte| *byte == b':')?;
    let mut password = user.split_off(colon);
    password.remove(0);
    Some((String::from_utf8(user).ok()?, password))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that has no login has failed")]

    use super::*;
    use hyper::header::HeaderValue;

    fn read(value: &str) -> Option<(String, Vec<u8>)> {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
        login(&headers)
    }

    #[test]
    fn a_login_is_split_at_its_first_colon() {
        assert_eq!(read("Basic YTpiOmM="), Some(("a".to_owned(), b"b:c".to_vec())));
        assert_eq!(read("bASIC  YTpiOmM= "), Some(("a".to_owned(), b"b:c".to_vec())));
        assert_eq!(read("Basic Og=="), Some((String::new(), Vec::new())));
        for nothing in ["", "Basic", "Basic ", "Basic YWI=", "Basic *", "Bearer YTpiOmM=", "YTpiOmM="] {
            assert_eq!(read(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn no_more_logins_are_remembered_than_there_is_room_for() {
        let verified = Verified::default();
        for n in 0..100 {
            verified.remember([n; 32]);
            verified.remember([n; 32]);
        }
        assert_eq!(verified.0.lock().unwrap().len(), REMEMBERED);
        assert!(verified.has(&[99; 32]));
        assert!(verified.has(&[36; 32]));
        assert!(!verified.has(&[35; 32]));
    }

    #[test]
    fn parts_do_not_run_into_each_other_and_keys_differ() {
        let users = BTreeMap::from([("a".to_owned(), Secret::new("h"))]);
        let auth = || BasicAuth::with_verifier(users.clone(), |_, _| true).unwrap().unwrap();
        let one = auth();
        assert_eq!(one.tag(&[b"ab", b"c"]), one.tag(&[b"ab", b"c"]));
        assert_ne!(one.tag(&[b"ab", b"c"]), one.tag(&[b"a", b"bc"]));
        assert_ne!(one.tag(&[b"ab", b"c"]), auth().tag(&[b"ab", b"c"]));
    }

    #[test]
    fn nothing_of_a_user_is_shown() {
        let users = BTreeMap::from([("prometheus".to_owned(), Secret::new("$2y$hash"))]);
        let shown = format!("{:?}", BasicAuth::new(users).unwrap());
        assert_eq!(shown, "Some(BasicAuth { users: 1, .. })");
    }
}
