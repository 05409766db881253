//! The overview of the workspace that a run begins with (C1): the files, and the text of those that the request names, or
//! of all of them where they are few and short. It holds nothing that a call of the model's could not read without
//! asking.

use std::ops::ControlFlow;
use std::sync::Arc;

use windlass_machine::names_file;
use windlass_tools::{FileRules, Permissions, WalkExtent, Workspace, readable_files, reads_unasked};
use windlass_vocab::{OverviewFile, WorkspaceOverview};

use crate::key_files::is_key_file;
use crate::unasked_look::LOOKED_AT;

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
        let extent = readable_files(&self.workspace, &rules, LOOKED_AT, &mut |path, stamp| {
            if overview.files.len() == LISTED {
                return ControlFlow::Break(());
            }
            overview.files.push(OverviewFile { path: path.to_owned(), size: stamp.size, text: None, origin: None });
            ControlFlow::Continue(())
        });
        overview.is_cut = extent == WalkExtent::Cut;
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
            let named = names_file(&self.request, &file.path);
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
