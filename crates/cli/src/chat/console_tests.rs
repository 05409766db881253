//! A window that is resized while a run is shown: finished text is never lost, however the terminal wraps its rows,
//! and however late the chat learns of the new size.

use std::fmt::Write as _;

use proptest::prelude::*;
use windlass_vocab::{Delta, DeltaBody, Event, OutcomeKind, Part, RunId, TurnId};

use super::{Console, LineVisibility};
use crate::emulator::{Emulator, ResizeBehaviour};
use crate::sample;
use crate::screen::{Colour, Glyphs, Screen, TerminalLook};

/// One step of a test.
#[derive(Clone, Debug)]
enum ConsoleStep {
    /// This many words of the answer arrive.
    Words(usize),
    /// A paragraph ends, or an item of a list.
    Ends(&'static str),
    /// A call prints a line below the text so far.
    Call,
    /// The program prints a line.
    Print,
    Type(char),
    Tick(u64),
    /// The terminal processes this many characters of the unread output.
    Read(usize),
    /// The terminal changes its size.
    Resize(usize, usize),
    /// The chat learns of the new size.
    Hear,
}

/// The chat, the terminal, and the bytes in transit between them.
struct ConsoleStage {
    console: Console,
    terminal: Emulator,
    unread: String,
    size: (usize, usize),
    now: u64,
    turn: u32,
    /// Text of the current reply.
    reply: String,
    /// All words of all replies.
    words: Vec<String>,
    /// Lines that are final when they are first displayed.
    lines: Vec<String>,
}

impl ConsoleStage {
    fn new(kind: ResizeBehaviour, (width, height): (usize, usize)) -> Self {
        let look = TerminalLook { width, height, colour: Colour::None, glyphs: Glyphs::Unicode };
        let mut console = Console::new(look);
        console.typing = LineVisibility::Shown;
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

    /// Sends the frame to the terminal. The tty line discipline turns each line feed into a carriage return and a line
    /// feed.
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
        let frame = self.console.resize_frame(width, height).expect("a vector takes everything");
        self.write(frame);
    }

    fn step(&mut self, step: &ConsoleStep) {
        self.now += 10;
        match step {
            ConsoleStep::Words(count) => {
                for _ in 0..*count {
                    let word = format!("w{}.", self.words.len());
                    self.text(&format!("{word} "));
                    self.words.push(word);
                }
            }
            ConsoleStep::Ends(end) => self.text(end),
            ConsoleStep::Call => {
                self.replied();
                let (index, arguments) = (self.turn, format!(r#"{{"n":{}}}"#, self.lines.len()));
                self.lines.push(format!("run (n={})", self.lines.len()));
                self.record(sample::requested(index, "local.run", &arguments));
                self.record(sample::finished(index, OutcomeKind::Ok, "", 1));
                self.turn += 1;
            }
            ConsoleStep::Print => {
                let line = format!("line-{}-", self.lines.len());
                let frame = self.console.print_frame(&format!("{line}\n")).expect("a vector takes everything");
                self.write(frame);
                self.lines.push(line);
            }
            ConsoleStep::Type(c) => {
                self.console.typed.insert(&c.to_string());
                self.paint(|_| Ok(()));
            }
            ConsoleStep::Tick(ms) => {
                self.now += ms;
                let now = self.now;
                self.paint(|screen| screen.tick(now));
            }
            ConsoleStep::Read(characters) => self.read(*characters),
            ConsoleStep::Resize(width, height) => {
                self.size = (*width, *height);
                self.terminal.resize(*width, *height);
            }
            ConsoleStep::Hear => self.hear(),
        }
    }

    /// Ends the reply and returns everything displayed.
    fn end(&mut self) -> Vec<String> {
        self.hear();
        self.now += 1_000;
        self.replied();
        self.paint(Screen::pause);
        self.read(usize::MAX);
        self.terminal.lines()
    }
}

fn steps() -> impl Strategy<Value = Vec<ConsoleStep>> {
    let step = prop_oneof![
        6 => (1..30usize).prop_map(ConsoleStep::Words),
        2 => prop_oneof![Just("\n\n"), Just("\n\n- "), Just("\n\n1. "), Just("\n\n> ")].prop_map(ConsoleStep::Ends),
        1 => Just(ConsoleStep::Call),
        1 => Just(ConsoleStep::Print),
        1 => proptest::char::range('a', 'z').prop_map(ConsoleStep::Type),
        4 => (0..400u64).prop_map(ConsoleStep::Tick),
        4 => prop_oneof![0..60usize, Just(usize::MAX)].prop_map(ConsoleStep::Read),
        3 => (20..120usize, 5..40usize).prop_map(|(width, height)| ConsoleStep::Resize(width, height)),
        3 => Just(ConsoleStep::Hear),
    ];
    proptest::collection::vec(step, 0..80)
}

fn kinds() -> impl Strategy<Value = ResizeBehaviour> {
    prop_oneof![Just(ResizeBehaviour::Reflows), Just(ResizeBehaviour::ReflowsAndPads), Just(ResizeBehaviour::Cuts)]
}

/// Whether `text` contains the words in this order, with anything between them.
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
        let mut stage = ConsoleStage::new(kind, size);
        steps.iter().for_each(|step| stage.step(step));
        let shown = stage.end();
        let mut text = String::new();
        shown.iter().for_each(|line| writeln!(text, "{line}").expect("a string takes everything"));
        for line in &stage.lines {
            prop_assert_eq!(text.matches(line.as_str()).count(), 1, "{} in\n{}", line, text);
        }
        prop_assert_eq!(are_in_order(&stage.lines, &text), Ok(()), "{}", text);
        // A terminal that cuts rows off loses words itself.
        if kind != ResizeBehaviour::Cuts {
            prop_assert_eq!(are_in_order(&stage.words, &text), Ok(()), "{}", text);
        }
    }

    #[test]
    fn a_size_that_is_heard_of_at_once_and_wide_enough_leaves_nothing_behind(kind in kinds(), steps in steps()) {
        let mut stage = ConsoleStage::new(kind, (40, 24));
        let mut width = 40;
        for step in &steps {
            match step {
                // Always wider, so that the terminal never wraps a row.
                ConsoleStep::Resize(..) | ConsoleStep::Hear | ConsoleStep::Read(_) => {
                    width += 3;
                    stage.read(usize::MAX);
                    stage.step(&ConsoleStep::Resize(width, 24));
                    stage.hear();
                }
                ConsoleStep::Words(_) | ConsoleStep::Ends(_) | ConsoleStep::Call | ConsoleStep::Print | ConsoleStep::Type(_) | ConsoleStep::Tick(_) => stage.step(step),
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

/// A full screen in mid-stream is resized, as people do.
#[test]
fn a_full_screen_keeps_earlier_answers_through_80x24_50x20_100x30() {
    for kind in [ResizeBehaviour::Reflows, ResizeBehaviour::ReflowsAndPads, ResizeBehaviour::Cuts] {
        let mut stage = ConsoleStage::new(kind, (80, 24));
        for _ in 0..40 {
            stage.step(&ConsoleStep::Print);
        }
        for (width, height) in [(50, 20), (100, 30), (80, 24)] {
            stage.step(&ConsoleStep::Words(60));
            stage.step(&ConsoleStep::Tick(40));
            stage.read(usize::MAX);
            stage.step(&ConsoleStep::Resize(width, height));
            stage.step(&ConsoleStep::Words(3));
            stage.step(&ConsoleStep::Tick(40));
            stage.read(usize::MAX);
            stage.hear();
            stage.step(&ConsoleStep::Tick(400));
            stage.read(usize::MAX);
        }
        let text = stage.end().join("\n");
        for line in &stage.lines {
            assert_eq!(text.matches(line.as_str()).count(), 1, "{kind:?}: {line} in\n{text}");
        }
    }
}

/// The terminal becomes narrower after it has processed the end of a line but not yet the move to the next one.
#[test]
fn a_size_that_changes_within_a_frame_loses_no_word() {
    use ConsoleStep::{Call, Ends, Hear, Read, Resize, Words};
    let mut stage = ConsoleStage::new(ResizeBehaviour::Reflows, (20, 5));
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

/// The same at every position in the frames that finish a paragraph, print a line and type a character.
#[test]
fn no_place_in_a_frame_is_unsafe_for_a_narrower_and_then_wider_terminal() {
    for kind in [ResizeBehaviour::Reflows, ResizeBehaviour::ReflowsAndPads, ResizeBehaviour::Cuts] {
        for (width, place) in [20, 23, 26].into_iter().flat_map(|width| (0..260).map(move |place| (width, place))) {
            let mut stage = ConsoleStage::new(kind, (45, 12));
            for _ in 0..12 {
                stage.step(&ConsoleStep::Print);
            }
            stage.step(&ConsoleStep::Words(40));
            stage.step(&ConsoleStep::Tick(40));
            stage.read(usize::MAX);
            stage.step(&ConsoleStep::Type('a'));
            stage.step(&ConsoleStep::Print);
            stage.step(&ConsoleStep::Words(20));
            stage.step(&ConsoleStep::Tick(40));
            stage.step(&ConsoleStep::Call);
            stage.read(place);
            stage.step(&ConsoleStep::Resize(width, 12));
            stage.read(1);
            stage.step(&ConsoleStep::Resize(45, 12));
            let text = stage.end().join("\n");
            for line in &stage.lines {
                assert_eq!(text.matches(line.as_str()).count(), 1, "{kind:?}, {width}, {place}: {line} in\n{text}");
            }
            if kind != ResizeBehaviour::Cuts {
                assert_eq!(are_in_order(&stage.words, &text), Ok(()), "{kind:?}, {width}, {place}:\n{text}");
            }
        }
    }
}

/// The typed line never merges with the row above it, which would then be counted twice.
#[test]
fn typing_while_the_size_changes_erases_nothing_above() {
    for kind in [ResizeBehaviour::Reflows, ResizeBehaviour::ReflowsAndPads] {
        for (place, more) in (0..24).flat_map(|place| (0..24).map(move |more| (place, more))) {
            let mut stage = ConsoleStage::new(kind, (45, 12));
            for _ in 0..12 {
                stage.step(&ConsoleStep::Print);
            }
            stage.step(&ConsoleStep::Words(2));
            stage.step(&ConsoleStep::Tick(40));
            stage.read(usize::MAX);
            stage.step(&ConsoleStep::Type('a'));
            stage.read(place);
            // Narrower than the row of the wait status.
            stage.step(&ConsoleStep::Resize(8, 12));
            stage.read(more);
            stage.step(&ConsoleStep::Resize(45, 12));
            let text = stage.end().join("\n");
            for line in &stage.lines {
                assert_eq!(text.matches(line.as_str()).count(), 1, "{kind:?}, {place}, {more}: {line} in\n{text}");
            }
        }
    }
}
