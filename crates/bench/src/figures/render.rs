//! The cost of displaying a fast stream: the chat's screen gets 2,000 tokens a second, and the processor time it uses
//! is compared with the duration of the stream. The screen is given the stream's times instead of a real clock, so
//! nothing waits.

use std::time::Duration;

use anyhow::{Result, ensure};
use rustix::time::{ClockId, clock_gettime};
use windlass_cli::screen::{Colour, Glyphs, Screen, TerminalLook};
use windlass_vocab::{Delta, DeltaBody, Event, RunId, TurnId};

use super::setup::Setup;
use crate::pace::median;
use crate::table::Measurement;

pub(super) const TOKENS_PER_SECOND: u64 = 2_000;
/// Average length of an English token.
const TOKEN_BYTES: usize = 4;
/// How often the chat passes the time to the screen.
const TICK_MS: u64 = 50;
pub(super) const LIMIT: f64 = 20.0;

/// A window of a common size, on a terminal with all features.
const LOOK: TerminalLook = TerminalLook { width: 120, height: 40, colour: Colour::Ansi, glyphs: Glyphs::Unicode };

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let streams =
        [("a Markdown answer", answer()), ("a code block of 5,000 lines", code()), ("one paragraph", prose())];
    let mut lines = Vec::new();
    for (name, text) in streams {
        let stream = TimedTokens::of(&text);
        let mut took = Vec::new();
        for _ in 0..setup.rounds(10) {
            took.push(stream.show_all()?);
        }
        let share = 100.0 * median(&mut took).as_secs_f64() / stream.lasts().as_secs_f64();
        let figure = format!("showing 2,000 tokens/s: {name} ({:.1} s)", stream.lasts().as_secs_f64());
        lines.push(Measurement::at_most(&figure, LIMIT, share, "% of a core"));
    }
    Ok(lines)
}

/// Tokens, and when each arrives.
struct TimedTokens(Vec<(u64, Event)>);

impl TimedTokens {
    fn of(text: &str) -> Self {
        let (mut offset, mut events) = (0, Vec::new());
        for token in tokens(text) {
            let body = DeltaBody::TextDelta { text: token.to_owned() };
            let delta = Delta { run: RunId(1), turn: TurnId(1), attempt: 1, offset, body };
            events.push((events.len() as u64 * 1_000 / TOKENS_PER_SECOND, Event::Delta(delta)));
            offset += token.len() as u64;
        }
        Self(events)
    }

    fn lasts(&self) -> Duration {
        Duration::from_millis(self.0.len() as u64 * 1_000 / TOKENS_PER_SECOND)
    }

    /// Displays all tokens, and returns the processor time that took.
    fn show_all(&self) -> Result<Duration> {
        let begun = processor_time()?;
        let mut screen = Screen::new(Vec::new(), LOOK);
        let (mut ticked, mut written) = (0, 0);
        for (now, event) in &self.0 {
            if *now >= ticked + TICK_MS {
                screen.tick(*now)?;
                ticked = *now;
            }
            screen.event(event, *now)?;
            // As the chat does: take the painted bytes and write them.
            written += std::mem::take(screen.out()).len();
        }
        screen.pause()?;
        written += screen.out().len();
        let took = processor_time()?.saturating_sub(begun);
        ensure!(written > self.0.len() * TOKEN_BYTES, "{written} bytes is not all of the stream");
        Ok(took)
    }
}

/// Splits a text into pieces as long as tokens.
pub(super) fn tokens(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let (token, rest) = text.split_at(text.ceil_char_boundary(TOKEN_BYTES.min(text.len())));
        text = rest;
        (!token.is_empty()).then_some(token)
    })
}

/// The processor time that this thread has used.
fn processor_time() -> Result<Duration> {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Ok(Duration::new(time.tv_sec.try_into()?, time.tv_nsec.try_into()?))
}

/// A typical answer: headings, paragraphs with emphasis and links, lists, a table, code.
pub(super) fn answer() -> String {
    let section = |number: usize| {
        format!(
            "## {number}. Hauling a line\n\n\
             A **windlass** moves heavy weights with *little* force: the `barrel` is turned by a crank, \
             and the [rope](https://example.com/rope) winds about it. {words}\n\n\
             1. Take up the slack, and see that nobody stands in the bight.\n\
             2. Turn **slowly**; a line under load is not a toy. {words}\n\
                - the pawl drops at every tooth\n   - the brake holds what the pawl misses\n\
             3. Belay, and write down what was hauled.\n\n\
             > {words}\n\n\
             | turn | load | line |\n|---|---:|:---|\n{rows}\n\
             ```rust\n{code}```\n\n",
            words = WORDS.trim_end(),
            rows = (0..12)
                .map(|row| format!("| {row} | {} kg | `line-{row}` is *taut* |\n", row * 37))
                .collect::<String>(),
            code = code_lines(20),
        )
    };
    (1..=40).map(section).collect()
}

fn code() -> String {
    format!("Here it is:\n\n```rust\n{}```\n", code_lines(5_000))
}

fn code_lines(lines: usize) -> String {
    (0..lines).map(|line| format!("    let hauled_{line} = windlass.turn(crank, {line}).await?;\n")).collect()
}

fn prose() -> String {
    WORDS.repeat(400)
}

const WORDS: &str = "The crew hauls at the bars, the pawls clack over the teeth, and the chain comes in link by \
    link until the anchor breaks out and the ship swings to the wind. ";
