//! Secrets: a password reaches the server and nothing else.

use std::process::{Command, Output};

use tempfile::TempDir;

use crate::process::{Process, TERM, eventually, exporter};
use crate::tds::server::{Fault, Login, TdsServer};
use crate::tds::wire::utf16;

const PASSWORD: &str = " p@ss;w{}rd'\" zażółć gęślą ";
/// The parts that survive any quoting or cutting.
const PARTS: [&str; 4] = ["p@ss", "w{}rd", "zażółć", "gęślą"];
/// Too long to be in any text by chance, in any encoding.
const LONG_PARTS: [&str; 2] = ["p@ss;w{}rd", "zażółć"];

/// Fails when `text` reveals the password or a part of it, in any form.
#[track_caller]
fn assert_tells_nothing(what: &str, text: &[u8]) {
    let shown = String::from_utf8_lossy(text);
    let lower = shown.to_lowercase();
    let contains = |form: &[u8]| text.windows(form.len()).any(|window| window == form);
    for part in PARTS {
        assert!(!shown.contains(part), "{what} has {part}: {shown}");
        assert!(!contains(&utf16(part)), "{what} has {part} in UTF-16: {shown}");
    }
    for part in LONG_PARTS {
        for bytes in [part.as_bytes().to_vec(), utf16(part)] {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(!lower.contains(&hex), "{what} has {part} in hexadecimal: {shown}");
            // As a list of numbers, which is how Rust shows bytes.
            let numbers: Vec<String> = bytes.iter().map(u8::to_string).collect();
            assert!(!shown.contains(&numbers.join(", ")), "{what} has {part} in numbers: {shown}");
            for form in base64_forms(&bytes) {
                assert!(!shown.contains(&form), "{what} has {part} in base64: {shown}");
            }
            let obfuscated: Vec<u8> = bytes.iter().map(|byte| byte.rotate_left(4) ^ 0xa5).collect();
            assert!(!contains(&obfuscated), "{what} has {part} as it is sent: {shown}");
        }
    }
}

/// What is left of `bytes` in a base64 text, for each of the three positions where it may begin.
fn base64_forms(bytes: &[u8]) -> [String; 3] {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    [0, 1, 2].map(|before| {
        let padded = [vec![0; before], bytes.to_vec()].concat();
        let bit = |at: usize| padded[at / 8] >> (7 - at % 8) & 1;
        // The digits that depend only on `bytes`.
        let digits = (before * 8).div_ceil(6)..padded.len() * 8 / 6;
        digits
            .map(|digit| (0..6).fold(0, |value, at| value << 1 | bit(digit * 6 + at)))
            .map(|value| char::from(ALPHABET[usize::from(value)]))
            .collect()
    })
}

#[test]
fn the_forms_that_are_looked_for_are_the_right_ones() {
    assert_eq!(base64_forms(b"password"), ["cGFzc3dvcm", "Bhc3N3b3Jk", "wYXNzd29yZ"]);
    let told = |text: &[u8]| std::panic::catch_unwind(|| assert_tells_nothing("a test", text)).is_err();
    assert!(told(r#""p@ss;w{}rd'\" za""#.as_bytes()));
    assert!(told(&utf16(PASSWORD)));
    assert!(told(b"70407373 70407373 704073733B777B7D7264"));
    assert!(!told(b"password_file: pass"));
}

/// Servers that refuse, reject, fail at TLS and answer, and a configuration with all of them.
struct World {
    _closed: TdsServer,
    rejecting: TdsServer,
    _without_tls: TdsServer,
    answering: TdsServer,
    folder: TempDir,
}

impl World {
    fn new(password: &str) -> Self {
        let [mut closed, rejecting, without_tls, answering] = [(); 4].map(|()| TdsServer::start());
        closed.refuse();
        rejecting.at_connection(Fault::Login(18456));
        without_tls.at_connection(Fault::Tls);
        answering.at_statement("broken", Fault::Server(229));
        let folder = TempDir::new().unwrap();
        let mut yaml =
            "global: { sample_interval: 100ms, query_timeout: 1h }\nstate_file: state.json\nsources:\n"
                .to_owned();
        for (name, server, encryption) in [
            ("closed", &closed, "off"),
            ("rejecting", &rejecting, "off"),
            ("without_tls", &without_tls, "required"),
            ("answering", &answering, "off"),
        ] {
            yaml.push_str(&format!(
                "  - name: {name}
    mssql: {{ host: 127.0.0.1, port: {}, database: Orders, user: watcher, {password}, encryption: {encryption} }}
    queues: [{{ name: broken, table: dbo.broken, preset: lease_minimal }}]
    run_logs: [{{ name: runs, preset: notification_run_log }}]\n",
                server.port()
            ));
        }
        std::fs::write(folder.path().join("config.yaml"), yaml).unwrap();
        std::fs::write(folder.path().join("password"), format!("{PASSWORD}\n")).unwrap();
        Self { _closed: closed, rejecting, _without_tls: without_tls, answering, folder }
    }

    fn command(&self) -> Command {
        let mut command = exporter(&self.folder.path().join("config.yaml"));
        command.env("DB_PASSWORD", PASSWORD).env("CREDENTIALS_DIRECTORY", self.folder.path());
        command
    }

    fn check(&self) -> Output {
        self.command().args(["check", "--log.level=debug"]).output().unwrap()
    }
}

const WAYS: [&str; 3] =
    ["password_file: password", "password_env: DB_PASSWORD", "password_credential: password"];

fn assert_received(server: &TdsServer) {
    let expected = Login { user: "watcher".to_owned(), password: PASSWORD.to_owned() };
    let logins = server.logins();
    assert!(!logins.is_empty() && logins.iter().all(|login| *login == expected), "{logins:?}");
}

#[test]
fn a_server_is_told_the_password_and_no_log_page_or_state_file_is() {
    for way in WAYS {
        let world = World::new(way);
        let process = Process::start(world.command());
        let tried = |source: &str| {
            process.scrape().sum("sqlqueue_sample_errors_total", &format!("source=\"{source}\"")) >= 2.0
        };
        for source in ["closed", "rejecting", "without_tls", "answering"] {
            eventually("each source was tried", || tried(source));
        }
        let state_file = world.folder.path().join("state.json");
        eventually("the state is saved", || state_file.exists());
        for (path, accept) in [
            ("/", "*/*"),
            ("/metrics", "*/*"),
            ("/metrics", "application/openmetrics-text; version=1.0.0"),
            ("/-/ready", "*/*"),
            ("/-/healthy", "*/*"),
            ("/config", "*/*"),
        ] {
            assert_tells_nothing(path, process.get(path, accept).as_bytes());
        }
        // They show what can be shown of it, so a secret had its chance to appear.
        let (overview, configuration) = (process.get("/", "*/*"), process.get("/config", "*/*"));
        for expected in ["18456", "does not answer", "cannot be sampled"] {
            assert!(overview.contains(expected), "the overview tells of {expected}: {overview}");
        }
        let (key, name) = way.split_once(": ").unwrap();
        let named = configuration.lines().filter(|line| line.contains(key) && line.contains(name)).count();
        assert_eq!(named, 4, "{configuration}");
        let log = process.stop(TERM).1;
        for expected in ["cannot reach", "18456", "TLS", "connected", "permission"] {
            assert!(log.contains(expected), "the log tells of {expected}: {log}");
        }
        assert_tells_nothing("the log", log.as_bytes());
        assert_tells_nothing("the state file", &std::fs::read(&state_file).unwrap());
        assert_received(&world.rejecting);
        assert_received(&world.answering);
    }
}

#[test]
fn a_server_is_told_the_password_and_no_output_of_a_command_is() {
    for way in WAYS {
        let world = World::new(way);
        for arguments in
            [&["check", "--connect", "--log.level=debug"][..], &["check", "--log.level=debug"], &["sql"]]
        {
            let output = world.command().args(arguments).output().unwrap();
            assert!(!output.stdout.is_empty());
            assert_tells_nothing("the output", &output.stdout);
            assert_tells_nothing("the log", &output.stderr);
        }
        assert_received(&world.rejecting);
        assert_received(&world.answering);
    }
}

#[test]
fn a_password_in_the_wrong_place_is_not_repeated_by_the_error() {
    let quoted = format!("'{}'", PASSWORD.replace('\'', "''"));
    for key in ["password", "password_env", "password_credential"] {
        let world = World::new(&format!("{key}: {quoted}"));
        let output = world.check();
        assert_eq!(output.status.code(), Some(1), "{key}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains("config.yaml"), "{key}: {message}");
        assert_tells_nothing(key, &output.stderr);
        assert_tells_nothing(key, &output.stdout);
    }
}
