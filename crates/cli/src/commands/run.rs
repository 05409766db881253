//! `windlass run`: one request, its answer on standard output. The same line again after a crash goes
//! on where it was.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use windlass::store::{SessionStatus, Store};
use windlass::vocab::{MessageId, Record, SessionId};
use windlass::{Awaited, Sent};

use super::{Done, Job, agent, block_on, follow, session};
use crate::args::RunArgs;
use crate::exit::Exit;
use crate::prompt::{self, Input};
use crate::settings::Env;

pub(super) fn run(data_dir: Option<PathBuf>, args: &RunArgs, env: Env) -> Done {
    let stdin = io::stdin();
    let input = if stdin.is_terminal() { Input::Terminal } else { Input::Piped };
    let prompt = prompt::read(args.prompt.as_deref(), input, stdin.lock())?;
    let mut job = Job::prepare(data_dir, &args.rules, &args.common, env)?;
    let model = job.settings.model()?.clone();
    block_on(async {
        let store = agent::open_store(&job.settings.place)?;
        let agent = agent::build(&job, store.clone(), &model)?;
        let recorded = agent.runtime().outside().secrets.scrub(&prompt).into_owned();
        let place = place(store.as_ref(), args, &job, &recorded).await?;
        let (session, mut events) = agent.session_followed(&place.key).await?;
        let sent = session.send(place.message_id.clone(), prompt).await.map_err(windlass::RunError::from)?;
        let awaited = match sent {
            Sent::TakenUp(run) | Sent::Known(run) => Awaited::Run(run),
            Sent::Queued => Awaited::Message(place.message_id),
        };
        let done = follow::follow(&mut job, &agent, &session, &mut events, awaited).await;
        if let (Sent::Known(_), Ok(Exit::Failed)) = (sent, &done) {
            // Nobody is left to tell when standard error is gone.
            let key = follow::quoted(&place.key);
            let _ =
                writeln!(io::stderr(), "windlass: this message was sent before; `windlass retry {key}` tries it again");
        }
        session.close().await;
        done
    })
}

/// Where the message goes, and under which id.
struct PlaceInLine {
    key: String,
    message_id: MessageId,
}

async fn place(store: &dyn Store, args: &RunArgs, job: &Job, prompt: &str) -> Result<PlaceInLine, super::CommandError> {
    if let Some(id) = &args.message_id {
        // Without a session the id names one: it holds for the whole data folder.
        let key = args.session.clone().unwrap_or_else(|| format!("message:{id}"));
        return Ok(PlaceInLine { key, message_id: id.as_str().into() });
    }
    let candidate = match &args.session {
        Some(key) => store.find(session::OWNER, key).await?.map(|id| (key.clone(), id)),
        None => session::last_of_folder(store, &job.settings.place.workspace).await?.map(|row| (row.key, row.session)),
    };
    // The same words to a run that is not over mean the same message.
    if let Some((key, id)) = &candidate
        && let Some(message_id) = unfinished_message(store, *id, prompt).await?
    {
        return Ok(PlaceInLine { key: key.clone(), message_id });
    }
    let message_id = MessageId(uuid::Uuid::now_v7().to_string());
    let fresh = || format!("run-{}", &message_id.0[message_id.0.len() - 12..]);
    Ok(PlaceInLine { key: args.session.clone().unwrap_or_else(fresh), message_id })
}

/// The id of the message these words were taken up under, if its run is not over.
async fn unfinished_message(
    store: &dyn Store,
    session: SessionId,
    prompt: &str,
) -> Result<Option<MessageId>, super::CommandError> {
    let open = store.row(session).await?.is_some_and(|row| match row.status {
        SessionStatus::Processing | SessionStatus::ToolLoop | SessionStatus::Waiting => true,
        SessionStatus::Idle | SessionStatus::Failed => false,
    });
    if !open {
        return Ok(None);
    }
    let records = store.read(session, 0).await?;
    let last = records.into_iter().rev().find_map(|envelope| match envelope.record {
        Record::MessageAccepted(accepted) => Some(accepted),
        _ => None,
    });
    Ok(last.filter(|accepted| accepted.text == prompt).map(|accepted| accepted.message_id))
}
