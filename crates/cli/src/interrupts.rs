//! Ctrl-C, handled in a thread of its own: the command may be blocked in a write that nobody reads, and must end all the
//! same. A second Ctrl-C ends the process at once; a run that is still open then can be resumed. A command that follows a
//! run treats SIGTERM and SIGHUP as Ctrl-C, so that a service manager or a closed terminal stops the run in the same way.

use std::io;
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tokio::runtime::Handle;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;
use windlass::Session;
use windlass_vocab::StopBy;

use crate::exit::Exit;
use crate::streams::blocked_for;
use crate::terminal_mode;

/// How long output may block the end of a process that was interrupted.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
/// How often an interrupted process checks whether its output is blocked.
const POLL_EVERY: Duration = Duration::from_millis(100);

/// What Ctrl-C does now.
#[derive(Clone, Debug)]
pub(crate) enum OnInterrupt {
    /// Ends the process at once.
    Exit,
    /// Stops the session's run; the command sees its end and ends.
    Stop(Session),
    /// Nothing here: the command notices it too and ends with this exit code.
    CommandEnds(Exit),
    /// The chat handles it, unless it is blocked: then the run is stopped, if there is one, and the process ends.
    ChatHandles(Option<Session>),
    /// It came once already, and the command is about to end with this exit code.
    Ending(Exit),
}

static ACTION: Mutex<OnInterrupt> = Mutex::new(OnInterrupt::Exit);
static TYPED: Notify = Notify::const_new();
/// SIGTERM or SIGHUP came to a command that follows a run.
static TERMINATED: Notify = Notify::const_new();
/// The runtime of the thread that watches.
static WATCHER: OnceLock<Handle> = OnceLock::new();

fn action() -> MutexGuard<'static, OnInterrupt> {
    ACTION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps an action in force. Dropping it restores the one before, unless Ctrl-C came.
#[derive(Debug)]
pub(crate) struct ActionInForce {
    before: OnInterrupt,
}

/// Sets what Ctrl-C does from now on.
pub(crate) fn set_action(new: OnInterrupt) -> ActionInForce {
    static WATCHED: Once = Once::new();
    static TERMINATION_WATCHED: Once = Once::new();
    let stops_run = matches!(new, OnInterrupt::Stop(_));
    let before = match std::mem::replace(&mut *action(), new) {
        OnInterrupt::Ending(_) => OnInterrupt::Exit,
        before => before,
    };
    WATCHED.call_once(|| {
        // Without the handler Ctrl-C ends the process by the signal.
        let _ = start_watching();
    });
    // Only from the first run on: a handler can't be removed, and the other commands end by these signals or, as a chat
    // does, handle them.
    if stops_run {
        TERMINATION_WATCHED.call_once(watch_termination);
    }
    ActionInForce { before }
}

/// Starts the thread. It has a runtime of its own, which outlives that of the command.
fn start_watching() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let entered = runtime.enter();
    let interrupts = signal(SignalKind::interrupt())?;
    drop(entered);
    let _ = WATCHER.set(runtime.handle().clone());
    std::thread::Builder::new().name("interrupts".into()).spawn(move || runtime.block_on(watch(interrupts)))?;
    Ok(())
}

/// Reports SIGTERM and SIGHUP to the thread that watches. A signal that the process was started to ignore, as by `nohup`,
/// stays ignored.
fn watch_termination() {
    const HANG_UP: u32 = 1;
    const TERMINATE: u32 = 15;
    let Some(watcher) = WATCHER.get() else { return };
    let _entered = watcher.enter();
    for (number, kind) in [(HANG_UP, SignalKind::hangup()), (TERMINATE, SignalKind::terminate())] {
        if is_ignored(number) {
            continue;
        }
        // Without the handler the signal ends the process.
        if let Ok(mut signals) = signal(kind) {
            watcher.spawn(async move {
                while signals.recv().await.is_some() {
                    TERMINATED.notify_one();
                }
            });
        }
    }
}

/// Whether the process ignores the signal of this number. Where `/proc` does not say so, only SIGHUP is taken to be
/// ignored: a run under `nohup` must not end with its terminal.
fn is_ignored(number: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => mask >> (number - 1) & 1 == 1,
        None => number == 1,
    }
}

/// Waits for Ctrl-C, or for a signal that counts as it.
async fn next_interrupt(interrupts: &mut Signal) {
    tokio::select! {
        _ = interrupts.recv() => {}
        () = TERMINATED.notified() => {}
    }
}

impl Drop for ActionInForce {
    fn drop(&mut self) {
        let mut action = action();
        if !matches!(*action, OnInterrupt::Ending(_)) {
            *action = self.before.clone();
        }
    }
}

/// Reports that Ctrl-C was typed at a terminal that sends no signal for it.
pub(crate) fn ctrl_c_typed() {
    TYPED.notify_one();
}

/// Ends the process when it is asked to terminate while its output is blocked. For a chat, which handles the signal
/// itself otherwise; an open run stays open.
pub(crate) fn end_on_terminate() {
    if let Ok(mut terminate) = signal(SignalKind::terminate()) {
        tokio::spawn(async move {
            terminate.recv().await;
            while !is_blocked_long().await {
                tokio::time::sleep(POLL_EVERY).await;
            }
            end(Exit::Done);
        });
    }
}

async fn watch(mut interrupts: Signal) {
    loop {
        let ending = match *action() {
            OnInterrupt::Ending(exit) => Some(exit),
            OnInterrupt::Exit | OnInterrupt::Stop(_) | OnInterrupt::CommandEnds(_) | OnInterrupt::ChatHandles(_) => {
                None
            }
        };
        tokio::select! {
            biased;
            () = next_interrupt(&mut interrupts) => act(&mut interrupts).await,
            () = TYPED.notified() => {
                if let OnInterrupt::ChatHandles(session) = action().clone() {
                    tokio::spawn(end_blocked_chat(session));
                }
            }
            () = tokio::time::sleep(POLL_EVERY), if ending.is_some() => match ending {
                Some(exit) if blocked_for() >= PATIENCE => end(exit),
                Some(_) | None => {}
            },
        }
    }
}

async fn act(interrupts: &mut Signal) {
    let now = {
        let mut action = action();
        let next = match *action {
            OnInterrupt::Stop(_) => Some(OnInterrupt::Ending(Exit::Cancelled)),
            OnInterrupt::CommandEnds(exit) => Some(OnInterrupt::Ending(exit)),
            OnInterrupt::Exit | OnInterrupt::ChatHandles(_) | OnInterrupt::Ending(_) => None,
        };
        match next {
            Some(next) => std::mem::replace(&mut *action, next),
            None => action.clone(),
        }
    };
    match now {
        OnInterrupt::Exit => end(Exit::Cancelled),
        OnInterrupt::Ending(exit) => end(exit),
        OnInterrupt::CommandEnds(_) => {}
        OnInterrupt::Stop(session) => {
            tokio::select! {
                biased;
                () = next_interrupt(interrupts) => end(Exit::Cancelled),
                () = stop(&session) => {}
            }
        }
        OnInterrupt::ChatHandles(session) => drop(tokio::spawn(end_blocked_chat(session))),
    }
}

/// Stops the run and ends the process, if the chat is blocked.
async fn end_blocked_chat(session: Option<Session>) {
    if is_blocked_long().await {
        if let Some(session) = session {
            stop(&session).await;
        }
        end(Exit::Cancelled);
    }
}

/// Stops the run, and waits until its end is stored.
async fn stop(session: &Session) {
    // A closed session has no run to stop.
    let _ = session.stop(StopBy::Person).await;
    session.settled().await;
}

/// Waits up to [`PATIENCE`] for standard output to become full; returns true if it then stays full for [`PATIENCE`]. Polls
/// the stream itself, because the line editor of a chat writes to it without [`crate::streams`]. The other commands ask
/// [`blocked_for`]: it knows whether a write is under way, so that a command which only takes its time to end is not cut
/// short because its terminal is paused.
async fn is_blocked_long() -> bool {
    let (begun, mut full) = (Instant::now(), None);
    loop {
        if output_has_room() {
            if begun.elapsed() >= PATIENCE {
                return false;
            }
            full = None;
        } else if full.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
            return true;
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
}

/// Waits until standard output has been full for `limit` without a break.
pub(crate) async fn wait_until_output_is_stuck(limit: Duration) {
    let mut full = None;
    loop {
        if output_has_room() {
            full = None;
        } else if full.get_or_insert_with(Instant::now).elapsed() >= limit {
            return;
        }
        tokio::time::sleep(POLL_EVERY).await;
    }
}

fn output_has_room() -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    // An output that can't be polled fails to be written, too, which blocks nobody.
    poll(&mut [PollFd::new(&io::stdout(), PollFlags::OUT)], Some(&now)) != Ok(0)
}

/// Ends the process, with the terminal in the mode it had before.
pub(crate) fn end(exit: Exit) -> ! {
    terminal_mode::give_back();
    std::process::exit(i32::from(exit.code()))
}
