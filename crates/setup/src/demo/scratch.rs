//! The folder the demo works in: seven pictures with meaningless names, each with a text file of its words beside it.

use std::io;
use std::path::{Path, PathBuf};

use super::pictures::picture;

/// The text on each picture; its first line is the picture's title.
const TEXTS: [&str; 7] = [
    "Boarding pass: Lisbon to Oslo\nGate 14, boarding 06:40, seat 11A\n",
    "Invoice 2024-017, Harbour Coffee\nTwo bags of beans, 48.20 EUR, paid\n",
    "Error: disk full while writing backup\nwrite failed after 213 of 480 files\n",
    "Recipe: lemon risotto for four\n300 g rice, two lemons, stock, patience\n",
    "Whiteboard: plan for the spring release\n1. doctor  2. docs  3. tell people\n",
    "Chat with Ada about the bicycle\n- is it the blue one? - it is the blue one\n",
    "Map: from the station to the lighthouse\n3.2 km, 41 minutes on foot\n",
];

/// Number of pictures.
pub const PICTURES: usize = TEXTS.len();

/// How the names of the folders begin.
const PREFIX: &str = "windlass-demo-";

/// Makes a new folder below `parent` with the demo's files; returns its path without symlinks. It is never removed:
/// people look at it afterwards.
pub fn make_scratch(parent: &Path, suffix: &str) -> io::Result<PathBuf> {
    let folder = parent.join(format!("{PREFIX}{suffix}"));
    std::fs::create_dir(&folder)?;
    for (number, text) in (1..).zip(TEXTS) {
        std::fs::write(folder.join(format!("shot-{number}.png")), picture(number))?;
        std::fs::write(folder.join(format!("shot-{number}.txt")), text)?;
    }
    folder.canonicalize()
}

/// Whether this is a folder that [`make_scratch`] made below `parent`.
#[must_use]
pub fn is_scratch(folder: &Path, parent: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str());
    let is_below = parent.canonicalize().is_ok_and(|parent| folder.parent() == Some(&parent));
    is_below && name.is_some_and(|name| name.starts_with(PREFIX))
}

#[cfg(test)]
mod tests {
    use super::{is_scratch, make_scratch};

    #[test]
    fn only_the_demo_s_own_folders_are_known_as_such() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = make_scratch(dir.path(), "x").expect("made");
        assert!(is_scratch(&folder, dir.path()));
        assert!(make_scratch(dir.path(), "x").is_err(), "a folder that is there is left alone");
        for other in [dir.path().to_owned(), folder.join("windlass-demo-y"), dir.path().join("notes")] {
            assert!(!is_scratch(&other, dir.path()), "{}", other.display());
        }
    }
}
