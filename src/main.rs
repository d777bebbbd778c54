//! The binary: runs the command line of the library.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    sqlqueue_exporter::cli::run()
}
