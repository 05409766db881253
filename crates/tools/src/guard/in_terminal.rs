//! A program under a guard that uses the terminal of this process.

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Command;

use super::child::{ChildEnd, GuardedProgram, command_line};
use super::handover;
use super::wire::{CleanupReport, GuardReport, GuardRequest, Stdin};
use crate::GuardProgram;

/// Runs `program` to its end with this process's own input and output. Returns how it ended, and the report of the
/// cleanup after it. Blocks.
pub fn run_in_terminal(guard: &GuardProgram, program: &GuardedProgram) -> io::Result<(ChildEnd, CleanupReport)> {
    let (mut ours, theirs) = UnixStream::pair()?;
    let held = program.confinement.is_some();
    let request = GuardRequest {
        command: format!("exec {}", command_line(program)),
        directory: program.directory.clone(),
        lock: None,
        grace_ms: u64::try_from(program.stop_grace.as_millis()).unwrap_or(u64::MAX),
        // Without a sandbox the waiting shell would read the first line that the user types.
        input: if held { Stdin::Passed } else { Stdin::Nothing },
        confinement: program.confinement.clone(),
    };
    let line = serde_json::to_string(&request)? + "\n";
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let mut command = Command::new(&guard.program);
    program.scrubbed.iter().for_each(|name| {
        command.env_remove(name);
    });
    command.args(&guard.args).envs(program.environment.iter().map(|(name, value)| (name, value)));
    let mut process = command.stdin(OwnedFd::from(theirs)).spawn()?;
    drop(command);
    let sent = handover::send(&ours, line.as_bytes(), Some(input.as_fd()))?;
    ours.write_all(&line.as_bytes()[sent..])?;
    let (mut end, mut done) = (ChildEnd::GuardLost, CleanupReport::default());
    for line in BufReader::new(&ours).lines().map_while(Result::ok) {
        match serde_json::from_str(&line)? {
            GuardReport::Started(_) => {}
            GuardReport::Confined { cleanup, .. } => done = cleanup,
            GuardReport::Exited(code) => end = ChildEnd::Exited(code),
            GuardReport::Signalled(signal) => end = ChildEnd::Signalled(signal),
            GuardReport::Failed(problem) | GuardReport::KernelRefused(problem) => end = ChildEnd::NotStarted(problem),
        }
    }
    process.wait()?;
    Ok((end, done))
}
