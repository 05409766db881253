//! The files of a workspace, before and after a job.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

/// Folders that programs leave behind by themselves; nobody asks for them, and nobody minds.
const BY_PRODUCTS: &[&str] = &["__pycache__"];

/// Contents by path, with `/`. A link counts as a file that holds what it points to. Empty folders do not count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    pub(crate) fn of(texts: &BTreeMap<String, String>) -> Self {
        Self(texts.iter().map(|(path, text)| (path.clone(), text.clone().into_bytes())).collect())
    }

    /// Everything in a folder.
    pub(crate) fn read(folder: &Path) -> io::Result<Self> {
        let mut files = Self::default();
        files.add(folder, "")?;
        Ok(files)
    }

    fn add(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let (path, kind) = (format!("{prefix}{name}"), entry.file_type()?);
            if kind.is_dir() && !BY_PRODUCTS.contains(&name.as_str()) {
                self.add(&entry.path(), &format!("{path}/"))?;
            } else if kind.is_symlink() {
                self.0.insert(path, std::fs::read_link(entry.path())?.to_string_lossy().into_owned().into_bytes());
            } else if kind.is_file() {
                self.0.insert(path, std::fs::read(entry.path())?);
            }
        }
        Ok(())
    }

    /// Writes them into a folder.
    pub(crate) fn write(&self, folder: &Path) -> io::Result<()> {
        for (path, content) in &self.0 {
            let path = folder.join(path);
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent)?;
            }
            std::fs::write(path, content)?;
        }
        Ok(())
    }

    /// The text of a file. What is not UTF-8 is replaced.
    pub(crate) fn text(&self, path: &str) -> Option<String> {
        self.0.get(path).map(|content| String::from_utf8_lossy(content).into_owned())
    }

    /// The paths that are not the same in `other`: changed, made or gone.
    pub(crate) fn changed_in(&self, other: &Self) -> BTreeSet<String> {
        let paths: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        paths.into_iter().filter(|path| self.0.get(*path) != other.0.get(*path)).cloned().collect()
    }

    pub(crate) fn set(&mut self, path: &str, text: &str) {
        self.0.insert(path.to_owned(), text.to_owned().into_bytes());
    }

    pub(crate) fn remove(&mut self, path: &str) {
        self.0.remove(path);
    }
}

#[cfg(test)]
mod tests {
    use super::Files;

    fn files(texts: &[(&str, &str)]) -> Files {
        Files::of(&texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect())
    }

    #[test]
    fn what_is_written_is_read_back_without_the_by_products_of_programs() {
        let folder = tempfile::tempdir().unwrap();
        let whole = files(&[("a.txt", "a"), ("b/c/d.txt", "d\n")]);
        whole.write(folder.path()).unwrap();
        files(&[("b/__pycache__/d.pyc", "x")]).write(folder.path()).unwrap();
        assert_eq!(Files::read(folder.path()).unwrap(), whole);
    }

    #[test]
    fn changed_new_and_lost_files_differ() {
        let before = files(&[("same", "1"), ("changed", "1"), ("lost", "1")]);
        let after = files(&[("same", "1"), ("changed", "1 "), ("new", "1")]);
        assert_eq!(before.changed_in(&after).into_iter().collect::<Vec<_>>(), ["changed", "lost", "new"]);
    }
}
