//! `completions` and `man`: shell completions and manual pages, generated from the command line.

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{Cli, Failure, VERSION, print};

/// Prints the completions for one shell.
pub(super) fn completions(shell: Shell) -> Result<ExitCode, Failure> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut text);
    print(&String::from_utf8(text)?)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page of the program or of one of its sub-commands.
pub(super) fn page(command: Option<&str>) -> Result<ExitCode, Failure> {
    let mut program = Cli::command();
    // Sets the full names of the sub-commands.
    program.build();
    let shown = match command {
        None => &program,
        Some(name) => program.find_subcommand(name).ok_or_else(|| {
            let known = program.get_subcommands().map(clap::Command::get_name).filter(|name| *name != "help");
            let known: Vec<&str> = known.collect();
            format!("man: there is no sub-command `{name}`; there are {}", known.join(", "))
        })?,
    };
    let source = format!("{} {VERSION}", program.get_name());
    let title = shown.get_display_name().unwrap_or_else(|| program.get_name()).to_owned();
    let mut text = Vec::new();
    clap_mangen::Man::new(shown.clone()).title(title).source(source).render(&mut text)?;
    print(&String::from_utf8(text)?)?;
    Ok(ExitCode::SUCCESS)
}
