//! The overview of the workspace that a run begins with (C1): the files, and the text of those that the request names, or
//! of all of them where they are few and short. It holds nothing that a call of the model's could not read without
//! asking.

use std::ops::ControlFlow;
use std::sync::Arc;

use windlass_tools::{FileRules, Permissions, Workspace, readable_files, reads_unasked};
use windlass_vocab::{OverviewFile, WorkspaceOverview};

use crate::key_files::is_key_file;

/// Files that are listed at most.
const LISTED: usize = 50;
/// All files are shown with their text where there are no more than this many, and no more text than that.
const FEW: usize = 8;
const SHORT: u64 = 4_000;
/// The most text of files that the request names; a file that does not fit as a whole is left to be read by a call.
const NAMED: u64 = 8_000;

/// Looks at the files of a workspace.
pub(crate) struct OverviewSource {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) permissions: Arc<Permissions>,
    pub(crate) request: String,
    pub(crate) shown: OverviewUse,
}

/// Who reads the overview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OverviewUse {
    /// The model.
    Shown,
    /// Only the judge, which wants to know the files.
    JudgeAlone,
}

impl OverviewSource {
    /// Looks, without keeping other sessions of the thread waiting.
    pub(crate) async fn look(self) -> Option<WorkspaceOverview> {
        tokio::task::spawn_blocking(move || self.overview()).await.ok().flatten()
    }

    /// Returns the overview; `None` where the model may not read the workspace without asking.
    fn overview(&self) -> Option<WorkspaceOverview> {
        if !reads_unasked(&self.workspace, &self.permissions) {
            return None;
        }
        let rules = FileRules::of(Arc::clone(&self.permissions));
        let mut overview = WorkspaceOverview::default();
        readable_files(&self.workspace, &rules, &mut |path, stamp| {
            if overview.files.len() == LISTED {
                overview.is_cut = true;
                return ControlFlow::Break(());
            }
            overview.files.push(OverviewFile { path: path.to_owned(), size: stamp.size, text: None, origin: None });
            ControlFlow::Continue(())
        });
        match self.shown {
            OverviewUse::Shown => self.add_texts(&mut overview, &rules),
            OverviewUse::JudgeAlone => overview.is_for_judge = true,
        }
        Some(overview)
    }

    fn add_texts(&self, overview: &mut WorkspaceOverview, rules: &FileRules) {
        let size: u64 = overview.files.iter().map(|file| file.size).sum();
        let is_small = !overview.is_cut && overview.files.len() <= FEW && size <= SHORT;
        let mut left = if is_small { SHORT } else { NAMED };
        for file in &mut overview.files {
            let named = is_named(&self.request, &file.path);
            if file.size > left || !named && (!is_small || is_key_file(&file.path)) {
                continue;
            }
            let Ok(read) = self.workspace.beginning(&file.path, left, rules) else { continue };
            if !read.is_cut && read.is_utf8 {
                left = left.saturating_sub(file.size);
                (file.text, file.origin) = (Some(read.text), self.workspace.text_origin(&file.path));
            }
        }
    }
}

/// Whether a request names a file: by its path, or by its name alone.
fn is_named(request: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    request.match_indices(name).any(|(start, _)| {
        let (before, behind) = (&request[..start], &request[start + name.len()..]);
        let ends = !behind.starts_with(inside)
            && !behind.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
        let folder = &path[..path.len() - name.len()];
        // With a folder before the name, it must be the file's own.
        let begins = if before.ends_with('/') {
            before.ends_with(folder) && !folder.is_empty()
        } else {
            !before.ends_with(inside)
        };
        begins && ends
    })
}

#[cfg(test)]
mod tests {
    use super::is_named;

    // proves C1
    #[test]
    fn a_request_names_files_by_path_or_name() {
        for (request, path) in [
            ("Fix notes.txt.", "notes.txt"),
            ("Fix notes.txt", "docs/notes.txt"),
            ("what is in docs/notes.txt?", "docs/notes.txt"),
            ("`notes.txt`: shorten it", "notes.txt"),
            ("run Makefile", "Makefile"),
        ] {
            assert!(is_named(request, path), "{request} {path}");
        }
        for (request, path) in [
            ("Fix my-notes.txt", "notes.txt"),
            ("Fix notes.txt.bak", "notes.txt"),
            ("Fix old/notes.txt", "docs/notes.txt"),
            ("Fix the notes", "notes.txt"),
            ("Makefiles are old", "Makefile"),
        ] {
            assert!(!is_named(request, path), "{request} {path}");
        }
    }
}
