//! The narrator's lines on the screen: each tone has its style and position.

use std::io::Write;

use windlass_narrate::{LineSpeaker, NarratedCallEnd, NarratedLine, Problem, Tone, short_line};
use windlass_vocab::PlanStatus;

use super::Screen;
use super::look::{Glyphs, TerminalLook};
use super::style::{Span, Style, StyledLine, text_width};

/// Most characters of a person's message in mid-run.
const QUOTED: usize = 200;

impl<W: Write> Screen<W> {
    pub(super) fn print_lines(&mut self, lines: &[NarratedLine]) {
        lines.iter().for_each(|line| self.print_line(line));
    }

    pub(super) fn print_line(&mut self, line: &NarratedLine) {
        let (look, style) = (self.look(), style_of(line.tone));
        if let Some(end) = &line.end {
            return call_lines(&line.text, end, look).into_iter().for_each(|line| self.put_line(line));
        }
        match line.tone {
            Tone::Quiet | Tone::Plain | Tone::Failure => self.put_styled(style, &line.text),
            Tone::Said => self.put_styled(style, &format!("> {}", short_line(&line.text, QUOTED))),
            // A person knows their own answer; nobody has seen the default that an expired question got.
            Tone::Answer if line.by == LineSpeaker::Windlass => self.put_styled(style, &line.text),
            Tone::Step(status) => {
                let text = format!("{} {}", mark(status, look.glyphs), line.text);
                self.put_line(below(style, &text, look));
            }
            Tone::Added | Tone::Removed | Tone::Note => self.put_line(below(style, &line.text, look)),
            // The live line shows current activity, with its duration.
            Tone::Passing | Tone::Delay | Tone::Bookkeeping | Tone::Question | Tone::Answer => {}
        }
    }
}

/// Returns the style for a tone.
pub(super) const fn style_of(tone: Tone) -> Style {
    match tone {
        Tone::Plain | Tone::Question | Tone::Step(PlanStatus::Open) => Style::PLAIN,
        Tone::Step(PlanStatus::Doing) => Style::BOLD,
        Tone::Failure | Tone::Removed | Tone::Step(PlanStatus::Failed) => Style::ALARM,
        Tone::Added => Style::ADDED,
        Tone::Quiet
        | Tone::Said
        | Tone::Answer
        | Tone::Note
        | Tone::Step(PlanStatus::Done)
        | Tone::Passing
        | Tone::Delay
        | Tone::Bookkeeping => Style::DIM,
    }
}

/// Returns an indented line that belongs to the one above it.
fn below(style: Style, text: &str, look: TerminalLook) -> StyledLine {
    StyledLine::of(style, &format!("  {text}")).clipped(look.columns(), look.glyphs.dots())
}

/// Returns the mark of a plan step.
const fn mark(status: PlanStatus, glyphs: Glyphs) -> &'static str {
    match (status, glyphs) {
        (PlanStatus::Open, _) => "[ ]",
        (PlanStatus::Doing, Glyphs::Ascii) => "[>]",
        (PlanStatus::Doing, Glyphs::Unicode) => "[▸]",
        (PlanStatus::Done, _) => "[x]",
        (PlanStatus::Failed, _) => "[!]",
    }
}

/// `• read_file a.txt  12 ms`. Arguments too long for the row are cut; the error of a failed call moves to the next
/// line if there is no room.
fn call_lines(call: &str, end: &NarratedCallEnd, look: TerminalLook) -> Vec<StyledLine> {
    let (well, ill) = look.glyphs.call();
    let (mark, style) = if end.problem.is_some() { (ill, Style::ALARM) } else { (well, Style::PLAIN) };
    let time = end.took.as_ref().map(|took| format!("  {took}{}", end.again)).unwrap_or_default();
    let time = Span::new(Style::DIM, &time);
    let (word, detail) = match &end.problem {
        Some(Problem { word, detail }) => (format!(", {word}"), detail.as_str()),
        None => (String::new(), ""),
    };
    let word = Span::new(Style::ALARM, &word);

    let room = look.columns().saturating_sub(text_width(&time.text) + text_width(&word.text) + 2);
    let mut line = StyledLine::of(Style::PLAIN, call).clipped(room, look.glyphs.dots());
    line.spans.insert(0, Span::new(style, &format!("{mark} ")));
    line.spans.extend([time, word]);
    if detail.is_empty() {
        return vec![line];
    }
    let beside = Span::new(Style::PLAIN, &format!(": {detail}"));
    if line.width() + text_width(&beside.text) <= look.columns() {
        line.spans.push(beside);
        return vec![line];
    }
    vec![line, below(Style::PLAIN, detail, look)]
}
