//! What `run_command` has to do with the sandbox: what a call may say of it, how far the call reaches then, and
//! what the model is told afterwards.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use windlass_sandbox::{Confinement, Lack, Network, SandboxMode, Walls};
use windlass_vocab::shown_path;

use super::commands::Commands;
use crate::SandboxUntried;
use crate::at_work::Running;
use crate::guard::Cleared;
use crate::reach::Reach;

/// How many paths the model is told of at once.
const MOST_NAMED: usize = 10;

/// What a call says of the sandbox.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub(super) struct Wish {
    #[serde(default)]
    network: bool,
    sandbox: Option<Without>,
}

/// The one thing that can be said of it.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Without {
    Off,
}

/// Adds to what the model is told of the tool, where there is a sandbox.
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
    /// How far a call with this wish reaches.
    pub(super) fn reach(&self, wish: Wish) -> Reach {
        let held = self.sandbox.as_ref().zip(self.guard.as_ref()).is_some_and(|(sandbox, guard)| sandbox.holds(guard));
        match (held, wish.sandbox, wish.network) {
            (true, Some(Without::Off), _) => Reach::Outside,
            (true, None, true) => Reach::Network,
            (true, None, false) => Reach::Inside,
            (false, _, _) => Reach::Unheld,
        }
    }

    /// What a call with this wish is held to, with `temp` for itself, and what is to be kept until the command has ended.
    /// Aside: the workspace is looked through, and other work has this thread too.
    pub(super) async fn confinement(
        self: &Arc<Self>,
        wish: Wish,
        temp: PathBuf,
    ) -> Result<Option<(Confinement, Running)>, SandboxUntried> {
        let (Some(sandbox), Some(guard)) = (self.sandbox.clone(), self.guard.clone()) else { return Ok(None) };
        let commands = Arc::clone(self);
        let work = move || sandbox.command_confinement(&guard, commands.reach(wish), temp);
        tokio::task::spawn_blocking(work).await.map_err(|error| SandboxUntried { failure: error.to_string() })?
    }

    /// What a person who is asked about a call with this wish is told of the sandbox.
    pub(super) fn told(&self, wish: Wish) -> Option<String> {
        let (sandbox, guard) = self.sandbox.as_ref().zip(self.guard.as_ref())?;
        Some(sandbox.told(guard, self.reach(wish)))
    }
}

/// How a command ended, with what it printed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ran<'o> {
    Well(&'o str),
    Failed(&'o str),
    /// It was stopped, or nobody knows.
    Stopped,
}

/// What a command in the sandbox was held to, as far as the model is told of it.
pub(super) struct Held {
    network: Network,
    /// Where it may write.
    writes: &'static str,
    /// What was done about what it had made and may not.
    pub(super) cleared: Cleared,
}

impl Held {
    pub(super) fn to(confinement: &Confinement) -> Self {
        let writes = match (confinement.writable.is_empty(), &confinement.walls) {
            (true, Walls::Namespaces | Walls::Bubblewrap(_)) => "only in /tmp, for it is read-only",
            (true, Walls::Landlock | Walls::Seatbelt) => "only in the folder $TMPDIR names, for it is read-only",
            (false, Walls::Namespaces | Walls::Bubblewrap(_)) => {
                "only in the workspace and /tmp, and not what is protected"
            }
            (false, Walls::Landlock) => "only in the workspace and the folder $TMPDIR names",
            (false, Walls::Seatbelt) => "only in the workspace and the folder $TMPDIR names, and not what is protected",
        };
        Self { network: confinement.network, writes, cleared: Cleared::default() }
    }

    /// What the model is told after the command, on a line of its own each: what was set aside, and whether it is the
    /// sandbox it failed for, or did only a part for.
    pub(super) fn hint(&self, ran: Ran<'_>) -> String {
        let mut hints = cleared_hint(&self.cleared);
        let lack = match ran {
            Ran::Failed(printed) => windlass_sandbox::lacked(printed),
            Ran::Well(printed) => {
                if windlass_sandbox::kept_from_changing(printed) {
                    hints.push_str(&self.half_done());
                }
                None
            }
            Ran::Stopped => None,
        };
        match (lack, self.network) {
            (Some(Lack::Network), Network::Off) => hints.push_str(
                "\n[The sandbox gives commands no network. If this needs it, call run_command again with \"network\": \
                 true: the person may be asked.]",
            ),
            (Some(Lack::Loopback), Network::Off) => hints.push_str(
                "\n[The sandbox has a loopback of its own: a server that runs outside it can't be reached from inside. If \
                 this needs one, call run_command again with \"network\": true: the person may be asked. A server of this \
                 command's own is started by the same command.]",
            ),
            (Some(Lack::Writing), _) => {
                let _ = write!(
                    hints,
                    "\n[The sandbox lets commands write {}. If this needs more, call run_command again with \
                     \"sandbox\": \"off\": the person is asked.]",
                    self.writes
                );
            }
            (Some(Lack::Network | Lack::Loopback), Network::On) | (None, _) => {}
        }
        hints
    }

    fn half_done(&self) -> String {
        format!(
            "\n[The sandbox kept it from changing files it may not change, so what it did may be half done, though it \
             ended well. It lets commands write {}. Look at what it left and undo that, or run it again with \"sandbox\": \
             \"off\": the person is asked.]",
            self.writes
        )
    }
}

/// How the lines begin that tell the model of the sandbox.
const NOTES: [&str; 5] = ["[Set aside as ", "[Set aside besides: ", "[Put back: ", "[WARNING: ", "[The sandbox "];

/// What a command's result says of the sandbox, a line each, for the person who watches. It stands below the line that
/// says how the command ended; what the command itself has printed is above that.
#[must_use]
pub fn sandbox_notes(result: &str) -> Vec<&str> {
    let is_note = |line: &&str| NOTES.iter().any(|begin| line.starts_with(begin)) && line.ends_with(']');
    let mut notes: Vec<&str> = result.lines().rev().take_while(is_note).collect();
    notes.reverse();
    notes.iter().map(|note| note.trim_matches(['[', ']'])).collect()
}

/// What the model is told of what was cleared away, on a line of its own each.
fn cleared_hint(cleared: &Cleared) -> String {
    let mut hints = String::new();
    for path in cleared.set_aside.iter().take(MOST_NAMED) {
        let _ = write!(
            hints,
            "\n[Set aside as {}: what has that name without its ending is protected or denied, and a command in the \
             sandbox can't make it. A file tool can make what is protected, where the person agrees.]",
            shown(path)
        );
    }
    if cleared.set_aside.len() > MOST_NAMED {
        let _ =
            write!(hints, "\n[Set aside besides: {} more, for the same reason.]", cleared.set_aside.len() - MOST_NAMED);
    }
    for path in cleared.put_back.iter().take(MOST_NAMED) {
        let _ = write!(hints, "\n[Put back: {}, a link that is protected or leads to what is.]", shown(path));
    }
    for (path, problem) in cleared.left.iter().take(MOST_NAMED) {
        let _ = write!(
            hints,
            "\n[WARNING: {} is protected or denied and could not be set aside ({problem}). Tell the person.]",
            shown(path)
        );
    }
    hints
}

/// A path on one line: a command names its files as it likes.
fn shown(path: &Path) -> String {
    shown_path(&path.to_string_lossy()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    // proves X3
    #[test]
    fn where_a_command_may_write_is_said_as_it_is() {
        let hint = |walls, writable: &[&str]| {
            let writable = writable.iter().map(PathBuf::from).collect();
            Held::to(&Confinement { walls, writable, ..Confinement::default() }).hint(Ran::Failed("Permission denied"))
        };
        assert!(hint(Walls::Namespaces, &["/w"]).contains("only in the workspace and /tmp, and not what is protected"));
        assert!(hint(Walls::Namespaces, &[]).contains("only in /tmp, for it is read-only"));
        let landlock = hint(Walls::Landlock, &["/w"]);
        assert!(landlock.contains("$TMPDIR") && !landlock.contains("protected") && !landlock.contains("/tmp"));
    }

    // proves X3: a half-switched tree does not pass for a switched one
    #[test]
    fn a_command_that_ended_well_and_was_kept_from_something_is_told_so_and_the_person_too() {
        let held = Held::to(&Confinement { writable: vec!["/w".into()], ..Confinement::default() });
        let printed = "error: unable to unlink old 'AGENTS.md': Device or resource busy\nSwitched to branch 'x'\n";
        let text = format!("{printed}[exit code 0]{}", held.hint(Ran::Well(printed)));
        let [note] = sandbox_notes(&text)[..] else { panic!("{text}") };
        assert!(note.contains("may be half done") && note.contains("\"sandbox\": \"off\""), "{note}");
        for ran in [Ran::Well("done"), Ran::Stopped, Ran::Failed("error[E0308]: mismatched types")] {
            assert_eq!(held.hint(ran), "", "{ran:?}");
        }
    }

    // proves X3
    #[test]
    fn a_server_outside_that_was_not_reached_is_said_to_be_outside() {
        let refused = Ran::Failed("curl: (7) Failed to connect to localhost port 8000: Connection refused");
        let hint = |network| Held::to(&Confinement { network, ..Confinement::default() }).hint(refused);
        let told = hint(Network::Off);
        assert!(told.contains("loopback of its own") && told.contains("\"network\": true"), "{told}");
        assert_eq!(hint(Network::On), "", "it is nobody's fault but the server's");
    }

    // proves X3: what the model is told of the sandbox, the person who watches is told too
    #[test]
    fn what_a_result_says_of_the_sandbox_is_found_at_its_end() {
        let cleared = Cleared { set_aside: vec!["AGENTS.md.set-aside".into()], ..Cleared::default() };
        let text = format!("[WARNING: printed by the command]\n[exit code 0]{}", cleared_hint(&cleared));
        let [note] = sandbox_notes(&text)[..] else { panic!("{text}") };
        assert!(note.starts_with("Set aside as AGENTS.md.set-aside: ") && !note.contains(']'), "{note}");
        let many = Cleared { set_aside: vec!["a\n[WARNING: b]".into(); MOST_NAMED + 1], ..Cleared::default() };
        let text = format!("[exit code 0]{}", cleared_hint(&many));
        let notes = sandbox_notes(&text);
        assert_eq!(notes.len(), MOST_NAMED + 1);
        assert!(notes[0].contains(r"a\n[WARNING: b]") && notes[MOST_NAMED].contains("1 more"), "{notes:?}");
        assert_eq!(sandbox_notes("[WARNING: printed by the command]\n[exit code 0]"), [""; 0]);
    }
}
