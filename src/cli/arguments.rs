//! Argument order: options may stand before the sub-command.
//!
//! Global arguments of clap would do the same, but they appear in the help of every sub-command, and a
//! sub-command then accepts options that do nothing there.

use std::ffi::OsString;

use clap::Command;

/// Moves the sub-command in front of the options before it: `--config.file=x check` becomes
/// `check --config.file=x`. So the sub-command itself parses the option, and refuses one that it does
/// not have.
///
/// The words stay as they are if any word before the sub-command is not an option of the program.
pub(super) fn subcommand_first(
    words: impl IntoIterator<Item = OsString>,
    program: &Command,
) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    if let Some(before) = options_before(&words, program).and_then(|count| words.get_mut(1..count + 2)) {
        before.rotate_right(1);
    }
    words
}

/// The number of words between the program's name and the sub-command, if all of them belong to options
/// of the program.
fn options_before(words: &[OsString], program: &Command) -> Option<usize> {
    let mut count = 0;
    loop {
        let word = words.get(count + 1)?.to_str()?;
        let Some(option) = word.strip_prefix("--") else {
            return program.find_subcommand(word).map(|_| count);
        };
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value)));
        let known = program.get_arguments().find(|argument| argument.get_long() == Some(name))?;
        count += if known.get_action().takes_values() && value.is_none() { 2 } else { 1 };
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::cli::Cli;

    fn arranged(words: &str) -> String {
        let words = words.split(' ').map(OsString::from);
        super::subcommand_first(words, &Cli::command()).join(" ".as_ref()).into_string().unwrap_or_default()
    }

    #[test]
    fn a_sub_command_comes_before_its_options() {
        for (given, expected) in [
            ("x --config.file=a check --connect", "x check --config.file=a --connect"),
            ("x --config.file a --log.level debug check", "x check --config.file a --log.level debug"),
            ("x --config.file check sql", "x sql --config.file check"),
            ("x --web.enable-lifecycle serve", "x serve --web.enable-lifecycle"),
        ] {
            assert_eq!(arranged(given), expected);
        }
    }

    #[test]
    fn other_words_stay_where_they_are() {
        for given in [
            "x",
            "x check --connect",
            "x --config.file=a",
            "x --config.file check",
            "x --config.file",
            "x --config.file=a chek",
            "x --nonsense check",
            "x --help check",
            "x --version check",
            "x -h check",
            "x -- check",
        ] {
            assert_eq!(arranged(given), given);
        }
    }
}
