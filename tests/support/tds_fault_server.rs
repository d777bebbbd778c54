//! A SQL Server that fails on demand, by name, and then answers well: enough of TDS for the
//! exporter's statements, over [`super::tds_wire`]. It runs on a thread of its own, so that a test
//! may block.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use procfs::net::TcpState;
use tokio::io::AsyncWriteExt;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use crate::process::eventually;
use crate::support::NOW_MS;
use crate::tds_wire::{
    ATTENTION, DONE_ATTENTION, DONE_ERROR, DONE_FINAL, ENCRYPT_NOT_SUP, Kind, LAST, columns, done, error,
    fixed, logged_in, login_password, login_text, message, nvarchar, packet, prelogin, row, utf16,
};

/// The value of the prelogin option ENCRYPTION by which a server insists on TLS.
const ENCRYPT_REQ: u8 = 0x03;
const LOGIN: u8 = 0x10;
/// Between two bytes of an answer that drips.
const DRIP: Duration = Duration::from_millis(20);

/// The deadline of a statement under which [`FaultServer::kept_waiting`] is true to scale: so long
/// that no machine is slow enough to miss it.
pub const DEADLINE: Duration = Duration::from_secs(3600);
/// How long a client is kept waiting: past [`DEADLINE`], and not past the time that a driver has to
/// come back after it.
const TOO_LONG: Duration = DEADLINE.saturating_add(Duration::from_secs(1));

/// What goes wrong. Some of it can happen to a connection, some to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A connection is accepted and closed at once.
    Close,
    /// A connection is answered with something that is no TDS, and closed.
    Garbage,
    /// The server insists on TLS and cannot speak it.
    Tls,
    /// The login is refused with this error.
    Login(u32),
    /// Nothing ever comes back, not even to a cancel.
    Silence,
    /// The answer comes byte by byte, far too slowly, and never whole.
    Drip,
    /// A statement hangs until it is cancelled.
    Stall,
    /// The connection is closed in the middle of a row.
    DisconnectInRow,
    /// A statement fails with this error.
    Server(u32),
    /// The columns are of other types than promised.
    WrongTypes,
    /// There is no end of rows.
    MillionRows,
}

/// Who logged in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    pub user: String,
    pub password: String,
}

/// The server: its faults are set from the test, and hold until they are changed.
pub struct FaultServer {
    port: u16,
    shared: Arc<Mutex<Shared>>,
    waits: (UnboundedSender<Duration>, UnboundedReceiver<Duration>),
    accepting: Option<JoinHandle<()>>,
    /// Keeps the port from others while it is closed.
    _reserved: TcpSocket,
    runtime: Option<Runtime>,
}

#[derive(Default)]
struct Shared {
    at_connection: Option<Fault>,
    /// By a text that the statement contains.
    at_statement: Vec<(String, Fault)>,
    logins: Vec<Login>,
    accepted: usize,
    statements: usize,
    highest: usize,
}

impl FaultServer {
    /// A server that answers well.
    pub fn start() -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let reserved = bind(0);
        let port = reserved.local_addr().unwrap().port();
        let mut server = Self {
            port,
            shared: Arc::default(),
            waits: unbounded_channel(),
            accepting: None,
            _reserved: reserved,
            runtime: Some(runtime),
        };
        server.listen();
        server
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Closes the port: connections are refused.
    pub fn refuse(&mut self) {
        if let Some(accepting) = self.accepting.take() {
            accepting.abort();
            eventually("the port is closed", || accepting.is_finished());
        }
    }

    /// Opens the port again.
    pub fn listen(&mut self) {
        if self.accepting.is_none() {
            let runtime = self.runtime.as_ref().unwrap();
            let _context = runtime.enter();
            let listener = bind(self.port).listen(64).unwrap();
            self.accepting = Some(runtime.spawn(accept(
                listener,
                self.port,
                Arc::clone(&self.shared),
                self.waits.0.clone(),
            )));
        }
    }

    /// What goes wrong with each new connection from now on.
    pub fn at_connection(&self, fault: Fault) {
        self.shared().at_connection = Some(fault);
    }

    /// What goes wrong with each statement that contains this text, or with all of them.
    pub fn at_statement(&self, containing: &str, fault: Fault) {
        self.shared().at_statement.push((containing.to_owned(), fault));
    }

    /// Answers everything well from now on, on an open port.
    pub fn recover(&mut self) {
        self.listen();
        let mut shared = self.shared();
        shared.at_connection = None;
        shared.at_statement.clear();
    }

    /// Resolves when a fault keeps a client waiting, for each message that it leaves without an
    /// answer and each part of an answer that it holds back; says for how long, for a test to move
    /// its clock by that.
    pub async fn kept_waiting(&mut self) -> Duration {
        self.waits.1.recv().await.unwrap()
    }

    /// Connections accepted so far.
    pub fn accepted(&self) -> usize {
        self.shared().accepted
    }

    /// Statements received so far.
    pub fn statements(&self) -> usize {
        self.shared().statements
    }

    /// Everybody who came as far as a login.
    pub fn logins(&self) -> Vec<Login> {
        self.shared().logins.clone()
    }

    /// The highest number of sockets to this server that were open at a time.
    pub fn highest(&self) -> usize {
        self.shared().highest
    }

    /// The sockets to this server that are open now.
    pub fn open(&self) -> usize {
        open_sockets(self.port)
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        lock(&self.shared)
    }
}

impl Drop for FaultServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A socket on a port that only such sockets share. Those that do not listen get no connections.
fn bind(port: u16) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseport(true).unwrap();
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).unwrap();
    socket
}

/// Counted by the system at the client's end: neither a socket that the client forgot to close nor
/// one that this server has not noticed to be closed makes a difference. The system's list is not of one
/// moment: what is on two lists was open from the one to the other.
fn open_sockets(port: u16) -> usize {
    let open = [TcpState::SynSent, TcpState::Established, TcpState::CloseWait];
    let listed = || -> BTreeSet<u64> {
        let sockets = procfs::net::tcp().unwrap().into_iter();
        sockets
            .filter(|socket| socket.remote_address.port() == port && open.contains(&socket.state))
            .map(|socket| socket.inode)
            .collect()
    };
    listed().intersection(&listed()).count()
}

async fn accept(
    listener: TcpListener,
    port: u16,
    shared: Arc<Mutex<Shared>>,
    waits: UnboundedSender<Duration>,
) {
    while let Ok((stream, _)) = listener.accept().await {
        let open = open_sockets(port);
        {
            let mut shared = lock(&shared);
            shared.accepted += 1;
            shared.highest = shared.highest.max(open);
        }
        tokio::spawn(serve(stream, Arc::clone(&shared), waits.clone()));
    }
}

/// One client, until it leaves or is left.
async fn serve(stream: TcpStream, shared: Arc<Mutex<Shared>>, waits: UnboundedSender<Duration>) {
    let fault = lock(&shared).at_connection;
    if fault == Some(Fault::Close) {
        return;
    }
    let (mut reader, writer) = stream.into_split();
    let (sender, messages) = unbounded_channel();
    let reading = tokio::spawn(async move {
        while let Ok(message) = message(&mut reader).await {
            if sender.send(message).is_err() {
                break;
            }
        }
    });
    let mut client = Client { messages, writer, shared, waits };
    if client.greet(fault).await.is_some() {
        client.answer_statements().await;
    }
    // Closes the other half of the socket, too.
    reading.abort();
}

struct Client {
    messages: UnboundedReceiver<(u8, Vec<u8>)>,
    writer: OwnedWriteHalf,
    shared: Arc<Mutex<Shared>>,
    waits: UnboundedSender<Duration>,
}

impl Client {
    /// Lets the client in; `None` when it does not come that far.
    async fn greet(&mut self, fault: Option<Fault>) -> Option<()> {
        self.messages.recv().await?;
        let greeting = packet(&prelogin(ENCRYPT_NOT_SUP), LAST);
        match fault {
            Some(Fault::Garbage) => {
                self.send(b"HTTP/1.1 400 Bad Request\r\n\r\n").await?;
                return None;
            }
            Some(Fault::Silence) => return self.keep_waiting().await,
            Some(Fault::Drip) => return self.drip(&greeting.repeat(100)).await,
            Some(Fault::Tls) => {
                self.send(&packet(&prelogin(ENCRYPT_REQ), LAST)).await?;
                self.messages.recv().await?;
                // A fatal alert: handshake_failure.
                self.send(&packet(&[21, 3, 3, 0, 2, 2, 40], LAST)).await?;
                return self.leave().await;
            }
            _ => self.send(&greeting).await?,
        }
        let (kind, login) = self.messages.recv().await?;
        assert_eq!(kind, LOGIN);
        let login = Login { user: login_text(&login, 40), password: login_password(&login) };
        lock(&self.shared).logins.push(login);
        if let Some(Fault::Login(number)) = fault {
            self.send(&packet(&failure(number), LAST)).await?;
            return self.leave().await;
        }
        self.send(&packet(&logged_in(), LAST)).await
    }

    async fn answer_statements(&mut self) -> Option<()> {
        loop {
            let (kind, statement) = self.messages.recv().await?;
            if kind == ATTENTION {
                self.send(&packet(&done(DONE_ATTENTION), LAST)).await?;
                continue;
            }
            let contains = |text: &str| {
                let text = utf16(text);
                text.is_empty() || statement.windows(text.len()).any(|window| window == text)
            };
            let fault = {
                let mut shared = lock(&self.shared);
                shared.statements += 1;
                shared.at_statement.iter().find(|(text, _)| contains(text)).map(|(_, fault)| *fault)
            };
            let good = answer(&contains);
            match fault {
                None => self.send(&packet(&good, LAST)).await?,
                Some(Fault::Server(number)) => self.send(&packet(&failure(number), LAST)).await?,
                Some(Fault::WrongTypes) => {
                    let head = columns(&[("now_ms", Kind::DateTime)]);
                    let answer = [head, row(&[fixed(&[0; 8])]), done(DONE_FINAL)].concat();
                    self.send(&packet(&answer, LAST)).await?;
                }
                Some(Fault::DisconnectInRow) => {
                    self.send(&packet(&good[..good.len() - 20], 0)).await?;
                    return None;
                }
                Some(Fault::MillionRows) => self.send_million_rows().await?,
                Some(Fault::Drip) => return self.drip(&packet(&good, LAST)).await,
                // The cancel is answered above.
                Some(Fault::Stall) => self.say_it_takes(TOO_LONG),
                Some(_) => return self.keep_waiting().await,
            }
        }
    }

    async fn send_million_rows(&mut self) -> Option<()> {
        self.send(&packet(&columns(&[("now_ms", Kind::Integer(8))]), 0)).await?;
        let thousand = row(&[fixed(&NOW_MS.to_le_bytes())]).repeat(1000);
        for _ in 0..1000 {
            if let Ok((ATTENTION, _)) = self.messages.try_recv() {
                return self.send(&packet(&done(DONE_ATTENTION), LAST)).await;
            }
            self.send(&packet(&thousand, 0)).await?;
        }
        self.send(&packet(&done(DONE_FINAL), LAST)).await
    }

    /// Sends byte by byte, deaf to everything, until the client leaves. Two bytes take too long
    /// together, and neither does alone.
    async fn drip(&mut self, bytes: &[u8]) -> Option<()> {
        let (_, all_but_last) = bytes.split_last()?;
        for (sent, byte) in all_but_last.iter().enumerate() {
            self.send(&[*byte]).await?;
            if sent < 2 {
                self.say_it_takes(TOO_LONG / 2);
            }
            tokio::select! {
                () = tokio::time::sleep(DRIP) => {}
                message = self.messages.recv() => {
                    message?;
                    self.say_it_takes(TOO_LONG);
                }
            }
        }
        self.keep_waiting().await
    }

    /// Answers nothing more, until the client leaves.
    async fn keep_waiting(&mut self) -> Option<()> {
        self.say_it_takes(TOO_LONG);
        while self.messages.recv().await.is_some() {
            self.say_it_takes(TOO_LONG);
        }
        None
    }

    fn say_it_takes(&self, time: Duration) {
        // A test that has ended does not care.
        let _ = self.waits.send(time);
    }

    /// Says nothing more, and waits for the client to leave.
    async fn leave(&mut self) -> Option<()> {
        while self.messages.recv().await.is_some() {}
        None
    }

    /// `None` when the client is gone.
    async fn send(&mut self, bytes: &[u8]) -> Option<()> {
        self.writer.write_all(bytes).await.ok()
    }
}

/// What SQL Server says with an error number.
fn failure(number: u32) -> Vec<u8> {
    let (class, text) = match number {
        208 => (16, "Invalid object name 'dbo.Broken'."),
        229 => (14, "The SELECT permission was denied on the object 'Broken'."),
        1205 => (13, "Transaction (Process ID 52) was deadlocked on lock resources with another process."),
        1222 => (16, "Lock request time out period exceeded."),
        4060 => (11, "Cannot open database \"Orders\" requested by the login. The login failed."),
        18456 => (14, "Login failed for user 'watcher'."),
        _ => (16, "Something else."),
    };
    [error(number, class, text), done(DONE_ERROR)].concat()
}

/// A good answer to a statement of this text: a queue with three ready jobs, or a log without rows.
fn answer(contains: &impl Fn(&str) -> bool) -> Vec<u8> {
    let names: &[&str] = if contains("oldest_ready_age_ms") {
        &[
            "now_ms",
            "committed_rows",
            "queue",
            "state",
            "jobs",
            "oldest_ready_age_ms",
            "expired_leases",
            "oldest_expired_lease_ms",
            "longest_running_ms",
            "retrying_jobs",
            "max_attempts",
            "future_timestamp_rows",
        ]
    } else if contains("lock_held") {
        &[
            "now_ms",
            "oldest_id",
            "oldest_ms",
            "newest_id",
            "newest_ms",
            "id",
            "time_ms",
            "lock_held",
            "step",
            "outcome",
            "start_ms",
            "end_ms",
            "duration_ms",
            "candidates",
        ]
    } else {
        &["now_ms", "oldest_id", "oldest_ms", "newest_id", "newest_ms", "id", "time_ms", "kind", "at_ms"]
    };
    let texts = ["queue", "state", "step", "outcome", "kind"];
    let kind = |name: &str| if texts.contains(&name) { Kind::NVarChar } else { Kind::Integer(8) };
    let head: Vec<(&str, Kind)> = names.iter().map(|name| (*name, kind(name))).collect();
    let values: Vec<Vec<u8>> = names
        .iter()
        .map(|name| match *name {
            "now_ms" => fixed(&NOW_MS.to_le_bytes()),
            "state" => nvarchar(Some("ready")),
            "jobs" => fixed(&3_i64.to_le_bytes()),
            text if texts.contains(&text) => nvarchar(None),
            _ => fixed(&[]),
        })
        .collect();
    [columns(&head), row(&values), done(DONE_FINAL)].concat()
}
