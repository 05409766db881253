//! Asking what only a person can answer, in the middle of a run.
//!
//! An answer is a line, never a single key: whoever is typing when the question comes does not
//! answer it by accident. What they had typed is put aside until it is answered.

use windlass::door::FollowError;
use windlass_setup::models::DEMO;
use windlass_vocab::{Answer, AnsweredBy, Json, QuestionAsked, QuestionKind, QuestionOption};

use super::conversation::Conversation;
use super::desk::{Desk, Sign, Touch};
use super::gate::Piece;
use super::slash::{self, Meaning, Slash};
use super::typed::Pressed;
use super::{edit, performing};
use crate::commands::open_question::{OpenQuestion, Sheet, Typed};
use crate::commands::preview::Turn;
use crate::commands::unanswered::{answered, answered_elsewhere};
use crate::error::CommandError;
use crate::form::Form;
use crate::output::harmless_line;

/// What became of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// It was answered, by the person or by time.
    Answered,
    /// The person stopped the run.
    Stopped,
    /// The person leaves; the question stays.
    Left,
}

/// What a line is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wants {
    /// One of the answers on offer; an empty line is none.
    Choice,
    /// A field of a form; an empty line leaves it as it is.
    Field,
}

/// What the person did about it.
enum Reply<T> {
    Given(T),
    /// The question is over without it.
    Over(Asked),
}

/// Asks one question.
pub(crate) async fn ask(
    desk: &mut Desk,
    talk: &mut Conversation,
    asked: &QuestionAsked,
) -> Result<Asked, CommandError> {
    let mut open = OpenQuestion::new(asked, |_| true, sheet(desk));
    desk.console.print(&format!("\n{}\n{}\n", open.beginning(), open.offer()))?;
    loop {
        let given = match choose(desk, talk, &mut open).await? {
            Reply::Given(given) => given,
            Reply::Over(over) => return Ok(over),
        };
        let answer = match given.option {
            QuestionOption::Edit => match edited(desk, talk, asked).await? {
                Written::Whole(arguments) => Some(Answer::with(QuestionOption::Edit, arguments)),
                Written::Nothing => None,
                Written::Over(over) => return Ok(over),
            },
            QuestionOption::Submit if Form::of(asked).is_some() => match filled(desk, talk, asked).await? {
                Written::Whole(content) => Some(Answer::with(QuestionOption::Submit, content)),
                Written::Nothing => None,
                Written::Over(over) => return Ok(over),
            },
            QuestionOption::No
            | QuestionOption::Once
            | QuestionOption::Session
            | QuestionOption::Always
            | QuestionOption::RunAgain
            | QuestionOption::Interrupt
            | QuestionOption::Submit
            | QuestionOption::Dismiss => Some(given),
        };
        match answer {
            Some(answer) => return settle(desk, talk, asked, answer).await,
            None => desk.console.print(&format!("{}\n", open.offer()))?,
        }
    }
}

fn sheet(desk: &Desk) -> Sheet {
    let look = desk.console.look();
    Sheet { colour: look.colour, size: (look.width, look.height) }
}

/// Waits for an answer that can be given. Whoever wants to see all of what is asked about is shown that, and asked
/// again; so is whoever was not understood.
async fn choose(
    desk: &mut Desk,
    talk: &mut Conversation,
    open: &mut OpenQuestion<'_>,
) -> Result<Reply<Answer>, CommandError> {
    loop {
        let line = match reply(desk, talk, open.asked(), Wants::Choice).await? {
            Reply::Given(line) => line,
            Reply::Over(over) => return Ok(Reply::Over(over)),
        };
        desk.console.print(&format!("? {line}\n"))?;
        match open.read(&line) {
            Typed::Answer(answer) => return Ok(Reply::Given(answer)),
            Typed::Nothing(text) => desk.console.print(&format!("{text}\n"))?,
            Typed::View => {
                if let Some(over) = viewed(desk, talk, open).await? {
                    return Ok(Reply::Over(over));
                }
            }
        }
        desk.console.print(&format!("{}\n", open.offer()))?;
    }
}

/// Shows all of what is asked about, page by page; what became of the question, should it end meanwhile.
async fn viewed(
    desk: &mut Desk,
    talk: &mut Conversation,
    open: &mut OpenQuestion<'_>,
) -> Result<Option<Asked>, CommandError> {
    let asked = open.asked();
    let mut reading = open.reading();
    desk.console.print(&format!("{}\n", reading.text()))?;
    while !reading.is_over() {
        desk.console.print(&format!("{}\n", reading.note()))?;
        match reply(desk, talk, asked, Wants::Field).await? {
            Reply::Given(line) => match reading.turn(&line) {
                Turn::Page => desk.console.print(&format!("{}\n", reading.text()))?,
                Turn::Leave => break,
                Turn::NotUnderstood => {}
            },
            Reply::Over(over) => return Ok(Some(over)),
        }
    }
    Ok(None)
}

/// What became of something that is written before the question is answered.
enum Written {
    Whole(Json),
    /// The person left it: the question stands as it was.
    Nothing,
    Over(Asked),
}

/// Lets the person edit the call, shows what it is now, and asks again: nothing runs that was not seen as it runs.
async fn edited(desk: &mut Desk, talk: &mut Conversation, asked: &QuestionAsked) -> Result<Written, CommandError> {
    let mut before = None;
    loop {
        let Some(edit) = edit::edited(desk, talk, asked, before).await? else { return Ok(Written::Nothing) };
        let mut open = OpenQuestion::edited(asked, &edit.preview, sheet(desk));
        desk.console.print(&format!("\n{}\n{}\n", open.beginning(), open.offer()))?;
        match choose(desk, talk, &mut open).await? {
            Reply::Given(Answer { option: QuestionOption::Once, .. }) => return Ok(Written::Whole(edit.arguments)),
            Reply::Given(Answer { option: QuestionOption::Edit, .. }) => before = Some(edit.arguments),
            Reply::Given(_) => return Ok(Written::Nothing),
            Reply::Over(over) => return Ok(Written::Over(over)),
        }
    }
}

/// Asks field by field.
async fn filled(desk: &mut Desk, talk: &mut Conversation, asked: &QuestionAsked) -> Result<Written, CommandError> {
    let Some(mut form) = Form::of(asked) else { return Ok(Written::Over(Asked::Answered)) };
    while let Some(question) = form.question() {
        desk.console.print(&format!("{question}\n"))?;
        let line = match reply(desk, talk, asked, Wants::Field).await? {
            Reply::Given(line) => line,
            Reply::Over(over) => return Ok(Written::Over(over)),
        };
        desk.console.print(&format!("? {line}\n"))?;
        if let Err(problem) = form.fill(&line) {
            desk.console.print(&format!("{problem}\n"))?;
        }
    }
    Ok(Written::Whole(form.content()))
}

/// Waits for a line, or for the question to pass. What was being typed is put aside meanwhile.
async fn reply(
    desk: &mut Desk,
    talk: &mut Conversation,
    asked: &QuestionAsked,
    wants: Wants,
) -> Result<Reply<String>, CommandError> {
    let aside = std::mem::take(&mut desk.console.typed);
    let prompt = std::mem::replace(&mut desk.console.prompt, "? ");
    let done = read_line(desk, talk, asked, wants).await;
    desk.console.typed = aside;
    desk.console.prompt = prompt;
    Ok(match done? {
        Done::Line(line) => Reply::Given(line),
        Done::Past => {
            tell_who_answered(desk, talk, asked).await?;
            Reply::Over(Asked::Answered)
        }
        Done::Leave => Reply::Over(Asked::Left),
        Done::Stop => {
            performing::stop(talk).await?;
            Reply::Over(Asked::Stopped)
        }
    })
}

/// Says what somebody answered at another terminal. That time did, or a stop, the screen says.
async fn tell_who_answered(
    desk: &mut Desk,
    talk: &mut Conversation,
    asked: &QuestionAsked,
) -> Result<(), CommandError> {
    let Some(session) = talk.live().map(|live| live.session.id()) else { return Ok(()) };
    let answered = answered(talk.store.as_ref(), session, asked.question).await?;
    if let Some(answered) = answered.filter(|answered| answered.by == AnsweredBy::Person) {
        desk.console.print(&format!("{}\n", answered_elsewhere(&answered)))?;
    }
    Ok(())
}

/// How reading a line ended.
enum Done {
    Line(String),
    Stop,
    Leave,
    /// The question was answered otherwise.
    Past,
}

async fn read_line(
    desk: &mut Desk,
    talk: &mut Conversation,
    asked: &QuestionAsked,
    wants: Wants,
) -> Result<Done, CommandError> {
    let Some(session) = talk.live().map(|live| live.session.clone()) else { return Ok(Done::Past) };
    loop {
        desk.console.refresh()?;
        let touch = tokio::select! {
            biased;
            () = session.moved_past(asked.question) => return Ok(Done::Past),
            touch = desk.touched() => touch,
        };
        match touch {
            Touch::Sign(Sign::End) => return Ok(Done::Leave),
            Touch::Sign(Sign::Interrupt) => return Ok(Done::Stop),
            Touch::Sign(Sign::Resized) => desk.resize()?,
            Touch::Typed(pieces) => {
                for piece in pieces {
                    if let Some(done) = typed(desk, piece, wants)? {
                        return Ok(done);
                    }
                }
            }
        }
    }
}

fn typed(desk: &mut Desk, piece: Piece, wants: Wants) -> Result<Option<Done>, CommandError> {
    let bytes = match piece {
        Piece::Keys(bytes) => bytes,
        Piece::Suspend => {
            desk.suspend()?;
            return Ok(None);
        }
        Piece::Paste(text) => {
            match wants {
                // Nobody answers by a paste.
                Wants::Choice => {}
                Wants::Field => desk.console.typed.insert(text.lines().next().unwrap_or_default()),
            }
            return Ok(None);
        }
    };
    for key in desk.keys.read(&bytes) {
        let done = match desk.console.typed.press(key) {
            Pressed::Edited => None,
            Pressed::Interrupt => Some(Done::Stop),
            Pressed::Leave => Some(Done::Leave),
            Pressed::Entered(line) => entered(line, wants),
        };
        if done.is_some() {
            return Ok(done);
        }
    }
    Ok(None)
}

/// What a line means at a question; nothing when it is empty.
fn entered(line: String, wants: Wants) -> Option<Done> {
    match slash::read(&line) {
        Meaning::Command(Slash::Stop, _) => Some(Done::Stop),
        Meaning::Command(Slash::Quit, _) => Some(Done::Leave),
        Meaning::Command(..) | Meaning::Wrong(_) | Meaning::Message(_) => {
            Some(line).filter(|line| wants == Wants::Field || !line.trim().is_empty()).map(Done::Line)
        }
    }
}

/// Gives the answer, and says what it means from now on.
async fn settle(
    desk: &mut Desk,
    talk: &mut Conversation,
    asked: &QuestionAsked,
    answer: Answer,
) -> Result<Asked, CommandError> {
    let option = answer.option;
    let Some(live) = talk.live() else { return Ok(Asked::Answered) };
    let taken = live.session.answer(asked.question, answer).await.map_err(FollowError::from)?;
    let rule = asked.preview.as_ref().and_then(|preview| preview.rule.as_deref());
    let text = match (taken, option, rule, &asked.kind) {
        (false, ..) => "too late: the question has been answered already\n".to_owned(),
        // What is tried out in the demo is not meant for other folders.
        (true, QuestionOption::Always, Some(rule), QuestionKind::Approval { .. }) if talk.model.as_str() != DEMO => {
            talk.allow_always(rule).await
        }
        // A rule may cover more than the call that was asked about.
        (true, QuestionOption::Session | QuestionOption::Always, Some(rule), QuestionKind::Approval { .. }) => {
            format!("allowed for this session: {}\n", harmless_line(rule))
        }
        (true, ..) => String::new(),
    };
    desk.console.whisper(&text)?;
    Ok(Asked::Answered)
}
