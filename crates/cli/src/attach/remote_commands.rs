//! The effect of each slash command on a session of a server.

use serde::de::IgnoredAny;
use windlass_machine::Force;
use windlass_vocab::{Record, Undoable};

use super::remote_session::{NoContent, RemoteSession};
use super::replies::{about, model_lines, rule_lines, session_lines, undo_lines};
use super::requests::{
    RemoteChain, RemoteForkPlace, RemoteRun, RemoteSettings, RemoteSummary, RemoteUndo, RemoteUndoWish, of_session,
    session, sessions,
};
use crate::chat::follow_up::CommandFollowUp;
use crate::chat::slash::{self, SlashCommand};
use crate::chat::{context, cost, permissions};
use crate::error::CommandError;
use crate::output::harmless_line;
use crate::output::wording::stopped_runs;
use crate::remote_server::RemoteError;

/// Most sessions listed: more would fill the screen.
const LISTED: usize = 20;

const NOTHING_YET: &str = "nothing was said in this session yet\n";

/// Executes a slash command. What the server refuses is told, and the chat goes on.
pub(super) async fn perform(talk: &mut RemoteSession, command: SlashCommand) -> Result<CommandFollowUp, CommandError> {
    match performed(talk, command).await {
        Ok(done) => Ok(done),
        Err(error) => Ok(CommandFollowUp::Tell(format!("{}\n", error.advised()))),
    }
}

async fn performed(talk: &mut RemoteSession, command: SlashCommand) -> Result<CommandFollowUp, RemoteError> {
    let told = match command {
        SlashCommand::Quit => return Ok(CommandFollowUp::Leave),
        SlashCommand::Thinking => return Ok(CommandFollowUp::TurnThinking),
        SlashCommand::Retry => return retry(talk).await,
        SlashCommand::Sessions(Some(key)) => return go_to(talk, &key).await,
        SlashCommand::Fork(at) => return fork(talk, at).await,
        SlashCommand::New => {
            talk.go_to(None);
            "New session started.\n".to_owned()
        }
        SlashCommand::Stop => {
            let stopped = talk.stop_run().await?;
            format!("{}\n", stopped_runs(stopped.runs, stopped.dropped))
        }
        SlashCommand::Help => slash::help(),
        SlashCommand::Status => status(talk).await?,
        SlashCommand::Permissions => {
            let settings: RemoteSettings = talk.client.get("api/settings", &[]).await?;
            rule_lines(&settings, &permissions::grants(&talk.records().await?))
        }
        SlashCommand::Cost => cost_lines(talk).await?,
        SlashCommand::Context => {
            let lines = context::last_turn(&talk.records().await?);
            lines.unwrap_or_else(|| "nothing was sent to a model yet\n".to_owned())
        }
        SlashCommand::Compact => compact(talk).await?,
        SlashCommand::UndoCompaction => "a server does not take this back: /fork goes on before it\n".to_owned(),
        SlashCommand::Model(None) => model_lines(&talk.client.get::<RemoteChain>("api/models", &[]).await?),
        SlashCommand::Model(Some(_)) => {
            "the server's settings choose the model; /model lists what they name\n".to_owned()
        }
        SlashCommand::Sessions(None) => list(talk).await?,
        SlashCommand::Undo(of, force) => undo(talk, of, force).await?,
    };
    Ok(CommandFollowUp::Tell(told))
}

async fn status(talk: &RemoteSession) -> Result<String, RemoteError> {
    let settings: RemoteSettings = talk.client.get("api/settings", &[]).await?;
    let now: Option<RemoteSummary> = match talk.id() {
        Some(id) => Some(talk.client.get(&of_session(id, ""), &[]).await?),
        None => None,
    };
    let mut lines = vec![("server", talk.client.base().to_string()), ("model", settings.model)];
    lines.push(("rules", format!("{}, permissions: {}", settings.preset, settings.mode)));
    lines.push(("sandbox", settings.sandbox));
    match now {
        Some(now) => {
            lines.push(("session", format!("{} ({})", now.key, about(&now))));
            lines.push(("folder", now.folder.unwrap_or_default()));
            lines.push(("now", format!("{}; runs so far: {}", now.status, now.runs)));
        }
        None => lines.push(("session", "not begun".to_owned())),
    }
    Ok(lines.iter().map(|(name, value)| format!("  {name:<8}  {}\n", harmless_line(value))).collect())
}

/// What the session cost, and the limits of its last run.
async fn cost_lines(talk: &RemoteSession) -> Result<String, RemoteError> {
    let records = talk.records().await?;
    let policy = records.iter().rev().find_map(|envelope| match &envelope.record {
        Record::RunStarted(started) => Some(started.policy.clone()),
        _ => None,
    });
    Ok(policy.map_or_else(|| NOTHING_YET.to_owned(), |policy| cost::report(&records, &policy)))
}

async fn compact(talk: &RemoteSession) -> Result<String, RemoteError> {
    let Some(id) = talk.id() else { return Ok(NOTHING_YET.to_owned()) };
    talk.client.post::<IgnoredAny>(&of_session(id, "/compact"), &NoContent {}).await?;
    Ok("the conversation so far is summarised before your next message is answered\n".to_owned())
}

async fn list(talk: &RemoteSession) -> Result<String, RemoteError> {
    let found = sessions(&talk.client, None).await?;
    if found.is_empty() {
        return Ok("there is no session yet\n".to_owned());
    }
    let mut text = session_lines(found.iter().map(|(session, _)| session).take(LISTED), talk.key());
    if found.len() > LISTED {
        text.push_str(&format!("  and {} more: `windlass attach URL --list`\n", found.len() - LISTED));
    }
    Ok(text + "/sessions KEY goes to one of them\n")
}

async fn go_to(talk: &mut RemoteSession, key: &str) -> Result<CommandFollowUp, RemoteError> {
    let Some(found) = session(&talk.client, key).await? else {
        let text = format!("there is no session `{}`; /sessions lists them\n", harmless_line(key));
        return Ok(CommandFollowUp::Tell(text));
    };
    Ok(moved(talk, found))
}

async fn fork(talk: &mut RemoteSession, at: Option<u64>) -> Result<CommandFollowUp, RemoteError> {
    let Some(id) = talk.id() else { return Ok(CommandFollowUp::Tell(NOTHING_YET.to_owned())) };
    let forked: RemoteSummary = talk.client.post(&of_session(id, "/fork"), &RemoteForkPlace { at }).await?;
    Ok(moved(talk, forked))
}

fn moved(talk: &mut RemoteSession, session: RemoteSummary) -> CommandFollowUp {
    let text = format!("session {}: {}\n", harmless_line(&session.key), about(&session));
    talk.go_to(Some(session));
    CommandFollowUp::Moved(text)
}

async fn undo(talk: &RemoteSession, call: Option<Undoable>, force: Force) -> Result<String, RemoteError> {
    let Some(id) = talk.id() else { return Ok(NOTHING_YET.to_owned()) };
    let wish = RemoteUndoWish { call, force: force == Force::Yes };
    let done: RemoteUndo = talk.client.post(&of_session(id, "/undo"), &wish).await?;
    Ok(undo_lines(&done))
}

async fn retry(talk: &mut RemoteSession) -> Result<CommandFollowUp, RemoteError> {
    let Some(id) = talk.id() else { return Ok(CommandFollowUp::Tell(NOTHING_YET.to_owned())) };
    talk.follow().await?;
    let started: RemoteRun = talk.client.post(&of_session(id, "/retry"), &NoContent {}).await?;
    talk.activity.begun(started.run);
    Ok(CommandFollowUp::Follow)
}
