//! The files of the project as data, so that checks are pure functions.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// Folders that are not part of the project.
const PASSED_OVER: &[&str] = &["target", "node_modules"];

/// Hidden folders that are part of the project.
const HIDDEN: &[&str] = &[".cargo", ".ci", ".config", ".github"];

/// In a linked git work tree, a file that names the git folder.
const GIT_LINK: &str = ".git";

/// File contents by path from the root, with `/`. A file that is not UTF-8 is included as empty.
#[derive(Debug, Default)]
pub(crate) struct Tree(BTreeMap<String, String>);

impl Tree {
    /// Every file under `root`.
    pub(crate) fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.add(root, "")?;
        Ok(tree)
    }

    fn add(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if kind.is_file() && name != GIT_LINK {
                let text = String::from_utf8(std::fs::read(entry.path())?).unwrap_or_default();
                self.0.insert(path, text);
            } else if kind.is_dir() && !passed_over(&name) {
                self.add(&entry.path(), &format!("{path}/"))?;
            }
        }
        Ok(())
    }

    /// All files.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Files whose path ends like this.
    pub(crate) fn ending<'a>(&'a self, end: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files().filter(move |(path, _)| path.ends_with(end))
    }

    /// The text of a file.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// Whether there is a file or a folder with this path.
    pub(crate) fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        path.is_empty() || self.0.contains_key(path) || self.0.keys().any(|file| file.starts_with(&folder))
    }
}

fn passed_over(name: &str) -> bool {
    PASSED_OVER.contains(&name) || name.starts_with('.') && !HIDDEN.contains(&name)
}

#[cfg(test)]
impl<const N: usize> From<[(&str, &str); N]> for Tree {
    fn from(files: [(&str, &str); N]) -> Self {
        Self(files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect())
    }
}

#[cfg(test)]
impl<'f> FromIterator<(&'f str, &'f str)> for Tree {
    fn from_iter<Files: IntoIterator<Item = (&'f str, &'f str)>>(files: Files) -> Self {
        Self(files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::{Tree, passed_over};

    #[test]
    fn a_folder_is_there_when_a_file_is_in_it() {
        let tree = Tree::from([("docs/decisions/README.md", "")]);
        for (path, there) in [("docs", true), ("docs/decisions", true), ("doc", false), ("docs/decisions/x.md", false)]
        {
            assert_eq!(tree.has(path), there, "{path}");
        }
    }

    #[test]
    fn build_results_and_hidden_folders_are_passed_over() {
        for (name, over) in [("target", true), (".git", true), (".idea", true), (".ci", false), ("crates", false)] {
            assert_eq!(passed_over(name), over, "{name}");
        }
    }
}
