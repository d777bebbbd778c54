//! TDS messages, as far as a test has to understand them (MS-TDS 2.2.3, 2.2.6.6 and 2.2.6.7).

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Length of the header of a packet.
const HEADER: usize = 8;
/// The bit that marks the last packet of a message.
const LAST: u8 = 1;
const SQL_BATCH: u8 = 1;
const RPC: u8 = 3;

/// One message of a client, put together from its packets.
pub struct Message {
    kind: u8,
    pub body: Vec<u8>,
}

/// A statement in a message: its text, its parameters, and where in the message the text is.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    pub text: String,
    pub parameters: Vec<i64>,
    pub position: usize,
}

impl Message {
    /// Reads one message; `None` when the client is gone.
    pub async fn read(stream: &mut (impl AsyncReadExt + Unpin)) -> io::Result<Option<Self>> {
        let mut body = Vec::new();
        loop {
            let mut header = [0; HEADER];
            match stream.read_exact(&mut header).await {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof && body.is_empty() => {
                    return Ok(None);
                }
                Err(error) => return Err(error),
            }
            let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
            let start = body.len();
            body.resize(start + length.checked_sub(HEADER).expect("a packet has a header"), 0);
            stream.read_exact(&mut body[start..]).await?;
            if header[1] & LAST != 0 {
                return Ok(Some(Self { kind: header[0], body }));
            }
        }
    }

    /// Writes the message as one packet, however long it is.
    pub async fn write(&self, stream: &mut (impl AsyncWriteExt + Unpin)) -> io::Result<()> {
        let length = u16::try_from(HEADER + self.body.len()).expect("a message of the tests fits a packet");
        let [high, low] = length.to_be_bytes();
        stream.write_all(&[self.kind, LAST, high, low, 0, 0, 1, 0]).await?;
        stream.write_all(&self.body).await?;
        stream.flush().await
    }

    /// The statement that the message asks for; `None` when it asks for none.
    pub fn statement(&self) -> Option<Asked> {
        let mut reader = Reader { bytes: &self.body, at: 0 };
        match self.kind {
            SQL_BATCH => {
                reader.skip_headers();
                let position = reader.at;
                let text = utf16(&self.body[position..]);
                Some(Asked { text, parameters: Vec::new(), position })
            }
            RPC => {
                reader.skip_headers();
                // sp_executesql goes by its number; no option is set.
                assert_eq!([reader.u16(), reader.u16(), reader.u16()], [0xffff, 10, 0], "not sp_executesql");
                let (position, text) = reader.nvarchar();
                let (_, declared) = reader.nvarchar();
                let mut parameters = Vec::new();
                while reader.at < self.body.len() {
                    parameters.push(reader.bigint());
                }
                let names = (1..=parameters.len()).map(|index| format!("@P{index} bigint"));
                assert_eq!(declared, names.collect::<Vec<_>>().join(","));
                Some(Asked { text, parameters, position })
            }
            _ => None,
        }
    }
}

/// Reads the parameters of an RPC request.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> &'a [u8] {
        let taken = &self.bytes[self.at..self.at + length];
        self.at += length;
        taken
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.take(N).try_into().expect("as many as asked for")
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    /// ALL_HEADERS, whose length includes itself.
    fn skip_headers(&mut self) {
        let length = u32::from_le_bytes(self.array());
        self.take(length as usize - 4);
    }

    /// Name and status of a parameter, then the byte of its type.
    fn parameter(&mut self) -> u8 {
        let [name] = self.array();
        self.take(usize::from(name) * 2);
        let [_status, kind] = self.array();
        kind
    }

    /// A parameter of type NVARCHAR: where its text begins, and the text.
    fn nvarchar(&mut self) -> (usize, String) {
        assert_eq!(self.parameter(), 0xe7, "not NVARCHAR");
        let longest = self.u16();
        self.take(5); // collation
        let length = if longest == 0xffff {
            // In one chunk, after the length of all of them.
            let all = u64::from_le_bytes(self.array());
            let chunk = u32::from_le_bytes(self.array());
            assert!(all == u64::from(chunk) || all == u64::MAX - 1, "a text in several chunks");
            chunk as usize
        } else {
            usize::from(self.u16())
        };
        let position = self.at;
        let text = utf16(self.take(length));
        if longest == 0xffff {
            assert_eq!(self.array(), [0; 4], "a text in several chunks");
        }
        (position, text)
    }

    /// A parameter of type BIGINT that is not NULL.
    fn bigint(&mut self) -> i64 {
        assert_eq!(self.parameter(), 0x26, "not an integer");
        assert_eq!(self.array(), [8, 8], "not a BIGINT, or NULL");
        i64::from_le_bytes(self.array())
    }
}

fn utf16(bytes: &[u8]) -> String {
    let units: Vec<u16> = bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
    String::from_utf16(&units).expect("the driver sends UTF-16")
}
