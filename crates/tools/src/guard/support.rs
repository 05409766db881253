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

/// Asks what this machine can enforce. Blocks for a few milliseconds.
#[must_use]
pub fn support(guard: &GuardProgram) -> Support {
    let bubblewraps = BUBBLEWRAPS.iter().map(PathBuf::from).filter(|path| path.is_file()).map(Walls::Bubblewrap);
    let mut why = None;
    for walls in std::iter::once(Walls::Namespaces).chain(bubblewraps).chain([Walls::Landlock]) {
        match held(guard, &walls) {
            Ok(landlock) => return Support { walls, landlock, why },
            Err(error) => why = why.or(Some(error.to_string())),
        }
    }
    Support { walls: Walls::Landlock, landlock: 0, why }
}

/// Where a program that belongs to no call has its temporary folder: nobody else's, and not there yet.
pub(crate) fn fresh_temp() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("windlass-sandbox-{}-{number}", std::process::id()))
}

/// Runs a command that does nothing behind `walls`; the version of Landlock that held it.
fn held(guard: &GuardProgram, walls: &Walls) -> io::Result<u8> {
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
    ours.write_all((serde_json::to_string(&request)? + "\n").as_bytes())?;
    let mut landlock = None;
    let mut result = Err(io::Error::other("its guard ended without a word"));
    for line in BufReader::new(&ours).lines().map_while(Result::ok) {
        match serde_json::from_str(&line)? {
            Report::Held { landlock: version, .. } => landlock = Some(version),
            Report::Exited(0) => result = landlock.ok_or_else(|| io::Error::other("it was not held")),
            Report::Failed(problem) => result = Err(io::Error::other(problem)),
            Report::Started(_) => {}
            Report::Exited(code) => result = Err(io::Error::other(format!("it exited with {code}"))),
            Report::Signalled(signal) => result = Err(io::Error::other(format!("signal {signal} ended it"))),
        }
    }
    process.wait()?;
    result
}
