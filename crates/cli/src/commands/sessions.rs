//! `windlass sessions`: lists, pins, archives, exports, imports, verifies and removes stored sessions. Calls no model.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_narrate::{Detail, Narrator};
use windlass_runtime::{Clock, ImportOptions, ImportedSession, SystemClock, edit_session, import};
use windlass_setup::settings::{Env, Flags, PlaceSettings};
use windlass_setup::{secrets, store, test_hooks};
use windlass_store::{
    ArchivedFilter, ChildFilter, ExportError, ImportError, RemovedSession, SessionQuery, SessionRow, SessionStatus,
    Store, StoreError, VerifyError, export, remove_family, verify,
};
use windlass_vocab::{Attendance, SessionEdit, SessionId};

use super::block_on::block_on;
use super::follow::still_waiting;
use super::readable_store::open_to_show;
use super::{prepared_run, remote, salvage, session, timeline};
use crate::args::{SessionListArgs, SessionsCommand};
use crate::consent;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::{harmless_line, model_command_for, short_line};
use crate::streams::{print, print_notice};

pub(super) fn sessions(data_dir: Option<PathBuf>, command: &SessionsCommand, env: Env) -> CommandResult {
    let place = prepared_run::place(&prepared_run::gather(Flags { data_dir, ..Flags::default() }, env)?)?;
    block_on(async {
        let store: Arc<dyn Store> = match command {
            SessionsCommand::List(_) | SessionsCommand::Show { .. } | SessionsCommand::Export { .. } => {
                open_to_show(&place)?
            }
            SessionsCommand::Verify { .. } => store::open_to_read(&place)?,
            SessionsCommand::Import { .. }
            | SessionsCommand::Salvage { .. }
            | SessionsCommand::AcceptLoss
            | SessionsCommand::Pin(_)
            | SessionsCommand::Unpin(_)
            | SessionsCommand::Archive(_)
            | SessionsCommand::Unarchive(_)
            | SessionsCommand::Rm { .. } => store::open(&place)?,
        };
        match command {
            SessionsCommand::List(args) => list(store.as_ref(), &place, args).await,
            SessionsCommand::Pin(args) => edit(store.as_ref(), &args.key, SessionEdit::Pin, &place).await,
            SessionsCommand::Unpin(args) => edit(store.as_ref(), &args.key, SessionEdit::Unpin, &place).await,
            SessionsCommand::Archive(args) => edit(store.as_ref(), &args.key, SessionEdit::Archive, &place).await,
            SessionsCommand::Unarchive(args) => edit(store.as_ref(), &args.key, SessionEdit::Unarchive, &place).await,
            SessionsCommand::Show { key } => show(store.as_ref(), key).await,
            SessionsCommand::Export { key, output } => export_to(store.as_ref(), key, output.as_deref()).await,
            SessionsCommand::Import { file, key } => import_from(store.as_ref(), file, key.clone(), &place).await,
            SessionsCommand::Verify { key } => verify_all(store.as_ref(), key.as_deref()).await,
            SessionsCommand::Salvage { key, new_key } => {
                salvage::salvage(store.as_ref(), key, new_key.as_deref()).await
            }
            SessionsCommand::AcceptLoss => salvage::accept_loss(store.as_ref()).await,
            SessionsCommand::Rm { key, yes } => {
                let row = session::by_key(store.as_ref(), key).await?;
                if !*yes && prepared_run::attendance() == Attendance::Attended && !is_removal_agreed(&row)? {
                    print_notice("windlass: nothing is removed");
                    return Ok(Exit::Cancelled);
                }
                remove(store.as_ref(), &place.data_dir.value, &row).await?;
                Ok(Exit::Done)
            }
        }
    })
}

async fn list(store: &dyn Store, place: &PlaceSettings, args: &SessionListArgs) -> CommandResult {
    let children = if args.all { ChildFilter::Included } else { ChildFilter::LeftOut };
    let archived = if args.archived { ArchivedFilter::Included } else { ArchivedFilter::LeftOut };
    let query = SessionQuery { search: args.search.clone(), archived, children, ..SessionQuery::default() };
    let rows = session::listed(store, query).await?;
    let width = rows.iter().map(|row| row.key.chars().count()).max().unwrap_or(0).min(40);
    for row in &rows {
        let hint = match unattended_work(store, row, place).await? {
            Some(text) => format!("  ({})", harmless_line(&text)),
            None => String::new(),
        };
        print(&format!("{}{hint}\n", line(row, width)))?;
    }
    Ok(Exit::Done)
}

/// Describes work that no process does (an open run that needs no person, waiting messages), and how to continue it.
async fn unattended_work(
    store: &dyn Store,
    row: &SessionRow,
    place: &PlaceSettings,
) -> Result<Option<String>, CommandError> {
    if store.is_claimed(row.session).await? {
        return Ok(None);
    }
    // The process that had the session open may have finished since the list was read.
    let Some(row) = store.row(row.session).await? else { return Ok(None) };
    match row.status {
        SessionStatus::Processing | SessionStatus::ToolLoop => {
            Ok(Some(format!("cut short: `{}` goes on", model_command_for("resume", &row.key, "", place))))
        }
        SessionStatus::Idle | SessionStatus::Waiting | SessionStatus::Failed => {
            Ok(still_waiting(&row.key, store.waiting(row.session).await?.len(), place))
        }
    }
}

pub(crate) fn line(row: &SessionRow, width: usize) -> String {
    let about = row.title.as_deref().or(row.last_prompt.as_deref()).unwrap_or_default();
    let updated = row.updated.to_string();
    let minute = updated.get(..16).unwrap_or(&updated).replace('T', " ");
    let pinned = if row.pinned { "[pinned] " } else { "" };
    let archived = if row.archived.is_some() { "[archived] " } else { "" };
    format!(
        "{:<width$}  {:<13}  {minute}  {pinned}{archived}{}",
        harmless_line(&row.key),
        status_words(row.status),
        short_line(about, 60)
    )
}

/// Changes a session as a whole, whether a process has it open or not.
async fn edit(store: &dyn Store, key: &str, edit: SessionEdit, place: &PlaceSettings) -> CommandResult {
    let row = session::by_key(store, key).await?;
    let clock = test_hooks::clock();
    let edited = edit_session(store, &secrets::scrubber(&[]), clock.as_ref(), row.session, &edit).await;
    let delivery = edited.map_err(|error| CommandError::of_opening(error, Some(&row.key)))?;
    remote::delivered(delivery, store, &row, place).await?;
    let done = match edit {
        SessionEdit::Title(_) => "renamed",
        SessionEdit::Pin => "pinned",
        SessionEdit::Unpin => "no longer pinned:",
        SessionEdit::Archive => "archived",
        SessionEdit::Unarchive => "no longer archived:",
        SessionEdit::Compact => "summarised before the next answer:",
    };
    print(&format!("{done} {}\n", description(&row)))?;
    Ok(Exit::Done)
}

/// Words a session's status for people.
const fn status_words(status: SessionStatus) -> &'static str {
    match status {
        SessionStatus::Idle => "idle",
        SessionStatus::Processing => "answering",
        SessionStatus::ToolLoop => "running tools",
        SessionStatus::Waiting => "waiting",
        SessionStatus::Failed => "failed",
    }
}

async fn show(store: &dyn Store, key: &str) -> CommandResult {
    let row = session::by_key(store, key).await?;
    let (envelopes, broken) = match store.read(row.session, 0).await {
        Err(StoreError::Broken { session, seq, what }) => {
            let whole = store.read_before(session, seq, u32::MAX).await?;
            (whole, Some(StoreError::Broken { session, seq, what }))
        }
        read => (read?, None),
    };
    let mut narrator = Narrator::new(Detail::Full);
    for envelope in &envelopes {
        print(&timeline::line(&mut narrator, envelope))?;
    }
    if let Some(mended) = timeline::mended(&envelopes) {
        print(&mended)?;
    }
    for message in store.waiting(row.session).await? {
        print(&timeline::waiting(&message))?;
    }
    for child in session::children(store, row.session).await? {
        print(&format!("step session {}\n", line(&child, 0)))?;
    }
    broken.map_or(Ok(Exit::Done), |broken| Err(broken.into()))
}

async fn export_to(store: &dyn Store, key: &str, output: Option<&Path>) -> CommandResult {
    let row = session::by_key(store, key).await?;
    match output {
        None => match export(store, row.session, &mut io::stdout()).await {
            Err(ExportError::Write(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
            exported => exported?,
        },
        Some(path) => {
            // Never overwrite a file: an export is a copy to keep.
            let file = File::create_new(path).map_err(|error| not_made(path, &error))?;
            if let Err(error) = export_into(store, row.session, file).await {
                // Half a copy is useless.
                let _ = std::fs::remove_file(path);
                return Err(CommandError { message: format!("{}: {}", path.display(), error.message), ..error });
            }
        }
    }
    Ok(Exit::Done)
}

async fn export_into(store: &dyn Store, session: SessionId, file: File) -> Result<(), CommandError> {
    let mut out = BufWriter::new(file);
    export(store, session, &mut out).await?;
    Ok(out.flush().and_then(|()| out.get_ref().sync_all()).map_err(ExportError::Write)?)
}

fn not_made(path: &Path, error: &io::Error) -> CommandError {
    if error.kind() == io::ErrorKind::AlreadyExists {
        let text =
            format!("{} is there already and is left as it is: name another file, or move it away", path.display());
        return CommandError::new(Exit::Usage, text);
    }
    at_path(path, error)
}

fn at_path(path: &Path, error: &io::Error) -> CommandError {
    CommandError::new(Exit::Usage, format!("{}: {error}", path.display()))
}

/// Imports a session. It then works in the current folder, with no permissions and no open run (X6).
async fn import_from(store: &dyn Store, file: &Path, key: Option<String>, place: &PlaceSettings) -> CommandResult {
    let here = place.workspace.display().to_string();
    let owner = session::OWNER.to_owned();
    let (arrival, now) = (ImportOptions { owner, key, workspace: Some(here.clone()) }, SystemClock.now());
    let arrived = if file == Path::new("-") {
        import(store, &mut BufReader::new(io::stdin()), arrival, now).await?
    } else {
        let input = File::open(file).map_err(|error| at_path(file, &error))?;
        import(store, &mut BufReader::new(input), arrival, now).await?
    };
    let key = store.row(arrived.session).await?.map(|row| row.key).unwrap_or_default();
    print_notice(&format!("windlass: {}", harmless_line(&import_notice(&arrived, &here))));
    print(&format!("{}\n", harmless_line(&key)))?;
    Ok(Exit::Done)
}

/// Describes what changed in the imported session.
fn import_notice(arrived: &ImportedSession, here: &str) -> String {
    let ImportedSession { came_from, grants, run, calls, .. } = arrived;
    let mut told = format!("it works in {here} from now on");
    if let Some(before) = came_from.as_ref().filter(|before| *before != here) {
        told.push_str(&format!(" (it worked in {before})"));
    }
    if !grants.is_empty() {
        let rules: Vec<&str> = grants.iter().map(|grant| grant.rule.as_str()).collect();
        told.push_str(&format!(
            "; what was allowed in it does not count here, your own rules do: {}",
            rules.join(", ")
        ));
    }
    if let Some(run) = run {
        told.push_str(&format!("; run {run}, which was open, is ended"));
    }
    match calls.as_slice() {
        [] => {}
        [call] => told.push_str(&format!("; its call {call} is interrupted")),
        calls => told.push_str(&format!("; {} of its calls are interrupted", calls.len())),
    }
    told
}

async fn verify_all(store: &dyn Store, key: Option<&str>) -> CommandResult {
    let mut exit = Exit::Done;
    if let Some(loss) = store.loss() {
        exit = Exit::Store;
        print(&format!("{loss}\n"))?;
    }
    // Before any session is looked up, since lookups trust the indexes.
    for inconsistency in store.check().await? {
        exit = Exit::Store;
        let advice = "restore a backup, or export or salvage what can still be read";
        print(&format!("BROKEN: {}; {advice}\n", harmless_line(&inconsistency.to_string())))?;
    }
    let rows = match key {
        Some(key) => vec![session::by_key(store, key).await?],
        None => store.sessions(session::OWNER).await?,
    };
    for row in rows {
        let key = harmless_line(&row.key);
        match verify(store, row.session).await {
            Ok(verified) => {
                print(&format!("{key}: whole, {} records in {} batches\n", verified.records, verified.batches))?;
            }
            Err(VerifyError::Break(broken)) => {
                exit = Exit::Store;
                print(&format!("{key}: BROKEN: {}\n", harmless_line(&broken.to_string())))?;
            }
            // The session was removed since the list was read.
            Err(VerifyError::Store(StoreError::Missing)) if store.row(row.session).await?.is_none() => {}
            Err(VerifyError::Store(error @ (StoreError::Missing | StoreError::Damaged { .. }))) => {
                exit = Exit::Store;
                print(&format!("{key}: BROKEN: {}\n", harmless_line(&error.to_string())))?;
            }
            Err(VerifyError::Store(error)) => return Err(error.into()),
        }
    }
    Ok(exit)
}

/// Removes a session with those of its plans' steps; the audit lines of their calls are kept (T11).
async fn remove(store: &dyn Store, data: &Path, row: &SessionRow) -> Result<(), CommandError> {
    let rows = store.sessions(&row.owner).await?;
    let removed = remove_family(store, data, &rows, row).await;
    for RemovedSession { row, unread } in removed.map_err(|error| CommandError::of_store(error, Some(&row.key)))? {
        if let Some(error) = unread {
            print_notice(&format!("windlass: {error}; what was called in the session is not kept"));
        }
        print(&format!("removed {}\n", description(&row)))?;
    }
    Ok(())
}

/// `notes (3 runs): Summarise README.md`.
fn description(row: &SessionRow) -> String {
    let about = row.title.as_deref().or(row.last_prompt.as_deref()).unwrap_or_default();
    let about = if about.is_empty() { String::new() } else { format!(": {}", short_line(about, 60)) };
    let runs = if row.runs == 1 { "1 run".to_owned() } else { format!("{} runs", row.runs) };
    format!("{} ({runs}){about}", harmless_line(&row.key))
}

/// Asks the person at the terminal whether to delete the session. The end of input is a no.
fn is_removal_agreed(row: &SessionRow) -> Result<bool, CommandError> {
    let question = format!("{}\ndelete it for good? [y] yes  [n] no: ", description(row));
    let answer = consent::ask(&question, "y or n", |line| match line {
        "y" | "yes" => Some(true),
        "n" | "no" | "" => Some(false),
        _ => None,
    });
    Ok(answer.map_err(|error| CommandError::output(&error))?.unwrap_or(false))
}

impl From<ExportError> for CommandError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Store(error) => error.into(),
            ExportError::Write(_) => Self::new(Exit::Failed, error.to_string()),
        }
    }
}

impl From<ImportError> for CommandError {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Store(error) => error.into(),
            ImportError::Newer { .. } => Self::new(Exit::Store, error.to_string()),
            ImportError::Line { .. } | ImportError::Read(_) => Self::new(Exit::Usage, error.to_string()),
        }
    }
}
