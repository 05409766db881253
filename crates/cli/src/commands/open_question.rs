//! A question displayed on a terminal: its visible part, and the answers that count so far.
//!
//! A person can say yes only after seeing the whole preview (T8): while part of it is below the screen, only answers
//! that let nothing run are accepted.

use windlass_narrate::{about, preview_text};
use windlass_vocab::{Answer, QuestionAsked, QuestionOption};

use super::preview::{PagedPreview, PreviewPager, wants_view};
use super::question::{
    AnswerOption, EDITED, answer, by_letter, choices, example, lasting_permission, limit_of, offer_text, typed_limit,
};
use crate::screen::{Colour, text_width};

/// Precedes each line below a title.
const INDENT: &str = "  ";

/// The screen that displays a question.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuestionScreen {
    pub(crate) colour: Colour,
    /// Columns and rows.
    pub(crate) size: (usize, usize),
}

/// A question that waits for its answer.
#[derive(Debug)]
pub(crate) struct OpenQuestion<'a> {
    asked: &'a QuestionAsked,
    choices: Vec<AnswerOption>,
    /// Describes what the answers that hold longer than once would allow.
    lasting_permission: Option<String>,
    preview: PagedPreview,
    screen: QuestionScreen,
}

/// What a typed line means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypedAnswer {
    /// The person wants to see the whole preview.
    View,
    Answer(Answer),
    /// The line is no answer; holds the message to print.
    Nothing(String),
}

impl<'a> OpenQuestion<'a> {
    /// Creates the question with those of its answers that can be given here.
    pub(crate) fn new(
        asked: &'a QuestionAsked,
        can_be_given: impl Fn(QuestionOption) -> bool,
        screen: QuestionScreen,
    ) -> Self {
        let mut choices = choices(asked);
        choices.retain(|choice| can_be_given(choice.option));
        let lasting_permission = lasting_permission(asked, &choices, by_letter);
        let preview = asked.preview.as_ref();
        let text = preview.map_or_else(|| about(&asked.kind).to_owned(), |preview| preview_text(preview, INDENT));
        Self::laid_out(asked, choices, lasting_permission, &text, screen)
    }

    /// Creates the question about the call as the person edited it.
    pub(crate) fn edited(asked: &'a QuestionAsked, preview: &str, screen: QuestionScreen) -> Self {
        Self::laid_out(asked, EDITED.to_vec(), None, preview, screen)
    }

    fn laid_out(
        asked: &'a QuestionAsked,
        choices: Vec<AnswerOption>,
        lasting_permission: Option<String>,
        text: &str,
        screen: QuestionScreen,
    ) -> Self {
        let (columns, _) = screen.size;
        // A long description of the lasting permission must not push the beginning of the preview off the screen.
        let extra = lasting_permission
            .as_deref()
            .map_or(0, |lasting_permission| text_width(lasting_permission).div_ceil(columns.max(1)).saturating_sub(1));
        let preview = PagedPreview::new(text, INDENT, screen.colour, screen.size).with_more_around(extra);
        Self { asked, choices, lasting_permission, preview, screen }
    }

    /// Returns as much of the preview as fits on the screen together with the answers.
    pub(crate) fn beginning(&self) -> String {
        self.preview.beginning()
    }

    /// Returns the answers that count so far, on lines of their own.
    pub(crate) fn offer(&self) -> String {
        let (columns, _) = self.screen.size;
        let by_now: Vec<AnswerOption> =
            self.choices.iter().copied().filter(|choice| self.counts(choice.option)).collect();
        let answers = offer_text(&by_now, columns.saturating_sub(1));
        let view = self.preview.offer().map(|offer| offer + "\n").unwrap_or_default();
        let lasting_permission = self
            .lasting_permission
            .as_ref()
            .filter(|_| self.preview.is_fully_shown())
            .map(|lasting_permission| format!("{lasting_permission}\n"));
        lasting_permission.unwrap_or_default() + &view + &answers
    }

    /// Interprets a typed line.
    pub(crate) fn read(&self, line: &str) -> TypedAnswer {
        if wants_view(line) && self.preview.offer().is_some() {
            return TypedAnswer::View;
        }
        let typed = answer(&self.choices, line);
        match typed.or_else(|| typed_limit(limit_of(self.asked)?, line)) {
            Some(answer) if self.counts(answer.option) => TypedAnswer::Answer(answer),
            Some(_) => TypedAnswer::Nothing("not yet: v shows all of it, and then that can be answered".to_owned()),
            None => TypedAnswer::Nothing(self.not_understood()),
        }
    }

    /// Whether this answer counts yet.
    fn counts(&self, option: QuestionOption) -> bool {
        self.preview.is_fully_shown() || !lets_run(option)
    }

    fn not_understood(&self) -> String {
        let by_now = self.choices.iter().filter(|choice| self.counts(choice.option)).map(|choice| choice.letter);
        let view = self.preview.offer().map(|_| "v");
        let limit = limit_of(self.asked).map(example);
        let letters: Vec<&str> = by_now.chain(view).chain(limit).collect();
        match letters.split_last() {
            Some((last, rest)) if !rest.is_empty() => {
                format!("not understood: answer {} or {last}", rest.join(", "))
            }
            Some(_) | None => format!("not understood: answer {}", letters.join(", ")),
        }
    }

    /// Starts displaying the whole preview.
    pub(crate) fn reading(&mut self) -> PreviewPager<'_> {
        self.preview.reading()
    }

    pub(crate) fn question(&self) -> &'a QuestionAsked {
        self.asked
    }
}

/// Whether this answer does or sends what the preview shows. An edited call gets a preview of its own.
fn lets_run(option: QuestionOption) -> bool {
    match option {
        QuestionOption::Once
        | QuestionOption::Session
        | QuestionOption::Always
        | QuestionOption::RunAgain
        | QuestionOption::Submit => true,
        QuestionOption::No | QuestionOption::Edit | QuestionOption::Interrupt | QuestionOption::Dismiss => false,
    }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::{CallId, Preview, QuestionAsked, QuestionId, QuestionKind, QuestionOption, RunId, TurnId};

    use super::{OpenQuestion, QuestionScreen, TypedAnswer};
    use crate::commands::preview::PageTurn;
    use crate::screen::Colour;

    const SCREEN: QuestionScreen = QuestionScreen { colour: Colour::None, size: (80, 24) };

    fn approval(body: &str, rule: &str) -> QuestionAsked {
        use QuestionOption::{Always, Edit, No, Once, Session};
        QuestionAsked {
            question: QuestionId(1),
            kind: QuestionKind::Approval { call: CallId { run: RunId(1), turn: TurnId(1), index: 0 } },
            preview: Some(Preview { title: "Run `x`".into(), body: body.into(), rule: Some(rule.into()) }),
            options: vec![No, Once, Session, Always, Edit],
            expires: None,
            default: No,
            elicitation: None,
            because: None,
        }
    }

    fn open(asked: &QuestionAsked) -> OpenQuestion<'_> {
        OpenQuestion::new(asked, |_| true, SCREEN)
    }

    fn option(typed: TypedAnswer) -> Option<QuestionOption> {
        match typed {
            TypedAnswer::Answer(answer) => Some(answer.option),
            TypedAnswer::View | TypedAnswer::Nothing(_) => None,
        }
    }

    // proves T8: a person can't agree to what they were not shown
    #[test]
    fn a_yes_counts_only_once_every_page_was_shown() {
        let asked = approval(&"echo\n".repeat(60), "run_command(x)");
        let mut open = open(&asked);
        let offer = open.offer();
        assert!(!offer.contains("[y]") && !offer.contains("[s]") && !offer.contains("allow:"), "{offer}");
        assert!(offer.contains("[v] view all 61 rows") && offer.contains("[n] no") && offer.contains("[e] edit"));
        for line in ["y", "yes", "s", "a", "always"] {
            assert!(matches!(open.read(line), TypedAnswer::Nothing(text) if text.starts_with("not yet: v ")), "{line}");
        }
        assert_eq!(option(open.read("n, too long")), Some(QuestionOption::No));
        assert_eq!(open.read("v"), TypedAnswer::View);
        let mut reading = open.reading();
        assert_eq!(reading.turn("q"), PageTurn::Leave);
        assert_eq!(option(open.read("y")), None, "a part of it is not all of it");
        let mut reading = open.reading();
        assert_eq!(reading.turn("3"), PageTurn::Page, "the last page alone is not all of it either");
        assert!(!reading.is_over());
        assert_eq!((reading.turn("b"), reading.is_over()), (PageTurn::Page, false));
        assert_eq!((reading.turn(""), reading.is_over()), (PageTurn::Page, true));
        assert!(open.offer().contains("[y] yes, once"), "{}", open.offer());
        assert_eq!(option(open.read("y")), Some(QuestionOption::Once));
        assert_eq!(open.read("v"), TypedAnswer::View, "it can be read again");
    }

    // proves T8: a long rule can't push the preview off the screen
    #[test]
    fn the_terms_take_their_room_from_the_preview() {
        let lines = "echo\n".repeat(12);
        let (short, long) = (approval(&lines, "run_command(x)"), approval(&lines, &"x".repeat(800)));
        assert!(open(&short).offer().contains("[y]"));
        assert!(!open(&long).offer().contains("[y]") && open(&long).offer().contains("[v]"));
    }

    // proves T8: a line that is not understood is reported together with the possible answers
    #[test]
    fn what_is_not_understood_is_said() {
        let asked = approval("", "run_command(x)");
        for line in ["yes please", "?", "clear", "v"] {
            let told = "not understood: answer n, y, s, a or e".to_owned();
            assert_eq!(open(&asked).read(line), TypedAnswer::Nothing(told), "{line}");
        }
        let long = approval(&"echo\n".repeat(60), "run_command(x)");
        assert_eq!(open(&long).read("?"), TypedAnswer::Nothing("not understood: answer n, e or v".to_owned()));
        let edited = OpenQuestion::edited(&asked, "Run `y`", SCREEN);
        assert_eq!(edited.offer(), "[y] run as edited  [e] edit again  [n] back to the question");
    }
}
