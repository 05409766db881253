//! `windlass resume`: continues a run that was interrupted or waits for an answer.

use std::path::PathBuf;

use windlass::Session;
use windlass::door::FollowError;
use windlass_runtime::{OpenApprovals, SessionActivity};
use windlass_setup::last_run::{LastRun, last_run};
use windlass_setup::models::{DEMO, ModelFallback, ModelPreference};
use windlass_setup::settings::{Env, PlaceSettings, SettingOrigin, Sourced};
use windlass_setup::store;
use windlass_vocab::{Answer, QuestionId, QuestionOption, RunId};

use super::block_on::block_on;
use super::prepared_run::{PreparedRun, QuestionsBefore};
use super::unanswered::unanswered_questions;
use super::{follow, prepared_run, session};
use crate::args::{ResumeArgs, RuleFlags, flags};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::model_command_for;

pub(super) fn resume(data_dir: Option<PathBuf>, args: &ResumeArgs, env: Env) -> CommandResult {
    // A resumed run keeps the permission rules it began with.
    let flags = flags(data_dir, &RuleFlags::default(), &args.common);
    let mut sources = prepared_run::gather(flags, env)?;
    let place = prepared_run::place(&sources)?;
    block_on(async {
        let store = store::open(&place)?;
        let row = session::by_key_or_last(store.as_ref(), args.key.as_deref(), &place.workspace).await?;
        let place = session::in_named_session_folder(place, &row, args.common.workspace.as_deref())?;
        let last = last_run(store.as_ref(), Some(&row)).await?;
        sources.flags.session_agent = last.as_ref().and_then(|last| last.agent.clone());
        let mut prepared_run = PreparedRun::prepare(sources, &args.common, place)?;
        let named = last.as_ref().and_then(LastRun::model_flags);
        let begun = last.and_then(|last| last.model);
        // Settings changed since then apply to new runs only.
        if begun.as_ref().is_some_and(|begun| begun.model.as_str() == DEMO) {
            prepared_run.setup.settings.model = Some(Sourced::new(DEMO.into(), SettingOrigin::Session));
        }
        let preference = ModelPreference::new(begun, ModelFallback::Refuse);
        let model = prepared_run.choose_again(("resume", &row.key), preference, named).await?;
        prepared_run.print_loosened();
        prepared_run.print_script_notice(&model);
        let open = unanswered_questions(store.as_ref(), row.session).await?;
        // A person who gives an answer on the command line can give another: further questions make the run wait.
        let questions = if args.answer.is_some() { QuestionsBefore::Some } else { QuestionsBefore::of(&open) };
        let agent = prepared_run.build_agent(store, &model, questions)?;
        let asked_before = open.into_iter().map(|asked| asked.question).collect();
        let approvals = if args.answer.is_some() { OpenApprovals::Answered } else { OpenApprovals::CheckedAgain };
        let waits = !agent.hub().store().waiting(row.session).await?.is_empty();
        let (session, mut events) = agent
            .open_existing(row.session, approvals)
            .await
            .map_err(|error| CommandError::of_opening(error, Some(&row.key)))?;
        // An open run may be over by now: its end is shown.
        if !row.status.is_open() && !waits && session.activity() == SessionActivity::Idle {
            session.close().await;
            return Err(CommandError::new(Exit::Usage, nothing_open(&row.key, &prepared_run.setup.settings.place)));
        }
        if let Some(choice) = args.answer
            && let Err(error) = answer(&session, asked_before, choice.into()).await
        {
            session.close().await;
            return Err(error);
        }
        // Without an open run, a waiting message begins the next one.
        let run = if row.status.is_open() { RunId(row.runs) } else { RunId(row.runs + 1) };
        follow::until_nothing_waits(&mut prepared_run, &agent, session, &mut events, run).await
    })
}

/// Returns the message that no run is open, with the commands that continue the session.
fn nothing_open(key: &str, place: &PlaceSettings) -> String {
    let (chat, run) =
        (model_command_for("chat --resume", key, "", place), model_command_for("run --session", key, " \"…\"", place));
    format!(
        "nothing to resume: no run of session `{key}` is open; `{chat}` takes it up in a chat, `{run}` sends it a message"
    )
}

/// Answers every question that is open when the session is opened; nobody has said yes to later ones. A yes to a
/// question of an earlier process counts only if the same preview would be displayed now.
async fn answer(session: &Session, asked_before: Vec<QuestionId>, option: QuestionOption) -> Result<(), CommandError> {
    let mut questions = asked_before;
    if let SessionActivity::Waiting(asked) = session.activity() {
        questions.extend(asked.into_iter().map(|asked| asked.question));
    }
    if questions.is_empty() {
        let text = "the run asks nothing; leave --answer out to go on with it";
        return Err(CommandError::new(Exit::Usage, text));
    }
    let mut taken = false;
    for question in questions {
        taken |= session.answer(question, Answer::plain(option)).await.map_err(FollowError::from)?;
    }
    if taken {
        return Ok(());
    }
    Err(CommandError::new(Exit::Usage, "the question the run waits with does not offer that answer"))
}
