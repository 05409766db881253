//! Names that a script gave to files and that nobody means: with a control character, such as the line break of a line
//! that was read from a file, or with the ending twice, where it was added to a name that has it.

use std::path::Path;

use windlass_vocab::{Changes, UnaskedChanges};

use crate::control::Run;
use crate::file_names::{base_name, names_file};

/// What is wrong with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFault {
    /// A line break, a tab or the like is in it.
    ControlCharacter,
    /// It ends with the same ending twice.
    EndingTwice,
}

impl Run {
    /// Returns the first file or folder that a script made under a name that nobody means, and what is wrong with the name.
    /// One that the request names, or with the name of a file that was there before, is meant.
    #[must_use]
    pub fn misnamed_by_script<'c>(&self, changes: &'c Changes) -> Option<(&'c String, NameFault)> {
        if self.policy().unasked_changes == UnaskedChanges::Allow {
            return None;
        }
        let before = changes.iter().filter(|(_, change)| change.was.exists()).map(|(path, _)| path);
        let before: Vec<&str> = before.chain(&self.evidence.files).map(|path| base_name(path)).collect();
        let is_meant = |path: &str| before.contains(&base_name(path)) || names_file(&self.evidence.request.text, path);
        let mut made = changes.iter().filter(|(_, change)| !change.was.exists() && change.now.exists());
        made.find_map(|(path, _)| fault_of(base_name(path)).filter(|_| !is_meant(path)).map(|fault| (path, fault)))
    }
}

fn fault_of(name: &str) -> Option<NameFault> {
    if name.chars().any(char::is_control) {
        return Some(NameFault::ControlCharacter);
    }
    let name = Path::new(name);
    let ending = |name: &Path| name.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    // What stands behind the points of a version is no ending.
    let last = ending(name).filter(|last| last.chars().any(char::is_alphabetic))?;
    let before = name.file_stem().and_then(|stem| ending(Path::new(stem)));
    (before == Some(last)).then_some(NameFault::EndingTwice)
}
