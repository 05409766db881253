//! The sandbox side of `run_command`: what a call may request, which sandbox use follows, and what the result tells the
//! model.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_sandbox::{Confinement, Isolation, MissingAccess, Network, SandboxMode};
use windlass_vocab::shown_path;

use super::commands::Commands;
use crate::guard::CleanupReport;
use crate::running_commands::RunningCommand;
use crate::sandbox_use::SandboxUse;
use crate::{SandboxUntried, WorkspaceUse};

/// How many paths the result names at once.
const MOST_NAMED: usize = 10;

/// The part of a call's arguments that concerns the sandbox.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct SandboxRequest {
    #[serde(default)]
    network: bool,
    sandbox: Option<SandboxOff>,
}

/// The only value of the `sandbox` argument.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SandboxOff {
    Off,
}

/// Adds the sandbox to the tool's description and schema, if there is one.
pub(super) fn describe(commands: &Commands, description: &str, properties: &mut Value) -> String {
    if commands.sandbox.as_ref().is_none_or(|sandbox| sandbox.mode() == SandboxMode::Off) {
        return description.to_owned();
    }
    properties["network"] = json!({
        "type": "boolean",
        "description": "Whether it needs the network; the person may be asked. Only where it failed without."
    });
    properties["sandbox"] = json!({
        "enum": ["off"],
        "description": "Runs it outside the sandbox; the person is always asked. Only where it failed inside."
    });
    format!("{} {}", description.trim_end(), include_str!("run_command_sandbox.md"))
}

impl Commands {
    /// Returns the sandbox use of a call with this request.
    pub(super) fn sandbox_use(&self, request: SandboxRequest) -> SandboxUse {
        let held =
            self.sandbox.as_ref().zip(self.guard.as_ref()).is_some_and(|(sandbox, guard)| sandbox.confines(guard));
        match (held, request.sandbox, request.network) {
            (true, Some(SandboxOff::Off), _) => SandboxUse::Outside,
            (true, None, true) => SandboxUse::WithNetwork,
            (true, None, false) => SandboxUse::Confined,
            (false, _, _) => SandboxUse::NoSandbox,
        }
    }

    /// Returns the confinement of a call with this request, with `temp` as its temporary folder, and a value to keep
    /// until the command has ended. Runs on a blocking thread, because it scans the workspace.
    pub(super) async fn confinement(
        self: &Arc<Self>,
        request: SandboxRequest,
        workspace_use: WorkspaceUse,
        temp: PathBuf,
    ) -> Result<Option<(Confinement, RunningCommand)>, SandboxUntried> {
        let (Some(sandbox), Some(guard)) = (self.sandbox.clone(), self.guard.clone()) else { return Ok(None) };
        let commands = Arc::clone(self);
        let work = move || sandbox.command_confinement(&guard, commands.sandbox_use(request), workspace_use, temp);
        tokio::task::spawn_blocking(work).await.map_err(|error| SandboxUntried { failure: error.to_string() })?
    }

    /// Returns the line about the sandbox for the approval prompt of a call with this request.
    pub(super) fn sandbox_line(&self, request: SandboxRequest) -> Option<String> {
        let (sandbox, guard) = self.sandbox.as_ref().zip(self.guard.as_ref())?;
        Some(sandbox.describe(guard, self.sandbox_use(request)))
    }
}

/// How a command ended, with its output.
#[derive(Clone, Copy, Debug)]
pub(super) enum CommandEnding<'o> {
    Well(&'o str),
    Failed(&'o str),
    /// It was stopped, or its end is unknown.
    Stopped,
}

/// The facts about a command's confinement that its result reports to the model.
pub(super) struct ConfinementNotes {
    network: Network,
    /// Where it may write.
    writes: &'static str,
    /// What the cleanup did about files that it may not leave behind.
    pub(super) cleanup: CleanupReport,
}

impl ConfinementNotes {
    pub(super) fn of(confinement: &Confinement) -> Self {
        let writes = match (confinement.writable.is_empty(), &confinement.isolation) {
            (true, Isolation::Namespaces | Isolation::Bubblewrap(_)) => "only in /tmp, for it is read-only",
            (true, Isolation::Landlock | Isolation::Seatbelt) => {
                "only in the folder $TMPDIR names, for it is read-only"
            }
            (false, Isolation::Namespaces | Isolation::Bubblewrap(_)) => {
                "only in the workspace and /tmp, and not what is protected"
            }
            (false, Isolation::Landlock) => "only in the workspace and the folder $TMPDIR names",
            (false, Isolation::Seatbelt) => {
                "only in the workspace and the folder $TMPDIR names, and not what is protected"
            }
        };
        Self { network: confinement.network, writes, cleanup: CleanupReport::default() }
    }

    /// Returns the notes for the model after the command, one line each: what was set aside, and whether the sandbox
    /// made the command fail or do only a part of its work.
    pub(super) fn hint(&self, ending: CommandEnding<'_>) -> String {
        let mut hints = cleanup_hint(&self.cleanup);
        let missing = match ending {
            CommandEnding::Failed(printed) => windlass_sandbox::find_missing_access(printed),
            CommandEnding::Well(printed) => {
                if windlass_sandbox::reports_blocked_change(printed) {
                    hints.push_str(&self.half_done_note());
                }
                None
            }
            CommandEnding::Stopped => None,
        };
        match (missing, self.network) {
            (Some(MissingAccess::Network), Network::Off) => hints.push_str(
                "\n[The sandbox gives commands no network. If this needs it, call run_command again with \"network\": \
                 true: the person may be asked.]",
            ),
            (Some(MissingAccess::Loopback), Network::Off) => hints.push_str(
                "\n[The sandbox has a loopback of its own: a server that runs outside it can't be reached from inside. If \
                 this needs one, call run_command again with \"network\": true: the person may be asked. A server of this \
                 command's own is started by the same command.]",
            ),
            (Some(MissingAccess::Writing), _) => {
                let _ = write!(
                    hints,
                    "\n[The sandbox lets commands write {}. If this needs more, call run_command again with \
                     \"sandbox\": \"off\": the person is asked.]",
                    self.writes
                );
            }
            (Some(MissingAccess::Network | MissingAccess::Loopback), Network::On) | (None, _) => {}
        }
        hints
    }

    fn half_done_note(&self) -> String {
        format!(
            "\n[The sandbox kept it from changing files it may not change, so what it did may be half done, though it \
             ended well. It lets commands write {}. Look at what it left and undo that, or run it again with \"sandbox\": \
             \"off\": the person is asked.]",
            self.writes
        )
    }
}

/// Returns the notes for the model about the cleanup, one line each.
fn cleanup_hint(cleanup: &CleanupReport) -> String {
    let mut hints = String::new();
    for path in cleanup.set_aside.iter().take(MOST_NAMED) {
        let _ = write!(
            hints,
            "\n[Set aside as {}: what has that name without its ending is protected or denied, and a command in the \
             sandbox can't make it. A file tool can make what is protected, where the person agrees.]",
            one_line_path(path)
        );
    }
    if cleanup.set_aside.len() > MOST_NAMED {
        let _ =
            write!(hints, "\n[Set aside besides: {} more, for the same reason.]", cleanup.set_aside.len() - MOST_NAMED);
    }
    for path in cleanup.put_back.iter().take(MOST_NAMED) {
        let _ = write!(hints, "\n[Put back: {}, a link that is protected or leads to what is.]", one_line_path(path));
    }
    for (path, problem) in cleanup.left.iter().take(MOST_NAMED) {
        let _ = write!(
            hints,
            "\n[WARNING: {} is protected or denied and could not be set aside ({problem}). Tell the person.]",
            one_line_path(path)
        );
    }
    hints
}

/// Returns a path as one line: a command may use any character in its file names.
fn one_line_path(path: &Path) -> String {
    shown_path(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::sandbox_notes::sandbox_notes;
    use super::*;

    // proves X3
    #[test]
    fn where_a_command_may_write_is_said_as_it_is() {
        let hint = |isolation, writable: &[&str]| {
            let writable = writable.iter().map(PathBuf::from).collect();
            ConfinementNotes::of(&Confinement { isolation, writable, ..Confinement::default() })
                .hint(CommandEnding::Failed("Permission denied"))
        };
        assert!(
            hint(Isolation::Namespaces, &["/w"]).contains("only in the workspace and /tmp, and not what is protected")
        );
        assert!(hint(Isolation::Namespaces, &[]).contains("only in /tmp, for it is read-only"));
        let landlock = hint(Isolation::Landlock, &["/w"]);
        assert!(landlock.contains("$TMPDIR") && !landlock.contains("protected") && !landlock.contains("/tmp"));
    }

    // proves X3: a work tree that was switched only in part is not reported as switched
    #[test]
    fn a_command_that_ended_well_and_was_kept_from_something_is_told_so_and_the_person_too() {
        let held = ConfinementNotes::of(&Confinement { writable: vec!["/w".into()], ..Confinement::default() });
        let printed = "error: unable to unlink old 'AGENTS.md': Device or resource busy\nSwitched to branch 'x'\n";
        let text = format!("{printed}[exit code 0]{}", held.hint(CommandEnding::Well(printed)));
        let [note] = sandbox_notes(&text)[..] else { panic!("{text}") };
        assert!(note.contains("may be half done") && note.contains("\"sandbox\": \"off\""), "{note}");
        for ending in [
            CommandEnding::Well("done"),
            CommandEnding::Stopped,
            CommandEnding::Failed("error[E0308]: mismatched types"),
        ] {
            assert_eq!(held.hint(ending), "", "{ending:?}");
        }
    }

    // proves X3
    #[test]
    fn a_server_outside_that_was_not_reached_is_said_to_be_outside() {
        let refused = CommandEnding::Failed("curl: (7) Failed to connect to localhost port 8000: Connection refused");
        let hint = |network| ConfinementNotes::of(&Confinement { network, ..Confinement::default() }).hint(refused);
        let told = hint(Network::Off);
        assert!(told.contains("loopback of its own") && told.contains("\"network\": true"), "{told}");
        assert_eq!(hint(Network::On), "", "it is nobody's fault but the server's");
    }

    // proves X3: notes about the sandbox for the model are displayed to the person too
    #[test]
    fn what_a_result_says_of_the_sandbox_is_found_at_its_end() {
        let cleanup = CleanupReport { set_aside: vec!["AGENTS.md.set-aside".into()], ..CleanupReport::default() };
        let text = format!("[WARNING: printed by the command]\n[exit code 0]{}", cleanup_hint(&cleanup));
        let [note] = sandbox_notes(&text)[..] else { panic!("{text}") };
        assert!(note.starts_with("Set aside as AGENTS.md.set-aside: ") && !note.contains(']'), "{note}");
        let many =
            CleanupReport { set_aside: vec!["a\n[WARNING: b]".into(); MOST_NAMED + 1], ..CleanupReport::default() };
        let text = format!("[exit code 0]{}", cleanup_hint(&many));
        let notes = sandbox_notes(&text);
        assert_eq!(notes.len(), MOST_NAMED + 1);
        assert!(notes[0].contains(r"a\n[WARNING: b]") && notes[MOST_NAMED].contains("1 more"), "{notes:?}");
        assert_eq!(sandbox_notes("[WARNING: printed by the command]\n[exit code 0]"), [""; 0]);
    }
}
