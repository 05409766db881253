//! `run_command`: a shell command under the guard.
//!
//! When this future ends or is dropped, the lifeline closes and the guard kills the command. A non-zero exit code is a
//! normal result.

use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::pipe;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, sleep_until, timeout};
use windlass_vocab::{
    CommandExit, EffectClass, Outcome, OutcomeKind, Preview, Remedy, SnapshotKind, TextOrigin, ToolSpec,
};

use super::answer::{invalid_arguments, ready};
use super::arguments::{parse_arguments, refuse_placeholder};
use super::command_output::CommandOutput;
use super::command_sandbox::{self, CommandEnding, ConfinementNotes, SandboxRequest};
use super::commands::Commands;
use super::spec::spec;
use super::tool_names::RUN_COMMAND;
use crate::cut::thousands;
use crate::dialect::python_script;
use crate::guard::child::kill_orphaned_group;
use crate::guard::wire::{GuardReport, GuardRequest, STOP, Stdin};
use crate::guard::{lock_path, temp_path};
use crate::sandbox_use::SandboxUse;
use crate::shorten::shorten;
use crate::{About, BoxFuture, CallContext, CertainFailure, GuardProgram, SandboxUntried, Tool, Workspace};

/// How long a guard may take to kill its processes, and how long output may continue after that.
const KILL_LIMIT: Duration = Duration::from_secs(5);
const TRAILING_OUTPUT: Duration = Duration::from_secs(1);
const UNKILLED: &str = "stopped, but something it started could not be killed yet";
/// Progress is only for display; output beyond this limit is not sent as progress.
const PROGRESS_LIMIT: u64 = 1 << 20;
/// A person who approves a command has seen all of it, so a longer one can't be approved.
const LONGEST_SHOWN: usize = 16_000;

#[derive(Deserialize)]
struct RunCommandArguments {
    command: String,
    timeout_seconds: Option<u64>,
    #[serde(flatten)]
    sandbox_request: SandboxRequest,
}

pub(super) struct RunCommand {
    spec: ToolSpec,
    workspace: Arc<Workspace>,
    commands: Arc<Commands>,
}

impl RunCommand {
    pub(super) fn new(workspace: Arc<Workspace>, commands: Commands) -> Self {
        let (usual, most) = (commands.timeout.as_secs(), commands.timeout_ceiling.as_secs());
        let mut properties = json!({
            "command": {"type": "string", "minLength": 1, "description": "The command line, for `sh -c`."},
            "timeout_seconds": {
                "type": "integer", "minimum": 1,
                "description": format!("How long it may take; {usual} if left out, {most} at most.")
            }
        });
        let description = command_sandbox::describe(&commands, include_str!("run_command.md"), &mut properties);
        let schema = json!({
            "type": "object",
            "properties": properties,
            "required": ["command"],
            "additionalProperties": false
        });
        let spec = spec(RUN_COMMAND, &description, EffectClass::Once, &schema);
        Self { spec, workspace, commands: Arc::new(commands) }
    }
}

impl Tool for RunCommand {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn about(&self, arguments: &Value) -> Option<About> {
        let RunCommandArguments { command, sandbox_request, .. } = parse_arguments(arguments.clone()).ok()?;
        Some(
            About::command_in(self.workspace.root(), &command)
                .with_sandbox_use(self.commands.sandbox_use(sandbox_request)),
        )
    }

    fn preview(&self, arguments: &Value) -> Result<Preview, String> {
        let RunCommandArguments { command, .. } = parse_arguments(arguments.clone())?;
        let length = command.chars().count();
        if length > LONGEST_SHOWN {
            return Err(format!(
                "it is {} characters long: write it to a file with write_file, and run that",
                thousands(length)
            ));
        }
        let place = format!("in {}", self.workspace.root().display());
        // A script is shown as it was written, not as a quoted word of the shell.
        if let Some(script) = python_script(&command) {
            let title = match script.trim().lines().count() {
                1 => "Run 1 line of Python".to_owned(),
                lines => format!("Run {lines} lines of Python"),
            };
            return Ok(Preview { title, body: format!("{place}\n{script}"), rule: None });
        }
        let first = shorten(command.trim().lines().next().unwrap_or_default(), 160);
        // If the title displays the whole command, the body does not repeat it.
        let body = if first == command { place } else { format!("{place}\n{command}") };
        let more = match command.trim().lines().count() {
            0 | 1 => String::new(),
            2 => " and 1 more line".to_owned(),
            lines => format!(" and {} more lines", lines - 1),
        };
        Ok(Preview { title: format!("Run `{first}`{more}"), body, rule: None })
    }

    fn certain_failure(&self, arguments: &Value) -> Option<CertainFailure> {
        let RunCommandArguments { command, .. } = parse_arguments(arguments.clone()).ok()?;
        refuse_placeholder(&command).err().map(CertainFailure::by_arguments)
    }

    fn confinement_line(&self, arguments: &Value) -> Option<String> {
        let RunCommandArguments { sandbox_request, .. } = parse_arguments(arguments.clone()).ok()?;
        self.commands.sandbox_line(sandbox_request)
    }

    fn origin(&self, arguments: &Value) -> Option<TextOrigin> {
        let RunCommandArguments { command, sandbox_request, .. } = parse_arguments(arguments.clone()).ok()?;
        let line = command.trim().lines().next().unwrap_or_default();
        match self.commands.sandbox_use(sandbox_request) {
            SandboxUse::WithNetwork | SandboxUse::Outside => Some(TextOrigin::Command { command: shorten(line, 160) }),
            // Without a sandbox any command may use the network: asking about each one's output would be asking always.
            SandboxUse::Confined | SandboxUse::NoSandbox => None,
        }
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.commands.timeout_ceiling)
    }

    fn snapshot_kind(&self) -> SnapshotKind {
        SnapshotKind::Workspace
    }

    fn stop_grace(&self) -> Duration {
        self.commands.stop_grace + KILL_LIMIT + TRAILING_OUTPUT
    }

    fn run(&self, context: CallContext, arguments: Value) -> BoxFuture<'static, Outcome> {
        let RunCommandArguments { command, timeout_seconds, sandbox_request } = match parse_arguments(arguments) {
            Ok(arguments) => arguments,
            Err(problem) => return invalid_arguments(problem),
        };
        if let Err(refusal) = refuse_placeholder(&command) {
            return ready(Outcome::error(refusal));
        }
        let limit =
            timeout_seconds.map_or(self.commands.timeout, Duration::from_secs).min(self.commands.timeout_ceiling);
        let (commands, directory) = (Arc::clone(&self.commands), self.workspace.root().to_owned());
        Box::pin(async move {
            let lock = lock_path(&commands.lock_dir, context.session, context.call);
            // Commands that start meanwhile take this one into account until it has ended.
            let confined = commands.confinement(sandbox_request, context.workspace_use, temp_path(&lock)).await;
            let (confinement, _running) = match confined {
                Ok(joined) => joined.unzip(),
                Err(untried) => return not_run(&untried),
            };
            let request = GuardRequest {
                command,
                directory,
                lock: Some(lock),
                grace_ms: millis(commands.stop_grace),
                input: Stdin::Nothing,
                confinement,
            };
            match GuardedCommand::start(&commands, &request, &context) {
                Ok(running) => running.watch(&commands, &context, limit).await,
                Err(problem) => Outcome::new(OutcomeKind::InfrastructureError, problem),
            }
        })
    }
}

/// Returns the outcome of a command that could not be confined and was not run; other commands would fail as well.
fn not_run(untried: &SandboxUntried) -> Outcome {
    let text = format!("The command was not run: {untried}. No command can be run before a person has seen to that.");
    Outcome { remedy: Some(Remedy::MendSandbox), ..Outcome::new(OutcomeKind::InfrastructureError, text) }
}

/// Why a command is stopped early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EarlyStop {
    Cancelled,
    TimedOut,
    Flooded,
}

/// How a command ended.
enum CommandEnd {
    Reported(GuardReport),
    /// The guard ended without a report.
    GuardLost,
    /// The guard could not kill its processes in time.
    GivenUp,
}

impl CommandEnd {
    /// Returns how the command's shell ended, if the guard reported it.
    fn exit(&self) -> Option<CommandExit> {
        match self {
            Self::Reported(GuardReport::Exited(code)) => Some(CommandExit::Code(*code)),
            Self::Reported(GuardReport::Signalled(signal)) => Some(CommandExit::Signal(*signal)),
            Self::Reported(
                GuardReport::Started(_)
                | GuardReport::Failed(_)
                | GuardReport::KernelRefused(_)
                | GuardReport::Confined { .. },
            )
            | Self::GuardLost
            | Self::GivenUp => None,
        }
    }
}

/// A command under its guard.
struct GuardedCommand {
    lifeline: OwnedWriteHalf,
    reports: Lines<BufReader<OwnedReadHalf>>,
    printed: pipe::Receiver,
    output: CommandOutput,
    /// Reaped in the background once it ends.
    _guard: tokio::process::Child,
    request: Option<String>,
    group: Option<i32>,
    /// The facts about its confinement, in the sandbox.
    confinement_notes: Option<ConfinementNotes>,
}

impl GuardedCommand {
    fn start(commands: &Commands, request: &GuardRequest, context: &CallContext) -> Result<Self, String> {
        let Some(guard) = &commands.guard else {
            return Err(
                "Commands can't be run here: no guard program is configured. Whoever embeds Windlass must set \
                        `Commands::guard` to a program that calls `guard::run`."
                    .into(),
            );
        };
        let request_line = serde_json::to_string(request).map_err(|error| error.to_string())? + "\n";
        let confinement_notes = request.confinement.as_ref().map(ConfinementNotes::of);
        let started = std::fs::create_dir_all(&commands.lock_dir)
            .and_then(|()| request.lock.as_ref().map(std::fs::File::create).transpose())
            .and_then(|_| Self::spawn(guard, commands, context, request_line));
        started.map(|running| Self { confinement_notes, ..running }).map_err(|error| {
            // If it can't be removed, the next resume removes it.
            let _ = request.lock.as_ref().map(std::fs::remove_file);
            format!("The command was not run: its guard {} could not be started: {error}.", guard.program.display())
        })
    }

    fn spawn(guard: &GuardProgram, commands: &Commands, context: &CallContext, request: String) -> io::Result<Self> {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
        let (printed, print) = io::pipe()?;
        let mut program = tokio::process::Command::new(&guard.program);
        // Read now, because the guard would inherit the current environment.
        for name in commands.hidden_env(std::env::vars_os()) {
            program.env_remove(name);
        }
        program
            .arg0("command-guard")
            .args(&guard.args)
            .env("WINDLASS_EFFECT_ID", context.effect_id.as_str())
            .stdin(OwnedFd::from(theirs))
            .stdout(print.try_clone()?)
            .stderr(Stdio::from(print));
        ours.set_nonblocking(true)?;
        let (reports, lifeline) = tokio::net::UnixStream::from_std(ours)?.into_split();
        Ok(Self {
            lifeline,
            reports: BufReader::new(reports).lines(),
            printed: pipe::Receiver::from_owned_fd(OwnedFd::from(printed))?,
            output: CommandOutput::keeping(commands.output_kept, &commands.secrets),
            _guard: program.spawn()?,
            request: Some(request),
            group: None,
            confinement_notes: None,
        })
    }

    /// Waits for the command's end, or stops it.
    async fn watch(mut self, commands: &Commands, context: &CallContext, limit: Duration) -> Outcome {
        if let Some(request) = self.request.take() {
            // If the guard is gone, the end of its reports shows that.
            let _ = self.lifeline.write_all(request.as_bytes()).await;
        }
        let mut buffer = vec![0; 64 * 1024];
        let mut deadline = Instant::now() + limit;
        let mut stop = None;
        let mut printing = true;
        let end = loop {
            let flooded = self.output.written() > commands.output_ceiling;
            let reason = tokio::select! {
                biased;
                report = self.reports.next_line() => match self.read_report(report) {
                    Some(end) => break end,
                    None => continue,
                },
                () = context.cancel.cancelled(), if stop.is_none() => EarlyStop::Cancelled,
                () = sleep_until(deadline) => match stop {
                    Some(_) => break CommandEnd::GivenUp,
                    None => EarlyStop::TimedOut,
                },
                () = std::future::ready(()), if flooded && stop.is_none() => EarlyStop::Flooded,
                read = self.printed.read(&mut buffer), if printing => {
                    printing = self.take_output(read.map_or(&[], |read| &buffer[..read]), context);
                    continue;
                }
            };
            stop = Some(reason);
            deadline = Instant::now() + commands.stop_grace + KILL_LIMIT;
            let _ = self.lifeline.write_all(format!("{STOP}\n").as_bytes()).await;
        };
        if printing {
            let rest = async { while self.read_on(&mut buffer, context).await {} };
            // A process outside may have received the other end of the pipe; don't wait for it.
            let _ = timeout(TRAILING_OUTPUT, rest).await;
        }
        self.outcome(&end, stop, limit)
    }

    async fn read_on(&mut self, buffer: &mut [u8], context: &CallContext) -> bool {
        let read = self.printed.read(buffer).await.unwrap_or(0);
        self.take_output(&buffer[..read], context)
    }

    /// Adds output. Returns whether there may be more.
    fn take_output(&mut self, bytes: &[u8], context: &CallContext) -> bool {
        let shown = self.output.push(bytes);
        if !shown.is_empty() && self.output.written() <= PROGRESS_LIMIT {
            (context.progress)(&shown);
        }
        !bytes.is_empty()
    }

    fn read_report(&mut self, line: io::Result<Option<String>>) -> Option<CommandEnd> {
        let report = line.ok().flatten().map(|line| serde_json::from_str(&line));
        match report {
            Some(Ok(GuardReport::Started(group))) => {
                self.group = Some(group);
                None
            }
            Some(Ok(GuardReport::Confined { cleanup, .. })) => {
                if let Some(confinement_notes) = &mut self.confinement_notes {
                    confinement_notes.cleanup = cleanup;
                }
                None
            }
            Some(Ok(report)) => Some(CommandEnd::Reported(report)),
            Some(Err(_)) | None => {
                kill_orphaned_group(self.group);
                Some(CommandEnd::GuardLost)
            }
        }
    }

    fn outcome(self, end: &CommandEnd, stop: Option<EarlyStop>, limit: Duration) -> Outcome {
        let total = usize::try_from(self.output.written()).unwrap_or(usize::MAX);
        let output = self.output.into_text();
        let (kind, note) = match (end, stop) {
            (CommandEnd::Reported(GuardReport::Failed(problem) | GuardReport::KernelRefused(problem)), _) => {
                return not_started(problem);
            }
            (CommandEnd::GuardLost, _) => (
                OutcomeKind::InfrastructureError,
                "the guard of the command died; what the command started may still be running".into(),
            ),
            (CommandEnd::GivenUp, Some(EarlyStop::Cancelled)) => (OutcomeKind::Cancelled, UNKILLED.to_owned()),
            (CommandEnd::GivenUp, Some(EarlyStop::TimedOut | EarlyStop::Flooded) | None) => {
                (OutcomeKind::TimedOut, UNKILLED.to_owned())
            }
            (CommandEnd::Reported(_), Some(EarlyStop::TimedOut)) => (
                OutcomeKind::TimedOut,
                format!("not done within {} s: it and all it started was killed", limit.as_secs()),
            ),
            (CommandEnd::Reported(_), Some(EarlyStop::Cancelled)) => {
                (OutcomeKind::Cancelled, "stopped: it and all it started was killed".into())
            }
            (CommandEnd::Reported(_), Some(EarlyStop::Flooded)) => (
                OutcomeKind::ToolError,
                format!("killed after {} bytes of output: make it print less", thousands(total)),
            ),
            (CommandEnd::Reported(GuardReport::Exited(code)), None) => (OutcomeKind::Ok, format!("exit code {code}")),
            (CommandEnd::Reported(GuardReport::Signalled(signal)), None) => {
                (OutcomeKind::Ok, format!("ended by signal {signal}"))
            }
            (CommandEnd::Reported(GuardReport::Started(_) | GuardReport::Confined { .. }), None) => {
                (OutcomeKind::InfrastructureError, "no end reported".into())
            }
        };
        let separator = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        let silence = if output.is_empty() { "no output; " } else { "" };
        let ran = match end.exit() {
            Some(CommandExit::Code(0)) => CommandEnding::Well(&output),
            Some(CommandExit::Code(_) | CommandExit::Signal(_)) => CommandEnding::Failed(&output),
            None => CommandEnding::Stopped,
        };
        let hint = self.confinement_notes.map(|confinement_notes| confinement_notes.hint(ran)).unwrap_or_default();
        Outcome { exit: end.exit(), ..Outcome::new(kind, format!("{output}{separator}[{silence}{note}]{hint}")) }
    }
}

fn not_started(problem: &str) -> Outcome {
    let long = if problem.contains("os error 7") { " It is too long: write it to a file and run that." } else { "" };
    Outcome::error(format!("The command could not be started: {problem}.{long}"))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
