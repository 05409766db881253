//! `windlass run`: sends one request and prints its answer on standard output. Repeating the command after a crash
//! continues the run.

use std::io;
use std::path::PathBuf;

use windlass_runtime::{Interest, OpenError, SentMessage};
use windlass_setup::last_run::last_run;
use windlass_setup::models::{ModelFallback, ModelPreference};
use windlass_setup::settings::{Env, PlaceSettings};
use windlass_setup::store;
use windlass_setup::test_hooks;
use windlass_store::{SessionRow, Store, StoreError};
use windlass_vocab::{AttachedFile, MessageId};

use super::block_on::block_on;
use super::prepared_run::{PreparedRun, QuestionsBefore};
use super::repeat::MessageWords;
use super::unanswered::unanswered_questions;
use super::{follow, prepared_run, repeat, session};
use crate::args::{RunArgs, flags};
use crate::attaching;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::{model_command_for, quoted};
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
    let files = attaching::read_all(&args.attach);
    let flags = flags(data_dir, &args.rules, &args.common);
    let mut sources = prepared_run::gather(flags, env)?;
    let place = prepared_run::place(&sources)?;
    let named = |(path, file): (&PathBuf, AttachedFile)| {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        attaching::named_in(&place.workspace, &path, file)
    };
    let files = files.map(|files| args.attach.iter().zip(files).map(named).collect::<Vec<_>>());
    block_on(async {
        let store = store::open(&place)?;
        let args = &with_session(store.as_ref(), args, &place).await?;
        let known = match session_key(args) {
            Some(key) => session::find(store.as_ref(), &key).await?,
            None => None,
        };
        let finished = match (&known, &args.message_id) {
            (Some(row), Some(id)) => repeat::end_of(store.as_ref(), row, id).await?,
            (None, _) | (_, None) => None,
        };
        let place = match (&known, &finished) {
            (Some(row), None) => session::in_named_session_folder(place, row, args.common.workspace.as_deref())?,
            (None, _) | (_, Some(_)) => place,
        };
        let last = last_run(store.as_ref(), known.as_ref()).await?;
        sources.flags.session_agent = last.and_then(|last| last.agent);
        let mut prepared_run = PreparedRun::prepare(sources, &args.common, place)?;
        for (flag, name) in [("--session", &args.session), ("--message-id", &args.message_id)] {
            prepared_run.refuse_secret(flag, name.as_deref())?;
        }
        let mut sent_before = false;
        if let (Some(row), Some(id)) = (&known, &args.message_id) {
            let ended = finished.as_ref().map(|(_, ended)| ended);
            let words = repeat::words_of(store.as_ref(), row, id, ended).await?;
            sent_before = words.is_some();
            if words.is_some_and(|words| words != prepared_run.scrub(&prompt)) {
                print_words_differ(id);
            }
        }
        if let (Some(row), Some((event, ended))) = (&known, &finished) {
            follow::show_end(&mut prepared_run, event, ended)?;
            return Ok(print_known(Exit::from(ended), &row.key, &prepared_run.setup.settings.place));
        }
        // A message that was sent before has its files already.
        let files = if sent_before { files.unwrap_or_default() } else { files? };
        let words = MessageWords::new(prepared_run.scrub(&prompt), &files);
        let line = place_in_line(store.as_ref(), args, known, &prepared_run, &words).await?;
        if let Some(adopted) = line.row.as_ref().filter(|_| session_key(args).is_none()) {
            print_adopted(args, adopted);
        }
        let begun = last_run(store.as_ref(), line.row.as_ref()).await?.and_then(|last| last.model);
        let model = prepared_run.choose(ModelPreference::new(begun, ModelFallback::Refuse)).await?;
        prepared_run.print_loosened();
        prepared_run.print_script_notice(&model);
        prepared_run.check_attached(&files, &model)?;
        let questions = match &line.row {
            Some(row) => QuestionsBefore::of(&unanswered_questions(store.as_ref(), row.session).await?),
            None => QuestionsBefore::None,
        };
        let mut agent = prepared_run.build_agent(store.clone(), &model, questions)?;
        let message = SentMessage { text: prompt, files };
        let sent = agent.open_and_send(&line.key, line.message_id, message.clone(), Interest::Everything).await;
        let opened = match sent {
            // A process with the same command line was faster to continue the interrupted run; begin a new one here.
            Err(OpenError::Store(StoreError::Busy { .. })) if session_key(args).is_none() => {
                let line = MessagePlace::fresh();
                agent = prepared_run.build_agent(store, &model, QuestionsBefore::None)?;
                agent.open_and_send(&line.key, line.message_id, message, Interest::Everything).await
            }
            opened => opened,
        };
        let (session, mut events, awaited) =
            opened.map_err(|error| CommandError::of_opening(error, Some(&line.key)))?;
        follow::to_its_end(&mut prepared_run, &agent, session, &mut events, awaited).await
    })
}

/// Reports that this message was sent before: its run stays failed or stopped, and only a retry tries it again.
fn print_known(exit: Exit, key: &str, place: &PlaceSettings) -> Exit {
    if matches!(exit, Exit::Failed | Exit::Cancelled) {
        let line = model_command_for("retry", key, "", place);
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

/// Returns the arguments with the folder's last session named, if that one is meant.
async fn with_session(store: &dyn Store, args: &RunArgs, place: &PlaceSettings) -> Result<RunArgs, CommandError> {
    let mut args = args.clone();
    if args.continue_last {
        args.session = Some(session::by_key_or_last(store, None, &place.workspace).await?.key);
    }
    Ok(args)
}

/// Returns the session key from the arguments. Without one the message's id determines the key, so that the id holds
/// for the whole data folder.
fn session_key(args: &RunArgs) -> Option<String> {
    args.session.clone().or_else(|| args.message_id.as_ref().map(|id| format!("message:{id}")))
}

/// Where a message goes.
struct MessagePlace {
    key: String,
    message_id: MessageId,
    /// The session, if there is one already.
    row: Option<SessionRow>,
}

impl MessagePlace {
    /// A new session and a new message.
    fn fresh() -> Self {
        Self { key: session::fresh_key(session::RUN), message_id: fresh_id(), row: None }
    }
}

/// Returns where the message goes. The same text as that of an unfinished run means the same message.
async fn place_in_line(
    store: &dyn Store,
    args: &RunArgs,
    known: Option<SessionRow>,
    prepared_run: &PreparedRun,
    words: &MessageWords,
) -> Result<MessagePlace, CommandError> {
    match (session_key(args), &args.message_id) {
        (Some(key), Some(id)) => Ok(MessagePlace { key, message_id: id.as_str().into(), row: known }),
        (Some(key), None) => {
            let unfinished = match &known {
                Some(row) => repeat::unfinished_message(store, row, words).await?,
                None => None,
            };
            Ok(MessagePlace { key, message_id: unfinished.unwrap_or_else(fresh_id), row: known })
        }
        (None, _) => match repeat::unfinished_in(store, &prepared_run.setup.settings.place.workspace, words).await? {
            Some((row, message_id)) if !names_other_model(store, args, prepared_run, &row).await? => {
                Ok(MessagePlace { key: row.key.clone(), message_id, row: Some(row) })
            }
            Some(_) | None => Ok(MessagePlace::fresh()),
        },
    }
}

/// Whether the command line names another model than the one this session's run began with: then it is another request.
async fn names_other_model(
    store: &dyn Store,
    args: &RunArgs,
    prepared_run: &PreparedRun,
    row: &SessionRow,
) -> Result<bool, CommandError> {
    if args.common.model.is_none() {
        return Ok(false);
    }
    let begun = last_run(store, Some(row)).await?.and_then(|last| last.model);
    Ok(begun.is_some_and(|begun| prepared_run.setup.settings.first_name() != Some(&begun.model)))
}

/// Reports which session had begun this request and goes on with it, and which of the given flags its run ignores.
fn print_adopted(args: &RunArgs, row: &SessionRow) {
    let given = [
        ("--preset", args.rules.preset.is_some()),
        ("--max-turns", args.rules.max_turns.is_some()),
        ("--max-cost", args.rules.max_cost.is_some()),
        ("--max-run-tokens", args.rules.max_run_tokens.is_some()),
        ("--system", args.rules.system.is_some()),
        ("--dialect", !args.rules.dialect.is_empty()),
        ("--tag", !args.rules.tags.is_empty()),
        ("--agent", args.common.agent.is_some()),
    ];
    let ignored: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(flag, _)| *flag).collect();
    let ignored = match ignored.as_slice() {
        [] => String::new(),
        flags => format!("; for a new run only: {}", flags.join(", ")),
    };
    print_notice(&format!("windlass: session `{}` had begun this request and goes on with it{ignored}", row.key));
}

fn fresh_id() -> MessageId {
    MessageId(uuid::Uuid::now_v7().to_string())
}
