//! A window that changes its size while a run is shown: nothing that was finished is ever lost, however the
//! terminal wraps what it shows, and however late the chat hears of it.

use std::fmt::Write as _;

use proptest::prelude::*;
use windlass_vocab::{Delta, DeltaBody, Event, OutcomeKind, Part, RunId, TurnId};

use super::{Console, Typing};
use crate::emulator::{Emulator, Kind};
use crate::sample;
use crate::screen::{Colour, Glyphs, Look, Screen};

/// Something that happens.
#[derive(Clone, Debug)]
enum Step {
    /// So many words of the answer come.
    Words(usize),
    /// A paragraph ends, or an item of a list.
    Ends(&'static str),
    /// A call leaves a line behind, below what was said so far.
    Call,
    /// A line of ours.
    Print,
    Type(char),
    Tick(u64),
    /// The terminal takes in so many characters of what was written and it has not seen yet.
    Read(usize),
    /// The terminal has another size.
    Resize(usize, usize),
    /// The chat hears of it.
    Hear,
}

/// The chat, the terminal, and what is on its way between them.
struct Stage {
    console: Console,
    terminal: Emulator,
    unread: String,
    size: (usize, usize),
    now: u64,
    turn: u32,
    /// Of the reply under way.
    reply: String,
    /// What was said in all, word by word.
    words: Vec<String>,
    /// Lines that are finished when they are first shown.
    lines: Vec<String>,
}

impl Stage {
    fn new(kind: Kind, (width, height): (usize, usize)) -> Self {
        let look = Look { width, height, colour: Colour::None, glyphs: Glyphs::Unicode };
        let mut console = Console::new(look);
        console.typing = Typing::Shown;
        Self {
            console,
            terminal: Emulator::new(kind, width, height),
            unread: String::new(),
            size: (width, height),
            now: 0,
            turn: 1,
            reply: String::new(),
            words: Vec::new(),
            lines: Vec::new(),
        }
    }

    fn paint(&mut self, paint: impl FnOnce(&mut Screen<Vec<u8>>) -> std::io::Result<()>) {
        let frame = self.console.frame(paint).expect("a vector takes everything");
        self.write(frame);
    }

    /// Sends it to the terminal. The line discipline between them makes a carriage return and a line feed of each
    /// line feed.
    fn write(&mut self, frame: Vec<u8>) {
        self.unread.push_str(&String::from_utf8(frame).expect("text").replace('\n', "\r\n"));
    }

    fn text(&mut self, text: &str) {
        let (turn, offset) = (TurnId(self.turn), self.reply.len() as u64);
        self.reply.push_str(text);
        let body = DeltaBody::TextDelta { text: text.into() };
        let delta = Event::Delta(Delta { run: RunId(1), turn, attempt: 1, offset, body });
        let now = self.now;
        self.paint(|screen| screen.event(&delta, now));
    }

    fn replied(&mut self) {
        let text = std::mem::take(&mut self.reply);
        self.record(sample::replied(1, vec![Part::Text { text }]));
    }

    fn record(&mut self, record: impl Into<windlass_vocab::Record>) {
        let (event, now) = (sample::event(TurnId(self.turn), record), self.now);
        self.paint(|screen| screen.event(&event, now));
    }

    fn read(&mut self, characters: usize) {
        let end = self.unread.char_indices().nth(characters).map_or(self.unread.len(), |(at, _)| at);
        let rest = self.unread.split_off(end);
        self.terminal.feed(&std::mem::replace(&mut self.unread, rest));
    }

    fn hear(&mut self) {
        let (width, height) = self.size;
        let frame = self.console.resized(width, height).expect("a vector takes everything");
        self.write(frame);
    }

    fn step(&mut self, step: &Step) {
        self.now += 10;
        match step {
            Step::Words(count) => {
                for _ in 0..*count {
                    let word = format!("w{}.", self.words.len());
                    self.text(&format!("{word} "));
                    self.words.push(word);
                }
            }
            Step::Ends(end) => self.text(end),
            Step::Call => {
                self.replied();
                let (index, arguments) = (self.turn, format!(r#"{{"n":{}}}"#, self.lines.len()));
                self.lines.push(format!("run (n={})", self.lines.len()));
                self.record(sample::requested(index, "local.run", &arguments));
                self.record(sample::finished(index, OutcomeKind::Ok, "", 1));
                self.turn += 1;
            }
            Step::Print => {
                let line = format!("line-{}-", self.lines.len());
                let frame = self.console.printed(&format!("{line}\n")).expect("a vector takes everything");
                self.write(frame);
                self.lines.push(line);
            }
            Step::Type(c) => {
                self.console.typed.insert(&c.to_string());
                self.paint(|_| Ok(()));
            }
            Step::Tick(ms) => {
                self.now += ms;
                let now = self.now;
                self.paint(|screen| screen.tick(now));
            }
            Step::Read(characters) => self.read(*characters),
            Step::Resize(width, height) => {
                self.size = (*width, *height);
                self.terminal.resize(*width, *height);
            }
            Step::Hear => self.hear(),
        }
    }

    /// The reply ends, and everything is shown.
    fn end(&mut self) -> Vec<String> {
        self.hear();
        self.now += 1_000;
        self.replied();
        self.paint(Screen::pause);
        self.read(usize::MAX);
        self.terminal.lines()
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1..30usize).prop_map(Step::Words),
        2 => prop_oneof![Just("\n\n"), Just("\n\n- "), Just("\n\n1. "), Just("\n\n> ")].prop_map(Step::Ends),
        1 => Just(Step::Call),
        1 => Just(Step::Print),
        1 => proptest::char::range('a', 'z').prop_map(Step::Type),
        4 => (0..400u64).prop_map(Step::Tick),
        4 => prop_oneof![0..60usize, Just(usize::MAX)].prop_map(Step::Read),
        3 => (20..120usize, 5..40usize).prop_map(|(width, height)| Step::Resize(width, height)),
        3 => Just(Step::Hear),
    ];
    proptest::collection::vec(step, 0..80)
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![Just(Kind::Reflows), Just(Kind::ReflowsAndPads), Just(Kind::Cuts)]
}

/// Whether the words stand in `text` in their order, whatever stands between them.
fn are_in_order(words: &[String], text: &str) -> Result<(), String> {
    let mut rest = text;
    for word in words {
        let Some(at) = rest.find(word.as_str()) else { return Err(format!("{word} is lost")) };
        rest = &rest[at + word.len()..];
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_change_of_size_loses_or_doubles_what_was_finished(kind in kinds(), size in (20..120usize, 5..40usize), steps in steps()) {
        let mut stage = Stage::new(kind, size);
        steps.iter().for_each(|step| stage.step(step));
        let shown = stage.end();
        let mut text = String::new();
        shown.iter().for_each(|line| writeln!(text, "{line}").expect("a string takes everything"));
        for line in &stage.lines {
            prop_assert_eq!(text.matches(line.as_str()).count(), 1, "{} in\n{}", line, text);
        }
        prop_assert_eq!(are_in_order(&stage.lines, &text), Ok(()), "{}", text);
        // A terminal that cuts rows off loses words by itself.
        if kind != Kind::Cuts {
            prop_assert_eq!(are_in_order(&stage.words, &text), Ok(()), "{}", text);
        }
    }

    #[test]
    fn a_size_that_is_heard_of_at_once_and_wide_enough_leaves_nothing_behind(kind in kinds(), steps in steps()) {
        let mut stage = Stage::new(kind, (40, 24));
        let mut width = 40;
        for step in &steps {
            match step {
                // Wider and wider: no row is ever wrapped by the terminal.
                Step::Resize(..) | Step::Hear | Step::Read(_) => {
                    width += 3;
                    stage.read(usize::MAX);
                    stage.step(&Step::Resize(width, 24));
                    stage.hear();
                }
                Step::Words(_) | Step::Ends(_) | Step::Call | Step::Print | Step::Type(_) | Step::Tick(_) => stage.step(step),
            }
        }
        let text = stage.end().join("\n");
        prop_assert_eq!(are_in_order(&stage.words, &text), Ok(()), "{}", text);
        for word in stage.words.iter().chain(&stage.lines) {
            prop_assert_eq!(text.matches(word.as_str()).count(), 1, "{} in\n{}", word, text);
        }
        prop_assert!(!text.contains("answering"), "{}", text);
    }
}

/// The screen of a full terminal in mid-stream, its size changed as people do.
#[test]
fn a_full_screen_keeps_earlier_answers_through_80x24_50x20_100x30() {
    for kind in [Kind::Reflows, Kind::ReflowsAndPads, Kind::Cuts] {
        let mut stage = Stage::new(kind, (80, 24));
        for _ in 0..40 {
            stage.step(&Step::Print);
        }
        for (width, height) in [(50, 20), (100, 30), (80, 24)] {
            stage.step(&Step::Words(60));
            stage.step(&Step::Tick(40));
            stage.read(usize::MAX);
            stage.step(&Step::Resize(width, height));
            stage.step(&Step::Words(3));
            stage.step(&Step::Tick(40));
            stage.read(usize::MAX);
            stage.hear();
            stage.step(&Step::Tick(400));
            stage.read(usize::MAX);
        }
        let text = stage.end().join("\n");
        for line in &stage.lines {
            assert_eq!(text.matches(line.as_str()).count(), 1, "{kind:?}: {line} in\n{text}");
        }
    }
}

/// The terminal becomes narrower when it has taken in the end of a line and not yet the way to the next one.
#[test]
fn a_size_that_changes_within_a_frame_loses_no_word() {
    use Step::{Call, Ends, Hear, Read, Resize, Words};
    let mut stage = Stage::new(Kind::Reflows, (20, 5));
    for count in [5, 16, 28, 24, 6, 21] {
        stage.step(&Words(count));
    }
    for step in [Ends("\n\n1. "), Words(1), Resize(26, 5), Hear, Words(3), Read(usize::MAX), Call, Read(44)] {
        stage.step(&step);
    }
    stage.step(&Resize(20, 5));
    stage.step(&Words(1));
    let text = stage.end().join("\n");
    assert_eq!(are_in_order(&stage.words, &text), Ok(()), "{text}");
}

/// The same at every place in the frames that finish a paragraph, leave a line and type a character.
#[test]
fn no_place_in_a_frame_is_unsafe_for_a_narrower_and_then_wider_terminal() {
    for kind in [Kind::Reflows, Kind::ReflowsAndPads, Kind::Cuts] {
        for (width, place) in [20, 23, 26].into_iter().flat_map(|width| (0..260).map(move |place| (width, place))) {
            let mut stage = Stage::new(kind, (45, 12));
            for _ in 0..12 {
                stage.step(&Step::Print);
            }
            stage.step(&Step::Words(40));
            stage.step(&Step::Tick(40));
            stage.read(usize::MAX);
            stage.step(&Step::Type('a'));
            stage.step(&Step::Print);
            stage.step(&Step::Words(20));
            stage.step(&Step::Tick(40));
            stage.step(&Step::Call);
            stage.read(place);
            stage.step(&Step::Resize(width, 12));
            stage.read(1);
            stage.step(&Step::Resize(45, 12));
            let text = stage.end().join("\n");
            for line in &stage.lines {
                assert_eq!(text.matches(line.as_str()).count(), 1, "{kind:?}, {width}, {place}: {line} in\n{text}");
            }
            if kind != Kind::Cuts {
                assert_eq!(are_in_order(&stage.words, &text), Ok(()), "{kind:?}, {width}, {place}:\n{text}");
            }
        }
    }
}

/// The typed line never becomes one line with the row above it, which would then be counted twice.
#[test]
fn typing_while_the_size_changes_erases_nothing_above() {
    for kind in [Kind::Reflows, Kind::ReflowsAndPads] {
        for (place, more) in (0..24).flat_map(|place| (0..24).map(move |more| (place, more))) {
            let mut stage = Stage::new(kind, (45, 12));
            for _ in 0..12 {
                stage.step(&Step::Print);
            }
            stage.step(&Step::Words(2));
            stage.step(&Step::Tick(40));
            stage.read(usize::MAX);
            stage.step(&Step::Type('a'));
            stage.read(place);
            // Narrower than the row that tells what is awaited.
            stage.step(&Step::Resize(8, 12));
            stage.read(more);
            stage.step(&Step::Resize(45, 12));
            let text = stage.end().join("\n");
            for line in &stage.lines {
                assert_eq!(text.matches(line.as_str()).count(), 1, "{kind:?}, {place}, {more}: {line} in\n{text}");
            }
        }
    }
}
