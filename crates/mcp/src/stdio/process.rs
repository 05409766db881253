//! The process of a stdio server: started under a guard, ended gracefully and then by force.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio::net::unix::pipe;
use tokio::time::timeout;
use windlass_sandbox::{Confinement, Network};
use windlass_tools::guard::{ChildEnd, GuardedChild, GuardedProgram, Lifeline};
use windlass_tools::{GuardProgram, Sandbox, Secrets};

use super::StderrTail;

/// How long a server has to exit after its input is closed.
const AFTER_INPUT: Duration = Duration::from_secs(2);
/// How long it has after the termination signal.
const AFTER_SIGNAL: Duration = Duration::from_secs(1);
/// How long its guard may take to kill the remaining processes.
const KILL_LIMIT: Duration = Duration::from_secs(5);
/// How long a server that closed its output may take to exit.
const GOING: Duration = Duration::from_secs(1);
/// How long reading the rest of its stderr may take once it has exited.
const WORDS: Duration = Duration::from_millis(500);

/// The program to start.
#[derive(Clone, Debug)]
pub(crate) struct ServerProgram {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) scrubbed: BTreeSet<OsString>,
    pub(crate) directory: PathBuf,
    /// Secrets to remove from its stderr.
    pub(crate) secrets: Secrets,
    /// The sandbox, if it runs in one.
    pub(crate) sandbox: Option<Sandbox>,
}

/// A running process and the record of its end.
#[derive(Debug)]
pub(crate) struct Process {
    life: Lifeline,
    last: ProcessEnd,
}

/// How a server's process ended. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessEnd {
    /// The end of its stderr.
    pub(crate) words: StderrTail,
    program: std::sync::Arc<str>,
    end: std::sync::Arc<std::sync::OnceLock<ChildEnd>>,
}

/// A process with its pipes.
pub(crate) struct StartedProcess {
    pub(crate) process: Process,
    pub(crate) input: pipe::Sender,
    pub(crate) output: pipe::Receiver,
    pub(crate) last: ProcessEnd,
}

/// Returns the confinement of a server. If the kernel can't provide it, the server is not started.
async fn confinement(guard: GuardProgram, sandbox: Sandbox) -> io::Result<Confinement> {
    let asked = tokio::task::spawn_blocking(move || sandbox.program_confinement(&guard, Network::Off)).await;
    let held = asked.map_err(io::Error::other)?.map_err(io::Error::other)?;
    let held = held.ok_or_else(|| io::Error::other("this kernel has no sandbox to hold it"))?;
    Ok(held.without_cleanup())
}

/// Starts a server under `guard`.
pub(crate) async fn start(guard: &GuardProgram, program: ServerProgram) -> io::Result<StartedProcess> {
    let words = StderrTail::hiding(&program.secrets);
    let last = ProcessEnd { program: program.command.as_str().into(), words, ..ProcessEnd::default() };
    let confinement = match program.sandbox {
        Some(sandbox) => Some(confinement(guard.clone(), sandbox).await?),
        None => None,
    };
    let guarded = GuardedProgram {
        program: program.command,
        args: program.args,
        directory: program.directory,
        environment: program.environment,
        scrubbed: program.scrubbed,
        stop_grace: AFTER_SIGNAL,
        confinement,
    };
    let GuardedChild { input, output, errors, life } = GuardedChild::start(guard, &guarded).await?;
    tokio::spawn(last.words.clone().drain(errors));
    Ok(StartedProcess { process: Process { life, last: last.clone() }, input, output, last })
}

impl Process {
    /// Ends the process after its input was closed: waits a little, then sends a signal, then has it killed. In any
    /// case dropping the lifeline kills whatever is left.
    pub(super) async fn end(mut self) {
        let mut end = timeout(AFTER_INPUT, self.life.ended()).await.ok();
        if end.is_none() {
            self.life.stop().await;
            end = timeout(AFTER_SIGNAL + KILL_LIMIT, self.life.ended()).await.ok();
        }
        if let Some(end) = end {
            self.last.ended(end).await;
        }
    }

    /// Waits briefly for the exit status of a process that closed its output.
    pub(super) async fn ending(&mut self) {
        if let Ok(end) = timeout(GOING, self.life.ended()).await {
            self.last.ended(end).await;
        }
    }
}

impl ProcessEnd {
    /// Records the exit status once the rest of stderr is read.
    async fn ended(&self, end: ChildEnd) {
        let _ = timeout(WORDS, self.words.drained()).await;
        let _ = self.end.set(end);
    }

    /// Whether the program does not exist: then there is no use in trying again.
    pub(crate) fn is_no_program(&self) -> bool {
        matches!(self.end.get(), Some(ChildEnd::Exited(126 | 127) | ChildEnd::NotStarted(_)))
    }

    /// How and `when` the process ended, and its last stderr lines, as the rest of a sentence that begins with the
    /// server.
    pub(crate) fn describe_end(&self, when: &str) -> String {
        let end = match self.end.get() {
            Some(ChildEnd::Exited(127)) => {
                format!("could not be started: there is no program `{}`; is it installed?", self.program)
            }
            Some(ChildEnd::Exited(126)) => {
                format!("could not be started: `{}` can't be run", self.program)
            }
            Some(ChildEnd::Exited(code)) => format!("ended with exit code {code}"),
            Some(ChildEnd::Signalled(signal)) => format!("was ended by signal {signal}"),
            Some(ChildEnd::NotStarted(problem)) => format!("could not be started: {problem}"),
            Some(ChildEnd::GuardLost) => "was killed, and its guard with it".to_owned(),
            None => "closed its output".to_owned(),
        };
        let when = if self.is_no_program() { "" } else { when };
        match self.words.last_words() {
            words if words.is_empty() => format!("{end}{when}"),
            words => format!("{end}{when}; its last words: {words}"),
        }
    }
}
