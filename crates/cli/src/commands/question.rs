//! The possible answers to a question, how they are offered on a terminal, and how typed lines are parsed.

use windlass_vocab::{
    Answer, Dollars, ElicitationKind, Json, LimitUnit, QuestionAsked, QuestionKind, QuestionOption, SpendingLimit,
};

use crate::args::parse_time;
use crate::form::ElicitationForm;
use crate::output::harmless_line;

/// Follows a "no" that may be given with a reason.
const REASON: &str = ", or n and why";

/// An answer as a person may type it: by its letter or by its words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AnswerOption {
    pub(crate) letter: &'static str,
    pub(crate) words: &'static str,
    /// Hint printed behind the words.
    more: &'static str,
    pub(crate) option: QuestionOption,
}

/// Returns the possible answers, in the order in which the question lists them.
pub(crate) fn choices(asked: &QuestionAsked) -> Vec<AnswerOption> {
    let approval = matches!(asked.kind.subject(), QuestionKind::Approval { .. });
    let visits = asked
        .elicitation
        .as_ref()
        .is_some_and(|elicitation| matches!(elicitation.wants, ElicitationKind::Visit { .. }));
    let elicitation = matches!(asked.kind.subject(), QuestionKind::Elicitation { .. });
    let of = |option: &QuestionOption| {
        let (letter, words) = match option {
            QuestionOption::No if approval || elicitation => ("n", "no"),
            QuestionOption::No => ("n", "stop here"),
            QuestionOption::Once if approval => ("y", "yes, once"),
            QuestionOption::Once => ("y", "go on"),
            QuestionOption::Session => ("s", "yes, for this session"),
            QuestionOption::Always => ("a", "always"),
            QuestionOption::Edit => ("e", "edit"),
            QuestionOption::RunAgain => ("r", "run again"),
            QuestionOption::Interrupt => ("i", "leave it interrupted"),
            QuestionOption::Submit if visits => ("y", "done"),
            QuestionOption::Submit => ("y", "answer"),
            QuestionOption::Dismiss => ("d", "dismiss"),
        };
        let more = match option {
            QuestionOption::No if approval => REASON,
            // The rule goes into the person's own settings, not into the project's.
            QuestionOption::Always => ", everywhere",
            QuestionOption::Once if limit_of(asked).is_some() => ", or type another limit",
            QuestionOption::No
            | QuestionOption::Once
            | QuestionOption::Session
            | QuestionOption::Edit
            | QuestionOption::RunAgain
            | QuestionOption::Interrupt
            | QuestionOption::Submit
            | QuestionOption::Dismiss => "",
        };
        AnswerOption { letter, words, more, option: *option }
    };
    // Filling in is not offered for a form that can't be filled in line by line.
    let fillable = |option: &&QuestionOption| **option != QuestionOption::Submit || is_fillable(asked);
    asked.options.iter().filter(fillable).map(of).collect()
}

/// Returns the limit that a question asks to raise.
pub(crate) fn limit_of(asked: &QuestionAsked) -> Option<SpendingLimit> {
    match asked.kind.subject() {
        QuestionKind::Purse { limit, .. } => Some(*limit),
        QuestionKind::Approval { .. }
        | QuestionKind::Step { .. }
        | QuestionKind::Settlement { .. }
        | QuestionKind::Elicitation { .. }
        | QuestionKind::Cycle
        | QuestionKind::Stuck => None,
    }
}

/// Parses a line as what a limit is raised to: `2.50` dollars, `200,000` tokens, `10m`.
pub(crate) fn typed_limit(limit: SpendingLimit, line: &str) -> Option<Answer> {
    let line = line.trim();
    let value = match limit.unit() {
        LimitUnit::Cost => line.parse::<Dollars>().ok()?.nano(),
        LimitUnit::Tokens => line.replace([',', '_'], "").parse().ok()?,
        LimitUnit::Time => u64::try_from(parse_time(line).ok()?.as_millis()).ok()?,
    };
    let value = Json::parse(&value.to_string()).ok()?;
    Some(Answer::with(QuestionOption::Once, value))
}

/// Returns what can be typed for a limit.
pub(crate) const fn example(limit: SpendingLimit) -> &'static str {
    match limit.unit() {
        LimitUnit::Cost => "an amount such as 2.50",
        LimitUnit::Tokens => "a number of tokens such as 200000",
        LimitUnit::Time => "a time such as 10m",
    }
}

fn is_fillable(asked: &QuestionAsked) -> bool {
    asked.form().is_none() || ElicitationForm::of(asked).is_some()
}

/// Describes what the answers that hold longer than once would allow, which may be more than this call: a person must
/// read it before choosing one. `named` names the answers as they are offered.
pub(crate) fn lasting_permission(
    asked: &QuestionAsked,
    choices: &[AnswerOption],
    named: impl Fn(&AnswerOption) -> String,
) -> Option<String> {
    let rule = asked.preview.as_ref()?.rule.as_deref()?;
    let lasts = |choice: &&AnswerOption| matches!(choice.option, QuestionOption::Session | QuestionOption::Always);
    let lasting: Vec<String> = choices.iter().filter(lasts).map(named).collect();
    // A command of several lines is shown above; escaped for a rule it can't be read.
    let is_exact = rule.contains('\n') && !rule.ends_with("*)");
    let rule = if is_exact { "exactly this command" } else { rule };
    (!lasting.is_empty()).then(|| harmless_line(&format!("{} allow: {rule}", lasting.join(" and "))))
}

/// Names an answer by its letter, as it is offered on a terminal.
pub(crate) fn by_letter(choice: &AnswerOption) -> String {
    format!("[{}]", choice.letter)
}

/// Renders `[n] no  [y] yes, once`, on lines of at most `width` columns where possible.
pub(crate) fn offer_text(choices: &[AnswerOption], width: usize) -> String {
    let (mut text, mut used) = (String::new(), 0);
    for choice in choices {
        let word = format!("[{}] {}{}", choice.letter, choice.words, choice.more);
        let gap = match used {
            0 => "",
            _ if used + 2 + word.len() > width => "\n",
            _ => "  ",
        };
        used = if gap == "\n" { word.len() } else { used + gap.len() + word.len() };
        text = text + gap + &word;
    }
    text
}

/// The possible answers about a call as a person edited it.
pub(crate) const EDITED: [AnswerOption; 3] = [
    AnswerOption { letter: "y", words: "run as edited", more: "", option: QuestionOption::Once },
    AnswerOption { letter: "e", words: "edit again", more: "", option: QuestionOption::Edit },
    AnswerOption { letter: "n", words: "back to the question", more: "", option: QuestionOption::No },
];

/// Returns the option a line names: by a letter, its word, the offered words, or the first of these.
pub(crate) fn chosen_option(choices: &[AnswerOption], line: &str) -> Option<QuestionOption> {
    let line = line.trim().to_lowercase();
    let means = |choice: &&AnswerOption| {
        let first = choice.words.split([',', ' ']).next().unwrap_or_default();
        let word = match choice.letter {
            "y" => "yes",
            "n" => "no",
            letter => letter,
        };
        line == choice.letter || line == word || line == choice.words || line == first
    };
    // Where two options begin alike ("yes"), the first one offered permits less.
    choices.iter().find(means).map(|choice| choice.option)
}

/// Parses a line as an answer. A no to a call may have a reason, which the model receives: `n use pnpm`.
pub(crate) fn answer(choices: &[AnswerOption], line: &str) -> Option<Answer> {
    if let Some(option) = chosen_option(choices, line) {
        return Some(Answer::plain(option));
    }
    let (first, reason) = line.trim().split_once([' ', ',', ':'])?;
    let reason = reason.trim_start_matches([' ', ',', ':']);
    let takes_reason = |choice: &AnswerOption| choice.option == QuestionOption::No && choice.more == REASON;
    let says_no = chosen_option(choices, first) == Some(QuestionOption::No) && !reason.is_empty();
    (says_no && choices.iter().any(takes_reason))
        .then(|| Answer { reason: Some(reason.to_owned()), ..Answer::plain(QuestionOption::No) })
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{
        CallId, Json, Preview, QuestionAsked, QuestionId, QuestionKind, QuestionOption, RunId, TurnId,
    };

    use super::{EDITED, answer, by_letter, choices, chosen_option, lasting_permission, offer_text, typed_limit};

    fn approval() -> QuestionAsked {
        use QuestionOption::{Always, Edit, No, Once, Session};
        QuestionAsked {
            question: QuestionId(1),
            kind: QuestionKind::Approval { call: CallId { run: RunId(1), turn: TurnId(1), index: 0 } },
            preview: None,
            options: vec![No, Once, Session, Always, Edit],
            expires: None,
            default: No,
            elicitation: None,
            because: None,
        }
    }

    // proves T8
    #[test]
    fn every_answer_on_offer_can_be_typed_by_letter_and_by_words_and_nothing_else_answers() {
        let choices = choices(&approval());
        for choice in &choices {
            for line in [choice.letter.to_owned(), choice.words.to_uppercase(), format!(" {}\n", choice.letter)] {
                assert_eq!(chosen_option(&choices, &line), Some(choice.option), "{line:?}");
            }
        }
        assert_eq!(chosen_option(&choices, "yes"), Some(QuestionOption::Once));
        let edited = [("yes", QuestionOption::Once), ("edit", QuestionOption::Edit), ("no", QuestionOption::No)];
        assert!(edited.iter().all(|(line, option)| chosen_option(&EDITED, line) == Some(*option)));
        for line in ["", " ", "maybe", "yn", "yes please", "/stop"] {
            assert_eq!(chosen_option(&choices, line), None, "{line:?}");
        }
        let line = "[n] no, or n and why  [y] yes, once  [s] yes, for this session  [a] always, everywhere  [e] edit";
        assert_eq!(offer_text(&choices, 100), line);
        let narrow = "[n] no, or n and why\n[y] yes, once\n[s] yes, for this session\n[a] always, everywhere\n[e] edit";
        assert_eq!(offer_text(&choices, 20), narrow);
    }

    // proves T8: a no can say what to do instead; a yes can't be followed by anything
    #[test]
    fn a_no_may_go_on_with_a_reason() {
        let choices = choices(&approval());
        let said = |line: &str| answer(&choices, line).map(|answer| (answer.option, answer.reason));
        let no = |reason: &str| Some((QuestionOption::No, Some(reason.to_owned())));
        assert_eq!(said("n use pnpm\n"), no("use pnpm"));
        assert_eq!(said("No, that is: wrong"), no("that is: wrong"));
        assert_eq!((said("n"), said("no ")), (Some((QuestionOption::No, None)), Some((QuestionOption::No, None))));
        for line in ["y but not so", "s x", "not that", "nope, no", "n ,", "no : ,"] {
            assert_eq!(said(line), None, "{line:?}");
        }
        let cycle = QuestionAsked { kind: QuestionKind::Cycle, ..approval() };
        assert_eq!(answer(&EDITED, "n because"), None, "nobody would be told");
        assert_eq!(answer(&super::choices(&cycle), "n because"), None, "nobody would be told");
    }

    // proves M7, T8
    #[test]
    fn a_limit_is_raised_by_typing_another() {
        use windlass_vocab::SpendingLimit::{DayCost, RunTime, SessionTokens};
        for (limit, line, value) in [
            (DayCost, "2.50", Some("2500000000")),
            (DayCost, " $3\n", Some("3000000000")),
            (DayCost, "-3", None),
            (SessionTokens, "200,000", Some("200000")),
            (SessionTokens, "lots", None),
            (RunTime, "10m", Some("600000")),
            (RunTime, "10", None),
        ] {
            let typed = typed_limit(limit, line);
            assert!(typed.iter().all(|answer| answer.option == QuestionOption::Once), "{line}");
            assert_eq!(typed.and_then(|answer| answer.arguments).as_ref().map(Json::as_str), value, "{line}");
        }
    }

    // proves T8: a lasting permission is displayed before it is granted
    #[test]
    fn the_rule_that_an_answer_would_make_is_shown_with_the_answers() {
        let letters = |asked: &QuestionAsked| lasting_permission(asked, &choices(asked), by_letter);
        let preview =
            |rule: Option<&str>| Preview { title: "x".into(), body: String::new(), rule: rule.map(Into::into) };
        let mut asked = QuestionAsked { preview: Some(preview(Some("run_command(a\n\u{1b}b *)"))), ..approval() };
        let told = letters(&asked).expect("terms");
        assert!(told.starts_with("[s] and [a] allow: run_command(a") && !told.contains(['\n', '\u{1b}']), "{told:?}");
        let script = QuestionAsked { preview: Some(preview(Some("run_command(a\nb)"))), ..approval() };
        assert_eq!(letters(&script).as_deref(), Some("[s] and [a] allow: exactly this command"));
        asked.options = vec![QuestionOption::No, QuestionOption::Once];
        assert_eq!(letters(&asked), None, "no answer on offer holds for longer");
        assert_eq!(letters(&QuestionAsked { preview: Some(preview(None)), ..approval() }), None);
        assert_eq!(letters(&approval()), None);
    }
}
