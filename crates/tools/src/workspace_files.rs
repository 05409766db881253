//! What the loop itself may know of a workspace's files: their names, and the text of a short one. The rules hold as for a
//! call: a file that must not be read, or that is asked about first, is not there.

use std::ops::ControlFlow;

use crate::about_files::READ;
use crate::builtin::walk::walk;
use crate::path_pattern::PathExtent;
use crate::{FileRules, Workspace};

/// The most bytes of a file whose text is short.
const SHORT: u64 = 4_000;

impl Workspace {
    /// Returns the first `most` files by name, without those that `.gitignore` excludes.
    #[must_use]
    pub fn list_files(&self, rules: &FileRules, most: usize) -> Vec<String> {
        let mut files = Vec::new();
        // A workspace that can't be walked has no files to name.
        let _ = walk(self, ".", rules, &mut |found| {
            files.extend(found.path.to_str().filter(|path| !path.contains('\n')).map(str::to_owned));
            if files.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        files
    }

    /// Returns the text of a file, if it is short and may be read without asking.
    #[must_use]
    pub fn short_text(&self, path: &str, rules: &FileRules) -> Option<String> {
        let bytes = self.read(path, SHORT, rules).ok()?;
        let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
        let start = self.files(&[".".to_owned()], READ, PathExtent::Itself);
        let asks_first = rules.hidden_files(&start).has_any(&self.names(path).texts());
        (!asks_first).then_some(text)
    }
}
