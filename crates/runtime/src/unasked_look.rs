//! What the loop itself reads of a workspace, for an overview, a plan or a script (S3): the names of its files, and the text of a short one. No call
//! asks for it, so it is nothing that a call of the model's could not read without asking, and no file of keys.

use std::ops::ControlFlow;
use std::sync::Arc;

use windlass_machine::ListedFiles;
use windlass_tools::{FileRules, Permissions, WalkExtent, Workspace, near_paths, readable_files, reads_unasked};
use windlass_vocab::AttachedText;

use crate::key_files::is_key_file;

/// Entries of folders that are looked at without a call at most: a home folder with a million files is not walked through.
pub(crate) const LOOKED_AT: usize = 20_000;
/// The most bytes of a file whose text is short.
const SHORT: u64 = 4_000;

/// Looks at the files of a workspace.
#[derive(Clone)]
pub(crate) struct UnaskedLook {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) permissions: Arc<Permissions>,
}

impl UnaskedLook {
    /// Returns the first `most` files by name, without keeping other sessions of the thread waiting.
    pub(crate) async fn names(self, most: usize) -> ListedFiles {
        tokio::task::spawn_blocking(move || self.listed(most)).await.unwrap_or_default()
    }

    /// Returns the text of a file, if it is short and may be read without asking.
    pub(crate) async fn short_text(self, path: String) -> Option<AttachedText> {
        tokio::task::spawn_blocking(move || self.read(&path)).await.ok().flatten()
    }

    /// Returns the paths that are most like this one, which is not there.
    pub(crate) async fn near(self, path: String) -> Vec<String> {
        let near = move || {
            let may_look = reads_unasked(&self.workspace, &self.permissions);
            if may_look { near_paths(&self.workspace, &path, &self.rules()) } else { Vec::new() }
        };
        tokio::task::spawn_blocking(near).await.unwrap_or_default()
    }

    fn listed(&self, most: usize) -> ListedFiles {
        let mut files = ListedFiles::default();
        if !reads_unasked(&self.workspace, &self.permissions) {
            files.has_more = true;
            return files;
        }
        let extent = readable_files(&self.workspace, &self.rules(), LOOKED_AT, &mut |path, _| {
            if files.names.len() == most {
                return ControlFlow::Break(());
            }
            files.names.push(path.to_owned());
            ControlFlow::Continue(())
        });
        files.has_more = extent == WalkExtent::Cut;
        files
    }

    /// Like `short_text`, at once.
    pub(crate) fn read(&self, path: &str) -> Option<AttachedText> {
        if is_key_file(path) || !reads_unasked(&self.workspace, &self.permissions) {
            return None;
        }
        let read = self.workspace.beginning(path, SHORT, &self.rules()).ok()?;
        let origin = self.workspace.text_origin(path);
        (!read.is_cut && read.is_utf8).then(|| AttachedText { origin, ..AttachedText::plain(path, read.text) })
    }

    fn rules(&self) -> FileRules {
        FileRules::of(Arc::clone(&self.permissions))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use windlass_machine::ListedFiles;
    use windlass_tools::{Permissions, Secrets, Workspace};

    use super::UnaskedLook;

    fn look(dir: &tempfile::TempDir, deny: &[&str]) -> UnaskedLook {
        let secrets = Secrets::new([("KEY", "sk-aaaabbbbccccdddd")]);
        let workspace = Arc::new(Workspace::open(dir.path()).expect("a workspace").hiding(secrets));
        let deny = deny.iter().map(|rule| rule.parse().expect("a rule")).collect();
        UnaskedLook { workspace, permissions: Arc::new(Permissions { deny, ..Permissions::default() }) }
    }

    // proves X1, X5: a planner is told no more than a call could read without asking
    #[test]
    fn hidden_files_secrets_and_keys_are_left_out() {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, text) in [
            ("a.txt", "key sk-aaaabbbbccccdddd\n"),
            ("hidden.txt", "no"),
            (".env", "TOKEN=1"),
            ("sk-aaaabbbbccccdddd.txt", "no"),
            ("long.txt", &"x".repeat(5_000)),
        ] {
            std::fs::write(dir.path().join(name), text).expect("written");
        }
        let look = look(&dir, &["read(hidden.txt)"]);
        let names = [".env", "a.txt", "long.txt"].map(String::from).to_vec();
        assert_eq!(look.listed(10), ListedFiles { names: names.clone(), has_more: false });
        assert_eq!(look.listed(2), ListedFiles { names: names[..2].to_vec(), has_more: true });
        assert_eq!(look.read("a.txt").expect("read").text, "key ⟦secret:KEY⟧\n");
        for closed in ["hidden.txt", ".env", "long.txt", "absent.txt"] {
            assert_eq!(look.read(closed), None, "{closed}");
        }
    }

    // proves X5
    #[test]
    fn where_reading_is_forbidden_nothing_is_listed() {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("a.txt"), "a").expect("written");
        let look = look(&dir, &["read_file"]);
        assert_eq!(look.listed(10), ListedFiles { names: Vec::new(), has_more: true });
        assert_eq!(look.read("a.txt"), None);
    }
}
