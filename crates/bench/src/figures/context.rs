//! What a long conversation costs beside model and tools: assembling a turn, counting tokens, and leaving older turns out.
//! All of it is computed, so there is neither server nor store.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use windlass_machine::{CallResult, Fact, State, apply};
use windlass_vocab::OutcomeKind;

use super::setup::Setup;
use crate::conversation::{asked, awaits_summary, begun, called, records, result, summary, take, turn};
use crate::pace::{FloorComparison, median};
use crate::sending::{BenchWire, Sending, wires};
use crate::table::{Mark, Measurement};

/// Turns of a conversation of 1,000 messages.
const TURNS: usize = 500;
const ASSEMBLY_MS: f64 = 1.0;
/// With this window the conversation has about 500 messages when older ones are left out.
const WINDOW: u64 = 28_000;
const COMPACTED: std::ops::Range<usize> = 480..560;
const COMPACTION_MS: f64 = 5.0;
const COUNTING_MB_S: f64 = 10.0;
/// Turns of a conversation of which most was left out, and of each part that is compared.
const LONG: usize = 10_000;
const PART: usize = 1_000;
const LIMIT: f64 = 1.5;

pub(super) fn measure(setup: &Setup) -> Result<Vec<Measurement>> {
    let mut rows = Vec::new();
    for wire in wires() {
        rows.extend(assembly(wire, setup.rounds(50))?);
    }
    rows.push(evicted()?);
    rows.push(counting(setup.rounds(50))?);
    rows.push(compaction(setup.rounds(50))?);
    Ok(rows)
}

/// Assembles the last turn of 1,000 messages: the next turn of an open session, and the first one after opening it.
fn assembly(wire: BenchWire, rounds: usize) -> Result<[Measurement; 2]> {
    let history = asked(TURNS)?.transcript.history;
    let before = history.get(..history.len().saturating_sub(2)).unwrap_or_default();
    let (name, mut sending) = (wire.name, Sending::over(wire));
    let (mut next, mut first) = (Vec::new(), Vec::new());
    for epoch in 0..u64::try_from(rounds)? {
        let begun = Instant::now();
        drop(black_box(sending.encode(before, epoch)?));
        first.push(begun.elapsed());
        let begun = Instant::now();
        drop(black_box(sending.encode(&history, epoch)?));
        next.push(begun.elapsed());
    }
    let row = |figure: &str, times: &mut [Duration]| {
        Measurement::at_most(&format!("{figure}, {name}"), ASSEMBLY_MS, millis(median(times)), "ms")
    };
    Ok([
        row("assembling a turn of 1,000 messages", &mut next),
        row("the same as the first one after opening", &mut first),
    ])
}

/// Compares late turns with early ones, where all but the newest messages were left out in between.
fn evicted() -> Result<Measurement> {
    let [wire, ..] = wires();
    let (mut state, mut sending) = (begun(Some(WINDOW))?, Sending::over(wire));
    let mut times = Vec::with_capacity(LONG);
    for _ in 0..LONG {
        let begun = Instant::now();
        step(&mut state)?;
        drop(black_box(sending.encode(&state.transcript.history, state.transcript.epoch)?));
        times.push(begun.elapsed());
    }
    ensure!(state.transcript.history.len() < COMPACTED.end, "nothing was left out");
    let floor = median(times.get_mut(PART..2 * PART).unwrap_or_default());
    let ours = median(times.get_mut(LONG - PART..).unwrap_or_default());
    let compared = Measurement::compared(
        "turn 10,000 against turn 1,000, older turns left out",
        LIMIT,
        &FloorComparison { floor, ours },
    );
    Ok(Measurement { target: format!("≤ {LIMIT} ×"), ..compared })
}

/// Takes a turn, after a summary of older ones if that is due.
fn step(state: &mut State) -> Result<()> {
    if awaits_summary(state) {
        let fact = summary(state)?;
        take(state, fact)?;
    }
    turn(state)
}

/// Counts results of 16,000 characters as they are recorded.
fn counting(rounds: usize) -> Result<Measurement> {
    let text = "{\"path\": \"src/main.rs\", \"line\": 12}\n".repeat(16_000 / 37);
    let (mut bytes, mut spent) = (0, Duration::ZERO);
    for _ in 0..rounds {
        let mut state = called(10)?;
        let Fact::CallDone { call, .. } = result(&state)? else { continue };
        let finished = CallResult { took_ms: 1, ..CallResult::new(OutcomeKind::Ok, text.as_str()) };
        let records = records(&state, Fact::CallDone { call, finished });
        let begun = Instant::now();
        for record in &records {
            apply(&mut state, record);
        }
        spent += begun.elapsed();
        bytes += text.len();
        drop(black_box(state));
    }
    #[allow(clippy::cast_precision_loss)]
    let rate = bytes as f64 / spent.as_secs_f64() / 1e6;
    Ok(Measurement {
        target: format!("≥ {COUNTING_MB_S} MB/s"),
        mark: if rate >= COUNTING_MB_S { Mark::Met } else { Mark::Missed },
        ..Measurement::noted("counting the tokens of results, with the rest of the fold", format!("{rate:.0} MB/s"))
    })
}

/// Leaves older turns out, without the model's time: from the result after which it is due to the next request.
fn compaction(rounds: usize) -> Result<Measurement> {
    let (mut state, [wire, ..]) = (begun(Some(WINDOW))?, wires());
    let mut sending = Sending::over(wire);
    let due = loop {
        let mut next = state.clone();
        turn(&mut next)?;
        if awaits_summary(&next) {
            break state;
        }
        state = next;
    };
    let messages = due.transcript.history.len();
    ensure!(COMPACTED.contains(&messages), "older turns were left out at {messages} messages");
    drop(sending.encode(&due.transcript.history, due.transcript.epoch)?);
    let (mut usual, mut compacted) = (Vec::new(), Vec::new());
    let early = asked(10)?;
    for _ in 0..rounds {
        let mut state = early.clone();
        let begun = Instant::now();
        turn(&mut state)?;
        usual.push(begun.elapsed());
        let mut state = due.clone();
        let begun = Instant::now();
        turn(&mut state)?;
        let fact = summary(&state)?;
        take(&mut state, fact)?;
        drop(black_box(sending.encode(&state.transcript.history, state.transcript.epoch)?));
        compacted.push(begun.elapsed());
        drop(sending.encode(&due.transcript.history, due.transcript.epoch)?);
    }
    let added = median(&mut compacted).saturating_sub(median(&mut usual));
    let figure = format!("leaving older turns of {messages} messages out, beside the model's time");
    Ok(Measurement::at_most(&figure, COMPACTION_MS, millis(added), "ms"))
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
