//! The real binary as a process, with its whole log and an orderly end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use crate::binary::{command, wait_for};
use crate::support::Series;

pub const TERM: &str = "TERM";
pub const INT: &str = "INT";

/// The binary with a configuration file, ready for arguments.
pub fn exporter(config: &Path) -> Command {
    command(&[&format!("--config.file={}", config.display())])
}

/// Waits, blocking, until something that must happen has happened.
#[track_caller]
pub fn eventually(what: &str, mut happened: impl FnMut() -> bool) {
    wait_for(what, || if happened() { Ok(()) } else { Err("not yet") });
}

/// The lines of a log that are events, which a panic's lines are not.
fn events(log: &str) -> Vec<serde_json::Value> {
    log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// How many events of a log have a message that contains this text.
pub fn count_events(log: &str, text: &str) -> usize {
    let message = |event: &serde_json::Value| event["fields"]["message"].as_str().map(str::to_owned);
    events(log).iter().filter_map(message).filter(|message| message.contains(text)).count()
}

/// A running exporter.
pub struct Process {
    child: Child,
    address: String,
    log: Arc<Mutex<String>>,
    /// Reads the log until the process ends.
    reading: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts it on a free port and waits until it serves.
    #[track_caller]
    pub fn start(mut command: Command) -> Self {
        command.arg("--web.listen-address=127.0.0.1:0");
        Self::start_as_it_is(command)
    }

    /// The same for a command that says where to serve.
    #[track_caller]
    pub fn start_as_it_is(mut command: Command) -> Self {
        let mut child =
            command.args(["--log.level=debug", "--log.format=json"]).stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let lines = BufReader::new(child.stderr.take().unwrap());
        let collected = Arc::clone(&log);
        let reading = std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                let mut log = collected.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        let mut process = Self { child, address: String::new(), log, reading: Some(reading) };
        eventually("the exporter says where it listens", || {
            let ended = process.child.try_wait().unwrap();
            assert!(ended.is_none(), "{ended:?}: {}", process.log());
            let address = process
                .events()
                .into_iter()
                .find_map(|event| event["fields"]["address"].as_str().map(str::to_owned));
            process.address = address.unwrap_or_default();
            !process.address.is_empty()
        });
        process
    }

    /// The address where it serves.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn id(&self) -> String {
        self.child.id().to_string()
    }

    /// Its standard error, as read so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// The events read so far.
    fn events(&self) -> Vec<serde_json::Value> {
        events(&self.log())
    }

    /// Waits for an event whose message contains this text.
    #[track_caller]
    pub fn await_event(&self, text: &str) {
        eventually(text, || count_events(&self.log(), text) > 0);
    }

    /// The response to a GET, headers included.
    #[track_caller]
    pub fn get(&self, path: &str, accept: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nAccept: {accept}\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    /// A scrape.
    #[track_caller]
    pub fn scrape(&self) -> Series {
        let response = self.get("/metrics", "*/*");
        let (head, page) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        Series::parse(page)
    }

    pub fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([&format!("-{signal}"), &self.id()]).status().unwrap();
        assert!(status.success());
    }

    /// Asks it to stop and waits. Returns how it ended, and everything it has logged.
    #[track_caller]
    pub fn stop(mut self, signal: &str) -> (ExitStatus, String) {
        self.signal(signal);
        let mut status = None;
        eventually("the process ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        self.reading.take().unwrap().join().unwrap();
        (status.unwrap(), self.log())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
