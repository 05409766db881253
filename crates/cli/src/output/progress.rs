//! Progress on standard error: one line per finished call, retry, nudge or question, and on a
//! terminal one live line that shows what is awaited or what the model is writing.

use std::collections::BTreeMap;
use std::io::Write;

use windlass_vocab::{
    CallFinished, CallId, CallRequested, ContextPinned, Delta, DeltaBody, Envelope, Event, ModelReplied, NextAttempt,
    Part, Record,
};

use super::Stream;
use super::harmless::{harmless_line, short_line};
use super::live::{Lines, Weight};
use super::shown_call::ShownCall;
use super::told_retry::ToldRetry;
use super::wording::{self, TEXT};

/// Characters of the live line.
const LIVE: usize = 70;

/// Writes progress; what can't be written is lost, the run goes on.
#[derive(Debug)]
pub struct Progress<W: Write> {
    lines: Lines<W>,
    /// Calls on the way.
    calls: BTreeMap<CallId, ShownCall>,
    /// The end of what the model is writing.
    words: String,
    /// The nudge that was shown last, while nothing else is, and how often it came again.
    nudged: Option<(String, u32)>,
    told_retry: ToldRetry,
}

impl<W: Write> Progress<W> {
    /// Progress to `out`.
    pub fn new(out: W, stream: Stream) -> Self {
        Self {
            lines: Lines::new(out, stream),
            calls: BTreeMap::new(),
            words: String::new(),
            nudged: None,
            told_retry: ToldRetry::default(),
        }
    }

    /// Shows an event, if it is worth a line.
    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Record(envelope) => self.record(envelope),
            Event::Delta(delta) => self.delta(delta),
        }
    }

    /// Takes in what was asked for; the line comes with the result.
    pub fn recall(&mut self, call: &CallRequested) {
        self.calls.insert(call.call, ShownCall::of(call));
    }

    /// Shows one line.
    pub fn line(&mut self, text: &str) {
        self.print(Weight::Plain, text);
    }

    fn record(&mut self, envelope: &Envelope) {
        let repeats = self.told_retry.repeats(&envelope.record);
        match &envelope.record {
            Record::CallRequested(call) => self.recall(call),
            Record::CallStarted(call) => {
                if let (Some(shown), Some(arguments)) = (self.calls.get_mut(&call.call), &call.arguments) {
                    shown.edit(arguments);
                }
                if let Some(shown) = self.calls.get(&call.call) {
                    let awaited = format!("running {}", shown.line());
                    self.await_it(&awaited);
                }
            }
            Record::TurnStarted(_) => self.await_it("waiting for the model"),
            Record::CallFinished(call) => self.finished(call),
            Record::ContextPinned(pinned) => self.pinned(pinned),
            Record::AttemptFailed(attempt) => {
                let line = wording::attempt_failed(attempt, envelope);
                match (self.lines.stream(), &attempt.next, line) {
                    (Stream::Terminal, NextAttempt::Retry { at }, _) => {
                        self.await_it(&short_line(&wording::retrying(attempt, *at, envelope), LIVE));
                    }
                    (Stream::Terminal | Stream::Piped, _, Some(line)) if !repeats => self.print(Weight::Plain, &line),
                    // In a pipe nobody sees how long it takes: a retry for the same reason is told once.
                    (Stream::Terminal | Stream::Piped, _, _) => {}
                }
            }
            Record::ModelReplied(reply) => self.replied(reply),
            Record::Nudged(nudge) => self.nudged(wording::nudged(nudge)),
            Record::ToolWithheld(tool) => self.print(Weight::Plain, &wording::withheld(tool)),
            Record::RunResumed(_) => self.print(Weight::Dim, wording::RESUMED),
            Record::Compacted(compacted) => self.print(Weight::Dim, wording::compacted(compacted)),
            Record::CancelAsked(asked) => self.print(Weight::Plain, wording::cancel_asked(asked)),
            // Whoever can answer is asked elsewhere, on a clean line.
            Record::QuestionAsked(_) | Record::RunEnded(_) => {
                self.erase_live();
                self.tell_repeats();
            }
            Record::SessionOpened(_)
            | Record::SessionChanged(_)
            | Record::LeaseTaken(_)
            | Record::MessageAccepted(_)
            | Record::RunStarted(_)
            | Record::CallPaused(_)
            | Record::CallSettled(_)
            | Record::QuestionAnswered(_)
            | Record::PlanChanged(_)
            | Record::SnapshotTaken(_)
            | Record::FilesChanged(_)
            | Record::UndoStarted(_)
            | Record::Undone(_)
            | Record::Unknown(_) => {}
        }
    }

    /// A model that only talks is nudged a hundred times; that is said once, and counted.
    fn nudged(&mut self, line: String) {
        match &mut self.nudged {
            Some((shown, again)) if *shown == line => *again += 1,
            Some(_) | None => {
                self.print(Weight::Dim, &line);
                self.nudged = Some((line, 0));
            }
        }
    }

    fn tell_repeats(&mut self) {
        if let Some((_, again @ 1..)) = self.nudged.take() {
            let times = if again == 1 { "once more".to_owned() } else { format!("{again} times more") };
            self.print(Weight::Dim, &format!("nudged the model: the same {times}"));
        }
    }

    /// A server that was waited for and has not come is missed from here on.
    fn pinned(&mut self, pinned: &ContextPinned) {
        let awaited = pinned.context.iter().flat_map(|context| &context.awaited);
        let names: Vec<&str> = awaited.map(String::as_str).collect();
        if !names.is_empty() {
            let line = format!("going on without the tools of {}: not started yet", names.join(", "));
            self.print(Weight::Plain, &short_line(&line, TEXT));
        }
    }

    fn finished(&mut self, call: &CallFinished) {
        let shown = self.calls.remove(&call.call);
        let line = shown.as_ref().map_or_else(|| format!("call {}", call.call), |shown| shown.line().to_owned());
        let took = wording::call_took(call).map(|took| format!(" {took}")).unwrap_or_default();
        let from = if call.answered_from.is_some() { ", as before" } else { "" };
        let mut line = format!("{line}{took}{from}");
        if let Some((problem, detail)) = wording::problem_of(call) {
            let colon = if detail.is_empty() { "" } else { ": " };
            line += &format!(", {problem}{colon}{detail}");
        }
        self.print(Weight::Plain, &line);
        for changed in shown.map(|shown| shown.below(call)).unwrap_or_default() {
            self.print(Weight::Plain, &format!("  {changed}"));
        }
    }

    /// Text beside calls is progress, not the answer.
    fn replied(&mut self, reply: &ModelReplied) {
        self.erase_live();
        if !reply.parts.iter().any(|part| matches!(part, Part::Call { .. })) {
            return;
        }
        for part in &reply.parts {
            if let Part::Text { text } = part
                && !text.trim().is_empty()
            {
                self.print(Weight::Dim, &short_line(text.trim(), TEXT));
            }
        }
    }

    fn delta(&mut self, delta: &Delta) {
        let text = match &delta.body {
            DeltaBody::TextDelta { text } | DeltaBody::ThinkingDelta { text } | DeltaBody::CallDelta { text, .. } => {
                text
            }
            DeltaBody::ThinkingStarted {} | DeltaBody::ThinkingEnded {} => return,
            DeltaBody::Cleared {} => {
                self.erase_live();
                return;
            }
            DeltaBody::Waiting { wait, .. } => {
                self.waiting(&wording::waiting(wait));
                return;
            }
        };
        if self.lines.stream() == Stream::Terminal {
            self.words.push_str(&harmless_line(text));
            if let Some((start, _)) = self.words.char_indices().rev().nth(LIVE - 1) {
                self.words.drain(..start);
            }
            self.lines.show(&self.words);
        }
    }

    /// Without it nothing would tell a slow model from a process that hangs.
    fn await_it(&mut self, what: &str) {
        self.words.clear();
        self.lines.show(what);
    }

    /// A server that keeps a script waiting is named where nobody sees a live line, too.
    fn waiting(&mut self, what: &str) {
        match self.lines.stream() {
            Stream::Terminal => self.await_it(what),
            Stream::Piped => self.print(Weight::Plain, what),
        }
    }

    fn erase_live(&mut self) {
        self.words.clear();
        self.lines.erase();
    }

    fn print(&mut self, weight: Weight, text: &str) {
        self.tell_repeats();
        self.words.clear();
        self.lines.print(weight, text);
    }
}
