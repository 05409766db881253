//! `windlass resume`: goes on with a run that was cut short or waits for an answer.

use std::path::PathBuf;

use windlass::store::{Backwards, Store, StoreError};
use windlass::vocab::{
    Answer, Attendance, CallFinished, CallStarted, QuestionAsked, QuestionKind, QuestionOption, Record, RunId,
    SessionId,
};
use windlass::{RunError, Session, Standing};

use super::{CommandError, Done, Job, agent, block_on, follow, job, session};
use crate::args::{ResumeArgs, RuleFlags, flags};
use crate::exit::Exit;
use crate::models::{DEMO, Otherwise, Wish};
use crate::output::command_for;
use crate::settings::{Env, Origin, Place, Sourced};

pub(super) fn resume(data_dir: Option<PathBuf>, args: &ResumeArgs, env: Env) -> Done {
    // A resumed run keeps the rules it began with.
    let flags = flags(data_dir, &RuleFlags::default(), &args.common);
    let sources = job::gather(flags, env)?;
    let place = job::place(&sources)?;
    block_on(async {
        let store = agent::open_store(&place)?;
        let row = session::named(store.as_ref(), args.key.as_deref(), &place.workspace).await?;
        let place = session::at_home(place, &row, args.common.workspace.as_deref())?;
        let mut job = Job::prepare(sources, &args.common, place)?;
        if args.answer.is_some() {
            // Whoever gives an answer on the command line is there to be asked.
            job.attendance = Attendance::Attended;
        }
        let session = session::begun_with(store.as_ref(), row.session).await?;
        // What is configured since is for new runs.
        if session.as_ref().is_some_and(|begun| begun.model.as_str() == DEMO) {
            job.settings.model = Some(Sourced::new(DEMO.into(), Origin::Session));
        }
        let model = job.choose(Wish::new(session, Otherwise::Refuse)).await?;
        job.tell_loosened();
        let agent = agent::build(&job, store, &model)?;
        let asked_before = pending(agent.runtime().outside().store.as_ref(), row.session).await?;
        let (session, mut events) = agent.existing(row.session).await?;
        if session.standing() == Standing::Idle {
            session.close().await;
            return Err(CommandError::new(Exit::Usage, nothing_open(&row.key, &job.settings.place)));
        }
        if let Some(choice) = args.answer
            && let Err(error) = answer(&session, asked_before, choice.into(), (&row.key, &job.settings.place)).await
        {
            session.close().await;
            return Err(error);
        }
        // Without an open run it is a message that waits which begins the next.
        let run = if session::is_open(&row) { RunId(row.runs) } else { RunId(row.runs + 1) };
        follow::until_nothing_waits(&mut job, &agent, session, &mut events, run).await
    })
}

/// Says that no run is open, and how to go on with the session all the same.
fn nothing_open(key: &str, place: &Place) -> String {
    let (chat, run) =
        (command_for("chat --resume", key, "", place), command_for("run --session", key, " \"…\"", place));
    format!(
        "nothing to resume: no run of session `{key}` is open; `{chat}` takes it up in a chat, `{run}` sends it a message"
    )
}

/// Gives the answer to every question that is there when the session is opened: to one that comes
/// later nobody has said yes. A question whether a call may run is asked anew by whoever takes the run up, and
/// answered if it shows what it showed before.
async fn answer(
    session: &Session,
    asked_before: Vec<QuestionAsked>,
    option: QuestionOption,
    named: (&str, &Place),
) -> Result<(), CommandError> {
    let (approvals, mut questions): (Vec<_>, Vec<_>) = asked_before.into_iter().partition(is_approval);
    if let Standing::Waiting(asked) = session.standing() {
        questions.extend(asked.into_iter().filter(|asked| !is_approval(asked)));
    }
    if questions.is_empty() && approvals.is_empty() {
        let text = "the run waits with no question; leave --answer out to go on with it";
        return Err(CommandError::new(Exit::Usage, text));
    }
    let mut taken = give(session, &questions, option).await?;
    if !approvals.is_empty() {
        taken |= match session.settled().await {
            Standing::Waiting(asked) => {
                let same: Vec<_> = asked.iter().filter(|fresh| shows_one_of(fresh, &approvals)).cloned().collect();
                if same.is_empty() {
                    return Err(follow::waiting(&asked, Some(named)));
                }
                give(session, &same, option).await?
            }
            // The rules of today need no answer.
            Standing::Idle | Standing::Working | Standing::Closed(_) => true,
        };
    }
    if taken {
        return Ok(());
    }
    Err(CommandError::new(Exit::Usage, "the question the run waits with does not offer that answer"))
}

fn is_approval(asked: &QuestionAsked) -> bool {
    matches!(asked.kind, QuestionKind::Approval { .. })
}

/// Answers these questions; whether any took the answer.
async fn give(session: &Session, questions: &[QuestionAsked], option: QuestionOption) -> Result<bool, CommandError> {
    let mut taken = false;
    for asked in questions {
        let answer = Answer::plain(option);
        taken |= session.answer(asked.question, answer).await.map_err(RunError::from)?;
    }
    Ok(taken)
}

fn shows_one_of(fresh: &QuestionAsked, before: &[QuestionAsked]) -> bool {
    let shown = |asked: &QuestionAsked| asked.preview.clone().map(|preview| (preview.title, preview.body));
    before.iter().any(|asked| asked.kind == fresh.kind && shown(asked) == shown(fresh))
}

/// The questions of the open run that nobody has answered; the newest about a call that may have to be asked about
/// again.
async fn pending(store: &dyn Store, session: SessionId) -> Result<Vec<QuestionAsked>, StoreError> {
    let (mut questions, mut answered, mut past) = (Vec::<QuestionAsked>::new(), Vec::new(), Vec::new());
    let mut records = Backwards::new(store, session);
    while let Some(envelope) = records.next().await? {
        match &envelope.record {
            Record::QuestionAnswered(answer) => answered.push(answer.question),
            Record::QuestionAsked(asked) if !answered.contains(&asked.question) => {
                if !past.contains(&asked.kind) {
                    questions.push(asked.clone());
                }
                if is_approval(asked) {
                    past.push(asked.kind.clone());
                }
            }
            Record::CallStarted(CallStarted { call, .. }) | Record::CallFinished(CallFinished { call, .. }) => {
                past.push(QuestionKind::Approval { call: *call });
            }
            Record::RunStarted(_) | Record::RunEnded(_) => break,
            _ => {}
        }
    }
    questions.reverse();
    Ok(questions)
}
