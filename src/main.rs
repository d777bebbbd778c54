//! The binary: everything happens in the library.

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    sqlqueue_exporter::cli::run()
}
