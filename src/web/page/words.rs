//! What the exporter's own words mean, and what to do about them.

use crate::source::Reason;

/// What a reason means, in plain words.
pub(super) const fn meaning(reason: Reason) -> &'static str {
    match reason {
        Reason::Connect => {
            "There is no connection: it was refused, the server was not reached, TLS failed, or the server hung up."
        }
        Reason::Login => "The server was reached, and refused the login or the database.",
        Reason::Timeout => "The database did not answer within query_timeout.",
        Reason::LockTimeout => {
            "Somebody held a lock on the page or the table for longer than lock_timeout. Rows that are locked \
             one by one are passed over and never cause this."
        }
        Reason::Deadlock => {
            "The server ended the exporter's statement to resolve a deadlock. It always chooses this one, so nobody \
             else was hurt."
        }
        Reason::Permission => "The login may not read the table, or is not shown its rows.",
        Reason::MissingObject => "A table or a column that the configuration names does not exist.",
        Reason::Decode => {
            "The answer is not of the shape that the mapping promises, a column of another type for example."
        }
        Reason::Other => "Something else went wrong.",
    }
}

/// What to do about a reason.
pub(super) const fn remedy(reason: Reason) -> &'static str {
    match reason {
        Reason::Connect => {
            "Look whether the server runs and takes connections over TCP, at the firewall, and at host, port and \
             ca_file in the configuration; with sqlite, whether the file is there and may be read."
        }
        Reason::Login => {
            "Look at user, password and database in the configuration, and whether the database is online and open \
             to this login."
        }
        Reason::Timeout => {
            "Run check --connect: it names the index that a statement lacks. With the indexes in place, look at the \
             load on the server, then raise query_timeout."
        }
        Reason::LockTimeout => {
            "Find out who holds it (sys.dm_tran_locks). Usual causes are one DELETE or UPDATE of more than 5,000 rows, \
             which locks the whole table, and a change of the schema: work in smaller batches."
        }
        Reason::Deadlock => {
            "Now and then it is harmless. If it comes back, look at the deadlock graph of the system_health session, \
             and run check --connect for a missing index."
        }
        Reason::Permission => {
            "GRANT SELECT on the tables that the configuration names to the login. For a view that hides rows, give the \
             login what the probe asks for."
        }
        Reason::MissingObject => {
            "Run check --connect: it compares every table and column of the configuration with the database."
        }
        Reason::Decode => {
            "Read the exporter's log for the column, and run check --connect, which compares the types."
        }
        Reason::Other => "Read the exporter's log, which has the words of the server.",
    }
}

/// The kind of a target, which [`crate::state::TargetState::label`] names as a label.
pub(super) fn kind(label: &str) -> String {
    label.replace('_', " ")
}
