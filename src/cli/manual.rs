//! `completions` and `man`: what clap knows of the command line, for shells and for readers.

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{Cli, Failure, print};

/// The completions of one shell.
pub(super) fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut text);
    print(&String::from_utf8(text)?)?;
    Ok(ExitCode::SUCCESS)
}

/// A page of the manual: of the program, or of one of its sub-commands.
pub(super) fn page(command: Option<&str>) -> Result<ExitCode, Failure> {
    let program = Cli::command();
    let program_name = program.get_name().to_owned();
    let (title, shown) = match command {
        None => (program_name, program),
        Some(name) => {
            let known: Vec<&str> = program.get_subcommands().map(clap::Command::get_name).collect();
            let found = program.find_subcommand(name).ok_or_else(|| {
                format!("man: there is no sub-command `{name}`; there are {}", known.join(", "))
            })?;
            (format!("{program_name}-{name}"), found.clone())
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(shown).title(title).render(&mut text)?;
    print(&String::from_utf8(text)?)?;
    Ok(ExitCode::SUCCESS)
}
