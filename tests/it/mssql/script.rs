//! Scripts of `sql/mssql`, read as `sqlcmd` does: `:r` includes, `$(variables)`, and `GO` between batches.

use std::path::{Path, PathBuf};

/// A batch: what is sent to the server at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The file that contains it, below `sql/mssql`.
    pub file: String,
    pub text: String,
}

/// A variable of sqlcmd and its value.
pub type Variable<'a> = (&'a str, &'a str);

/// The batches of a script, in order, with the variables filled in. `edit` gets the text of each file.
pub fn batches(file: &str, variables: &[Variable<'_>], edit: &dyn Fn(&str, String) -> String) -> Vec<Batch> {
    let mut batches = Vec::new();
    read(file, variables, edit, &mut batches);
    batches
}

/// A script's text.
pub fn text(file: &str) -> String {
    let path = folder().join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("sql/mssql")
}

fn read(
    file: &str,
    variables: &[Variable<'_>],
    edit: &dyn Fn(&str, String) -> String,
    batches: &mut Vec<Batch>,
) {
    let mut script = edit(file, text(file));
    for (name, value) in variables {
        script = script.replace(&format!("$({name})"), value);
    }
    assert!(!script.contains("$("), "{file} has a variable that nobody sets");
    let mut open = String::new();
    for line in script.lines() {
        let command = line.strip_prefix(':').map(|command| command.split_whitespace().collect::<Vec<_>>());
        match command.as_deref() {
            Some(["r", included]) => {
                end(file, &mut open, batches);
                read(included, variables, edit, batches);
            }
            // The code that runs these batches ends the script at a failed one.
            Some(["on", "error", "exit"]) => {}
            Some(other) => panic!("{file}: sqlcmd's :{} is not known here", other.join(" ")),
            None if line.trim().eq_ignore_ascii_case("GO") => end(file, &mut open, batches),
            None => {
                open.push_str(line);
                open.push('\n');
            }
        }
    }
    end(file, &mut open, batches);
}

fn end(file: &str, open: &mut String, batches: &mut Vec<Batch>) {
    let text = std::mem::take(open);
    // A batch with nothing but comments is not sent.
    if text.lines().any(|line| !line.trim().is_empty() && !line.trim_start().starts_with("--")) {
        batches.push(Batch { file: file.to_owned(), text });
    }
}

#[test]
fn a_script_is_read_with_its_includes_in_order() {
    let batches = batches("install.sql", &[("SchemaName", "queue")], &|_, text| text);
    let mut files: Vec<&str> = batches.iter().map(|batch| batch.file.as_str()).collect();
    files.dedup();
    assert_eq!(files.first(), Some(&"install.sql"));
    assert_eq!(files.last(), Some(&"install.sql"));
    let included = script_lines("install.sql", ":r ");
    assert_eq!(files[1..files.len() - 1], included);
    assert!(included.len() > 10, "{included:?}");
    assert!(batches.iter().any(|batch| batch.text.contains("CREATE TABLE [queue].JobQueue")));
    for batch in &batches {
        assert!(!batch.text.contains("\nGO\n") && !batch.text.contains("$("), "{batch:?}");
    }
}

/// The rest of each line of a script that begins like this.
fn script_lines(file: &str, begins: &str) -> Vec<String> {
    text(file).lines().filter_map(|line| line.strip_prefix(begins)).map(str::to_owned).collect()
}
