//! Paths that no tool can use, known before a call runs.

use crate::Workspace;
use crate::refusal::Refusal;
use crate::workspace::{is_refused_by_capability, regular};

impl Workspace {
    /// Returns why no tool can use `path`, whatever is at it: it is outside the workspace, closed to tools, or not the
    /// name itself but a placeholder.
    pub(crate) fn unusable(&self, path: &str) -> Option<Refusal> {
        self.unusable_entry(path).or_else(|| {
            let relative = self.relative(path).ok()?;
            self.dir().metadata(relative).err().filter(is_refused_by_capability).map(|_| self.outside(path))
        })
    }

    /// The same for an entry that is moved: it may itself be a symlink that leads out of the workspace.
    pub(crate) fn unusable_entry(&self, path: &str) -> Option<Refusal> {
        let relative = match self.relative(path) {
            Ok(relative) => relative,
            Err(refusal) => return Some(refusal),
        };
        let leads_out = self.resolved(&relative).starts_with("..")
            || self.dir().symlink_metadata(&relative).is_err_and(|error| is_refused_by_capability(&error));
        leads_out.then(|| self.outside(path))
    }

    /// The same for the path of a file: what is there must not be a directory, nor a device.
    pub(crate) fn unusable_as_file(&self, path: &str) -> Option<Refusal> {
        self.unusable(path).or_else(|| regular(path, &self.dir().metadata(self.relative(path).ok()?).ok()?).err())
    }
}
