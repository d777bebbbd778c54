//! The bytes of the simulated server: enough of TDS 7.4 for a login without TLS and for the answers to
//! single statements (MS-TDS 2.2). Each user needs a part of it.
#![allow(dead_code, reason = "see above")]

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use sqlqueue_exporter::config::Secret;
use sqlqueue_exporter::config::{ApplicationIntent, Encryption, Endpoint, Mssql, PasswordSource, Trust};

pub const ATTENTION: u8 = 0x06;

/// The value of the prelogin option ENCRYPTION by which a server has no TLS.
pub const ENCRYPT_NOT_SUP: u8 = 0x02;

/// Something that a correct client always does; a test fails instead of hanging when it does not.
async fn soon<T>(event: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(300), event).await.expect("the client did nothing")
}

/// A listening socket, and the settings that lead to it.
pub struct Server {
    listener: TcpListener,
}

impl Server {
    pub async fn listen() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.unwrap() }
    }

    pub fn port(&self) -> u16 {
        self.listener.local_addr().unwrap().port()
    }

    pub fn settings(&self) -> Mssql {
        Mssql {
            host: "127.0.0.1".to_owned(),
            endpoint: Endpoint::Port(self.port()),
            database: "Orders".to_owned(),
            user: "watcher".to_owned(),
            password: Secret::new("p@ss;w{}rd'\" zażółć"),
            password_source: PasswordSource::Variable("DB_PASSWORD".to_owned()),
            encryption: Encryption::Off,
            trust: Trust::System,
            application_intent: ApplicationIntent::ReadOnly,
        }
    }

    pub async fn accept(&self) -> Peer {
        Peer { stream: soon(self.listener.accept()).await.unwrap().0 }
    }

    /// Accepts one client and logs it in.
    pub async fn accept_login(&self) -> Peer {
        let mut peer = self.accept().await;
        peer.prelogin(ENCRYPT_NOT_SUP).await;
        peer.read().await;
        peer.answer(&logged_in()).await;
        peer
    }
}

/// One client.
pub struct Peer {
    stream: TcpStream,
}

impl Peer {
    /// Reads one message: its type and its payload.
    pub async fn read(&mut self) -> (u8, Vec<u8>) {
        soon(message(&mut self.stream)).await.unwrap()
    }

    /// Sends one packet of an answer that continues.
    pub async fn begin(&mut self, tokens: &[u8]) {
        self.packet(tokens, 0).await;
    }

    /// Sends the last packet of an answer.
    pub async fn answer(&mut self, tokens: &[u8]) {
        self.packet(tokens, 1).await;
    }

    async fn packet(&mut self, tokens: &[u8], status: u8) {
        self.stream.write_all(&packet(tokens, status)).await.unwrap();
    }

    /// Reads the client's prelogin and answers it with a version and an encryption level.
    pub async fn prelogin(&mut self, encryption: u8) {
        self.read().await;
        self.answer(&prelogin(encryption)).await;
    }

    /// Waits until the client has closed the connection.
    pub async fn closed(&mut self) {
        let mut rest = Vec::new();
        // A reset is as good an end as any.
        let _ = soon(self.stream.read_to_end(&mut rest)).await;
    }
}

/// The length of a packet that client and server agree on, header included.
const PACKET: usize = 4096;

/// The status of a packet that ends its message.
pub const LAST: u8 = 1;

/// One packet of an answer.
pub fn packet(tokens: &[u8], status: u8) -> Vec<u8> {
    let length = u16::try_from(tokens.len() + 8).unwrap().to_be_bytes();
    let mut packet = vec![0x04, status, length[0], length[1], 0, 0, 1, 0];
    packet.extend(tokens);
    packet
}

/// An answer, in as many packets as it needs.
pub fn packets(tokens: &[u8]) -> Vec<u8> {
    let mut chunks = tokens.chunks(PACKET - 8).peekable();
    let mut packets = Vec::new();
    while let Some(chunk) = chunks.next() {
        packets.extend(packet(chunk, if chunks.peek().is_none() { LAST } else { 0 }));
    }
    packets
}

/// Reads one message of a client: its type and its payload.
pub async fn message(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<(u8, Vec<u8>)> {
    let mut payload = Vec::new();
    loop {
        let mut header = [0; 8];
        stream.read_exact(&mut header).await?;
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let mut packet = vec![0; length - header.len()];
        stream.read_exact(&mut packet).await?;
        payload.extend(packet);
        if header[1] & LAST == LAST {
            return Ok((header[0], payload));
        }
    }
}

/// The answer to a prelogin: a version and an encryption level.
pub fn prelogin(encryption: u8) -> Vec<u8> {
    let mut answer = vec![0, 0, 11, 0, 6, 1, 0, 17, 0, 1, 0xff];
    answer.extend([16, 0, 0, 0, 0, 0, encryption]);
    answer
}

/// A text field of a login message, by the position of its offset (MS-TDS 2.2.6.4).
pub fn login_text(login: &[u8], at: usize) -> String {
    text(&login_field(login, at))
}

/// The password of a login message.
pub fn login_password(login: &[u8]) -> String {
    let obfuscated = login_field(login, 44);
    text(&obfuscated.into_iter().map(|byte| (byte ^ 0xa5).rotate_left(4)).collect::<Vec<u8>>())
}

fn login_field(login: &[u8], at: usize) -> Vec<u8> {
    let number = |at: usize| usize::from(u16::from_le_bytes([login[at], login[at + 1]]));
    login[number(at)..number(at) + 2 * number(at + 2)].to_vec()
}

fn text(bytes: &[u8]) -> String {
    let units: Vec<u16> = bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    String::from_utf16(&units).unwrap()
}

pub fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn b_varchar(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.encode_utf16().count()).unwrap();
    [vec![length], utf16(text)].concat()
}

fn us_varchar(text: &str) -> Vec<u8> {
    let length = u16::try_from(text.encode_utf16().count()).unwrap();
    [length.to_le_bytes().to_vec(), utf16(text)].concat()
}

fn token(kind: u8, body: Vec<u8>) -> Vec<u8> {
    let length = u16::try_from(body.len()).unwrap().to_le_bytes();
    [vec![kind], length.to_vec(), body].concat()
}

/// DONE with these status bits.
pub fn done(status: u16) -> Vec<u8> {
    let mut token = vec![0xfd];
    token.extend(status.to_le_bytes());
    token.extend([0; 10]);
    token
}

pub const DONE_FINAL: u16 = 0x00;
pub const DONE_MORE: u16 = 0x01;
pub const DONE_ERROR: u16 = 0x02;
pub const DONE_ATTENTION: u16 = 0x20;

pub fn logged_in() -> Vec<u8> {
    let mut ack = vec![1, 0x74, 0, 0, 4];
    ack.extend(b_varchar("fake"));
    ack.extend([16, 0, 0, 0]);
    [token(0xad, ack), done(DONE_FINAL)].concat()
}

/// ENVCHANGE: go to this address instead.
pub fn routing(host: &str, port: u16) -> Vec<u8> {
    let mut value = vec![0];
    value.extend(port.to_le_bytes());
    value.extend(us_varchar(host));
    let length = u16::try_from(value.len()).unwrap().to_le_bytes();
    token(0xe3, [vec![20], length.to_vec(), value, vec![0, 0]].concat())
}

pub fn error(number: u32, class: u8, text: &str) -> Vec<u8> {
    let mut body = number.to_le_bytes().to_vec();
    body.extend([1, class]);
    body.extend(us_varchar(text));
    body.extend(b_varchar("fake"));
    body.extend(b_varchar(""));
    body.extend(3_u32.to_le_bytes());
    token(0xaa, body)
}

/// A column type: its TYPE_INFO.
#[derive(Clone, Copy)]
pub enum Kind {
    /// INTN of this many bytes.
    Integer(u8),
    Bit,
    NVarChar,
    NVarCharMax,
    VarBinaryMax,
    DateTime,
}

pub fn columns(columns: &[(&str, Kind)]) -> Vec<u8> {
    let mut token = vec![0x81];
    token.extend(u16::try_from(columns.len()).unwrap().to_le_bytes());
    for (name, kind) in columns {
        // User type, flags (nullable), type, name.
        token.extend([0, 0, 0, 0, 1, 0]);
        match kind {
            Kind::Integer(width) => token.extend([0x26, *width]),
            Kind::Bit => token.extend([0x68, 1]),
            // 8000 bytes, collation Latin1.
            Kind::NVarChar => token.extend([0xe7, 0x40, 0x1f, 0x09, 0x04, 0xd0, 0x00, 0x34]),
            Kind::NVarCharMax => token.extend([0xe7, 0xff, 0xff, 0x09, 0x04, 0xd0, 0x00, 0x34]),
            Kind::VarBinaryMax => token.extend([0xa5, 0xff, 0xff]),
            Kind::DateTime => token.extend([0x6f, 8]),
        }
        token.extend(b_varchar(name));
    }
    token
}

/// ROW; each value already encoded.
pub fn row(values: &[Vec<u8>]) -> Vec<u8> {
    [vec![0xd1], values.concat()].concat()
}

/// The value of an INTN, BITN or DATETIMN column; NULL when empty.
pub fn fixed(bytes: &[u8]) -> Vec<u8> {
    [vec![u8::try_from(bytes.len()).unwrap()], bytes.to_vec()].concat()
}

/// The value of an NVARCHAR column.
pub fn nvarchar(text: Option<&str>) -> Vec<u8> {
    match text {
        None => vec![0xff, 0xff],
        Some(text) => {
            let bytes = utf16(text);
            [u16::try_from(bytes.len()).unwrap().to_le_bytes().to_vec(), bytes].concat()
        }
    }
}

/// The value of an NVARCHAR(MAX) or VARBINARY(MAX) column, in one chunk unless it is empty.
pub fn in_chunks(bytes: Option<&[u8]>) -> Vec<u8> {
    let Some(bytes) = bytes else { return vec![0xff; 8] };
    let mut value = u64::try_from(bytes.len()).unwrap().to_le_bytes().to_vec();
    if !bytes.is_empty() {
        value.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
        value.extend(bytes);
    }
    value.extend([0; 4]);
    value
}
