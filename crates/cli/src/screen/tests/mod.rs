//! Whole screens as a terminal would display them: the bytes go through a terminal emulator.

mod harm;
mod markdown;
mod runs;
mod streams;

use std::num::NonZeroU16;

use windlass_vocab::{Delta, DeltaBody, Event, Part, Record, RunId, TurnId};

use super::{Colour, Glyphs, Screen, TerminalLook};
use crate::sample;

const LOOK: TerminalLook = TerminalLook { width: 60, height: 24, colour: Colour::None, glyphs: Glyphs::Unicode };

/// A screen with a simulated session.
struct ScreenStage {
    screen: Screen<Vec<u8>>,
    terminal: vt100::Parser,
    /// Bytes that went to the terminal so far.
    written: Vec<u8>,
    look: TerminalLook,
    now: u64,
    turn: u32,
    attempt: u32,
    text: String,
}

impl ScreenStage {
    fn new(look: TerminalLook) -> Self {
        let size = |size: usize| NonZeroU16::new(u16::try_from(size).expect("small")).expect("not 0");
        Self {
            screen: Screen::new(Vec::new(), look),
            terminal: vt100::Parser::new(size(look.height), size(look.width), 100_000),
            written: Vec::new(),
            look,
            now: 0,
            turn: 1,
            attempt: 1,
            text: String::new(),
        }
    }

    /// Advances the time.
    fn wait(&mut self, ms: u64) -> &mut Self {
        self.now += ms;
        self.screen.tick(self.now).expect("a vector takes everything");
        self
    }

    fn event(&mut self, event: &Event) -> &mut Self {
        self.screen.event(event, self.now).expect("a vector takes everything");
        self
    }

    fn record(&mut self, record: impl Into<Record>) -> &mut Self {
        self.event(&sample::event(TurnId(self.turn), record))
    }

    fn delta(&mut self, offset: usize, body: DeltaBody) -> &mut Self {
        let (turn, attempt) = (TurnId(self.turn), self.attempt);
        self.event(&Event::Delta(Delta { run: RunId(1), turn, attempt, offset: offset as u64, body }))
    }

    /// Streams a fragment of the answer.
    fn text(&mut self, text: &str) -> &mut Self {
        let offset = self.text.len();
        self.text.push_str(text);
        self.delta(offset, DeltaBody::TextDelta { text: text.into() })
    }

    fn think(&mut self, text: &str) -> &mut Self {
        self.delta(0, DeltaBody::ThinkingDelta { text: text.into() })
    }

    /// Completes the reply with exactly the streamed text.
    fn replied(&mut self) -> &mut Self {
        let text = std::mem::take(&mut self.text);
        self.replied_with(vec![Part::Text { text }])
    }

    fn replied_with(&mut self, parts: Vec<Part>) -> &mut Self {
        self.text.clear();
        self.record(sample::replied(self.attempt, parts))
    }

    /// Returns every line, from the first that scrolled away to the last on the screen.
    fn seen(&mut self) -> String {
        self.process();
        let width = u16::try_from(self.look.width).expect("small");
        let screen = self.terminal.screen_mut();
        let mut lines = Vec::new();
        for above in (1..=screen.scrollback_len()).rev() {
            screen.set_scrollback(above);
            lines.extend(screen.rows(0, width).next());
        }
        screen.set_scrollback(0);
        lines.extend(screen.rows(0, width));
        trimmed(lines.iter().map(String::as_str))
    }

    /// Lets the emulator process the written bytes.
    fn process(&mut self) {
        let bytes = std::mem::take(self.screen.out());
        // The emulator has no tty line discipline that would add carriage returns.
        let text = String::from_utf8(bytes.clone()).expect("text").replace('\n', "\r\n");
        self.terminal.process(text.as_bytes());
        self.written.extend(bytes);
    }

    #[track_caller]
    fn shows(&mut self, expected: &str) -> &mut Self {
        let seen = self.seen();
        assert_eq!(seen, trimmed(expected.lines()), "\n--- seen ---\n{seen}\n------------");
        self
    }
}

fn trimmed<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let lines: Vec<&str> = lines.map(str::trim_end).collect();
    lines.join("\n").trim_matches('\n').to_owned()
}

/// Returns the screen after the whole reply.
fn answer(look: TerminalLook, text: &str) -> String {
    ScreenStage::new(look).text(text).replied().seen()
}
