//! An interactive program under a guard: its input and output are pipes, and it runs until its input ends, it is
//! stopped, or Windlass exits (T7, P3). `run_command` is the other user of guards.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf, pipe};

use windlass_sandbox::Confinement;

use super::handover;
use super::wire::{GuardReport, GuardRequest, STOP, Stdin};
use crate::GuardProgram;

/// The number of request bytes sent before anybody reads them: less than a socket buffer holds.
const FIRST_PIECE: usize = 16 << 10;

/// A program to run under a guard.
#[derive(Clone, Debug)]
pub struct GuardedProgram {
    /// The program: a path, or a name to look up in `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its working directory.
    pub directory: PathBuf,
    /// Environment variables to set besides the inherited ones.
    pub environment: Vec<(String, String)>,
    /// Environment variables it does not inherit.
    pub scrubbed: BTreeSet<OsString>,
    /// How long it may take to end by itself after a stop.
    pub stop_grace: Duration,
    /// The sandbox limits, if it runs in the sandbox.
    pub confinement: Option<Confinement>,
}

/// A program that runs under its guard.
#[derive(Debug)]
pub struct GuardedChild {
    /// Its standard input.
    pub input: pipe::Sender,
    /// Its standard output.
    pub output: pipe::Receiver,
    /// Its standard error.
    pub errors: pipe::Receiver,
    /// The handle that keeps it alive.
    pub life: Lifeline,
}

/// How a program under a guard ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChildEnd {
    /// It could not be started.
    NotStarted(String),
    /// It exited with this code, and no process that it started is left.
    Exited(i32),
    /// A signal ended it, and no process that it started is left.
    Signalled(i32),
    /// The guard ended without a report; at least the program's own process group was killed.
    GuardLost,
}

/// Keeps a guarded program alive: dropping it kills the program and all processes that it started.
#[derive(Debug)]
pub struct Lifeline {
    control: OwnedWriteHalf,
    reports: Lines<BufReader<OwnedReadHalf>>,
    group: Option<i32>,
    end: Option<ChildEnd>,
    /// Reaped in the background once it ends.
    _guard: tokio::process::Child,
}

impl GuardedChild {
    /// Starts `program` under `guard`. The program waits until the guard has reported its process id.
    pub async fn start(guard: &GuardProgram, program: &GuardedProgram) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let (read_input, input) = io::pipe()?;
        let (output, write_output) = io::pipe()?;
        let (errors, write_errors) = io::pipe()?;
        let request = GuardRequest {
            command: format!("exec {}", command_line(program)),
            directory: program.directory.clone(),
            lock: None,
            grace_ms: u64::try_from(program.stop_grace.as_millis()).unwrap_or(u64::MAX),
            input: Stdin::Passed,
            confinement: program.confinement.clone(),
        };
        let line = serde_json::to_string(&request)? + "\n";
        let sent = handover::send(&ours, &line.as_bytes()[..line.len().min(FIRST_PIECE)], Some(read_input.as_fd()))?;
        drop(read_input);
        let mut command = tokio::process::Command::new(&guard.program);
        program.scrubbed.iter().for_each(|name| {
            command.env_remove(name);
        });
        command
            .arg0("command-guard")
            .args(&guard.args)
            .envs(program.environment.iter().map(|(name, value)| (name, value)))
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::from(write_output))
            .stderr(Stdio::from(write_errors));
        // On a blocking thread: a spawn takes milliseconds, and this thread serves other tasks too.
        let process = tokio::task::spawn_blocking(move || command.spawn()).await.map_err(io::Error::other)??;
        ours.set_nonblocking(true)?;
        let (reports, mut control) = tokio::net::UnixStream::from_std(ours)?.into_split();
        control.write_all(&line.as_bytes()[sent..]).await?;
        let mut child = Self {
            input: pipe::Sender::from_owned_fd(OwnedFd::from(input))?,
            output: pipe::Receiver::from_owned_fd(OwnedFd::from(output))?,
            errors: pipe::Receiver::from_owned_fd(OwnedFd::from(errors))?,
            life: Lifeline {
                control,
                reports: BufReader::new(reports).lines(),
                group: None,
                end: None,
                _guard: process,
            },
        };
        child.open_gate(program).await?;
        Ok(child)
    }

    /// Lets the program start: a shell waits for the first line of the input, then starts the program, which reads the
    /// rest. In the sandbox no shell waits.
    async fn open_gate(&mut self, program: &GuardedProgram) -> io::Result<()> {
        match self.life.next_report().await {
            Some(GuardReport::Started(group)) => {
                self.life.group = Some(group);
                if program.confinement.is_some() { Ok(()) } else { self.input.write_all(b"\n").await }
            }
            Some(GuardReport::Failed(problem) | GuardReport::KernelRefused(problem)) => Err(io::Error::other(problem)),
            Some(GuardReport::Exited(_) | GuardReport::Signalled(_) | GuardReport::Confined { .. }) | None => {
                Err(io::Error::other("its guard ended before it had begun"))
            }
        }
    }
}

impl Lifeline {
    /// Asks the program to end; after the grace period the guard kills it and all processes that it started.
    pub async fn stop(&mut self) {
        // If the guard is gone, `ended` notices the closed socket.
        let _ = self.control.write_all(format!("{STOP}\n").as_bytes()).await;
    }

    /// Waits for the program's end. Cancel-safe.
    pub async fn ended(&mut self) -> ChildEnd {
        if let Some(end) = &self.end {
            return end.clone();
        }
        let mut report = self.next_report().await;
        if let Some(GuardReport::Confined { .. }) = report {
            report = self.next_report().await;
        }
        let end = match report {
            Some(GuardReport::Exited(code)) => ChildEnd::Exited(code),
            Some(GuardReport::Signalled(signal)) => ChildEnd::Signalled(signal),
            Some(GuardReport::Failed(problem) | GuardReport::KernelRefused(problem)) => ChildEnd::NotStarted(problem),
            Some(GuardReport::Started(_) | GuardReport::Confined { .. }) | None => {
                kill_orphaned_group(self.group);
                ChildEnd::GuardLost
            }
        };
        self.end.insert(end).clone()
    }

    async fn next_report(&mut self) -> Option<GuardReport> {
        let line = self.reports.next_line().await.ok().flatten()?;
        serde_json::from_str(&line).ok()
    }
}

/// Kills the process group of a guarded program, when its guard no longer can.
pub(crate) fn kill_orphaned_group(group: Option<i32>) {
    if let Some(group) = group.and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

/// Returns the program and its arguments, quoted for a shell.
pub(super) fn command_line(program: &GuardedProgram) -> String {
    let words = std::iter::once(&program.program).chain(&program.args);
    words.map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_reaches_the_program_as_it_was_written() {
        let program = GuardedProgram {
            program: "printf".into(),
            args: ["%s|", "it's", "$HOME `id` \\", "", "a\nb"].map(String::from).into(),
            directory: PathBuf::from("/"),
            environment: Vec::new(),
            scrubbed: BTreeSet::new(),
            stop_grace: Duration::ZERO,
            confinement: None,
        };
        let output = std::process::Command::new("/bin/sh").args(["-c", &command_line(&program)]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "it's|$HOME `id` \\||a\nb|");
    }
}
