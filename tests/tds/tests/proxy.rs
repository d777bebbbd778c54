//! Between the exporter and the mock server: checks each statement, and makes each message of the
//! client one packet, because the mock takes a packet for a message.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::copy;
use tokio::net::{TcpListener, TcpStream};

use crate::message::Message;

/// A statement and its parameters.
pub type Key = (String, Vec<i64>);

/// What went through, and what may.
#[derive(Debug, Default)]
pub struct Log {
    /// What the mock has an answer for.
    pub registered: Vec<Key>,
    /// What came by, in order.
    pub seen: Vec<Key>,
    /// What came by without an answer.
    pub unregistered: Vec<Key>,
    /// How many connections were opened.
    pub connections: usize,
}

/// Accepts connections on a port of its own; each is passed on to `server`.
pub async fn listen(server: SocketAddr, log: Arc<Mutex<Log>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            log.lock().unwrap().connections += 1;
            tokio::spawn(pass_on(client, server, Arc::clone(&log)));
        }
    });
    port
}

async fn pass_on(client: TcpStream, server: SocketAddr, log: Arc<Mutex<Log>>) {
    let server = TcpStream::connect(server).await.expect("the mock listens");
    let (mut from_client, mut to_client) = client.into_split();
    let (mut from_server, mut to_server) = server.into_split();
    tokio::spawn(async move { copy(&mut from_server, &mut to_client).await });
    // A connection that breaks is for the client to report.
    while let Ok(Some(mut message)) = Message::read(&mut from_client).await {
        if let Some(asked) = message.statement() {
            // The mock looks for the upper-cased text; only ASCII keeps its place.
            let end = asked.position + asked.text.encode_utf16().count() * 2;
            for unit in message.body[asked.position..end].chunks_exact_mut(2) {
                if unit[1] == 0 {
                    unit[0].make_ascii_uppercase();
                }
            }
            let key = (asked.text, asked.parameters);
            let mut log = log.lock().unwrap();
            if !log.registered.contains(&key) {
                log.unregistered.push(key.clone());
            }
            log.seen.push(key);
        }
        if message.write(&mut to_server).await.is_err() {
            return;
        }
    }
}
