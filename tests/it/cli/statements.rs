//! `sql`: its output can be pasted, and no name can leave its quotes.

use std::collections::BTreeMap;

use rusqlite::Connection;
use rusqlite::fallible_iterator::FallibleIterator as _;
use sqlqueue_exporter::demo::{self, DemoOptions};

use crate::binary::{run_in, run_with};
use crate::page::SCHEMA;

/// Names that try to break out of their quotes.
const HOSTILE: [&str; 6] = ["x]; DROP TABLE y --", "x\"; DROP TABLE y --", "it's", "a''b", "/* x", "]]\"\"]"];

/// A configuration in which the table, columns, constants and the target itself have this name.
fn config(database: &str, name: &str) -> String {
    let yaml = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let identifier = |name: &str| yaml(&format!("[{}]", name.replace(']', "]]")));
    let (table, column, text) =
        (identifier(name), identifier(&format!("{name}2")), yaml(&format!("{name}3")));
    format!(
        "global: {{ query_timeout: 1h }}
sources:
  - name: {text}
    {database}
    queues:
      - name: {text}
        table: {table}
        queue_label: {column}
        state: {{ column: {column}, map: {{ {text}: ready, '~': done }} }}
        lease: {{ kind: none }}
        where: {{ {column}: {text} }}
    run_logs:
      - name: {text}
        table: {table}
        id: Id
        step: {column}
        outcome: {{ column: {column}, rules: [{{ equals: {text}, outcome: error }}, {{ like: {text}, outcome: skipped }}], default: ok }}
        lock: {{ resource: {text} }}
"
    )
}

fn sqlite() -> &'static str {
    "sqlite: { file: queue.db }"
}

fn mssql(folder: &std::path::Path) -> String {
    let secret = folder.join("password");
    std::fs::write(&secret, "secret").unwrap();
    format!("mssql: {{ host: db1, database: Orders, user: me, password_file: '{}' }}", secret.display())
}

fn printed(database: &str, name: &str) -> String {
    let ended = run_with(&config(database, name), &["sql"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    ended.stdout
}

/// A token of Transact-SQL. `Text` and `Name` hold their meaning, without quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Symbol(char),
    Text(String),
    Name(String),
}

/// Cuts Transact-SQL into tokens as the server does; comments are left out.
fn tokens(sql: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = sql;
    while let Some(c) = rest.chars().next() {
        rest = if rest.starts_with("--") {
            rest.find('\n').map_or("", |end| &rest[end..])
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if matches!(c, '\'' | '"' | '[') {
            let close = if c == '[' { ']' } else { c };
            let (content, after) = quoted(&rest[1..], close);
            tokens.push(if c == '\'' { Token::Text(content) } else { Token::Name(content) });
            after
        } else if c.is_alphanumeric() || matches!(c, '_' | '@' | '#' | '$') {
            let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '@' | '#' | '$')));
            let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
            tokens.push(Token::Word(word.to_owned()));
            after
        } else {
            if !c.is_whitespace() {
                tokens.push(Token::Symbol(c));
            }
            &rest[c.len_utf8()..]
        };
    }
    tokens
}

/// The rest after a block comment; block comments nest.
fn block_comment(sql: &str) -> &str {
    let (mut rest, mut depth) = (sql, 0);
    loop {
        if let Some(after) = rest.strip_prefix("/*") {
            (rest, depth) = (after, depth + 1);
        } else if let Some(after) = rest.strip_prefix("*/") {
            (rest, depth) = (after, depth - 1);
        } else {
            let mut characters = rest.chars();
            assert!(characters.next().is_some(), "a comment does not end: {sql}");
            rest = characters.as_str();
        }
        if depth == 0 {
            return rest;
        }
    }
}

/// A quoted text up to its closing mark, which is doubled inside it, and the rest after it.
fn quoted(sql: &str, close: char) -> (String, &str) {
    let mut content = String::new();
    let mut rest = sql;
    loop {
        let (before, after) = rest.split_once(close).unwrap_or_else(|| panic!("a quote is open: {sql}"));
        content.push_str(before);
        match after.strip_prefix(close) {
            Some(next) => {
                content.push(close);
                rest = next;
            }
            None => return (content, after),
        }
    }
}

#[test]
fn names_of_the_configuration_cannot_leave_their_quotes_on_sql_server() {
    let folder = tempfile::tempdir().unwrap();
    let database = mssql(folder.path());
    let plain = tokens(&printed(&database, "plain"));
    assert!(
        plain.contains(&Token::Name("plain2".to_owned()))
            && plain.contains(&Token::Text("plain3".to_owned()))
    );
    for name in HOSTILE {
        let renamed: Vec<Token> = plain
            .iter()
            .map(|token| match token {
                Token::Text(text) => Token::Text(text.replace("plain", name)),
                Token::Name(text) => Token::Name(text.replace("plain", name)),
                token => token.clone(),
            })
            .collect();
        assert_eq!(tokens(&printed(&database, name)), renamed, "{name}");
    }
}

#[test]
fn a_quoted_table_name_is_quoted_again_for_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let queue = |database: &str, table: &str| {
        let config = format!(
            "sources: [{{ name: db, {database}, queues: [{{ name: q, preset: lease, table: '{table}' }}] }}]"
        );
        run_with(&config, &["sql"]).stdout
    };
    let text = queue(&mssql(folder.path()), "dbo.[Order]]s Queue]");
    assert!(text.contains("FROM clock CROSS JOIN [dbo].[Order]]s Queue] AS t"), "{text}");
    let text = queue(sqlite(), r#""a ""quoted"" name""#);
    assert!(text.contains(r#"FROM clock CROSS JOIN "a ""quoted"" name" AS t"#), "{text}");
}

/// Runs a printed script as the `sqlite3` shell would. Returns the number of rows of each statement.
fn run_script(database: &Connection, script: &str) -> Vec<usize> {
    let mut values = BTreeMap::new();
    let mut sql = String::new();
    let mut rows = Vec::new();
    for line in script.lines() {
        if let Some(parameter) = line.strip_prefix(".parameter set ") {
            let (name, value) = parameter.split_once(' ').unwrap();
            values.insert(name.to_owned(), value.parse::<i64>().unwrap());
            continue;
        }
        sql.push_str(line);
        sql.push('\n');
        if !line.ends_with(';') {
            continue;
        }
        let mut batch = rusqlite::Batch::new(database, &sql);
        while let Some(mut statement) = batch.next().unwrap_or_else(|error| panic!("{error}\n{sql}")) {
            for index in 1..=statement.parameter_count() {
                let value = values[statement.parameter_name(index).unwrap()];
                statement.raw_bind_parameter(index, value).unwrap();
            }
            let mut found = statement.raw_query();
            let mut count = 0;
            while found.next().unwrap().is_some() {
                count += 1;
            }
            rows.push(count);
        }
        sql.clear();
    }
    rows
}

#[test]
fn names_of_the_configuration_cannot_leave_their_quotes_on_sqlite() {
    for name in HOSTILE {
        let database = Connection::open_in_memory().unwrap();
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let (table, column) = (quoted(name), quoted(&format!("{name}2")));
        database
            .execute_batch(&format!(
                "CREATE TABLE y (Id); CREATE TABLE application_lock (resource TEXT PRIMARY KEY);
                CREATE TABLE {table} (Id INTEGER PRIMARY KEY, {column} TEXT)"
            ))
            .unwrap();
        database
            .execute(&format!("INSERT INTO {table} ({column}) VALUES (?1)"), [format!("{name}3")])
            .unwrap();
        let script = printed(sqlite(), name);
        let rows = run_script(&database, &script);
        assert_eq!(rows, [1, 1, 1], "the queue, the log's head, its tail: {script}");
        let tables: i64 = database
            .query_one("SELECT COUNT(*) FROM sqlite_schema WHERE name = 'y'", [], |row| row.get(0))
            .unwrap();
        assert_eq!(tables, 1, "{name} left its quotes: {script}");
    }
}

#[test]
fn names_of_the_configuration_cannot_leave_their_quotes_when_indexes_are_looked_up() {
    for name in HOSTILE {
        let folder = tempfile::tempdir().unwrap();
        let database = Connection::open(folder.path().join("queue.db")).unwrap();
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let (table, column) = (quoted(name), quoted(&format!("{name}2")));
        database
            .execute_batch(&format!(
                "CREATE TABLE y (Id); CREATE TABLE application_lock (resource TEXT PRIMARY KEY);
                CREATE TABLE {table} (Id INTEGER PRIMARY KEY, {column} TEXT)"
            ))
            .unwrap();
        let check = || run_in(folder.path(), &config(sqlite(), name), &["check", "--connect"]);
        let before = check();
        assert!(before.stdout.ends_with("2 good targets, 1 warning, 0 failures\n"), "{before:?}");
        let create = before.stdout.lines().find(|line| line.trim_start().starts_with("CREATE ")).unwrap();
        database.execute_batch(create).unwrap();
        let after = check();
        assert!(after.stdout.ends_with("2 good targets, 0 warnings, 0 failures\n"), "{after:?}");
        database.execute_batch("SELECT Id FROM y").unwrap();
    }
}

#[test]
fn a_name_cannot_end_the_comment_it_stands_in() {
    let config = "sources: [{ name: \"a\\nDROP TABLE y;\", sqlite: { file: x },
        queues: [{ name: \"b\\r\\nDROP TABLE y;\", preset: lease }] }]";
    let ended = run_with(config, &["sql"]);
    let lines = ended.stdout.lines().chain(ended.stderr.lines());
    for line in lines.filter(|line| line.contains("DROP")) {
        assert!(line.starts_with("-- ") || line.contains("error: "), "{ended:?}");
    }
}

#[test]
fn every_statement_of_the_demo_runs_as_it_is_printed() {
    let database = Connection::open_in_memory().unwrap();
    database.execute_batch(SCHEMA).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = DemoOptions { folder: folder.path().to_owned(), seed: 1, speed: 1.0, episode: None };
    let demo = demo::prepare(&options).unwrap();
    let script = run_with(demo.config_yaml(), &["sql"]).stdout;
    let statements = script.lines().filter(|line| line.starts_with("-- source ")).count();
    // A queue has one statement and each log two: one for its start, one for later.
    assert_eq!(statements, 10);
    assert_eq!(run_script(&database, &script), vec![1; statements], "{script}");
}

#[test]
fn statements_are_printed_where_there_is_no_password() {
    for secret in
        ["password_file: /nowhere/password", "password_env: NOWHERE", "password_credential: nowhere"]
    {
        let config = format!(
            "sources: [{{ name: db, mssql: {{ host: h, database: d, user: u, {secret} }}, \
             queues: [{{ name: q, preset: lease }}] }}]"
        );
        let printed = run_with(&config, &["sql"]);
        assert_eq!(printed.code, Some(0), "{printed:?}");
        assert!(printed.stdout.contains("FROM clock CROSS JOIN [JobQueue] AS t"), "{printed:?}");
        assert_ne!(run_with(&config, &["check"]).code, Some(0), "a start needs it");
    }
}
