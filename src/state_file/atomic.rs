//! Replacing a file so that a crash leaves either the old one or the new one, whole.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

/// Writes beside the file, flushes to disk, and renames over it.
///
/// # Errors
/// What the system says, with the step that failed. The file is then untouched, and what was
/// written beside it is removed.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = super::beside(path, "new");
    let written = write(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if let Err(error) = written {
        // It may not even be there; what counts is the first error.
        let _ = std::fs::remove_file(&temporary);
        return Err(io::Error::new(error.kind(), format!("{}: {error}", temporary.display())));
    }
    // The rename itself must reach the disk, too. Some file systems cannot flush a directory; the
    // file is whole either way.
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// Whether files can be made where [`replace`] makes its own; what was made is removed.
///
/// # Errors
/// What the system says, and of what.
pub(super) fn can_replace(path: &Path) -> io::Result<()> {
    let temporary = super::beside(path, "check");
    File::create(&temporary)
        .and_then(|_| std::fs::remove_file(&temporary))
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", temporary.display())))
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
