//! A server on a free port, a fake behind it, and a client that shows every byte.

use std::fmt;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::{TcpSocket, TcpStream};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;

use crate::state::State;
use crate::web::config::WebConfig;
use crate::web::page::{self, Now, PageError};
use crate::web::{Format, Options, Page, Pages, Security, serve};

type Metrics = dyn Fn(Format) -> Result<String, fmt::Error> + Send + Sync;

/// Pages whose metrics are whatever a test says.
pub(super) struct Fake {
    pub(super) ready: AtomicBool,
    metrics: Box<Metrics>,
}

impl Fake {
    pub(super) fn new(
        metrics: impl Fn(Format) -> Result<String, fmt::Error> + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { ready: AtomicBool::new(true), metrics: Box::new(metrics) })
    }

    /// A page that names its format.
    pub(super) fn plain() -> Arc<Self> {
        Self::new(|format| Ok(format!("page {format:?}\n")))
    }

    /// A page that says when it has been asked for, and then waits until it is let go.
    pub(super) fn gated() -> (Arc<Self>, Arc<Notify>, mpsc::Sender<()>) {
        let asked = Arc::new(Notify::new());
        let (release, released) = mpsc::channel::<()>();
        let (bell, released) = (Arc::clone(&asked), Mutex::new(released));
        let fake = Self::new(move |_| {
            bell.notify_one();
            let _ = released.lock().unwrap().recv();
            Ok("finished\n".to_owned())
        });
        (fake, asked, release)
    }
}

impl Pages for Fake {
    fn sources(&self) -> Vec<String> {
        vec!["db".to_owned()]
    }

    fn metrics(&self, format: Format) -> Result<Vec<u8>, fmt::Error> {
        (self.metrics)(format).map(String::into_bytes)
    }

    fn ready(&self) -> Result<(), String> {
        if self.ready.load(Ordering::SeqCst) { Ok(()) } else { Err("no sample yet".to_owned()) }
    }

    fn page(&self, page: Page) -> Result<String, PageError> {
        let now = Now { monotonic: Duration::ZERO, unix_ms: 0 };
        page::prepare(page, &State::default(), now, "/metrics").render()
    }
}

/// Options whose time limits no machine is slow enough to reach, for pages that are open to everybody.
pub(super) fn patient() -> Options {
    protected(Security::new(WebConfig::default(), None).unwrap())
}

/// The same for pages that are protected.
pub(super) fn protected(security: Security) -> Options {
    let hour = Duration::from_secs(3600);
    Options {
        head_timeout: hour,
        write_timeout: hour,
        grace: hour,
        idle_grace: hour,
        ..Options::new(security)
    }
}

pub(super) struct Server {
    pub(super) address: SocketAddr,
    /// Keeps the port from others when the server no longer listens on it.
    reserved: TcpSocket,
    stop: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Server {
    pub(super) async fn start(pages: Arc<Fake>, options: Options) -> Self {
        let bind = |address| {
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_reuseport(true).unwrap();
            socket.bind(address).unwrap();
            socket
        };
        let reserved = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let address = reserved.local_addr().unwrap();
        let listener = bind(address).listen(1024).unwrap();
        let (stop, stopped) = oneshot::channel();
        let shutdown = async {
            let _ = stopped.await;
        };
        let task = tokio::spawn(serve(vec![listener], pages, options, shutdown));
        Self { address, reserved, stop, task }
    }

    pub(super) async fn plain() -> Self {
        Self::start(Fake::plain(), patient()).await
    }

    pub(super) async fn client(&self) -> Client {
        Client { stream: BufReader::new(TcpStream::connect(self.address).await.unwrap()) }
    }

    /// One request on a connection of its own.
    pub(super) async fn get(&self, path: &str, headers: &[&str]) -> Answer {
        self.client().await.request("GET", path, headers).await
    }

    /// Tells the server to stop and hands out what to await, and what keeps its port.
    pub(super) fn stop(self) -> (JoinHandle<std::io::Result<()>>, TcpSocket) {
        self.stop.send(()).unwrap();
        (self.task, self.reserved)
    }
}

pub(super) struct Client<S = TcpStream> {
    pub(super) stream: BufReader<S>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(super) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).await.unwrap();
    }

    pub(super) async fn request(&mut self, method: &str, path: &str, headers: &[&str]) -> Answer {
        let lines: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        self.send(format!("{method} {path} HTTP/1.1\r\nHost: test\r\n{lines}\r\n")).await;
        self.answer(method != "HEAD").await
    }

    /// Reads exactly one response, so that the next one is seen to begin where it ends.
    pub(super) async fn answer(&mut self, with_body: bool) -> Answer {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.stream.read_line(&mut line).await.unwrap(), 0, "closed after {lines:?}");
            let line = line.trim_end().to_owned();
            if line.is_empty() {
                break;
            }
            lines.push(line);
        }
        let mut answer = Answer { lines, body: Vec::new() };
        if with_body {
            answer.body = vec![0; answer.header("content-length").unwrap().parse().unwrap()];
            self.stream.read_exact(&mut answer.body).await.unwrap();
        }
        answer
    }

    /// Everything up to the end of the connection, be it closed or reset.
    pub(super) async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        let _ = self.stream.read_to_end(&mut rest).await;
        rest
    }
}

#[derive(Debug)]
pub(super) struct Answer {
    lines: Vec<String>,
    pub(super) body: Vec<u8>,
}

impl Answer {
    pub(super) fn status(&self) -> u16 {
        self.lines.first().and_then(|line| line.split(' ').nth(1)).unwrap().parse().unwrap()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let headers = self.lines.iter().filter_map(|line| line.split_once(": "));
        headers.filter(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }

    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(super) fn unzipped(&self) -> String {
        let mut text = String::new();
        flate2::read::GzDecoder::new(self.body.as_slice()).read_to_string(&mut text).unwrap();
        text
    }
}
