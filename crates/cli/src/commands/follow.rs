//! Follows a run to its end: displays every event, asks the person the run's questions, and stops the run on Ctrl-C.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io::{self, IsTerminal as _, Write};
use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval};
use windlass::door::{AwaitedEnd, FollowError};
use windlass::{Agent, Event, RunEnded, Session};
use windlass_narrate::preview_text;
use windlass_runtime::Subscription;
use windlass_setup::settings::{Env, PlaceSettings};
use windlass_vocab::{Answer, Attendance, QuestionAsked, QuestionOption, RunId};

use super::open_question::{OpenQuestion, QuestionScreen, TypedAnswer};
use super::prepared_run::PreparedRun;
use super::preview::PageTurn;
use super::typed_lines::{TerminalQuestion, TypedLines};
use super::unanswered::how_it_ended;
use super::{always, recall};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::form::ElicitationForm;
use crate::interrupts::{self, OnInterrupt};
use crate::output::advice::next_command;
use crate::output::{harmless_line, model_command_for};
use crate::screen::Colour;
use crate::streams::{StandardStream, print_notice};
use crate::tty;

/// How often the waiting time is displayed.
const TICK: Duration = Duration::from_millis(500);

/// Follows this run and those begun by the messages queued behind it, until no message waits or a question needs a
/// person who is not here; then closes the session and the servers. Returns the exit code of the first run that did not
/// end well, if any.
pub(crate) async fn until_nothing_waits(
    prepared_run: &mut PreparedRun,
    agent: &Agent,
    session: Session,
    events: &mut Subscription,
    first: RunId,
) -> CommandResult {
    let (mut run, mut worst) = (first, Exit::Done);
    let done = loop {
        match follow(prepared_run, agent, &session, events, AwaitedEnd::Run(run)).await {
            Ok(exit) if worst == Exit::Done => worst = exit,
            Ok(_) => {}
            Err(error) => break Err(error),
        }
        run = RunId(run.0 + 1);
        match is_begun(agent, &session, run).await {
            Ok(true) => {}
            Ok(false) => break Ok(worst),
            Err(error) => break Err(error),
        }
    };
    session.close().await;
    prepared_run.setup.servers.close().await;
    done
}

/// Whether this run has begun or is about to: one batch removes a message from the inbox and begins its run.
async fn is_begun(agent: &Agent, session: &Session, run: RunId) -> Result<bool, CommandError> {
    let store = agent.hub().store();
    if !store.waiting(session.id()).await?.is_empty() {
        return Ok(true);
    }
    Ok(store.row(session.id()).await?.is_some_and(|row| row.runs >= run.0))
}

/// Follows until the run ends or waits for a person who is not here, then closes the session and the servers. Prints
/// how many messages are left in the inbox.
pub(crate) async fn to_its_end(
    prepared_run: &mut PreparedRun,
    agent: &Agent,
    session: Session,
    events: &mut Subscription,
    awaited: AwaitedEnd,
) -> CommandResult {
    let done = follow(prepared_run, agent, &session, events, awaited).await;
    let (id, store) = (session.id(), agent.hub().store());
    session.close().await;
    prepared_run.setup.servers.close().await;
    // A read error here must not fail the run.
    if let (Ok(Some(row)), Ok(waiting)) = (store.row(id).await, store.waiting(id).await) {
        let place = &prepared_run.setup.settings.place;
        if let Some(text) = still_waiting(&row.key, waiting.len(), place) {
            print_notice(&format!("windlass: {text}"));
        } else if matches!(done, Ok(Exit::Done)) && !prepared_run.view.is_json() && io::stderr().is_terminal() {
            let goes_on = model_command_for("--resume", &row.key, "", place);
            print_notice(&format!("windlass: session `{}`; `{goes_on}` goes on with it", harmless_line(&row.key)));
        }
    }
    done
}

/// Returns a notice that messages wait in the session, with the command that processes them; none if no message waits.
pub(crate) fn still_waiting(key: &str, waiting: usize, place: &PlaceSettings) -> Option<String> {
    let messages = match waiting {
        0 => return None,
        1 => "1 message waits".to_owned(),
        many => format!("{many} messages wait"),
    };
    Some(format!("{messages} to be taken up: `{}` goes on", model_command_for("resume", key, "", place)))
}

/// Follows until the run ends or waits for a person who is not here.
pub(crate) async fn follow(
    prepared_run: &mut PreparedRun,
    agent: &Agent,
    session: &Session,
    events: &mut Subscription,
    awaited: AwaitedEnd,
) -> CommandResult {
    for call in recall::calls_of_last_run(agent.hub().store().as_ref(), session.id()).await? {
        prepared_run.view.recall(&call);
    }
    let begun = Instant::now();
    loop {
        let _stops = interrupts::set_action(OnInterrupt::Stop(session.clone()));
        let ended = show_events(prepared_run, agent, session, events, awaited.clone()).await?;
        match ended {
            Ok(ended) => {
                prepared_run.view.ended(&ended).map_err(|error| CommandError::output(&error))?;
                prepared_run.view.spent(&ended, begun.elapsed());
                print_next_command(prepared_run, agent, session, &ended).await;
                return Ok(Exit::from(&ended));
            }
            Err(FollowError::Waiting(questions)) if prepared_run.setup.attendance == Attendance::Attended => {
                ask_each(prepared_run, agent, session, &questions).await?;
            }
            Err(FollowError::Waiting(questions)) => {
                return Err(left_waiting(prepared_run, agent, session, &questions).await?);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Prints the command that goes on with a run without a whole answer. A read error here must not fail the run.
async fn print_next_command(prepared_run: &mut PreparedRun, agent: &Agent, session: &Session, ended: &RunEnded) {
    if prepared_run.view.is_json() {
        return;
    }
    let Ok(Some(row)) = agent.hub().store().row(session.id()).await else { return };
    if let Some(text) = next_command(ended, &row.key, &prepared_run.setup.settings.place) {
        prepared_run.view.notice(&text);
    }
}

/// Displays events until the run ends or waits for a person.
async fn show_events(
    prepared_run: &mut PreparedRun,
    agent: &Agent,
    session: &Session,
    events: &mut Subscription,
    awaited: AwaitedEnd,
) -> Result<Result<RunEnded, FollowError>, CommandError> {
    let (mut shown, prepared_run) = (Ok(()), RefCell::new(prepared_run));
    let show = |event: &Event| {
        let mut prepared_run = prepared_run.borrow_mut();
        prepared_run.print_news();
        if shown.is_ok() {
            shown = prepared_run.view.event(event);
        }
    };
    let ended = tokio::select! {
        biased;
        ended = agent.follow(session, events, awaited, show) => ended,
        never = tick(&prepared_run) => match never {},
    };
    prepared_run.into_inner().print_news();
    shown.map_err(|error| CommandError::output(&error))?;
    Ok(ended)
}

/// Displays how long the run has been waiting.
async fn tick(prepared_run: &RefCell<&mut PreparedRun>) -> Infallible {
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let now = ticks.tick().await;
        prepared_run.borrow_mut().view.tick(now.into_std());
    }
}

/// Asks each question on the terminal. Ctrl-C stops the run, as it does while the run works.
async fn ask_each(
    prepared_run: &mut PreparedRun,
    agent: &Agent,
    session: &Session,
    questions: &[QuestionAsked],
) -> Result<(), CommandError> {
    for asked in questions {
        tokio::select! {
            biased;
            // The question may also expire, be answered from another terminal, or end with a stopped run.
            () = session.wait_past_question(asked.question) => print_how_it_ended(agent, session, asked).await?,
            answer = ask(asked, colour(&prepared_run.setup.env)) => {
                give_answer(prepared_run, session, asked, answer?.unwrap_or_else(|| nobody_answers(asked))).await?;
            }
        }
    }
    Ok(())
}

/// Returns the error for a run that stays waiting for answers to these questions.
async fn left_waiting(
    prepared_run: &PreparedRun,
    agent: &Agent,
    session: &Session,
    questions: &[QuestionAsked],
) -> Result<CommandError, CommandError> {
    let row = agent.hub().store().row(session.id()).await?;
    let named = row.as_ref().map(|row| (row.key.as_str(), &prepared_run.setup.settings.place));
    Ok(waiting(questions, named))
}

/// Prints, on a line of its own, why the question no longer needs an answer.
async fn print_how_it_ended(agent: &Agent, session: &Session, asked: &QuestionAsked) -> Result<(), CommandError> {
    let store = agent.hub().store().as_ref();
    print_notice(&format!("\n{}", how_it_ended(store, session.id(), asked.question).await?));
    Ok(())
}

/// Returns the question's default answer, mostly no, for the end of input. Ends the prompt's line first.
fn nobody_answers(asked: &QuestionAsked) -> Answer {
    print_notice("");
    Answer::plain(asked.default)
}

/// Gives the answer to the session, and prints what it means from now on.
async fn give_answer(
    prepared_run: &mut PreparedRun,
    session: &Session,
    asked: &QuestionAsked,
    answer: Answer,
) -> Result<(), CommandError> {
    let option = answer.option;
    let taken = session.answer(asked.question, answer).await.map_err(FollowError::from)?;
    let rule = asked.preview.as_ref().and_then(|preview| preview.rule.as_deref());
    if let (true, QuestionOption::Always, Some(rule)) = (taken, option, rule) {
        let text = always::keep(rule, &prepared_run.setup.env, &mut prepared_run.setup.settings).await;
        print_notice(text.trim_end());
    }
    Ok(())
}

/// Displays the end of a run that was recorded earlier.
pub(crate) fn show_end(prepared_run: &mut PreparedRun, event: &Event, ended: &RunEnded) -> Result<(), CommandError> {
    prepared_run
        .view
        .event(event)
        .and_then(|()| prepared_run.view.ended(ended))
        .map_err(|error| CommandError::output(&error))
}

/// Returns the error for a waiting run: its questions, and the commands that answer them in the session with this key.
pub(crate) fn waiting(questions: &[QuestionAsked], named: Option<(&str, &PlaceSettings)>) -> CommandError {
    let mut text = String::from("the run waits for a person:");
    for asked in questions {
        let preview = asked.preview.as_ref().map(|preview| preview_text(preview, "    "));
        text.push_str(&format!("\n  {}", preview.as_deref().unwrap_or("a question")));
        let choices: Vec<&str> = asked.options.iter().filter_map(|option| flag_word(*option)).collect();
        let answer = format!(" --answer {}", choices.join("|"));
        let line = named.map_or_else(
            || format!("windlass resume{answer}"),
            |(key, place)| model_command_for("resume", key, &answer, place),
        );
        text.push_str(&format!("\n    answer with: {line}"));
    }
    CommandError::new(Exit::Waiting, text)
}

fn flag_word(option: QuestionOption) -> Option<&'static str> {
    match option {
        QuestionOption::RunAgain => Some("run-again"),
        QuestionOption::Interrupt => Some("interrupt"),
        QuestionOption::Once => Some("yes"),
        QuestionOption::No => Some("no"),
        QuestionOption::Dismiss => Some("dismiss"),
        QuestionOption::Session | QuestionOption::Always | QuestionOption::Edit | QuestionOption::Submit => None,
    }
}

pub(super) fn colour(env: &Env) -> Colour {
    if tty::is_dumb(env) { Colour::None } else { tty::colour(env) }
}

/// Asks on the terminal. Returns no answer at the end of input.
pub(super) async fn ask(asked: &QuestionAsked, colour: Colour) -> Result<Option<Answer>, CommandError> {
    let asked = asked.clone();
    // Dropping this gives up the question; its pending read of a line passes to the next question.
    let asking = TerminalQuestion::default();
    let lines = asking.lines();
    let answer = tokio::task::spawn_blocking(move || ask_on_terminal(&asked, colour, &lines)).await;
    answer.unwrap_or(Ok(None)).map_err(|error| CommandError::output(&error))
}

fn ask_on_terminal(asked: &QuestionAsked, colour: Colour, lines: &TypedLines) -> io::Result<Option<Answer>> {
    lines.forget_earlier();
    let mut err = StandardStream::Error;
    let size = tty::size_of(io::stderr()).unwrap_or(tty::USUAL_SIZE);
    // Editing needs more than one line of input; only the chat offers it.
    let can_be_given = |option| option != QuestionOption::Edit;
    let mut open = OpenQuestion::new(asked, can_be_given, QuestionScreen { colour, size });
    writeln!(err, "\n{}", open.beginning())?;
    while !lines.are_over() {
        write!(err, "{}\n? ", open.offer())?;
        err.flush()?;
        let Some(line) = lines.next()? else { break };
        match (open.read(&line), ElicitationForm::of(asked)) {
            (TypedAnswer::View, _) => view_all(&mut open, lines, &mut err)?,
            (TypedAnswer::Answer(Answer { option: QuestionOption::Submit, .. }), Some(form)) => {
                return fill(form, lines, &mut err);
            }
            (TypedAnswer::Answer(answer), _) => return Ok(Some(answer)),
            (TypedAnswer::Nothing(text), _) => writeln!(err, "{text}")?,
        }
    }
    Ok(None)
}

/// Displays the whole preview, page by page.
fn view_all(open: &mut OpenQuestion<'_>, lines: &TypedLines, err: &mut impl Write) -> io::Result<()> {
    let mut reading = open.reading();
    writeln!(err, "{}", reading.text())?;
    while !reading.is_over() {
        write!(err, "{} ", reading.note())?;
        err.flush()?;
        match lines.next()?.map(|line| reading.turn(&line)) {
            Some(PageTurn::Page) => writeln!(err, "{}", reading.text())?,
            Some(PageTurn::NotUnderstood) => {}
            Some(PageTurn::Leave) | None => break,
        }
    }
    Ok(())
}

/// Asks for each field of the form. The end of input abandons the form.
fn fill(mut form: ElicitationForm, lines: &TypedLines, err: &mut impl Write) -> io::Result<Option<Answer>> {
    while let Some(question) = form.question() {
        write!(err, "  {question}")?;
        err.flush()?;
        let Some(line) = lines.next()? else { return Ok(None) };
        if let Err(problem) = form.fill(&line) {
            writeln!(err, "  {problem}")?;
        }
    }
    Ok(Some(Answer::with(QuestionOption::Submit, form.content())))
}

impl From<FollowError> for CommandError {
    fn from(error: FollowError) -> Self {
        match error {
            FollowError::Open(error) => error.into(),
            FollowError::Store(error) | FollowError::Closed(windlass_runtime::SessionClosed::Store(error)) => {
                error.into()
            }
            FollowError::Closed(windlass_runtime::SessionClosed::Closed) => {
                Self::new(Exit::Failed, "the session was closed before the run ended")
            }
            FollowError::Waiting(questions) => waiting(&questions, None),
            FollowError::Dropped => Self::new(Exit::Cancelled, error.to_string()),
            // The library may add error variants.
            error => Self::new(Exit::Failed, error.to_string()),
        }
    }
}
