//! The guard process. No runtime: one thread listens to the lifeline, one reaps, one decides.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::RecvFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, WaitStatus, kill_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::clear::Clearing;
use super::confined::{self, FirstProcess, Refused, Replies, Role};
use super::handover::{self, Received};
use super::wire::{Report, Request, STOP, Stdin};
use super::writable_folders::WritableFolders;
use super::{descendants, first_process};

/// What `ps` shows.
const NAME: &CStr = c"command-guard";
/// How often what is left is killed again.
const ROUND: Duration = Duration::from_millis(5);

/// Something the guard waits for.
enum Sign {
    /// Windlass wants the command stopped.
    Stop,
    /// Windlass is gone.
    Gone,
    /// A descendant ended.
    Reaped(Pid, WaitStatus),
    /// The last descendant ended.
    LastReaped(Pid, WaitStatus),
    /// No descendant is left.
    NoneLeft,
}

/// Serves the one request that comes over `lifeline`.
pub(super) fn serve(lifeline: UnixStream) -> io::Result<()> {
    let Some(received) = handover::receive(&lifeline)? else {
        return Ok(());
    };
    let request: Request = serde_json::from_slice(&received.line)?;
    stand_apart()?;
    // While there are no threads.
    let first = match confined::fork(&request) {
        Ok(Role::Guard(first)) => Ok(first),
        Ok(Role::FirstProcess(channel)) => {
            drop((lifeline, received));
            return first_process::run(&channel);
        }
        Ok(Role::Between) => return Ok(()),
        Err(error) => Err(error),
    };
    guard(&request, received, first, &lifeline)
}

/// Starts the command, by the first process of its sandbox if that is there already, and sees it through.
fn guard(
    request: &Request,
    received: Received,
    first: io::Result<Option<FirstProcess>>,
    lifeline: &UnixStream,
) -> io::Result<()> {
    let (signs, inbox) = channel();
    listen(BufReader::new(io::Cursor::new(received.rest).chain(lifeline.try_clone()?)), signs.clone());
    let _lock = match &request.lock {
        Some(lock) => match take_lock(lock, &inbox)? {
            Some(file) => Some(file),
            None => return Ok(()),
        },
        None => None,
    };
    descendants::adopt()?;
    if is_gone(lifeline) {
        return unlock(request);
    }
    // Before it starts: what it puts in place of one of them is another folder.
    let folders = request.confinement.as_ref().map(|confinement| WritableFolders::open(&confinement.writable));
    let report = match first.and_then(|first| start(request, first, received.input, lifeline)) {
        Ok((shell, replies)) => {
            reap(signs);
            let grace = Duration::from_millis(request.grace_ms);
            let held = request.confinement.as_ref().zip(folders);
            let clearing = held.and_then(|(confinement, folders)| Clearing::prepare(confinement, folders));
            let report = Watch { shell, grace, inbox, first: replies.as_ref(), status: None, empty: false }.finish();
            settle(request, replies, report, clearing.as_ref(), lifeline)
        }
        Err(error) => {
            request.confinement.as_ref().map(confined::remove_temp);
            Refused::report(&error)
        }
    };
    unlock(request)?;
    tell(lifeline, &report);
    Ok(())
}

fn unlock(request: &Request) -> io::Result<()> {
    request.lock.as_ref().map_or(Ok(()), std::fs::remove_file)
}

/// Nothing but the lifeline ends a guard: not the terminal, from whose session it goes, nor a signal
/// meant for Windlass by its name. Signals are caught, not ignored: the shell would inherit that.
fn stand_apart() -> io::Result<()> {
    // Fails only for the leader of a group, which has left its terminal already.
    let _ = rustix::process::setsid();
    rustix::thread::set_name(NAME)?;
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::default())?;
    }
    Ok(())
}

/// Locks the call's file; `None` if it is gone, or Windlass is.
fn take_lock(lock: &Path, inbox: &Receiver<Sign>) -> io::Result<Option<File>> {
    let file = match File::options().read(true).write(true).open(lock) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    while let Err(refusal) = file.try_lock() {
        match refusal {
            std::fs::TryLockError::Error(error) => return Err(error),
            std::fs::TryLockError::WouldBlock => match inbox.recv_timeout(ROUND) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(_) | Err(RecvTimeoutError::Disconnected) => return Ok(None),
            },
        }
    }
    let removed = file.metadata()?.nlink() == 0;
    (&file).write_all(format!("{}\n", std::process::id()).as_bytes())?;
    Ok((!removed).then_some(file))
}

/// Whether Windlass has closed its end.
fn is_gone(lifeline: &UnixStream) -> bool {
    let mut byte = [0u8; 1];
    matches!(rustix::net::recv(lifeline, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT), Ok((_, 0)))
}

/// The shell waits at a gate until its number is known to Windlass, so that a command that kills its
/// guard can still be killed; if the guard dies before, the gate's end makes it exit.
const GATE: &str = r#"read -r gate && exec /bin/sh -c "$1" </dev/null"#;

/// A program that is talked to reads on where the gate's line ends; Windlass itself writes that line.
const TALKING_GATE: &str = r#"read -r gate && exec /bin/sh -c "$1""#;

/// The first process of the sandbox says how the command in it ended; what it may not leave is set aside.
fn settle(
    request: &Request,
    replies: Option<Replies>,
    report: Report,
    clearing: Option<&Clearing<'_>>,
    lifeline: &UnixStream,
) -> Report {
    let (Some(confinement), Some(replies)) = (&request.confinement, replies) else { return report };
    let (landlock, end) = replies.read();
    confined::remove_temp(confinement);
    let cleared = clearing.map(Clearing::clear_away).unwrap_or_default();
    if let Some(landlock) = landlock {
        tell(lifeline, &Report::Held { landlock, cleared });
    }
    end.unwrap_or(report)
}

fn start(
    request: &Request,
    first: Option<FirstProcess>,
    input: Option<OwnedFd>,
    lifeline: &UnixStream,
) -> io::Result<(Pid, Option<Replies>)> {
    if let Some(confinement) = &request.confinement {
        confined::make_temp(confinement)?;
        let mut first = first.map_or_else(|| FirstProcess::start(confinement), Ok)?;
        tell(lifeline, &Report::Started(first.pid.as_raw_nonzero().get()));
        return Ok((first.pid, Some(first.hand_over(request, input.as_ref())?)));
    }
    let (gate, stdin) = match (request.input, input) {
        (Stdin::Nothing, _) => (GATE, Stdio::piped()),
        (Stdin::Passed, Some(input)) => (TALKING_GATE, Stdio::from(input)),
        (Stdin::Passed, None) => return Err(io::Error::other("no input came with the request")),
    };
    let mut shell = Command::new("/bin/sh")
        .args(["-c", gate, "sh", &request.command])
        .current_dir(&request.directory)
        .stdin(stdin)
        .process_group(0)
        .spawn()?;
    let pid = confined::pid_of(&shell)?;
    tell(lifeline, &Report::Started(pid.as_raw_nonzero().get()));
    if let Some(mut gate) = shell.stdin.take() {
        // A shell that is gone already has its end reported.
        let _ = gate.write_all(b"\n");
    }
    Ok((pid, None))
}

/// Nobody may be there to hear it.
fn tell(mut lifeline: &UnixStream, report: &Report) {
    let line = serde_json::to_string(report).unwrap_or_default() + "\n";
    let _ = lifeline.write_all(line.as_bytes());
}

fn listen(mut reader: impl BufRead + Send + 'static, signs: Sender<Sign>) {
    thread::spawn(move || {
        let mut line = String::new();
        while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
            if line.trim() == STOP && signs.send(Sign::Stop).is_err() {
                return;
            }
            line.clear();
        }
        // When nobody takes it any more, the guard is about to exit.
        let _ = signs.send(Sign::Gone);
    });
}

fn reap(signs: Sender<Sign>) {
    thread::spawn(move || {
        loop {
            let sign = match rustix::process::wait(WaitOptions::empty()) {
                Ok(Some((pid, status))) if descendants::CAN_BE_FOUND && is_childless() => Sign::LastReaped(pid, status),
                Ok(Some((pid, status))) => Sign::Reaped(pid, status),
                Ok(None) | Err(rustix::io::Errno::INTR) => continue,
                Err(_) => Sign::NoneLeft,
            };
            let last = matches!(sign, Sign::NoneLeft | Sign::LastReaped(_, _));
            if signs.send(sign).is_err() || last {
                return;
            }
        }
    });
}

/// Whether this process has no child, dead or alive. Said together with the last one's end: who heard of the end
/// alone would look through every process of the machine for what is left, which takes milliseconds. Where orphans are
/// not adopted it says nothing about them: the group must be killed.
fn is_childless() -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    matches!(rustix::process::waitid(WaitId::All, options), Err(rustix::io::Errno::CHILD))
}

/// Watching over a shell that runs.
struct Watch<'f> {
    shell: Pid,
    grace: Duration,
    inbox: Receiver<Sign>,
    /// The first process of its sandbox, which waits for the others too when they are stopped.
    first: Option<&'f Replies>,
    /// How the shell ended, once it has.
    status: Option<WaitStatus>,
    /// Whether no descendant is left.
    empty: bool,
}

impl Watch<'_> {
    /// Waits until the shell ends or must be ended, then leaves nothing behind.
    fn finish(mut self) -> Report {
        while self.status.is_none() && !self.empty {
            match self.inbox.recv() {
                Ok(Sign::Stop) => {
                    self.ask_to_end();
                    break;
                }
                Ok(Sign::Gone) | Err(_) => break,
                Ok(sign @ (Sign::Reaped(_, _) | Sign::LastReaped(_, _) | Sign::NoneLeft)) => self.note(&sign),
            }
        }
        self.kill_the_rest();
        match self.status.map(|status| (status.exit_status(), status.terminating_signal())) {
            Some((Some(code), _)) => Report::Exited(code),
            Some((None, Some(signal))) => Report::Signalled(signal),
            Some((None, None)) | None => Report::Signalled(Signal::KILL.as_raw()),
        }
    }

    fn note(&mut self, sign: &Sign) {
        if let Sign::Reaped(pid, status) | Sign::LastReaped(pid, status) = sign
            && *pid == self.shell
        {
            self.status = Some(*status);
        }
        self.empty |= matches!(sign, Sign::LastReaped(_, _) | Sign::NoneLeft);
    }

    /// A signal that can be heeded, and a little time to heed it; none if Windlass dies meanwhile.
    fn ask_to_end(&mut self) {
        self.first.into_iter().for_each(Replies::announce_stop);
        let _ = kill_process_group(self.shell, Signal::TERM);
        self.wait_for_emptiness(self.grace);
    }

    /// Kills until nothing is left. Whoever forks meanwhile is met in the next round.
    fn kill_the_rest(&mut self) {
        self.wait_for_emptiness(Duration::ZERO);
        while !self.empty {
            // Until the shell is reaped its number can't be anybody else's.
            if self.status.is_none() || !descendants::CAN_BE_FOUND {
                let _ = kill_process_group(self.shell, Signal::KILL);
            }
            descendants::kill_all();
            self.wait_for_emptiness(ROUND);
        }
    }

    fn wait_for_emptiness(&mut self, patience: Duration) {
        let deadline = Instant::now() + patience;
        while !self.empty {
            match self.inbox.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(Sign::Gone) | Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
                Ok(sign @ (Sign::Reaped(_, _) | Sign::LastReaped(_, _) | Sign::NoneLeft | Sign::Stop)) => {
                    self.note(&sign);
                }
            }
        }
    }
}
