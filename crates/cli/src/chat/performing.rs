//! The effect of each slash command on the conversation.

use std::fmt;

use windlass::door::FollowError;
use windlass_machine::Force;
use windlass_runtime::SessionActivity;
use windlass_runtime::{CompactionUndo, UndoError, UndoMode, UndoRequest};
use windlass_sandbox::SandboxMode;
use windlass_store::SessionRow;
use windlass_vocab::Undoable;

use super::chat_session::ChatSession as _;
use super::conversation::Conversation;
use super::follow_up::CommandFollowUp;
use super::slash::{self, SlashCommand};
use super::{context, cost, models, permissions};
use crate::commands::undo_target::step_with_last_change;
use crate::commands::{fork, session, sessions};
use crate::error::CommandError;
use crate::output::wording::stopped_runs;
use crate::output::{command_for, harmless_line, short_line, undone};

/// Executes a slash command.
pub(crate) async fn perform(talk: &mut Conversation, command: SlashCommand) -> Result<CommandFollowUp, CommandError> {
    match command {
        SlashCommand::Help => Ok(CommandFollowUp::Tell(slash::help())),
        SlashCommand::Quit => Ok(CommandFollowUp::Leave),
        SlashCommand::Thinking => Ok(CommandFollowUp::TurnThinking),
        SlashCommand::New => {
            talk.begin_new().await;
            Ok(CommandFollowUp::Tell("New session started.\n".into()))
        }
        SlashCommand::Stop => {
            let stopped = talk.stop().await?;
            Ok(CommandFollowUp::Tell(format!("{}\n", stopped_runs(stopped.runs, stopped.dropped))))
        }
        SlashCommand::Status => status(talk).await.map(CommandFollowUp::Tell),
        SlashCommand::Permissions => {
            Ok(CommandFollowUp::Tell(permissions::report(&talk.prepared_run.setup.settings, &talk.records().await?)))
        }
        SlashCommand::Cost => {
            Ok(CommandFollowUp::Tell(cost::report(&talk.records().await?, &talk.prepared_run.setup.settings.policy)))
        }
        SlashCommand::Context => {
            let files = &talk.prepared_run.setup.context_files;
            Ok(CommandFollowUp::Tell(context::report(&talk.records().await?, files)))
        }
        SlashCommand::Compact => compact(talk).await.map(CommandFollowUp::Tell),
        SlashCommand::UndoCompaction => undo_compaction(talk).await.map(CommandFollowUp::Tell),
        SlashCommand::Model(None) => Ok(CommandFollowUp::Tell(models::report(talk).await)),
        SlashCommand::Model(Some(names)) => Ok(CommandFollowUp::Tell(models::switch(talk, &names).await)),
        SlashCommand::Sessions(None) => list(talk).await.map(CommandFollowUp::Tell),
        SlashCommand::Sessions(Some(key)) => {
            let Some(row) = session::find(talk.store.as_ref(), &key).await? else {
                return Ok(CommandFollowUp::Tell(format!(
                    "there is no session `{}`; /sessions lists them\n",
                    harmless_line(&key)
                )));
            };
            talk.go_to(&row).await?;
            Ok(CommandFollowUp::Moved(moved(&row)))
        }
        SlashCommand::Fork(at) => fork(talk, at).await,
        SlashCommand::Undo(of, force) => undo(talk, of, force).await.map(CommandFollowUp::Tell),
        SlashCommand::Retry => match talk.retry().await? {
            Some(_) => Ok(CommandFollowUp::Follow),
            None => Ok(CommandFollowUp::Tell("nothing to retry: the last run did not end badly\n".into())),
        },
    }
}

/// Has the conversation summarised before the next message is answered: only a run can call a model.
async fn compact(talk: &mut Conversation) -> Result<String, CommandError> {
    if talk.row().await?.is_none() {
        return Ok("there is nothing to summarise yet\n".into());
    }
    talk.open().await?.session.compact().await.map_err(FollowError::from)?;
    Ok("the conversation so far is summarised before your next message is answered\n".into())
}

async fn undo_compaction(talk: &mut Conversation) -> Result<String, CommandError> {
    if talk.row().await?.is_none() {
        return Ok("nothing was left out yet\n".into());
    }
    let undone = talk.open().await?.session.undo_compaction().await.map_err(FollowError::from)?;
    let told = match undone {
        CompactionUndo::Restored => "what was left out is sent again with your next message\n",
        CompactionUndo::Withdrawn => "the conversation is not summarised before your next message\n",
        CompactionUndo::TooLong => {
            "this can't be undone: what was left out does not fit into the model's window any more; the summary stays\n"
        }
        CompactionUndo::Busy => "this can't be undone while the model is at work\n",
        CompactionUndo::Nothing => "nothing was left out, or it was taken back already\n",
    };
    Ok(told.into())
}

async fn undo(talk: &mut Conversation, of: Option<Undoable>, force: Force) -> Result<String, CommandError> {
    let Some(row) = talk.row().await? else { return Ok("there is nothing to undo yet\n".into()) };
    let step = match of {
        None => step_with_last_change(talk.store.as_ref(), &row).await?,
        Some(_) => None,
    };
    let request = UndoRequest { of, force, mode: UndoMode::Apply };
    let (undone, again) = match &step {
        None => (talk.open().await?.session.clone().undo(request).await, "/undo".to_owned()),
        Some(step) if step.status.is_open() => {
            return Ok(format!("a step of the plan is not over and may still change files: {}\n", step.key));
        }
        Some(step) => {
            let opened = talk.agent().open_followed(&step.key).await;
            let (session, _) = opened.map_err(|error| CommandError::of_opening(error, Some(&step.key)))?;
            let undone = session.undo(request).await;
            session.close().await;
            let place = &talk.prepared_run.setup.settings.place;
            (undone, command_for("undo", &step.key, " --call", place))
        }
    };
    match undone {
        Ok(report) => Ok(undone::restored(&report) + &undone::summary(&report, |undo| format!("{again} {undo}"))),
        Err(UndoError::Closed(closed)) => Err(FollowError::from(closed).into()),
        Err(refused) => {
            let forced = of.map_or("/undo force".to_owned(), |of| format!("/undo {of} force"));
            Ok(undone::refusal_text(&refused, &forced) + "\n")
        }
    }
}

async fn status(talk: &mut Conversation) -> Result<String, CommandError> {
    let row = talk.row().await?;
    let doing = match talk.live().map(|live| live.session.activity()) {
        Some(SessionActivity::Working) => "working",
        Some(SessionActivity::Waiting(_)) => "waiting for an answer",
        Some(SessionActivity::Idle) => "idle",
        Some(SessionActivity::Closed(_)) | None => row.as_ref().map_or("not begun", |row| row.status.as_str()),
    };
    let waiting = match &row {
        Some(row) => talk.store.waiting(row.session).await?.len(),
        None => 0,
    };
    let title = row.as_ref().and_then(|row| row.title.as_deref()).unwrap_or("no title yet");
    let runs = row.as_ref().map_or(0, |row| row.runs);
    let grants = permissions::grants(&talk.records().await?).len();
    let settings = &talk.prepared_run.setup.settings;
    let lines = [
        ("model", models::model_line(talk)),
        ("server", settings.endpoint.as_ref().map_or("none", |endpoint| &endpoint.base_url.value).to_owned()),
        ("session", format!("{} ({title})", talk.key)),
        ("folder", settings.place.workspace.display().to_string()),
        ("rules", format!("{}, permissions: {}", settings.policy.preset, settings.permissions.mode.value)),
        ("granted", format!("{} in this session; /permissions lists all rules", counted(grants))),
        ("sandbox", sandbox(settings.sandbox.mode.value).to_owned()),
        ("now", format!("{doing}; {} so far, {} waiting", number(runs, "run"), number(waiting, "message"))),
    ];
    Ok(lines.iter().map(|(name, value)| format!("  {name:<8}  {}\n", harmless_line(value))).collect())
}

fn number(count: impl fmt::Display, one: &str) -> String {
    let count = count.to_string();
    let end = if count == "1" { "" } else { "s" };
    format!("{count} {one}{end}")
}

fn counted(grants: usize) -> String {
    match grants {
        0 => "nothing".to_owned(),
        1 => "1 rule".to_owned(),
        many => format!("{many} rules"),
    }
}

pub(super) fn sandbox(mode: SandboxMode) -> &'static str {
    match mode {
        SandboxMode::Off => "off: commands run without a sandbox",
        SandboxMode::Workspace | SandboxMode::ReadOnly => mode.as_str(),
    }
}

/// Most sessions listed: more would fill the screen.
const LISTED: usize = 20;

async fn list(talk: &Conversation) -> Result<String, CommandError> {
    let mut rows = session::of_folder(talk.store.as_ref(), &talk.prepared_run.setup.settings.place.workspace).await?;
    rows.retain(|row| row.archived.is_none() || row.key == talk.key);
    if rows.is_empty() {
        return Ok("this folder has no session yet\n".into());
    }
    let width = rows.iter().take(LISTED).map(|row| row.key.chars().count()).max().unwrap_or(0).min(40);
    let mark = |row: &SessionRow| if row.key == talk.key { "* " } else { "  " };
    let mut text: String =
        rows.iter().take(LISTED).map(|row| format!("{}{}\n", mark(row), sessions::line(row, width))).collect();
    if rows.len() > LISTED {
        text.push_str(&format!("  and {} more: `windlass sessions list`\n", rows.len() - LISTED));
    }
    text.push_str("/sessions KEY goes to one of them\n");
    Ok(text)
}

fn moved(row: &SessionRow) -> String {
    let about = row.title.as_deref().or(row.last_prompt.as_deref()).unwrap_or_default();
    format!("session {}: {}\n", harmless_line(&row.key), short_line(about, 60))
}

async fn fork(talk: &mut Conversation, at: Option<u64>) -> Result<CommandFollowUp, CommandError> {
    let Some(row) = talk.row().await? else {
        return Ok(CommandFollowUp::Tell("there is nothing to fork yet\n".into()));
    };
    let copy = fork::fork(talk.store.as_ref(), &row, at, None).await?;
    talk.go_to(&copy).await?;
    Ok(CommandFollowUp::Moved(moved(&copy)))
}
