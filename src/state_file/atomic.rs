//! Atomic replacement: a crash leaves either the old file or the new one, complete.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use crate::files::beside;

/// Writes a file beside this one, flushes it to disk, and renames it.
///
/// # Errors
/// The system's error, with the file it is about. The file is then unchanged, and the one beside it removed.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = beside(path, ".new");
    let written = write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if let Err(error) = written {
        // It may not exist; the first error counts.
        let _ = std::fs::remove_file(&temporary);
        return Err(io::Error::new(error.kind(), format!("{}: {error}", temporary.display())));
    }
    // The rename itself must reach the disk, too. Some file systems cannot flush a directory; the file is
    // complete either way.
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// Checks that files can be made where [`replace`] makes its own. Leaves nothing behind.
///
/// # Errors
/// The system's error, with the file it is about.
pub(super) fn can_replace(path: &Path) -> io::Result<()> {
    let temporary = beside(path, ".check");
    File::create(&temporary)
        .and_then(|_| std::fs::remove_file(&temporary))
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", temporary.display())))
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
