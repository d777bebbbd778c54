//! A web configuration that changes while pages are served.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;

use super::harness::{Fake, Server, protected};
use super::tls::{FOLDER, client, try_client};
use crate::environment::Environment;
use crate::web::Security;
use crate::web::auth::BasicAuth;
use crate::web::config::WebConfigFile;

const PAIR: &str = "tls_server_config: { cert_file: server.crt, key_file: server.key }\n";

/// A folder with a web configuration and the certificates that it names.
struct Files(TempDir);

impl Files {
    fn new(web: &str) -> Self {
        let files = Self(TempDir::new().unwrap());
        for name in ["server.crt", "server.key", "ca.crt"] {
            files.copy(name, name);
        }
        files.write(web);
        files
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, web: &str) {
        std::fs::write(self.path().join("web.yml"), web).unwrap();
    }

    /// Puts a certificate of the tests in place of one that is named in the configuration.
    fn copy(&self, from: &str, to: &str) {
        std::fs::copy(Path::new(FOLDER).join(from), self.path().join(to)).unwrap();
    }

    /// A server that looks for changes with each request.
    async fn serve(&self) -> Server {
        let path = self.path().join("web.yml");
        let (file, mut config) = WebConfigFile::open(&path, &Environment::process()).unwrap();
        let auth = BasicAuth::new(std::mem::take(&mut config.users)).unwrap();
        let security = Security::with_auth(config, auth, Some(file), Duration::ZERO);
        Server::start(Fake::plain(), protected(security)).await
    }
}

fn users(logins: &[(&str, &str)]) -> String {
    let hash = |password| bcrypt::hash(password, 4).unwrap();
    let lines = logins.iter().map(|(name, password)| format!("  {name}: {}\n", hash(password)));
    format!("basic_auth_users:\n{}", lines.collect::<String>())
}

async fn status(server: &Server, login: &str) -> u16 {
    let login = format!("Authorization: Basic {}", STANDARD.encode(login));
    server.get("/metrics", &[&login]).await.status()
}

#[tokio::test]
async fn an_expired_certificate_that_is_replaced_is_good_for_the_next_connection() {
    let files = Files::new(PAIR);
    files.copy("expired.crt", "server.crt");
    let server = files.serve().await;
    let expired = try_client(&server).await.map(|_| ()).unwrap_err().to_string();
    assert!(expired.contains("expired"), "{expired}");
    files.copy("server.crt", "server.crt");
    let mut renewed = client(&server).await;
    assert_eq!(renewed.request("GET", "/metrics", &[]).await.status(), 200);

    // Halfway through the next renewal: the key does not belong to the certificate.
    files.copy("other.key", "server.key");
    assert_eq!(client(&server).await.request("GET", "/metrics", &[]).await.status(), 200);
    files.copy("server.key", "server.key");
    assert_eq!(client(&server).await.request("GET", "/metrics", &[]).await.status(), 200);
}

#[tokio::test]
async fn users_come_and_go() {
    let files = Files::new(&users(&[("a", "one"), ("b", "two")]));
    let server = files.serve().await;
    assert_eq!([status(&server, "a:one").await, status(&server, "b:two").await], [200, 200]);
    let with_c = users(&[("b", "other"), ("c", "three")]);
    files.write(&with_c);
    let expected = [("a:one", 401), ("b:two", 401), ("b:other", 200), ("c:three", 200)];
    for (login, wanted) in expected {
        assert_eq!(status(&server, login).await, wanted, "{login}");
    }
    // The same hash under another name: what the first name proved is not the other's.
    let renamed = with_c.replace("  c:", "  d:");
    files.write(&renamed);
    for (login, wanted) in [("c:three", 401), ("d:three", 200), ("b:other", 200)] {
        assert_eq!(status(&server, login).await, wanted, "{login}");
    }
}

#[tokio::test]
async fn a_broken_edit_changes_nothing() {
    let good = users(&[("a", "one")]);
    let files = Files::new(&good);
    let server = files.serve().await;
    for broken in [
        "basic_auth_users: { a: one }\n",
        "basic_auth_users:\n  a: [\n",
        "basic_auth_user: {}\n",
        // Not even open for the moment in which an editor has emptied the file.
        "",
        "basic_auth_users: {}\n",
        "# nothing\n",
        &format!("{PAIR}{good}"),
    ] {
        files.write(broken);
        assert_eq!(status(&server, "a:one").await, 200, "{broken}");
        assert_eq!(server.get("/metrics", &[]).await.status(), 401, "{broken}");
    }
    std::fs::remove_file(files.path().join("web.yml")).unwrap();
    assert_eq!(server.get("/metrics", &[]).await.status(), 401);
    files.write(&users(&[("a", "two")]));
    assert_eq!([status(&server, "a:one").await, status(&server, "a:two").await], [401, 200]);
}

#[tokio::test]
async fn tls_stays_on_whatever_the_file_says_later() {
    let files = Files::new(PAIR);
    let server = files.serve().await;
    for without in ["", &users(&[("a", "one")])] {
        files.write(without);
        assert_eq!(client(&server).await.request("GET", "/metrics", &[]).await.status(), 200);
    }
    // Logins can be added and taken away again, and clients be asked for certificates.
    files.write(&format!("{PAIR}{}", users(&[("a", "one")])));
    assert_eq!(client(&server).await.request("GET", "/metrics", &[]).await.status(), 401);
    files.write(PAIR);
    assert_eq!(client(&server).await.request("GET", "/metrics", &[]).await.status(), 200);
    files.write(
        "tls_server_config: { cert_file: server.crt, key_file: server.key, max_version: TLS12, \
         client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.crt }\n",
    );
    assert!(try_client(&server).await.is_err());
}

#[tokio::test]
async fn headers_and_the_rate_limit_follow_and_what_was_used_up_stays_so() {
    let limited = |more: &str| {
        format!("http_server_config: {{ headers: {{ {more} }} }}\nrate_limit: {{ interval: 1h, burst: 3 }}\n")
    };
    let files = Files::new(&limited("X-Frame-Options: deny"));
    let server = files.serve().await;
    let first = server.get("/metrics", &[]).await;
    assert_eq!((first.status(), first.header("x-frame-options")), (200, Some("deny")));
    files.write(&limited("X-Frame-Options: sameorigin, Content-Security-Policy: default-src 'self'"));
    let second = server.get("/", &[]).await;
    assert_eq!((second.status(), second.header("x-frame-options")), (200, Some("sameorigin")));
    assert_eq!(second.header("content-security-policy"), Some("default-src 'self'"), "before the page's own");
    assert_eq!(server.get("/metrics", &[]).await.status(), 200);
    let refused = server.get("/metrics", &[]).await;
    assert_eq!((refused.status(), refused.text()), (429, "too many requests\n"));
    files.write(&limited("X-Frame-Options: deny").replace("burst: 3", "burst: 4"));
    assert_eq!(server.get("/metrics", &[]).await.status(), 200);
}
