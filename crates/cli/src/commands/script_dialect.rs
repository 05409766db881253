//! What is said at the start of a run whose model writes scripts.

use std::ffi::OsStr;

use windlass::door::ResolvedModel;
use windlass_tools::dialect::ScriptLanguages;
use windlass_vocab::Dialect;

/// Returns the notice, if a model of the chain writes scripts and there is no Python here.
pub(super) fn notice(chain: &[ResolvedModel], path: &OsStr) -> Option<&'static str> {
    let is_used = chain.iter().any(|model| model.figures.dialect == Some(Dialect::Script));
    match ScriptLanguages::on_path(path) {
        ScriptLanguages::Shell if is_used => Some("there is no python3 on PATH: scripts are written in shell alone"),
        ScriptLanguages::Shell | ScriptLanguages::PythonAndShell => None,
    }
}
