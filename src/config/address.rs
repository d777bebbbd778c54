//! What a database or a table is called, in messages and in saved state. No secrets.

use std::fmt;

use super::{Database, Endpoint, Mssql, Sqlite, TableName};

impl fmt::Display for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mssql(mssql) => mssql.fmt(f),
            Self::Sqlite(sqlite) => sqlite.fmt(f),
        }
    }
}

impl fmt::Display for Mssql {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, database, endpoint, .. } = self;
        match endpoint {
            Endpoint::Port(port) => write!(f, "{host}:{port}/{database}"),
            Endpoint::Instance(instance) => write!(f, "{host}\\{instance}/{database}"),
        }
    }
}

impl fmt::Display for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.file.display().fmt(f)
    }
}

impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}
