//! Control of the simulated server: its faults, its answers, and the requests it received. It runs on a
//! thread of its own, so that a test may block.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use procfs::net::TcpState;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

use super::request::Request;
use super::session::serve;
use crate::process::eventually;

/// The statement deadline for which [`TdsServer::kept_waiting`] is true to scale: so long that no machine is
/// slow enough to miss it.
pub const DEADLINE: Duration = Duration::from_secs(3600);
/// How long a client is kept waiting: longer than [`DEADLINE`], but within the time that a driver has to come
/// back after it.
pub const TOO_LONG: Duration = DEADLINE.saturating_add(Duration::from_secs(1));

/// A fault, of a connection or of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A connection is accepted and closed at once.
    Close,
    /// A connection is answered with something that is not TDS, and closed.
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
    /// The rows never end.
    MillionRows,
}

/// A login that was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    pub user: String,
    pub password: String,
}

/// The server. A test sets its faults, which hold until they are changed, and may script its answers.
pub struct TdsServer {
    port: u16,
    shared: Arc<Mutex<Shared>>,
    waits: (UnboundedSender<Duration>, UnboundedReceiver<Duration>),
    accepting: Option<JoinHandle<()>>,
    /// Keeps the port from being taken while it is closed.
    _reserved: TcpSocket,
    runtime: Option<Runtime>,
}

#[derive(Default)]
pub struct Shared {
    pub at_connection: Option<Fault>,
    /// By a text that the statement contains.
    pub at_statement: Vec<(String, Fault)>,
    pub logins: Vec<Login>,
    accepted: usize,
    pub statements: usize,
    highest: usize,
    pub script: Option<Script>,
}

/// The answers to exact requests, as tokens; a request without one fails the test.
#[derive(Default)]
pub struct Script {
    answers: Vec<(Request, Vec<u8>)>,
    seen: Vec<Request>,
    unexpected: Vec<Request>,
}

impl Script {
    /// The answer to a request. The request is recorded.
    pub fn answer(&mut self, request: Request) -> Option<Vec<u8>> {
        let answer = self.answers.iter().find(|(expected, _)| *expected == request);
        let answer = answer.map(|(_, tokens)| tokens.clone());
        if answer.is_none() {
            self.unexpected.push(request.clone());
        }
        self.seen.push(request);
        answer
    }
}

impl TdsServer {
    /// Starts a server without faults.
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

    /// Scripts the answer to a request, replacing an earlier one. From then on, a request without an answer
    /// fails the test when the server is dropped.
    pub fn answer(&self, request: impl Into<Request>, tokens: Vec<u8>) {
        let request = request.into();
        let mut shared = self.shared();
        let script = shared.script.get_or_insert_default();
        script.answers.retain(|(known, _)| known.text != request.text);
        script.answers.push((request, tokens));
    }

    /// The requests received since the last call, in order.
    pub fn seen(&self) -> Vec<Request> {
        self.shared().script.as_mut().map(|script| std::mem::take(&mut script.seen)).unwrap_or_default()
    }

    /// Sets the fault of each new connection.
    pub fn at_connection(&self, fault: Fault) {
        self.shared().at_connection = Some(fault);
    }

    /// Sets the fault of each statement that contains this text, or of all statements.
    pub fn at_statement(&self, containing: &str, fault: Fault) {
        self.shared().at_statement.push((containing.to_owned(), fault));
    }

    /// Removes all faults and opens the port.
    pub fn recover(&mut self) {
        self.listen();
        let mut shared = self.shared();
        shared.at_connection = None;
        shared.at_statement.clear();
    }

    /// Resolves when a fault keeps a client waiting: for each message left unanswered, and for each part of
    /// an answer held back. Returns for how long, so that a test can move its clock.
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

    /// Every login received.
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

impl Drop for TdsServer {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        // A test that is already failing says enough.
        if std::thread::panicking() {
            return;
        }
        let unexpected = self.shared().script.take().map(|script| script.unexpected).unwrap_or_default();
        assert!(unexpected.is_empty(), "requests without an answer: {unexpected:#?}");
    }
}

pub fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A socket on a port that only such sockets share. One that does not listen gets no connections.
fn bind(port: u16) -> TcpSocket {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseport(true).unwrap();
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).unwrap();
    socket
}

/// Sockets at the client's end, as the system counts them. They include those that the client forgot to
/// close, but not those whose close this server has not noticed yet. The system's list is not of one moment:
/// a socket on two lists was open in between.
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
