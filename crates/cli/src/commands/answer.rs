//! `windlass answer`: answers the questions of a session that another process has open.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::sync::Arc;

use windlass_narrate::{about, preview_text};
use windlass_runtime::Follow;
use windlass_setup::secrets::{self, KnownSecret};
use windlass_setup::settings::{Env, Flags, PlaceSettings, Sources};
use windlass_setup::{store, test_hooks};
use windlass_store::{SessionRow, Store};
use windlass_vocab::{Answer, Control, ControlOutcome, QuestionAsked, QuestionId, QuestionOption};

use super::block_on::block_on;
use super::follow::{ask, colour};
use super::question::{self, by_letter, choices, lasting_permission, offer_text};
use super::unanswered::{how_it_ended, unanswered_questions};
use super::{always, prepared_run, remote, session};
use crate::args::AnswerArgs;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::form::ElicitationForm;
use crate::output::{harmless_line, harmless_lines};
use crate::streams::{print, print_notice};

/// Columns of a printed question when nobody is asked interactively.
const WIDTH: usize = 100;

pub(super) fn answer(data_dir: Option<PathBuf>, args: &AnswerArgs, env: Env) -> CommandResult {
    let sources = prepared_run::gather_unasked(Flags { data_dir, ..Flags::default() }, env.clone())?;
    let place = prepared_run::place(&sources)?;
    block_on(async {
        let store = store::open(&place)?;
        let row = session::by_key_or_last(store.as_ref(), args.key.as_deref(), &place.workspace).await?;
        let known = secrets::known_secrets(&env, sources.resolve().ok().as_ref());
        let answering = AnswerContext { store, row, known, place, env, sources };
        let open = answering.waiting_questions(args.question).await?;
        if !args.answer.is_empty() {
            let asked = only_question(&open, &answering.row.key)?;
            let answer = parse_answer(asked, &args.answer)?;
            answering.give(asked, answer).await?;
            return Ok(Exit::Done);
        }
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            return answering.ask_each(&open).await;
        }
        for asked in &open {
            print(&question_text(asked))?;
        }
        Ok(Exit::Waiting)
    })
}

/// Everything that answering a session's questions needs.
struct AnswerContext {
    store: Arc<dyn Store>,
    row: SessionRow,
    known: Vec<KnownSecret>,
    place: PlaceSettings,
    env: Env,
    sources: Sources,
}

impl AnswerContext {
    /// Returns the unanswered questions of the session, or only the one with the number `wanted`.
    async fn waiting_questions(&self, wanted: Option<u32>) -> Result<Vec<QuestionAsked>, CommandError> {
        let (store, row) = (self.store.as_ref(), &self.row);
        if !store.is_claimed(row.session).await? {
            return Err(remote::nobody_there(store, row, &self.place).await?);
        }
        let mut open = unanswered_questions(store, row.session).await?;
        if let Some(number) = wanted {
            open.retain(|asked| asked.question == QuestionId(number));
        }
        if open.is_empty() {
            let text = match wanted {
                Some(number) => format!("session `{}` does not wait with a question {number}", row.key),
                None => format!("session `{}` asks nothing now", row.key),
            };
            return Err(CommandError::new(Exit::Usage, text));
        }
        Ok(open)
    }

    /// Asks each question on this terminal; skips a question that is answered elsewhere meanwhile.
    async fn ask_each(&self, open: &[QuestionAsked]) -> CommandResult {
        for asked in open {
            tokio::select! {
                biased;
                gone = self.wait_until_closed(asked.question) => {
                    gone?;
                    let ended = how_it_ended(self.store.as_ref(), self.row.session, asked.question).await?;
                    print_notice(&format!("\n{ended}"));
                }
                answer = ask(asked, colour(&self.env)) => match answer? {
                    Some(answer) => self.give(asked, answer).await?,
                    None => {
                        print_notice(&format!("\nwindlass: session `{}` still waits", self.row.key));
                        return Ok(Exit::Waiting);
                    }
                },
            }
        }
        Ok(Exit::Done)
    }

    /// Waits until the question is no longer open.
    async fn wait_until_closed(&self, question: QuestionId) -> Result<(), CommandError> {
        let (store, session) = (&self.store, self.row.session);
        let head = store.head(session).await?.seq;
        let mut records = Follow::of_store(Arc::clone(store), test_hooks::clock(), session, head);
        while unanswered_questions(store.as_ref(), session).await?.iter().any(|asked| asked.question == question) {
            records.next().await?;
        }
        Ok(())
    }

    /// Sends the answer to the session, and prints what it means from now on.
    async fn give(&self, asked: &QuestionAsked, answer: Answer) -> Result<(), CommandError> {
        let (key, option) = (&self.row.key, answer.option);
        let control = Control::Answer { question: asked.question, answer };
        let outcome = remote::send(self.store.as_ref(), &self.row, control, &self.known, &self.place).await?;
        let refused = match outcome {
            ControlOutcome::Answered {} => {
                let choice = choices(asked).into_iter().find(|choice| choice.option == option);
                let words = choice.filter(|choice| choice.option != QuestionOption::Submit).map(|choice| choice.words);
                print(&words.map_or_else(|| "answered\n".to_owned(), |words| format!("answered: {words}\n")))?;
                return self.keep_rule(asked, option).await;
            }
            ControlOutcome::AlreadyAnswered {} => "too late: the question has been answered already".to_owned(),
            ControlOutcome::RunIsOver {} => "too late: the run is over".to_owned(),
            ControlOutcome::NoSuchQuestion {} => format!("session `{key}` does not ask this any more"),
            ControlOutcome::NotOffered {} => "the question does not offer that answer".to_owned(),
            ControlOutcome::Stopped { .. } | ControlOutcome::Edited {} => {
                "the session gave no sensible answer; please report it".to_owned()
            }
        };
        Err(CommandError::new(Exit::Failed, refused))
    }

    /// Saves the rule of an "always" in the settings of the person who gave that answer.
    async fn keep_rule(&self, asked: &QuestionAsked, option: QuestionOption) -> Result<(), CommandError> {
        let rule = asked.preview.as_ref().and_then(|preview| preview.rule.as_deref());
        if let (QuestionOption::Always, Some(rule)) = (option, rule) {
            print_notice(always::keep(rule, &self.env, &mut self.sources.resolve()?).await.trim_end());
        }
        Ok(())
    }
}

/// Returns the question that an answer on the command line is for; an error where several are open.
fn only_question<'a>(open: &'a [QuestionAsked], key: &str) -> Result<&'a QuestionAsked, CommandError> {
    if let [asked] = open {
        return Ok(asked);
    }
    let mut text = format!("session `{key}` waits with {} questions; say which with --question:\n", open.len());
    open.iter().for_each(|asked| text.push_str(&question_text(asked)));
    Err(CommandError::new(Exit::Usage, text.trim_end()))
}

/// Parses the words on the command line as an answer. A form takes a word per field, unless one word declines it.
fn parse_answer(asked: &QuestionAsked, words: &[String]) -> Result<Answer, CommandError> {
    let choices = choices(asked);
    let on_offer: Vec<_> = choices.iter().copied().filter(|choice| choice.option != QuestionOption::Edit).collect();
    let refused = || {
        let text = format!("that is no answer to this:\n{}", question_text(asked));
        CommandError::new(Exit::Usage, text.trim_end())
    };
    let line = words.join(" ");
    let answer = question::answer(&on_offer, &line).or_else(|| hyphenated(&on_offer, &line));
    let answer = answer.or_else(|| question::typed_limit(question::limit_of(asked)?, &line));
    match (answer, ElicitationForm::of(asked)) {
        (Some(answer), Some(_)) if answer.option != QuestionOption::Submit => Ok(answer),
        (_, Some(form)) => fill_form(form, asked, words),
        (Some(answer), None) => Ok(answer),
        (None, None) => Err(refused()),
    }
}

/// Accepts the hyphenated option names of `resume --answer`, such as `run-again`.
fn hyphenated(choices: &[question::AnswerOption], line: &str) -> Option<Answer> {
    question::chosen_option(choices, &line.replace('-', " ")).map(Answer::plain)
}

/// Fills in the form with these values, one for each field.
fn fill_form(mut form: ElicitationForm, asked: &QuestionAsked, words: &[String]) -> Result<Answer, CommandError> {
    let fields = form.questions().len();
    // `answer no` fills in a "no"; the word `no` alone would decline the form.
    let submits = |word: &String| question::chosen_option(&choices(asked), word) == Some(QuestionOption::Submit);
    let values = match words.split_first() {
        Some((first, rest)) if rest.len() == fields && submits(first) => rest,
        Some(_) | None => words,
    };
    if values.len() != fields {
        let text = format!(
            "the form has {fields} fields and {} values were given; quote a value of several words\n{}",
            values.len(),
            question_text(asked)
        );
        return Err(CommandError::new(Exit::Usage, text.trim_end()));
    }
    for value in values {
        let field = form.question().unwrap_or_default();
        form.fill(value)
            .map_err(|problem| CommandError::new(Exit::Usage, format!("{}{problem}", harmless_line(&field))))?;
    }
    Ok(Answer::with(QuestionOption::Submit, form.content()))
}

/// Renders the question and its possible answers.
fn question_text(asked: &QuestionAsked) -> String {
    let text =
        asked.preview.as_ref().map_or_else(|| about(&asked.kind).to_owned(), |preview| preview_text(preview, "  "));
    let mut choices = choices(asked);
    // Only a person at the session's own terminal can edit the call.
    choices.retain(|choice| choice.option != QuestionOption::Edit);
    let lasting_permission = lasting_permission(asked, &choices, by_letter)
        .map(|lasting_permission| lasting_permission + "\n")
        .unwrap_or_default();
    let mut described = format!("question {}: {}\n", asked.question, harmless_lines(&text));
    if let Some(form) = ElicitationForm::of(asked) {
        for field in form.questions() {
            described.push_str(&format!("  {}\n", field.trim_end_matches(": ")));
        }
    }
    described + &lasting_permission + &offer_text(&choices, WIDTH) + "\n"
}
