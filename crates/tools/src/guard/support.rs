//! What this machine can enforce: a command that does nothing is run in each kind of sandbox, the best first.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use windlass_sandbox::{BUBBLEWRAPS, Confinement, Support, Walls};

use super::wire::{Report, Request, Stdin};
use crate::GuardProgram;

/// Why a command was not held.
enum NotHeld {
    /// The kernel does not let it be.
    Refused(String),
    /// It could not be tried.
    Untried(String),
}

impl From<io::Error> for NotHeld {
    fn from(error: io::Error) -> Self {
        Self::Untried(error.to_string())
    }
}

/// The walls there may be on this system, the best first.
fn candidates() -> Vec<Walls> {
    if cfg!(target_os = "linux") {
        let bubblewraps = BUBBLEWRAPS.iter().map(PathBuf::from).filter(|path| path.is_file()).map(Walls::Bubblewrap);
        std::iter::once(Walls::Namespaces).chain(bubblewraps).chain([Walls::Landlock]).collect()
    } else if cfg!(target_os = "macos") {
        vec![Walls::Seatbelt]
    } else {
        Vec::new()
    }
}

/// Asks what this machine can enforce. Blocks for a few milliseconds. Where better walls could not be tried, worse ones
/// are not taken for the best there are.
#[must_use]
pub fn support(guard: &GuardProgram) -> Support {
    let nothing = |why, failure| Support { walls: Walls::Landlock, landlock: 0, why, failure };
    let mut why = None;
    for walls in candidates() {
        match held(guard, &walls) {
            Ok(landlock) => return Support { walls, landlock, why, failure: None },
            Err(NotHeld::Refused(problem)) => why = why.or(Some(problem)),
            Err(NotHeld::Untried(problem)) => return nothing(why.or(Some(problem.clone())), Some(problem)),
        }
    }
    nothing(why, None)
}

/// Where a program that belongs to no call has its temporary folder: nobody else's, and not there yet.
pub(crate) fn fresh_temp() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    // The variable may name a folder that is not there.
    let folder = Some(std::env::temp_dir()).filter(|folder| folder.is_dir()).unwrap_or_else(|| PathBuf::from("/tmp"));
    folder.join(format!("windlass-sandbox-{}-{number}", std::process::id()))
}

/// Runs a command that does nothing behind `walls`; the version of Landlock that held it.
fn held(guard: &GuardProgram, walls: &Walls) -> Result<u8, NotHeld> {
    let confinement = Confinement { walls: walls.clone(), temp: fresh_temp(), ..Confinement::default() };
    let request = Request {
        command: "exit 0".to_owned(),
        directory: Path::new("/").to_owned(),
        lock: None,
        grace_ms: 0,
        input: Stdin::Nothing,
        confinement: Some(confinement),
    };
    let (mut ours, theirs) = UnixStream::pair()?;
    let mut process = Command::new(&guard.program)
        .args(&guard.args)
        .stdin(OwnedFd::from(theirs))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    ours.write_all((serde_json::to_string(&request).map_err(io::Error::from)? + "\n").as_bytes())?;
    let mut landlock = None;
    let untried = |problem: String| Err(NotHeld::Untried(problem));
    let mut result = untried("its guard ended without a word".to_owned());
    for line in BufReader::new(&ours).lines().map_while(Result::ok) {
        match serde_json::from_str(&line).map_err(io::Error::from)? {
            Report::Held { landlock: version, .. } => landlock = Some(version),
            Report::Exited(0) => result = landlock.ok_or_else(|| NotHeld::Untried("it was not held".to_owned())),
            Report::Unheld(problem) => result = Err(NotHeld::Refused(problem)),
            Report::Failed(problem) => result = untried(problem),
            Report::Started(_) => {}
            // That is how bubblewrap says that it may not.
            Report::Exited(code) if landlock.is_none() && matches!(walls, Walls::Bubblewrap(_)) => {
                result = Err(NotHeld::Refused(format!("bubblewrap exited with {code}")));
            }
            Report::Exited(code) => result = untried(format!("it exited with {code}")),
            Report::Signalled(signal) => result = untried(format!("signal {signal} ended it")),
        }
    }
    process.wait()?;
    result
}
