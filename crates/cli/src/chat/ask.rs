//! Asks the person a question in the middle of a run.
//!
//! An answer is a line, never a single key, so that a person who is typing when the question appears does not answer
//! it by accident. The text typed so far is set aside until the question is answered.

use windlass_vocab::{Answer, AnsweredBy, Json, QuestionAsked, QuestionOption};

use super::chat_session::ChatSession;
use super::edit;
use super::input_splitter::InputPiece;
use super::slash::{self, ParsedInput, SlashCommand};
use super::terminal::{Terminal, TerminalInput, TerminalSignal};
use super::typed::KeyEffect;
use crate::commands::open_question::{OpenQuestion, QuestionScreen, TypedAnswer};
use crate::commands::preview::PageTurn;
use crate::commands::unanswered::answered_elsewhere;
use crate::error::CommandError;
use crate::form::ElicitationForm;

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionOutcome {
    /// It was answered, by the person or by its timeout.
    Answered,
    /// The person stopped the run.
    Stopped,
    /// The person leaves the chat; the question stays open.
    Left,
}

/// What a typed line is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinePurpose {
    /// One of the offered answers; an empty line is ignored.
    Choice,
    /// A field of a form; an empty line leaves the field unchanged.
    Field,
}

/// The person's reply to a prompt.
enum PersonReply<T> {
    Given(T),
    /// The question ended without a reply.
    Over(QuestionOutcome),
}

/// Asks one question and passes on the answer.
pub(crate) async fn ask(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    asked: &QuestionAsked,
) -> Result<QuestionOutcome, CommandError> {
    let mut open = OpenQuestion::new(asked, |_| true, question_screen(terminal));
    terminal.console.print(&format!("\n{}\n{}\n", open.beginning(), open.offer()))?;
    loop {
        let given = match choose(terminal, talk, &mut open).await? {
            PersonReply::Given(given) => given,
            PersonReply::Over(over) => return Ok(over),
        };
        let answer = match given.option {
            QuestionOption::Edit => match edit_and_confirm(terminal, talk, asked).await? {
                WrittenAnswer::Whole(arguments) => Some(Answer::with(QuestionOption::Edit, arguments)),
                WrittenAnswer::Nothing => None,
                WrittenAnswer::Over(over) => return Ok(over),
            },
            QuestionOption::Submit if ElicitationForm::of(asked).is_some() => {
                match fill_form(terminal, talk, asked).await? {
                    WrittenAnswer::Whole(content) => Some(Answer::with(QuestionOption::Submit, content)),
                    WrittenAnswer::Nothing => None,
                    WrittenAnswer::Over(over) => return Ok(over),
                }
            }
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
            Some(answer) => return give_answer(terminal, talk, asked, answer).await,
            None => terminal.console.print(&format!("{}\n", open.offer()))?,
        }
    }
}

fn question_screen(terminal: &Terminal) -> QuestionScreen {
    let look = terminal.console.look();
    QuestionScreen { colour: look.colour, size: (look.width, look.height) }
}

/// Waits for a valid answer. Asks again after showing the full preview on request, and after a line that was not
/// understood.
async fn choose(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    open: &mut OpenQuestion<'_>,
) -> Result<PersonReply<Answer>, CommandError> {
    loop {
        let line = match reply(terminal, talk, open.question(), LinePurpose::Choice).await? {
            PersonReply::Given(line) => line,
            PersonReply::Over(over) => return Ok(PersonReply::Over(over)),
        };
        terminal.console.print(&format!("? {line}\n"))?;
        match open.read(&line) {
            TypedAnswer::Answer(answer) => return Ok(PersonReply::Given(answer)),
            TypedAnswer::Nothing(text) => terminal.console.print(&format!("{text}\n"))?,
            TypedAnswer::View => {
                if let Some(over) = view_pages(terminal, talk, open).await? {
                    return Ok(PersonReply::Over(over));
                }
            }
        }
        terminal.console.print(&format!("{}\n", open.offer()))?;
    }
}

/// Shows the full preview page by page. Returns the question's outcome if the question ends meanwhile.
async fn view_pages(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    open: &mut OpenQuestion<'_>,
) -> Result<Option<QuestionOutcome>, CommandError> {
    let asked = open.question();
    let mut reading = open.reading();
    terminal.console.print(&format!("{}\n", reading.text()))?;
    while !reading.is_over() {
        terminal.console.print(&format!("{}\n", reading.note()))?;
        match reply(terminal, talk, asked, LinePurpose::Field).await? {
            PersonReply::Given(line) => match reading.turn(&line) {
                PageTurn::Page => terminal.console.print(&format!("{}\n", reading.text()))?,
                PageTurn::Leave => break,
                PageTurn::NotUnderstood => {}
            },
            PersonReply::Over(over) => return Ok(Some(over)),
        }
    }
    Ok(None)
}

/// The result of editing a call or filling in a form before the question is answered.
enum WrittenAnswer {
    Whole(Json),
    /// The person gave up: the question stays open unchanged.
    Nothing,
    Over(QuestionOutcome),
}

/// Lets the person edit the call, then asks again with its new preview: no call runs that the person did not see.
async fn edit_and_confirm(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    asked: &QuestionAsked,
) -> Result<WrittenAnswer, CommandError> {
    let mut before = None;
    loop {
        let Some(edit) = edit::edit_call(terminal, talk, asked, before).await? else {
            return Ok(WrittenAnswer::Nothing);
        };
        let mut open = OpenQuestion::edited(asked, &edit.preview, question_screen(terminal));
        terminal.console.print(&format!("\n{}\n{}\n", open.beginning(), open.offer()))?;
        match choose(terminal, talk, &mut open).await? {
            PersonReply::Given(Answer { option: QuestionOption::Once, .. }) => {
                return Ok(WrittenAnswer::Whole(edit.arguments));
            }
            PersonReply::Given(Answer { option: QuestionOption::Edit, .. }) => before = Some(edit.arguments),
            PersonReply::Given(_) => return Ok(WrittenAnswer::Nothing),
            PersonReply::Over(over) => return Ok(WrittenAnswer::Over(over)),
        }
    }
}

/// Asks for the fields of a form one by one.
async fn fill_form(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    asked: &QuestionAsked,
) -> Result<WrittenAnswer, CommandError> {
    let Some(mut form) = ElicitationForm::of(asked) else { return Ok(WrittenAnswer::Over(QuestionOutcome::Answered)) };
    while let Some(question) = form.question() {
        terminal.console.print(&format!("{question}\n"))?;
        let line = match reply(terminal, talk, asked, LinePurpose::Field).await? {
            PersonReply::Given(line) => line,
            PersonReply::Over(over) => return Ok(WrittenAnswer::Over(over)),
        };
        terminal.console.print(&format!("? {line}\n"))?;
        if let Err(problem) = form.fill(&line) {
            terminal.console.print(&format!("{problem}\n"))?;
        }
    }
    Ok(WrittenAnswer::Whole(form.content()))
}

/// Waits for a line or for the question to end. The text typed so far is set aside meanwhile.
async fn reply(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    asked: &QuestionAsked,
    purpose: LinePurpose,
) -> Result<PersonReply<String>, CommandError> {
    let aside = std::mem::take(&mut terminal.console.typed);
    let prompt = std::mem::replace(&mut terminal.console.prompt, "? ");
    let done = read_line(terminal, talk, asked, purpose).await;
    terminal.console.typed = aside;
    terminal.console.prompt = prompt;
    Ok(match done? {
        LineRead::Line(line) => PersonReply::Given(line),
        LineRead::Past => {
            print_who_answered(terminal, talk, asked).await?;
            PersonReply::Over(QuestionOutcome::Answered)
        }
        LineRead::Leave => PersonReply::Over(QuestionOutcome::Left),
        LineRead::Stop => {
            talk.stop().await?;
            PersonReply::Over(QuestionOutcome::Stopped)
        }
    })
}

/// Prints an answer given at another terminal. The screen itself reports a timeout or a stop.
async fn print_who_answered(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    asked: &QuestionAsked,
) -> Result<(), CommandError> {
    let answered = talk.find_answer(asked.question).await?;
    if let Some(answered) = answered.filter(|answered| answered.by == AnsweredBy::Person) {
        terminal.console.print(&format!("{}\n", answered_elsewhere(&answered)))?;
    }
    Ok(())
}

/// How reading a line ended.
enum LineRead {
    Line(String),
    Stop,
    Leave,
    /// The question was answered elsewhere, or by its timeout.
    Past,
}

async fn read_line(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    asked: &QuestionAsked,
    purpose: LinePurpose,
) -> Result<LineRead, CommandError> {
    loop {
        terminal.console.refresh()?;
        let input = tokio::select! {
            biased;
            () = talk.wait_past_question(asked.question) => return Ok(LineRead::Past),
            input = terminal.next_input() => input,
        };
        match input {
            TerminalInput::Signal(TerminalSignal::End) => return Ok(LineRead::Leave),
            TerminalInput::Signal(TerminalSignal::Interrupt) => return Ok(LineRead::Stop),
            TerminalInput::Signal(TerminalSignal::Resized) => terminal.resize()?,
            TerminalInput::Typed(pieces) => {
                for piece in pieces {
                    if let Some(done) = take_piece(terminal, piece, purpose)? {
                        return Ok(done);
                    }
                }
            }
        }
    }
}

fn take_piece(
    terminal: &mut Terminal,
    piece: InputPiece,
    purpose: LinePurpose,
) -> Result<Option<LineRead>, CommandError> {
    let bytes = match piece {
        InputPiece::Keys(bytes) => bytes,
        InputPiece::Suspend => {
            terminal.suspend()?;
            return Ok(None);
        }
        InputPiece::Paste(text) => {
            match purpose {
                // A paste never answers a question.
                LinePurpose::Choice => {}
                LinePurpose::Field => terminal.console.typed.insert(text.lines().next().unwrap_or_default()),
            }
            return Ok(None);
        }
    };
    for key in terminal.keys.read(&bytes) {
        let done = match terminal.console.typed.press(key) {
            KeyEffect::Edited => None,
            KeyEffect::Interrupt => Some(LineRead::Stop),
            KeyEffect::Leave => Some(LineRead::Leave),
            KeyEffect::Entered(line) => read_entered(line, purpose),
        };
        if done.is_some() {
            return Ok(done);
        }
    }
    Ok(None)
}

/// Returns the meaning of a line typed at a question; `None` if the line is empty.
fn read_entered(line: String, purpose: LinePurpose) -> Option<LineRead> {
    match slash::read(&line) {
        ParsedInput::Command(SlashCommand::Stop, _) => Some(LineRead::Stop),
        ParsedInput::Command(SlashCommand::Quit, _) => Some(LineRead::Leave),
        ParsedInput::Command(..) | ParsedInput::Invalid(_) | ParsedInput::Message(_) => {
            Some(line).filter(|line| purpose == LinePurpose::Field || !line.trim().is_empty()).map(LineRead::Line)
        }
    }
}

/// Sends the answer to the session and prints its lasting effect.
async fn give_answer(
    terminal: &mut Terminal,
    talk: &mut impl ChatSession,
    asked: &QuestionAsked,
    answer: Answer,
) -> Result<QuestionOutcome, CommandError> {
    let text = talk.answer(asked, answer).await?;
    terminal.console.print_dimmed(&text)?;
    Ok(QuestionOutcome::Answered)
}
