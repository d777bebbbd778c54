//! The statements that clients send, read back from their messages (MS-TDS 2.2.6.6 and 2.2.6.7).

use sqlqueue_exporter::source::Value;
use sqlqueue_exporter::statement::Statement;

const SQL_BATCH: u8 = 1;
const RPC: u8 = 3;

/// A statement and the values of its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub text: String,
    pub parameters: Vec<i64>,
}

impl From<&Statement> for Request {
    fn from(statement: &Statement) -> Self {
        let value = |value: &Value| match value {
            Value::Int(value) => *value,
            other => panic!("{other:?} is not a BIGINT"),
        };
        let parameters = statement.parameters.iter().map(|parameter| value(&parameter.value)).collect();
        Self { text: statement.text.clone(), parameters }
    }
}

impl Request {
    /// The request in a message of this type.
    pub fn parse(kind: u8, payload: &[u8]) -> Self {
        let mut reader = Reader { bytes: payload, at: 0 };
        reader.skip_headers();
        match kind {
            SQL_BATCH => Self { text: utf16(&payload[reader.at..]), parameters: Vec::new() },
            RPC => {
                // sp_executesql is called by number; no option is set.
                assert_eq!([reader.u16(), reader.u16(), reader.u16()], [0xffff, 10, 0], "not sp_executesql");
                let text = reader.nvarchar();
                let declared = reader.nvarchar();
                let mut parameters = Vec::new();
                while reader.at < payload.len() {
                    parameters.push(reader.bigint());
                }
                let names = (1..=parameters.len()).map(|index| format!("@P{index} bigint"));
                assert_eq!(declared, names.collect::<Vec<_>>().join(","));
                Self { text, parameters }
            }
            other => panic!("a message of type {other} is no request"),
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

    /// A parameter of type NVARCHAR.
    fn nvarchar(&mut self) -> String {
        assert_eq!(self.parameter(), 0xe7, "not NVARCHAR");
        let longest = self.u16();
        self.take(5); // collation
        let length = if longest == 0xffff {
            // In one chunk, after the total length.
            let all = u64::from_le_bytes(self.array());
            let chunk = u32::from_le_bytes(self.array());
            assert!(all == u64::from(chunk) || all == u64::MAX - 1, "a text in several chunks");
            chunk as usize
        } else {
            usize::from(self.u16())
        };
        let text = utf16(self.take(length));
        if longest == 0xffff {
            assert_eq!(self.array(), [0; 4], "a text in several chunks");
        }
        text
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
