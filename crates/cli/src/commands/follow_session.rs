//! `windlass follow`: prints a session from its journal, then its new events, whichever process drives it.

use std::cell::Cell;
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_runtime::{Follow, FollowedEvent};
use windlass_setup::settings::{Env, Flags, PlaceSettings};
use windlass_setup::test_hooks;
use windlass_store::{ReverseRecords, SessionRow, SessionStatus, Store};
use windlass_vocab::{Envelope, Event, Record, RunEnded};

use super::block_on::block_on;
use super::readable_store::open_to_show;
use super::replay::show_record;
use super::{prepared_run, session};
use crate::args::FollowArgs;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::interrupts::{self, OnInterrupt};
use crate::output::{RunProgress, RunView, StreamTarget, command_for, harmless_line, model_command_for};
use crate::streams::{StandardStream, output_is_closed, print_notice};
use crate::tty;

/// Time without events after which we check whether a process still has the session open.
const SILENCE: Duration = Duration::from_millis(500);

pub(super) fn follow_session(data_dir: Option<PathBuf>, args: &FollowArgs, env: &Env) -> CommandResult {
    let place =
        prepared_run::place(&prepared_run::gather_unasked(Flags { data_dir, ..Flags::default() }, env.clone())?)?;
    block_on(async {
        let store: Arc<dyn Store> = open_to_show(&place)?;
        let row = session::by_key_or_last(store.as_ref(), args.key.as_deref(), &place.workspace).await?;
        let head = store.head(row.session).await?.seq;
        let after = if args.new { head } else { args.after.unwrap_or(0) };
        for notice in beginning(&row, args, head) {
            print_notice(&format!("windlass: {}", harmless_line(&notice)));
        }
        let records = Follow::of_store(Arc::clone(&store), test_hooks::clock(), row.session, after);
        let closed = Rc::new(Cell::new(OutputReader::Reads));
        let view = if args.json { json_view(&closed) } else { conversation_view(&closed, env) };
        let ends = if args.until_end { FollowUntil::WithTheRun } else { FollowUntil::Never };
        let mut watch = FollowedSession {
            store,
            row,
            place,
            records,
            view,
            closed,
            ends,
            head,
            last: None,
            owner: OwnerPresence::Unknown,
        };
        let _interrupts = interrupts::set_action(OnInterrupt::Exit);
        watch.follow().await
    })
}

/// Returns what a person should know before anything is shown.
fn beginning(row: &SessionRow, args: &FollowArgs, head: u64) -> Vec<String> {
    let key = &row.key;
    let chosen = args.key.is_none().then(|| format!("following session `{key}`, the last one of this folder"));
    let unbegun =
        (row.runs == 0).then(|| format!("session `{key}` has no run yet; what it does is shown once it begins"));
    let beyond = args.after.filter(|after| *after > head).map(|after| {
        format!("session `{key}` ends with record {head}, before {after}; nothing is shown up to that record")
    });
    chosen.into_iter().chain(unbegun).chain(beyond).collect()
}

/// When following ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FollowUntil {
    Never,
    WithTheRun,
}

/// Whether a process has the session open while one of its runs is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerPresence {
    Unknown,
    /// No process had it open at the last check; if the next check agrees, that is reported.
    Missed,
    /// That no process has it open was reported.
    Missing,
}

/// Whether anybody still reads our standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OutputReader {
    Reads,
    Gone,
}

/// Standard output that notices when its reader goes away: nothing else would end the following then.
struct Pipe {
    out: StandardStream,
    reader: Rc<Cell<OutputReader>>,
}

impl Pipe {
    fn noticed<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            self.reader.set(OutputReader::Gone);
        }
        result
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.noticed(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.noticed(flushed)
    }
}

/// The view of the events; notices go to its second writer.
type FollowView = RunView<Pipe, Box<dyn Write>>;

fn json_view(reader: &Rc<Cell<OutputReader>>) -> FollowView {
    RunView::Json {
        out: Pipe { out: StandardStream::Output, reader: Rc::clone(reader) },
        err: Box::new(StandardStream::Error),
    }
}

/// Writes everything to standard output, progress included: the whole conversation is the requested output.
fn conversation_view(reader: &Rc<Cell<OutputReader>>, env: &Env) -> FollowView {
    let pipe = || Pipe { out: StandardStream::Output, reader: Rc::clone(reader) };
    let stream = if io::stdout().is_terminal() { StreamTarget::Terminal } else { StreamTarget::Piped };
    // A dumb terminal, which can't overwrite what it printed, gets whole lines.
    let lines = if tty::is_dumb(env) { StreamTarget::Piped } else { stream };
    let progress: RunProgress<Box<dyn Write>> = RunProgress::new(Box::new(pipe()), lines);
    RunView::Answer { out: pipe(), stream, progress: progress.for_onlookers() }
}

/// A session that is being followed.
struct FollowedSession {
    store: Arc<dyn Store>,
    row: SessionRow,
    place: PlaceSettings,
    records: Follow,
    view: FollowView,
    closed: Rc<Cell<OutputReader>>,
    ends: FollowUntil,
    /// The last record when following began.
    head: u64,
    /// The end of the last run seen so far.
    last: Option<RunEnded>,
    owner: OwnerPresence,
}

impl FollowedSession {
    async fn follow(&mut self) -> CommandResult {
        if self.records.position() >= self.head
            && let Some(exit) = self.over().await?
        {
            return Ok(exit);
        }
        loop {
            let exit = match tokio::time::timeout(SILENCE, self.records.next()).await {
                Ok(followed) => self.show(followed?).await?,
                // Without events nothing is written, and no write would fail.
                Err(_) if output_is_closed() => return Ok(Exit::Done),
                Err(_) => {
                    self.view.tick(Instant::now());
                    self.check_abandoned().await?
                }
            };
            if let Some(exit) = exit {
                return Ok(exit);
            }
            if self.closed.get() == OutputReader::Gone {
                return Ok(Exit::Done);
            }
        }
    }

    /// Displays an event; returns the exit code if it was the last one to follow.
    async fn show(&mut self, followed: FollowedEvent) -> Result<Option<Exit>, CommandError> {
        self.owner = OwnerPresence::Unknown;
        let FollowedEvent::Event(event) = followed else { return Ok(None) };
        let Event::Record(envelope) = event.event() else { return Ok(None) };
        let envelope = Envelope::clone(envelope);
        let (seq, ended) = (envelope.seq, matches!(envelope.record, Record::RunEnded(_)));
        if let Record::RunEnded(end) = &envelope.record {
            self.last = Some(end.clone());
        }
        // A question that was the last record when following began is still open.
        let asks = seq >= self.head && matches!(envelope.record, Record::QuestionAsked(_));
        match show_record(&mut self.view, envelope) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(CommandError::output(&error)),
            Ok(()) | Err(_) => {}
        }
        if let (true, RunView::Answer { progress, .. }) = (asks, &mut self.view) {
            progress.line(&format!("(`{}` answers)", command_for("answer", &self.row.key, "", &self.place)));
        }
        let was_past = ended && seq < self.head;
        if was_past || !(ended || seq == self.head) { Ok(None) } else { self.over().await }
    }

    /// Returns the exit code if following should end with the run and no run is open any more.
    async fn over(&mut self) -> Result<Option<Exit>, CommandError> {
        let (store, session) = (self.store.as_ref(), self.row.session);
        let Some(row) = store.row(session).await?.filter(|_| self.ends == FollowUntil::WithTheRun) else {
            return Ok(None);
        };
        let more = !store.waiting(session).await?.is_empty() && store.is_claimed(session).await?;
        if row.status.is_open() || more || store.head(session).await?.seq > self.records.position() {
            return Ok(None);
        }
        let last = match self.last.take() {
            Some(last) => Some(last),
            None => {
                let end = |envelope: Envelope| match envelope.record {
                    Record::RunEnded(ended) => Some(ended),
                    _ => None,
                };
                ReverseRecords::new(store, session).find_map(end).await?
            }
        };
        Ok(Some(last.as_ref().map_or(Exit::Done, Exit::from)))
    }

    /// Called after a while without events: reports a run that no process works on any more.
    async fn check_abandoned(&mut self) -> Result<Option<Exit>, CommandError> {
        if let Some(exit) = self.over().await? {
            return Ok(Some(exit));
        }
        let Some(row) = self.store.row(self.row.session).await? else {
            let text = format!("session `{}` was removed", self.row.key);
            return Err(CommandError::new(Exit::Failed, text));
        };
        if !row.status.is_open() || self.store.is_claimed(row.session).await? {
            self.owner = OwnerPresence::Unknown;
            return Ok(None);
        }
        match self.owner {
            OwnerPresence::Unknown => self.owner = OwnerPresence::Missed,
            OwnerPresence::Missing => {}
            OwnerPresence::Missed => {
                self.owner = OwnerPresence::Missing;
                let resume = model_command_for("resume", &row.key, "", &self.place);
                let text = format!(
                    "no process works on session `{}` now, and its run is not over; `{resume}` goes on with it",
                    row.key
                );
                print_notice(&format!("windlass: {text}"));
                if self.ends == FollowUntil::WithTheRun {
                    let waits = row.status == SessionStatus::Waiting;
                    return Ok(Some(if waits { Exit::Waiting } else { Exit::Unfinished }));
                }
            }
        }
        Ok(None)
    }
}
