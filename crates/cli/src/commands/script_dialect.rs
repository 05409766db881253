//! What is said at the start of a run whose model writes scripts.

use std::ffi::OsStr;

use windlass::door::ResolvedModel;
use windlass_sandbox::SandboxMode;
use windlass_setup::settings::{ModeSetting, PermissionSettings};
use windlass_tools::dialect::ScriptLanguages;
use windlass_vocab::{Attendance, Dialect, ToolName};

/// What decides whether scripts can run, and in which language.
pub(super) struct ScriptConditions<'a> {
    pub(super) attendance: Attendance,
    pub(super) permissions: &'a PermissionSettings,
    pub(super) sandbox: SandboxMode,
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
    language.into_iter().chain(refusal(conditions)).collect()
}

/// Returns why no script will run, and what would let them: where nobody can approve them, they need a rule that allows them
/// and a sandbox, for the rule holds only for commands that are confined.
fn refusal(conditions: &ScriptConditions<'_>) -> Option<&'static str> {
    let tool = ToolName(format!("{}.run_command", ToolName::LOCAL));
    let PermissionSettings { mode, allow, .. } = conditions.permissions;
    if conditions.attendance != Attendance::Unattended || mode.value == ModeSetting::Bypass {
        return None;
    }
    match conditions.sandbox {
        SandboxMode::Off => Some(
            "nobody is there to approve scripts, so none will run: they need a sandbox and --allow run_command, or \
             --mode bypass",
        ),
        SandboxMode::Workspace | SandboxMode::ReadOnly if allow.iter().any(|rule| rule.value.means(&tool)) => None,
        SandboxMode::Workspace | SandboxMode::ReadOnly => {
            Some("nobody is there to approve scripts, so none will run: --allow run_command allows them")
        }
    }
}
