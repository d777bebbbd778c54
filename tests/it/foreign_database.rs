//! Foreign databases: a SQLite file that the exporter's user may not read, or not the way SQLite needs it.

use std::path::Path;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::binary::command;
use crate::foreign_user::{as_nobody, folder_of_root, set_mode};

const CONFIG: &str = "global: { query_timeout: 1h }
sources: [{ name: db, sqlite: { file: queue.db }, queues: [{ name: jobs }] }]
";

/// A queue in a folder where `nobody` may read everything and write nothing.
fn world(test: &str) -> Option<(TempDir, Connection)> {
    let folder = folder_of_root(&format!("foreign_database::{test}"))?;
    let database = Connection::open(folder.path().join("queue.db")).unwrap();
    database.execute_batch(include_str!("../../sql/sqlite/schema.sql")).unwrap();
    std::fs::write(folder.path().join("config.yaml"), CONFIG).unwrap();
    for name in ["queue.db", "config.yaml"] {
        set_mode(&folder.path().join(name), 0o644);
    }
    Some((folder, database))
}

/// What `check --connect` prints as `nobody`, and whether it succeeds.
fn check(folder: &Path) -> (String, bool) {
    let own = command(&["check", "--connect", "--config.file=config.yaml"]);
    let output = as_nobody(folder, &own).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.success())
}

#[track_caller]
fn assert_refused(folder: &Path, words: &[&str]) {
    let (said, well) = check(folder);
    assert!(!well && said.contains("FAILED (connect), cannot open "), "{said}");
    for words in words {
        assert!(said.contains(words), "{words}: {said}");
    }
    for misleading in ["readonly", "attempt to write", "GRANT", "login", "host name"] {
        assert!(!said.contains(misleading), "{misleading}: {said}");
    }
}

fn into_wal_mode(database: &Connection) {
    let mode: String =
        database.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
}

#[test]
fn a_file_that_may_not_be_read_is_refused_in_the_words_of_the_system() {
    let Some((folder, _database)) = world("a_file_that_may_not_be_read") else { return };
    let (said, well) = check(folder.path());
    assert!(well, "{said}");
    set_mode(&folder.path().join("queue.db"), 0o600);
    assert_refused(
        folder.path(),
        &["queue.db: Permission denied", "whether the exporter's user may read it"],
    );
}

#[test]
fn a_database_in_wal_mode_needs_its_companions_or_a_folder_that_may_be_written() {
    let Some((folder, database)) = world("a_database_in_wal_mode") else { return };
    into_wal_mode(&database);
    database.execute_batch("CREATE TABLE other (id)").unwrap();
    for companion in ["queue.db-wal", "queue.db-shm"] {
        set_mode(&folder.path().join(companion), 0o644);
    }
    let (said, well) = check(folder.path());
    assert!(well, "as long as a writer has it open: {said}");

    set_mode(&folder.path().join("queue.db-wal"), 0o600);
    assert_refused(folder.path(), &["queue.db-wal: Permission denied"]);

    drop(database);
    assert!(!folder.path().join("queue.db-wal").exists());
    let remedy = "must also be able to read the -wal and -shm files, or else to write to the folder";
    assert_refused(folder.path(), &["it is in WAL mode", "-wal and -shm", remedy]);

    set_mode(folder.path(), 0o777);
    let (said, well) = check(folder.path());
    assert!(well, "{said}");
}

#[test]
fn a_transaction_of_a_writer_that_died_is_told_from_a_lack_of_permission() {
    let Some((folder, database)) = world("a_transaction_of_a_writer_that_died") else { return };
    // What a killed writer leaves: its journal, and pages that cannot be trusted.
    database.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE").unwrap();
    database
        .execute_batch(
            "CREATE TABLE big (text);
            WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
            INSERT INTO big SELECT hex(randomblob(500)) FROM n",
        )
        .unwrap();
    for name in ["queue.db", "queue.db-journal"] {
        let file = folder.path().join(name);
        std::fs::copy(&file, folder.path().join(format!("{name}.copy"))).unwrap();
    }
    database.execute_batch("ROLLBACK").unwrap();
    drop(database);
    for name in ["queue.db", "queue.db-journal"] {
        let file = folder.path().join(name);
        std::fs::rename(folder.path().join(format!("{name}.copy")), &file).unwrap();
        set_mode(&file, 0o644);
    }
    assert_refused(folder.path(), &["a writer died in the middle of a transaction", "queue.db-journal"]);
}
