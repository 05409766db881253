//! Time from the start of the process: `windlass --version` to its exit, and the chat to its first prompt, in a
//! fresh data folder and in one that was used before, compared with a program that prints a line. If peers
//! are installed, their `--version` too.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::setup::Setup;
use crate::pace::{FloorComparison, median};
use crate::table::Measurement;
use crate::terminal::until_shown;

/// The prompt on the screen when a person may type.
pub(super) const PROMPT: &str = "› ";

/// The address of a model that gets no request.
const NOBODY: &str = "http://127.0.0.1:9/v1";

/// Similar programs, by the names they are installed under.
const PEERS: &[&str] = &["goose", "codex", "nanobot", "opencode", "crush", "gemini", "claude", "aider"];

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let rounds = setup.rounds(50);
    let version = || Command::new(&setup.programs.windlass);
    let nothing = || Command::new(&setup.programs.nothing);
    let mut lines = vec![Measurement::beside(
        "`windlass --version`, against a program that prints a line",
        &by_turns(rounds, || ended(nothing()), || ended(version()))?,
    )];
    let used = tempfile::tempdir_in(&setup.programs.folder)?;
    let fresh = || {
        let dir = tempfile::tempdir_in(&setup.programs.folder)?;
        until_shown(chat(setup, dir.path(), NOBODY), PROMPT)
    };
    let again = || until_shown(chat(setup, used.path(), NOBODY), PROMPT);
    let floor = || until_shown(nothing(), PROMPT);
    let first = "the chat's first prompt, against a program that prints a line";
    lines.push(Measurement::beside(&format!("{first}, in a fresh data folder"), &by_turns(rounds, floor, fresh)?));
    lines.push(Measurement::beside(&format!("{first}, in a used one"), &by_turns(rounds, floor, again)?));
    lines.extend(peers(setup)?);
    Ok(lines)
}

/// The command that starts the chat with a model at this address.
pub(super) fn chat(setup: &Setup, dir: &Path, base_url: &str) -> Command {
    let mut command = Command::new(&setup.programs.windlass);
    command.args(["--session", "start", "--model", "scripted", "--base-url", base_url]);
    command.arg("--workspace").arg(dir).arg("--data-dir").arg(dir.join("data"));
    // No personal settings, and a terminal with all features.
    command.env("HOME", dir).env("XDG_CONFIG_HOME", dir).env("TERM", "xterm-256color").env("LC_ALL", "C.UTF-8");
    command
}

fn by_turns(
    rounds: usize,
    floor: impl Fn() -> Result<Duration>,
    ours: impl Fn() -> Result<Duration>,
) -> Result<FloorComparison> {
    let (mut floors, mut all_ours) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        let (floor, own) = (floor()?, ours()?);
        if round > 0 {
            floors.push(floor);
            all_ours.push(own);
        }
    }
    Ok(FloorComparison { floor: median(&mut floors), ours: median(&mut all_ours) })
}

/// How long `--version` takes; it must print something.
fn ended(mut command: Command) -> Result<Duration> {
    command.arg("--version").stdin(Stdio::null());
    let begun = Instant::now();
    let output = command.output().with_context(|| format!("{command:?} can't be started"))?;
    let took = begun.elapsed();
    ensure!(output.status.success() && !output.stdout.is_empty(), "{command:?} says no version");
    Ok(took)
}

fn peers(setup: &Setup) -> Result<Vec<Measurement>> {
    let (mut lines, mut missing) = (Vec::new(), Vec::new());
    for peer in PEERS {
        if is_missing(peer) {
            missing.push(*peer);
            continue;
        }
        let floor = || ended(Command::new(&setup.programs.nothing));
        let compared = by_turns(setup.rounds(10), floor, || ended(Command::new(peer)));
        lines.push(match compared {
            Ok(compared) => Measurement::beside(&format!("`{peer} --version`"), &compared),
            Err(error) => Measurement::noted(&format!("`{peer} --version`"), format!("not measured: {error}")),
        });
    }
    if !missing.is_empty() {
        lines.push(Measurement::noted(&format!("`--version` of {}", missing.join(", ")), "not installed"));
    }
    Ok(lines)
}

fn is_missing(program: &str) -> bool {
    let tried = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    tried.is_err_and(|error| error.kind() == ErrorKind::NotFound)
}
