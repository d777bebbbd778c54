//! The real binary, run as a process.

use std::fmt::Debug;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Far longer than anything here takes, because a machine may be busy.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// What a process leaves when it ends.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// The binary, with nothing in its environment that could change what it does.
pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sqlqueue-exporter"));
    command.args(arguments).env_remove("SQLQUEUE_EXPORTER_CONFIG_FILE").stdin(Stdio::null());
    command
}

/// Runs the binary to its end.
pub fn run(arguments: &[&str]) -> Ended {
    let output = command(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// Runs it with a configuration file of this text.
pub fn run_with(config: &str, arguments: &[&str]) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    run_in(folder.path(), config, arguments)
}

/// Runs it with a configuration file of this text in this folder.
pub fn run_in(folder: &Path, config: &str, arguments: &[&str]) -> Ended {
    let file = folder.join("config.yaml");
    std::fs::write(&file, config).unwrap();
    let option = format!("--config.file={}", file.display());
    run(&[arguments, &[&option]].concat())
}

/// Polls until there is a result; until then, `Err` says why not. The time is a bound, not a pause.
#[track_caller]
pub fn wait_for<T, E: Debug>(what: &str, mut look: impl FnMut() -> Result<T, E>) -> T {
    let started = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(why) if started.elapsed() > PATIENCE => {
                panic!("{what} did not happen within {PATIENCE:?}: {why:?}")
            }
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// A running server, killed when it is dropped.
#[derive(Debug)]
pub struct Running {
    child: Child,
    log: Receiver<String>,
    pub address: SocketAddr,
    /// `http` or `https`.
    pub scheme: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// Starts the binary on a port that the system chooses, and reads from its log which one.
    pub fn start(arguments: &[&str], stdout: Stdio) -> Self {
        Self::start_as(command(arguments), stdout)
    }

    /// The same for a prepared command.
    pub fn start_as(mut command: Command, stdout: Stdio) -> Self {
        let mut child = command
            .arg("--web.listen-address=127.0.0.1:0")
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (lines, log) = channel();
        let reader = BufReader::new(child.stderr.take().unwrap());
        // The thread ends with the process, whose end closes the pipe.
        std::thread::spawn(move || {
            reader.lines().map_while(Result::ok).try_for_each(|line| lines.send(line))
        });
        let address = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut running = Self { child, log, address, scheme: String::new() };
        let line = running.wait_for_line("serving metrics");
        let field = |name| line.split(' ').find_map(|word| word.strip_prefix(name));
        running.scheme = field("scheme=").expect(&line).to_owned();
        let address = field("address=");
        running.address = address.and_then(|address| address.parse().ok()).expect(&line);
        running
    }

    /// The next line of the log that contains this text; earlier lines are discarded.
    #[track_caller]
    pub fn wait_for_line(&self, text: &str) -> String {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        loop {
            match self.log.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => seen.push(line),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("no `{text}` in the log: {seen:#?}")
                }
            }
        }
    }

    /// One request: the status line with headers, and the body.
    pub fn get(&self, path: &str, accept: &str) -> (String, String) {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: test\r\nAccept: {accept}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").expect(&answer);
        (head.to_owned(), body.to_owned())
    }

    /// The metrics page in the Prometheus text format.
    pub fn metrics(&self) -> String {
        let (head, body) = self.get("/metrics", "text/plain");
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        body
    }

    /// Sends SIGTERM and waits for the end.
    pub fn terminate(mut self) -> ExitStatus {
        let process = self.child.id().to_string();
        let sent = Command::new("sh").args(["-c", "kill -TERM \"$0\"", &process]).status().unwrap();
        assert!(sent.success());
        wait_for("the end after SIGTERM", || self.child.try_wait().unwrap().ok_or("it runs"))
    }
}
