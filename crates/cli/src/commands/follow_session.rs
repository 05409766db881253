//! `windlass follow`: a session from its journal, then what happens in it, whichever process drives it.

use std::cell::Cell;
use std::io::{self, IsTerminal as _, Stdout, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use windlass_runtime::{Follow, Followed};
use windlass_setup::settings::{Env, Flags, Place};
use windlass_setup::test_hooks;
use windlass_store::{Backwards, SessionRow, SessionStatus, Store};
use windlass_vocab::{Envelope, Event, Record, RunEnded};

use super::block_on::block_on;
use super::replay::show_record;
use super::shown_store::open_to_show;
use super::{job, session};
use crate::args::FollowArgs;
use crate::error::{CommandError, Done};
use crate::exit::Exit;
use crate::output::{Progress, Stream, View, command_for};
use crate::streams::tell;
use crate::tty;

/// How long nothing must have happened before it is looked whether anybody is still at it.
const SILENCE: Duration = Duration::from_millis(500);

pub(super) fn follow_session(data_dir: Option<PathBuf>, args: &FollowArgs, env: &Env) -> Done {
    let place = job::place(&job::gather_unasked(Flags { data_dir, ..Flags::default() }, env.clone())?)?;
    block_on(async {
        let store: Arc<dyn Store> = open_to_show(&place)?;
        let row = session::named(store.as_ref(), args.key.as_deref(), &place.workspace).await?;
        let head = store.head(row.session).await?.seq;
        let after = if args.new { head } else { args.after.unwrap_or(0) };
        let records = Follow::of_store(Arc::clone(&store), test_hooks::clock(), row.session, after);
        let closed = Rc::new(Cell::new(Reader::Reads));
        let view = if args.json { json_view(&closed) } else { conversation_view(&closed, env) };
        let ends = if args.until_end { Ends::WithTheRun } else { Ends::Never };
        let mut watch =
            Watch { store, row, place, records, view, closed, ends, head, last: None, owner: Owner::Unknown };
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => Ok(Exit::Cancelled),
            done = watch.follow() => done,
        }
    })
}

/// When following ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    Never,
    WithTheRun,
}

/// Who has the session open while one of its runs is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Unknown,
    /// Nobody, at the last look; at the next it is said.
    Missed,
    /// That was said.
    Missing,
}

/// Whether what is printed is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Reads,
    Gone,
}

/// Standard output that notices when its reader goes away: following has no other end then.
struct Pipe {
    out: Stdout,
    reader: Rc<Cell<Reader>>,
}

impl Pipe {
    fn noticed<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            self.reader.set(Reader::Gone);
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

/// What is shown, and where notices go.
type Shown = View<Pipe, Box<dyn Write>>;

fn json_view(reader: &Rc<Cell<Reader>>) -> Shown {
    View::Json { out: Pipe { out: io::stdout(), reader: Rc::clone(reader) }, err: Box::new(io::stderr()) }
}

/// All of it on standard output: it is what was asked for.
fn conversation_view(reader: &Rc<Cell<Reader>>, env: &Env) -> Shown {
    let pipe = || Pipe { out: io::stdout(), reader: Rc::clone(reader) };
    let stream = if io::stdout().is_terminal() { Stream::Terminal } else { Stream::Piped };
    // A terminal that can't write over what it wrote gets whole lines.
    let lines = if tty::is_dumb(env) { Stream::Piped } else { stream };
    let progress: Progress<Box<dyn Write>> = Progress::new(Box::new(pipe()), lines);
    View::Answer { out: pipe(), stream, progress: progress.for_onlookers() }
}

/// A session that is watched.
struct Watch {
    store: Arc<dyn Store>,
    row: SessionRow,
    place: Place,
    records: Follow,
    view: Shown,
    closed: Rc<Cell<Reader>>,
    ends: Ends,
    /// The last record when following began.
    head: u64,
    /// The end of the last run that was seen.
    last: Option<RunEnded>,
    owner: Owner,
}

impl Watch {
    async fn follow(&mut self) -> Done {
        if self.records.position() >= self.head
            && let Some(exit) = self.over().await?
        {
            return Ok(exit);
        }
        loop {
            let exit = match tokio::time::timeout(SILENCE, self.records.next()).await {
                Ok(followed) => self.show(followed?).await?,
                Err(_) => self.look_after().await?,
            };
            if let Some(exit) = exit {
                return Ok(exit);
            }
            if self.closed.get() == Reader::Gone {
                return Ok(Exit::Done);
            }
        }
    }

    /// Shows what happened; says how to leave if it was the last.
    async fn show(&mut self, followed: Followed) -> Result<Option<Exit>, CommandError> {
        self.owner = Owner::Unknown;
        let Followed::Event(event) = followed else { return Ok(None) };
        let Event::Record(envelope) = event.event() else { return Ok(None) };
        let envelope = Envelope::clone(envelope);
        let (seq, ended) = (envelope.seq, matches!(envelope.record, Record::RunEnded(_)));
        if let Record::RunEnded(end) = &envelope.record {
            self.last = Some(end.clone());
        }
        // A question that was the last record when following began is open still.
        let asks = seq >= self.head && matches!(envelope.record, Record::QuestionAsked(_));
        match show_record(&mut self.view, envelope) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(CommandError::output(&error)),
            Ok(()) | Err(_) => {}
        }
        if let (true, View::Answer { progress, .. }) = (asks, &mut self.view) {
            progress.line(&format!("(`{}` answers)", command_for("answer", &self.row.key, "", &self.place)));
        }
        let was_past = ended && seq < self.head;
        if was_past || !(ended || seq == self.head) { Ok(None) } else { self.over().await }
    }

    /// How to leave, where that is wanted and no run is open any more.
    async fn over(&mut self) -> Result<Option<Exit>, CommandError> {
        let (store, session) = (self.store.as_ref(), self.row.session);
        let Some(row) = store.row(session).await?.filter(|_| self.ends == Ends::WithTheRun) else { return Ok(None) };
        let more = !store.waiting(session).await?.is_empty() && store.is_claimed(session).await?;
        if session::is_open(&row) || more || store.head(session).await?.seq > self.records.position() {
            return Ok(None);
        }
        let last = match self.last.take() {
            Some(last) => Some(last),
            None => {
                let end = |envelope: Envelope| match envelope.record {
                    Record::RunEnded(ended) => Some(ended),
                    _ => None,
                };
                Backwards::new(store, session).find_map(end).await?
            }
        };
        Ok(Some(last.as_ref().map_or(Exit::Done, Exit::from)))
    }

    /// Nothing has happened for a while: says so where nobody is at the run any more.
    async fn look_after(&mut self) -> Result<Option<Exit>, CommandError> {
        if let Some(exit) = self.over().await? {
            return Ok(Some(exit));
        }
        let Some(row) = self.store.row(self.row.session).await? else {
            let text = format!("session `{}` was removed", self.row.key);
            return Err(CommandError::new(Exit::Failed, text));
        };
        if !session::is_open(&row) || self.store.is_claimed(row.session).await? {
            self.owner = Owner::Unknown;
            return Ok(None);
        }
        match self.owner {
            Owner::Unknown => self.owner = Owner::Missed,
            Owner::Missing => {}
            Owner::Missed => {
                self.owner = Owner::Missing;
                let resume = command_for("resume", &row.key, "", &self.place);
                let text = format!(
                    "no process has session `{}` open, and its run is not over; `{resume}` goes on with it",
                    row.key
                );
                tell(&format!("windlass: {text}"));
                if self.ends == Ends::WithTheRun {
                    let waits = row.status == SessionStatus::Waiting;
                    return Ok(Some(if waits { Exit::Waiting } else { Exit::Unfinished }));
                }
            }
        }
        Ok(None)
    }
}
