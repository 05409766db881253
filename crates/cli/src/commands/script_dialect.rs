//! What is said at the start of a run whose model writes scripts.

use std::ffi::OsStr;

use windlass::door::ResolvedModel;
use windlass_setup::settings::{ModeSetting, PermissionSettings};
use windlass_tools::dialect::ScriptLanguages;
use windlass_vocab::{Attendance, Dialect, ToolName};

/// What decides whether scripts can run, and in which language.
pub(super) struct ScriptConditions<'a> {
    pub(super) attendance: Attendance,
    pub(super) permissions: &'a PermissionSettings,
    /// The variable `PATH`.
    pub(super) path: &'a OsStr,
}

/// Returns what to say, if a model of the chain writes scripts: that there is no Python here, or that no script will run.
pub(super) fn notices(chain: &[ResolvedModel], conditions: &ScriptConditions<'_>) -> Vec<&'static str> {
    if !chain.iter().any(|model| model.figures.dialect == Some(Dialect::Script)) {
        return Vec::new();
    }
    let language = match ScriptLanguages::on_path(conditions.path) {
        ScriptLanguages::Shell => Some("there is no python3 on PATH: scripts are written in shell alone"),
        ScriptLanguages::PythonAndShell => None,
    };
    let refused = is_each_refused(conditions)
        .then_some("nobody is there to approve scripts, so none will run: --allow run_command allows them");
    language.into_iter().chain(refused).collect()
}

/// Whether every script needs approval, and nobody can give it.
fn is_each_refused(conditions: &ScriptConditions<'_>) -> bool {
    let tool = ToolName(format!("{}.run_command", ToolName::LOCAL));
    let PermissionSettings { mode, allow, .. } = conditions.permissions;
    conditions.attendance == Attendance::Unattended
        && mode.value != ModeSetting::Bypass
        && !allow.iter().any(|rule| rule.value.means(&tool))
}
