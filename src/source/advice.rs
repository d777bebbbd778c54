//! Advice on failed samples: the meaning of each reason and its remedy, for the web page and `check`.

use super::Reason;
use crate::statement::Dialect;

impl Reason {
    /// The meaning in plain words: whole sentences.
    #[must_use]
    pub const fn meaning(self, dialect: Dialect) -> &'static str {
        self.advice(dialect).0
    }

    /// The remedy: whole sentences.
    #[must_use]
    pub const fn remedy(self, dialect: Dialect) -> &'static str {
        self.advice(dialect).1
    }

    const fn advice(self, dialect: Dialect) -> (&'static str, &'static str) {
        match (self, dialect) {
            (Self::Connect, Dialect::Mssql) => (
                "There is no connection: it was refused, the server was not reached, TLS failed, or the server hung up.",
                "Check that the server runs and accepts connections over TCP; check the firewall, and host, port and \
                 ca_file in the configuration; the certificate has to match the host name.",
            ),
            (Self::Connect, Dialect::Sqlite) => (
                "The file could not be opened: it does not exist, may not be read, is not a database, or was replaced.",
                "Check whether the file exists, and whether the exporter's user may read it and enter its folders; a relative \
                 path starts from the folder of the configuration file. For a database in WAL mode this user must \
                 also be able to read the -wal and -shm files, or else to write to the folder.",
            ),
            (Self::Login, _) => (
                "The server was reached but refused the login or the database.",
                "Check user, password and database in the configuration, and that the database is online and open to \
                 this login.",
            ),
            (Self::Timeout, _) => (
                "The database did not answer within query_timeout.",
                "Check whether the statement lacks an index; check --connect names it. With the indexes in place, look \
                 at the load on the server, then raise query_timeout.",
            ),
            (Self::LockTimeout, Dialect::Mssql) => (
                "Somebody held a lock on the page or the table for longer than lock_timeout. Rows that are locked \
                 one by one are skipped, unless read_mode is read_committed or they are those of a related table.",
                "Find out who holds it (sys.dm_tran_locks). Usual causes are one DELETE or UPDATE of more than 5,000 rows, \
                 which locks the whole table, and a schema change: work in smaller batches.",
            ),
            (Self::LockTimeout, Dialect::Sqlite) => (
                "Somebody was writing for longer than lock_timeout.",
                "Find out which program writes for so long, and make its transactions shorter. In WAL mode readers do \
                 not wait for writers.",
            ),
            (Self::Deadlock, _) => (
                "The server ended the exporter's statement to resolve a deadlock. It always chooses this one, so nobody \
                 else was affected.",
                "Now and then it is harmless. If it keeps happening, look at the deadlock graph in the system_health \
                 session, and check whether the statement lacks an index; check --connect names it.",
            ),
            (Self::Permission, Dialect::Mssql) => (
                "The login may not read the table, or is not shown its rows.",
                "GRANT SELECT to the login on the tables that the configuration names. For a view that hides rows, give the \
                 login what the probe asks for.",
            ),
            (Self::Permission, Dialect::Sqlite) => (
                "The table or view does not show its rows.",
                "Check whether the view still shows the rows that the probe finds in its base_table.",
            ),
            (Self::MissingObject, _) => (
                "A table or a column that the configuration names does not exist.",
                "Check that the table and the column exist in this database, under this name and schema; check --connect \
                 names the key of a column. A target that maps no column has the mapping of this project's own tables.",
            ),
            (Self::Decode, _) => (
                "The answer does not have the shape that the mapping promises: a column has another type, for example.",
                "Check whether the column holds what the mapping says; the exporter's log and check --connect name it.",
            ),
            (Self::Other, _) => (
                "Something else went wrong.",
                "Read the database's own message in the exporter's log or in the output of check --connect.",
            ),
        }
    }
}
