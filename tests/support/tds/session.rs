//! One client of the simulated server: login, answers and faults.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::answers::{canned, failure};
use super::request::Request;
use super::server::{Fault, Login, Shared, TOO_LONG, lock};
use super::wire::{
    ATTENTION, DONE_ATTENTION, DONE_FINAL, ENCRYPT_NOT_SUP, Kind, LAST, columns, done, fixed, logged_in,
    login_password, login_text, message, packet, packets, prelogin, row, utf16,
};
use crate::support::NOW_MS;

/// The value of the prelogin option ENCRYPTION by which a server insists on TLS.
const ENCRYPT_REQ: u8 = 0x03;
const LOGIN: u8 = 0x10;
/// The error of a request that a script has no answer for.
const UNEXPECTED: u32 = 50_000;
/// Between two bytes of an answer that drips.
const DRIP: Duration = Duration::from_millis(20);

/// Serves one client until either side leaves.
pub async fn serve(stream: TcpStream, shared: Arc<Mutex<Shared>>, waits: UnboundedSender<Duration>) {
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
    // This closes the other half of the socket, too.
    reading.abort();
}

struct Client {
    messages: UnboundedReceiver<(u8, Vec<u8>)>,
    writer: OwnedWriteHalf,
    shared: Arc<Mutex<Shared>>,
    waits: UnboundedSender<Duration>,
}

impl Client {
    /// Lets the client in; `None` when it does not get that far.
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
            let scripted = lock(&self.shared).script.as_mut().map(|script| {
                script.answer(Request::parse(kind, &statement)).unwrap_or_else(|| failure(UNEXPECTED))
            });
            let good = scripted.unwrap_or_else(|| canned(&contains));
            match fault {
                None => self.send(&packets(&good)).await?,
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

    /// Sends byte by byte, ignoring everything, until the client leaves. Two bytes together take too long,
    /// one alone does not.
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
        // A test that has ended does not need it.
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
