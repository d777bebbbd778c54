//! Who is let in, and what it costs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::harness::{Fake, Server, protected};
use crate::secret::Secret;
use crate::web::auth::BasicAuth;
use crate::web::config::WebConfig;
use crate::web::{Options, Security};

const NONE: &str = "X-None: x";

fn user(name: &str, hash: impl Into<String>) -> (String, Secret) {
    (name.to_owned(), Secret::new(hash))
}

fn basic(login: &str) -> String {
    format!("Authorization: Basic {}", STANDARD.encode(login))
}

/// The usual options behind these logins.
fn with(auth: Option<BasicAuth>) -> Options {
    protected(Security::with_auth(WebConfig::default(), auth, None, Duration::ZERO))
}

/// A server whose hashes are the passwords themselves, and how often one was verified.
async fn counted(users: &[(String, Secret)]) -> (Server, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let auth = BasicAuth::with_verifier(users.iter().cloned().collect(), move |password, hash| {
        counter.fetch_add(1, Ordering::SeqCst);
        password == hash.as_bytes()
    });
    (Server::start(Fake::plain(), with(auth.unwrap())).await, count)
}

#[tokio::test]
async fn every_route_wants_a_login() {
    let (server, count) = counted(&[user("prometheus", "secret")]).await;
    let login = basic("prometheus:secret");
    for (path, status) in [
        ("/metrics", 200),
        ("/", 200),
        ("/config", 200),
        ("/-/healthy", 200),
        ("/-/ready", 200),
        ("/nowhere", 404),
    ] {
        let refused = server.get(path, &[]).await;
        assert_eq!((refused.status(), refused.text()), (401, "unauthorized\n"), "{path}");
        assert_eq!(refused.header("www-authenticate"), Some("Basic"), "{path}");
        assert_eq!(server.get(path, &[&login]).await.status(), status, "{path}");
    }
    let mut client = server.client().await;
    assert_eq!(client.request("POST", "/metrics", &[]).await.status(), 401);
    assert_eq!(client.request("HEAD", "/metrics", &[]).await.status(), 401);
    assert_eq!(client.request("HEAD", "/metrics", &[&login]).await.status(), 200);
    // A request without a login costs nothing, and the first with one pays for all.
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn only_the_right_password_of_the_right_user_opens() {
    let (server, _) = counted(&[user("a", "secret"), user("b", "other"), user("e", "")]).await;
    for login in ["a:secret", "b:other", "e:"] {
        // Twice: what is remembered must be right too.
        for _ in 0..2 {
            assert_eq!(server.get("/metrics", &[&basic(login)]).await.status(), 200, "{login}");
        }
    }
    for login in [
        "a:other",
        "b:secret",
        "a:",
        "a:secret ",
        "A:secret",
        "c:secret",
        "c:other",
        "c:",
        ":",
        "a",
        "as:ecret",
    ] {
        for _ in 0..2 {
            assert_eq!(server.get("/metrics", &[&basic(login)]).await.status(), 401, "{login}");
        }
    }
    for garbage in ["Authorization: Basic", "Authorization: Basic %%%", "Authorization: Bearer YTpzZWNyZXQ="]
    {
        assert_eq!(server.get("/metrics", &[garbage, NONE]).await.status(), 401, "{garbage}");
    }
}

#[tokio::test]
async fn a_right_password_is_verified_once_and_a_wrong_one_each_time() {
    let (server, count) = counted(&[user("a", "secret"), user("b", "secret")]).await;
    let verified = async |login: &str| {
        let before = count.load(Ordering::SeqCst);
        server.get("/metrics", &[&basic(login)]).await;
        count.load(Ordering::SeqCst) - before
    };
    assert_eq!(verified("a:secret").await, 1);
    assert_eq!(verified("a:secret").await, 0);
    assert_eq!(verified("b:secret").await, 1, "what one user proved proves nothing of another");
    assert_eq!(verified("a:wrong").await, 1);
    assert_eq!(verified("a:wrong").await, 1);
    assert_eq!(verified("a:secret").await, 0);
}

#[tokio::test]
async fn an_unknown_user_costs_the_same_as_a_wrong_password() {
    let (server, count) = counted(&[user("a", "one"), user("b", "two")]).await;
    for n in 1..=20 {
        // Whichever hash is computed in its place, it opens nothing.
        let password = if n % 2 == 0 { "one" } else { "two" };
        let refused = server.get("/metrics", &[&basic(&format!("nobody{n}:{password}"))]).await;
        assert_eq!(refused.status(), 401);
        assert_eq!(count.load(Ordering::SeqCst), n);
    }
}

#[tokio::test]
async fn a_login_that_comes_on_many_connections_at_once_is_verified_few_times() {
    let (server, count) = counted(&[user("a", "secret")]).await;
    let login = basic("a:secret");
    let headers = [login.as_str()];
    let scrapes = (0..20).map(|_| server.get("/metrics", &headers));
    for answer in futures_util::future::join_all(scrapes).await {
        assert_eq!(answer.status(), 200);
    }
    let verified = count.load(Ordering::SeqCst);
    assert!((1..=2).contains(&verified), "{verified}: as many as may be verified at a time");
}

#[tokio::test]
async fn a_verification_that_panics_lets_nobody_in_and_gives_its_place_back() {
    let auth = BasicAuth::with_verifier(BTreeMap::from([user("a", "secret")]), |_, _| panic!("a defect"));
    let server = Server::start(Fake::plain(), with(auth.unwrap())).await;
    for _ in 0..5 {
        assert_eq!(server.get("/metrics", &[&basic("a:secret")]).await.status(), 401);
    }
}

#[tokio::test]
async fn real_hashes_of_every_bcrypt_prefix_are_understood() {
    let hash = bcrypt::hash_with_result("paßwort:1", 4).unwrap();
    let versions = [bcrypt::Version::TwoA, bcrypt::Version::TwoB, bcrypt::Version::TwoY];
    for version in versions {
        let users = BTreeMap::from([user("prometheus", hash.format_for_version(version))]);
        let server = Server::start(Fake::plain(), with(BasicAuth::new(users).unwrap())).await;
        for (login, status) in [("prometheus:paßwort:1", 200), ("prometheus:passwort:1", 401)] {
            assert_eq!(server.get("/metrics", &[&basic(login)]).await.status(), status, "{login}");
        }
    }
}

#[test]
fn without_users_there_is_nothing_to_check() {
    assert!(BasicAuth::new(BTreeMap::new()).unwrap().is_none());
}
