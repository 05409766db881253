//! What the tools that change one file share: they run on the threads for blocking work, a path that is not there is
//! answered with similar ones, and a placeholder or an unusable path certainly fails.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_vocab::Outcome;

use super::answer::{invalid_arguments, run_blocking, run_file_work};
use super::arguments::{parse_arguments, refuse_placeholder};
use super::near_paths::with_near_paths;
use crate::refusal::Refusal;
use crate::{BoxFuture, CallContext, CertainFailure, FileRules, Verification, Workspace};

/// The most bytes of a file that is changed.
const LARGEST: u64 = 32 << 20;

/// The arguments of a tool that changes a file, and how they are carried out.
pub(super) trait FileWork: DeserializeOwned + Send + 'static {
    /// The file that must be there for it.
    fn path(&self) -> &str;

    /// Makes the change; returns the result.
    fn carry_out(&self, workspace: &Workspace, context: &CallContext) -> Result<String, Refusal>;
}

/// Runs a call of a tool with these arguments.
pub(super) fn run_on_file<W: FileWork>(
    workspace: &Arc<Workspace>,
    context: CallContext,
    arguments: Value,
) -> BoxFuture<'static, Outcome> {
    let workspace = Arc::clone(workspace);
    match parse_arguments::<W>(arguments) {
        Ok(work) => run_file_work(move || {
            let done = work.carry_out(&workspace, &context);
            done.map_err(|refusal| with_near_paths(refusal, &workspace, work.path(), &context.files))
        }),
        Err(problem) => invalid_arguments(problem),
    }
}

/// Finds out whether a call with these arguments took place, by what `verify` sees in the workspace.
pub(super) fn verify_on_file<W: FileWork>(
    workspace: &Arc<Workspace>,
    context: CallContext,
    arguments: Value,
    verify: fn(&W, &Workspace, &FileRules) -> Verification,
) -> BoxFuture<'static, Verification> {
    let workspace = Arc::clone(workspace);
    Box::pin(run_blocking(move || match parse_arguments::<W>(arguments) {
        Ok(work) => verify(&work, &workspace, &context.files),
        Err(_) => Verification::Unknown,
    }))
}

/// Returns why this text can't be written to this path, whatever stands there.
pub(super) fn unwritable(workspace: &Workspace, path: &str, text: &str) -> Option<CertainFailure> {
    let placeholder = refuse_placeholder(text).err();
    let reason = placeholder.or_else(|| workspace.unusable_as_file(path).map(String::from));
    reason.map(CertainFailure::by_arguments)
}

/// Returns the text of a file that is to be changed.
pub(super) fn text_to_change(workspace: &Workspace, path: &str, rules: &FileRules) -> Result<String, Refusal> {
    String::from_utf8(workspace.read(path, LARGEST, rules)?)
        .map_err(|_| format!("`{path}` is not UTF-8 text, and can't be changed with this tool.").into())
}
