//! `windlass run`: sends one request and prints its answer on standard output. Repeating the command after a crash
//! continues the run.

use std::io;
use std::path::PathBuf;

use windlass_runtime::Interest;
use windlass_runtime::OpenError;
use windlass_setup::models::{ModelFallback, ModelPreference};
use windlass_setup::settings::{Env, PlaceSettings};
use windlass_setup::store;
use windlass_setup::{agent, test_hooks};
use windlass_store::{SessionRow, Store, StoreError};
use windlass_vocab::MessageId;

use super::block_on::block_on;
use super::prepared_run::PreparedRun;
use super::{follow, prepared_run, repeat, session};
use crate::args::{RunArgs, flags};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::{command_for, quoted};
use crate::piped::{self, StdinWait};
use crate::prompt;
use crate::streams::print_notice;

/// Printed when there is a prompt but standard input is open and silent.
const READING_INPUT: &str = "windlass: reading standard input to its end, to join it to the prompt; Ctrl-D ends what is typed, `< /dev/null` stands for none";

pub(super) fn run(data_dir: Option<PathBuf>, args: &RunArgs, env: Env) -> CommandResult {
    let clock = test_hooks::clock();
    let StdinWait { note_after, limit } = StdinWait::USUAL;
    let patience = StdinWait { note_after: clock.real(note_after), limit: clock.real(limit) };
    let note = || print_notice(READING_INPUT);
    let prompt = prompt::read(args.prompt.as_deref(), piped::connected(), io::stdin(), patience, note)?;
    let flags = flags(data_dir, &args.rules, &args.common);
    let sources = prepared_run::gather(flags, env)?;
    let place = prepared_run::place(&sources)?;
    block_on(async {
        let store = store::open(&place)?;
        let known = match session_key(args) {
            Some(key) => session::find(store.as_ref(), &key).await?,
            None => None,
        };
        let finished = match (&known, &args.message_id) {
            (Some(row), Some(id)) => repeat::end_of(store.as_ref(), row, id).await?,
            (None, _) | (_, None) => None,
        };
        let place = match (&known, &finished) {
            (Some(row), None) => session::in_session_folder(place, row, args.common.workspace.as_deref())?,
            (None, _) | (_, Some(_)) => place,
        };
        let mut prepared_run = PreparedRun::prepare(sources, &args.common, place)?;
        for (flag, name) in [("--session", &args.session), ("--message-id", &args.message_id)] {
            prepared_run.refuse_secret(flag, name.as_deref())?;
        }
        if let (Some(row), Some(id)) = (&known, &args.message_id) {
            let ended = finished.as_ref().map(|(_, ended)| ended);
            let words = repeat::words_of(store.as_ref(), row, id, ended).await?;
            if words.is_some_and(|words| words != prepared_run.scrub(&prompt)) {
                print_words_differ(id);
            }
        }
        if let (Some(row), Some((event, ended))) = (&known, &finished) {
            follow::show_end(&mut prepared_run, event, ended)?;
            return Ok(print_known(Exit::from(ended), &row.key, &prepared_run.setup.settings.place));
        }
        let session = match &known {
            Some(row) => session::model_of_last_run(store.as_ref(), row.session).await?,
            None => None,
        };
        let model = prepared_run.choose(ModelPreference::new(session, ModelFallback::Refuse)).await?;
        prepared_run.print_loosened();
        let agent = agent::build(&prepared_run.setup, store.clone(), &model)?;
        let recorded = agent.hub().scrub(&prompt).into_owned();
        let (key, message_id) = place_in_line(store.as_ref(), args, known, &prepared_run, &recorded).await?;
        let opened = match agent.open_and_send(&key, message_id, prompt.as_str(), Interest::Everything).await {
            // A process with the same command line was faster to continue the interrupted run; begin a new one here.
            Err(OpenError::Store(StoreError::Busy { .. })) if session_key(args).is_none() => {
                let (key, message_id) = fresh();
                agent.open_and_send(&key, message_id, prompt, Interest::Everything).await
            }
            opened => opened,
        };
        let (session, mut events, awaited) = opened.map_err(|error| CommandError::of_opening(error, Some(&key)))?;
        follow::to_its_end(&mut prepared_run, &agent, session, &mut events, awaited).await
    })
}

/// Reports that this message was sent before: its run stays failed or stopped, and only a retry tries it again.
fn print_known(exit: Exit, key: &str, place: &PlaceSettings) -> Exit {
    if matches!(exit, Exit::Failed | Exit::Cancelled) {
        let line = command_for("retry", key, "", place);
        print_notice(&format!("windlass: this message was sent before; `{line}` tries it again"));
    }
    exit
}

/// Warns that this message id was used with another text, and that the text given now is ignored.
fn print_words_differ(id: &str) {
    let id = quoted(id);
    print_notice(&format!(
        "windlass: message {id} was sent before with other words, and those count; give a new message another --message-id"
    ));
}

/// Returns the session key from the arguments. Without one the message's id determines the key, so that the id holds
/// for the whole data folder.
fn session_key(args: &RunArgs) -> Option<String> {
    args.session.clone().or_else(|| args.message_id.as_ref().map(|id| format!("message:{id}")))
}

/// Returns the session the message goes to, and the message's id. The same text as that of an unfinished run means the
/// same message.
async fn place_in_line(
    store: &dyn Store,
    args: &RunArgs,
    known: Option<SessionRow>,
    prepared_run: &PreparedRun,
    prompt: &str,
) -> Result<(String, MessageId), CommandError> {
    match (session_key(args), &args.message_id) {
        (Some(key), Some(id)) => Ok((key, id.as_str().into())),
        (Some(key), None) => {
            let unfinished = match &known {
                Some(row) => repeat::unfinished_message(store, row, prompt).await?,
                None => None,
            };
            Ok((key, unfinished.unwrap_or_else(fresh_id)))
        }
        (None, _) => match repeat::unfinished_in(store, &prepared_run.setup.settings.place.workspace, prompt).await? {
            Some((row, id)) => Ok((row.key, id)),
            None => Ok(fresh()),
        },
    }
}

/// Returns a new session key and a new message id.
fn fresh() -> (String, MessageId) {
    (session::fresh_key("run"), fresh_id())
}

fn fresh_id() -> MessageId {
    MessageId(uuid::Uuid::now_v7().to_string())
}
