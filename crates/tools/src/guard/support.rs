//! Finds out what this machine can enforce, by running an empty command in each kind of sandbox, the best first.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use windlass_sandbox::{BUBBLEWRAP_PATHS, Confinement, Isolation, SandboxSupport};

use super::wire::{GuardReport, GuardRequest, Stdin};
use crate::GuardProgram;

/// Why a probe did not run confined.
enum ProbeFailure {
    /// The kernel does not allow the confinement.
    KernelRefused(String),
    /// The probe could not be run.
    Untried(String),
}

impl From<io::Error> for ProbeFailure {
    fn from(error: io::Error) -> Self {
        Self::Untried(error.to_string())
    }
}

/// The kinds of isolation that may work on this system, the best first.
fn candidates() -> Vec<Isolation> {
    if cfg!(target_os = "linux") {
        let bubblewraps =
            BUBBLEWRAP_PATHS.iter().map(PathBuf::from).filter(|path| path.is_file()).map(Isolation::Bubblewrap);
        std::iter::once(Isolation::Namespaces).chain(bubblewraps).chain([Isolation::Landlock]).collect()
    } else if cfg!(target_os = "macos") {
        vec![Isolation::Seatbelt]
    } else {
        Vec::new()
    }
}

/// Finds out what this machine can enforce. Blocks for a few milliseconds. If a better isolation could not be probed,
/// the function does not settle for a worse one.
#[must_use]
pub fn probe_support(guard: &GuardProgram) -> SandboxSupport {
    let nothing = |why, failure| SandboxSupport { isolation: Isolation::Landlock, landlock: 0, why, failure };
    let mut why = None;
    for isolation in candidates() {
        match probe(guard, &isolation) {
            Ok(landlock) => return SandboxSupport { isolation, landlock, why, failure: None },
            Err(ProbeFailure::KernelRefused(problem)) => why = why.or(Some(problem)),
            Err(ProbeFailure::Untried(problem)) => return nothing(why.or(Some(problem.clone())), Some(problem)),
        }
    }
    nothing(why, None)
}

/// Returns a new path for the temporary folder of a program that belongs to no call; the folder does not exist yet.
pub(crate) fn fresh_temp() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    // `TMPDIR` may name a folder that does not exist.
    let folder = Some(std::env::temp_dir()).filter(|folder| folder.is_dir()).unwrap_or_else(|| PathBuf::from("/tmp"));
    folder.join(format!("windlass-sandbox-{}-{number}", std::process::id()))
}

/// Runs an empty command under `isolation`. Returns the version of Landlock that confined it.
fn probe(guard: &GuardProgram, isolation: &Isolation) -> Result<u8, ProbeFailure> {
    let confinement = Confinement { isolation: isolation.clone(), temp: fresh_temp(), ..Confinement::default() };
    let request = GuardRequest {
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
    let untried = |problem: String| Err(ProbeFailure::Untried(problem));
    let mut result = untried("its guard ended without a word".to_owned());
    for line in BufReader::new(&ours).lines().map_while(Result::ok) {
        match serde_json::from_str(&line).map_err(io::Error::from)? {
            GuardReport::Confined { landlock: version, .. } => landlock = Some(version),
            GuardReport::Exited(0) => {
                result = landlock.ok_or_else(|| ProbeFailure::Untried("it was not held".to_owned()));
            }
            GuardReport::KernelRefused(problem) => result = Err(ProbeFailure::KernelRefused(problem)),
            GuardReport::Failed(problem) => result = untried(problem),
            GuardReport::Started(_) => {}
            // Bubblewrap exits like this when the kernel refuses.
            GuardReport::Exited(code) if landlock.is_none() && matches!(isolation, Isolation::Bubblewrap(_)) => {
                result = Err(ProbeFailure::KernelRefused(format!("bubblewrap exited with {code}")));
            }
            GuardReport::Exited(code) => result = untried(format!("it exited with {code}")),
            GuardReport::Signalled(signal) => result = untried(format!("signal {signal} ended it")),
        }
    }
    process.wait()?;
    result
}
