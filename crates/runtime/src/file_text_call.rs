//! Calls whose script is the new text of a file that the request asks to be changed (T4).

use std::sync::Arc;

use windlass_machine::State;
use windlass_tools::Permissions;
use windlass_tools::dialect::{FileToWrite, FileVersion, write_file_text};
use windlass_vocab::Reply;

use crate::script_run::writes_scripts;
use crate::services::Services;
use crate::unasked_look::UnaskedLook;

/// The ending of the files that a block of Python may be a version of.
const ENDING: &str = ".py";

/// Returns the reply, in which a script that is the new text of a file of the request writes it.
pub(crate) fn with_file_texts(
    reply: Reply,
    state: &State,
    services: &Services,
    permissions: &Arc<Permissions>,
) -> Reply {
    let run = state.control.run.as_ref().filter(|_| !reply.calls.is_empty() && writes_scripts(state));
    let (Some(run), Some(workspace)) = (run, services.workspace.clone()) else { return reply };
    let mut programs = run.files_to_change();
    programs.retain(|path| path.ends_with(ENDING));
    if programs.is_empty() {
        return reply;
    }
    let look = UnaskedLook { workspace, permissions: Arc::clone(permissions) };
    let done = run.progress().done;
    let file = |path: String| {
        let is_changed = done.paths().any(|changed| changed == path);
        let version = if is_changed { FileVersion::Changed } else { FileVersion::Found };
        look.read(&path).map(|file| FileToWrite { path, text: file.text, version })
    };
    let files: Vec<FileToWrite> = programs.into_iter().filter_map(file).collect();
    let mut calls = reply.calls;
    calls.iter_mut().for_each(|call| write_file_text(call, &files));
    Reply { calls, ..reply }
}
