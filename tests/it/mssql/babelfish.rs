//! Rewrites of the scripts of `sql/mssql` for Babelfish, and for nothing else. Each must find something to
//! change, so that none is left behind when the scripts change.
//!
//! - It has no `CREATE OR ALTER`: the procedure is dropped and created.
//! - It has no `GRANT VIEW DEFINITION`: a login that may read some columns does not see the table's indexes.
//! - It reports an engine edition and a version of its own: the check of the version is taken out.
//! - It appends a hash to the name of an index: tests look for the beginning of the name.
//! - `sp_getapplock` returns -999 instead of -1 when the lock is taken, and its locks belong to the whole
//!   server: each database uses a lock of its own.
//! - It cannot update or delete through a common table expression. The statement names the table and
//!   takes the rows of the expression by their key, in a subquery (an expression beside `OUTPUT … INTO`
//!   is more than it can bear); what made them candidates is asked once more, because this server
//!   ignores `UPDLOCK` and `READPAST`, so that another worker may have been faster.

/// The text of a script as Babelfish takes it, for a database of this name.
pub fn for_babelfish(file: &str, text: String, database: &str) -> String {
    let text = if text.contains(CREATE_OR_ALTER) { dropped_and_created(file, &text) } else { text };
    let schema = "[$(SchemaName)]";
    match file {
        "prepare.sql" => once(file, &text, "BETWEEN 1 AND 4", "= 0"),
        "lease_queue/tables.sql" | "notifications/tables.sql" => index_names(file, &text),
        "notifications/run.sql" => {
            let text = once(file, &text, "IF @lock = -1", "IF @lock IN (-1, -999)");
            let (from, to) = (format!("N'{LOCK}'"), format!("N'{}'", lock_resource(true, database)));
            assert!(text.contains(&from), "{file} takes another lock");
            text.replace(&from, &to)
        }
        "lease_queue/claim.sql" => {
            through(file, &text, "UPDATE candidate", &format!("{schema}.JobQueue"), "JobId", "State = N'R'")
        }
        "lease_queue/recover.sql" => {
            let still = "State = N'W' AND LeaseUntil < @lapsedBefore";
            through(file, &text, "UPDATE lapsed", &format!("{schema}.JobQueue"), "JobId", still)
        }
        "lease_queue/purge.sql" => {
            let jobs = format!("{schema}.JobQueue");
            let text = through(file, &text, "DELETE FROM finished", &jobs, "JobId", "State = @State");
            let attempts = format!("{schema}.JobAttempt");
            through(file, &text, "DELETE FROM oldest", &attempts, "AttemptId", "1 = 1")
        }
        "work_queue/dequeue.sql" => {
            through(file, &text, "DELETE FROM candidate", &format!("{schema}.WorkQueue"), "WorkId", "1 = 1")
        }
        "permissions.sql" => without_statements(file, &text, "GRANT VIEW DEFINITION "),
        "notifications/log.sql" => {
            through(file, &text, "DELETE FROM old", &format!("{schema}.RunLog"), "RunLogId", "1 = 1")
        }
        _ => text,
    }
}

/// The name of the runs' lock in a database.
pub fn lock_resource(is_babelfish: bool, database: &str) -> String {
    if is_babelfish { format!("{LOCK} {database}") } else { LOCK.to_owned() }
}

const LOCK: &str = "notifications";

const CREATE_OR_ALTER: &str = "CREATE OR ALTER PROCEDURE ";

fn dropped_and_created(file: &str, text: &str) -> String {
    let mut rewritten = String::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix(CREATE_OR_ALTER) {
            let name = rest.split_whitespace().next().unwrap();
            rewritten.push_str(&format!("DROP PROCEDURE IF EXISTS {name};\nGO\nCREATE PROCEDURE {rest}\n"));
        } else {
            rewritten.push_str(line);
            rewritten.push('\n');
        }
    }
    assert!(!rewritten.contains(CREATE_OR_ALTER.trim_end()), "{file}: not at the beginning of a line");
    rewritten
}

fn index_names(file: &str, text: &str) -> String {
    let exact = "i.name = N'";
    let mut parts = text.split(exact);
    let mut rewritten = parts.next().unwrap().to_owned();
    let mut found = 0;
    for part in parts {
        let (name, rest) = part.split_once('\'').unwrap();
        rewritten.push_str(&format!("i.name LIKE N'{name}%'{rest}"));
        found += 1;
    }
    assert!(found > 0, "{file} looks for no index");
    rewritten
}

/// `WITH name AS (rows) UPDATE name …;` or `… DELETE FROM name …;` as a statement about the table.
fn through(file: &str, text: &str, statement: &str, table: &str, key: &str, still: &str) -> String {
    let (verb, name) = statement.rsplit_once(' ').unwrap();
    let (before, after) = split_once_only(file, text, &format!("WITH {name} AS ("));
    let (rows, after) = after.split_at(closing(after).expect(file));
    let after = after.strip_prefix(')').unwrap().trim_start();
    let after = after.strip_prefix(statement).unwrap_or_else(|| panic!("{file}: no {statement}: {after}"));
    let (rest, following) = after.split_once(';').expect(file);
    // It keeps its own predicate.
    let joint =
        if rest.lines().any(|line| line.trim_start().starts_with("WHERE ")) { "AND" } else { "WHERE" };
    let chosen = format!("{key} IN (SELECT {key} FROM ({rows}) AS {name}) AND {still}");
    format!("{before}{verb} {table}{rest}\n    {joint} {chosen};{following}")
}

/// Where the parenthesis that was open before this text closes.
fn closing(text: &str) -> Option<usize> {
    let mut open = 1;
    text.char_indices().find_map(|(at, character)| {
        match character {
            '(' => open += 1,
            ')' => open -= 1,
            _ => {}
        }
        (open == 0).then_some(at)
    })
}

/// The text without the lines that begin like this.
fn without_statements(file: &str, text: &str, begin: &str) -> String {
    assert!(text.lines().any(|line| line.starts_with(begin)), "{file} has no {begin}");
    let kept = text.lines().filter(|line| !line.starts_with(begin));
    kept.map(|line| format!("{line}\n")).collect()
}

fn once(file: &str, text: &str, from: &str, to: &str) -> String {
    let (before, after) = split_once_only(file, text, from);
    format!("{before}{to}{after}")
}

#[track_caller]
fn split_once_only<'a>(file: &str, text: &'a str, at: &str) -> (&'a str, &'a str) {
    let mut parts = text.split(at);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(before), Some(after), None) => (before, after),
        _ => panic!("{file}: `{at}` is there {} times, not once", text.matches(at).count()),
    }
}

#[test]
fn nothing_is_left_for_babelfish_to_refuse() {
    let batches = super::script::batches("install.sql", &[("SchemaName", "dbo")], &|file, text| {
        for_babelfish(file, text, "some_database")
    });
    for (file, text) in batches.iter().map(|batch| (&batch.file, &batch.text)) {
        assert!(!text.contains(CREATE_OR_ALTER), "{file}");
        for name in ["candidate", "lapsed", "finished", "oldest", "old"] {
            for line in text.lines().map(str::trim) {
                assert!(!line.starts_with(&format!("UPDATE {name}")), "{file}: {line}");
                assert_ne!(line, format!("DELETE FROM {name};"), "{file}");
                assert_ne!(line, format!("DELETE FROM {name}"), "{file}");
            }
        }
    }
}

#[test]
fn a_rewrite_that_finds_nothing_fails() {
    for file in ["prepare.sql", "lease_queue/tables.sql", "lease_queue/claim.sql", "notifications/log.sql"] {
        let refused = std::panic::catch_unwind(|| for_babelfish(file, "SELECT 1;\n".to_owned(), "d"));
        assert!(refused.is_err(), "{file}");
    }
}
