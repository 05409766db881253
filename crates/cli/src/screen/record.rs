//! What each record means to the screen.

use std::io::Write;

use windlass_vocab::{
    AnsweredBy, AttemptFailed, Envelope, ModelReplied, NextAttempt, Part, PlanChanged, PlanStatus, QuestionAnswered,
    QuestionOption, Record, Settlement, StopBy,
};

use super::awaited::Awaited;
use super::look::{Fold, Glyphs};
use super::reply::{AttemptKey, Rest, dimmed};
use super::style::{Line, Style};
use super::{Run, Screen};
use crate::output::wording::{self, TEXT};
use crate::output::{is_retry, short_line};

impl<W: Write> Screen<W> {
    pub(super) fn record(&mut self, envelope: &Envelope) {
        match &envelope.record {
            Record::RunStarted(_) => self.run_opened(),
            Record::RunResumed(_) => {
                self.run_opened();
                self.say(Style::DIM, wording::RESUMED);
            }
            Record::TurnStarted(_) => self.awaited = Awaited::Model { since: self.now },
            // The message that begins a run was typed right above.
            Record::MessageAccepted(message) if self.run == Run::Open => {
                self.say(Style::DIM, &format!("taken up: {}", short_line(&message.text, TEXT)));
            }
            Record::AttemptFailed(failed) => self.attempt_failed(failed, envelope),
            Record::ModelReplied(replied) => self.replied(replied, envelope),
            Record::CallRequested(call) => {
                self.calls.requested(call);
                self.awaited = Awaited::Calls;
            }
            Record::CallStarted(call) => {
                self.calls.started(call, self.now);
                self.awaited = Awaited::Calls;
            }
            Record::CallSettled(settled) => {
                let what = match settled.settlement {
                    Settlement::RunAgain => "it is run again",
                    Settlement::Verify => "its tool is asked whether it took place",
                    Settlement::Interrupt => "it is taken as interrupted",
                    Settlement::Ask => "somebody has to say what now",
                };
                let call = self.calls.shown(settled.call);
                self.say(Style::DIM, &format!("{call} was cut short by a crash: {what}"));
            }
            Record::CallFinished(call) => {
                let lines = self.calls.finished(call, self.look());
                lines.into_iter().for_each(|line| self.put_line(line));
            }
            Record::QuestionAsked(_) => self.awaited = Awaited::Person { since: self.now },
            Record::QuestionAnswered(answered) => self.answered(answered),
            Record::Nudged(nudge) => self.say(Style::DIM, &wording::nudged(nudge)),
            Record::ToolWithheld(tool) => self.say(Style::PLAIN, &wording::withheld(tool)),
            Record::PlanChanged(plan) => self.plan(plan),
            Record::Compacted(compacted) => self.say(Style::DIM, wording::compacted(compacted)),
            Record::CancelAsked(asked) => {
                let what = wording::cancel_asked(asked);
                match asked.by {
                    StopBy::Person => {}
                    // Nobody here asked for it, so why it ends has to stay.
                    StopBy::Deadline | StopBy::Fork => self.say(Style::DIM, what),
                }
                self.awaited = Awaited::Stop { since: self.now, what };
            }
            Record::RunEnded(_) => self.close_run(),
            Record::CallPaused(_) => {}
            Record::Unknown(unknown) => {
                let kind = short_line(&unknown.kind, TEXT);
                self.say(Style::DIM, &format!("{kind}: a record of a newer version of Windlass, not shown"));
            }
            Record::SessionOpened(_)
            | Record::SessionChanged(_)
            | Record::LeaseTaken(_)
            | Record::MessageAccepted(_)
            | Record::SnapshotTaken(_)
            | Record::FilesChanged(_)
            | Record::UndoStarted(_)
            | Record::Undone(_)
            | Record::ContextPinned(_) => {}
        }
    }

    fn run_opened(&mut self) {
        // Whatever was unfinished belongs to another run, perhaps of another session.
        self.close_run();
        self.over = None;
        self.run = Run::Open;
        self.said.clear();
        self.awaited = Awaited::Model { since: self.now };
    }

    fn attempt_failed(&mut self, failed: &AttemptFailed, envelope: &Envelope) {
        let key = key_of(envelope, failed.attempt);
        match wording::attempt_failed(failed, envelope) {
            // What the last attempt had to say stays; the end of the run explains.
            None => self.finish_reply(),
            Some(line) => {
                self.end_thought();
                self.withdraw(key);
                self.over = Some(key);
                // A retry is told by the live line, which counts down.
                if !is_retry(&failed.next) {
                    self.say(Style::PLAIN, &line);
                }
            }
        }
        self.awaited = match &failed.next {
            NextAttempt::Retry { at } => {
                let until = self.now.saturating_add(at.ms_since(envelope.at));
                Awaited::Retry { until, why: wording::attempt_problem(failed) }
            }
            NextAttempt::Model { .. } | NextAttempt::Whole | NextAttempt::Shorter | NextAttempt::Dialect { .. } => {
                Awaited::Model { since: self.now }
            }
            NextAttempt::End => Awaited::Nothing,
        };
    }

    /// The record has the last word: what was not streamed is added, what was streamed wrongly goes.
    fn replied(&mut self, replied: &ModelReplied, envelope: &Envelope) {
        let key = key_of(envelope, replied.attempt);
        let text: String = replied.parts.iter().filter_map(text_of).collect();
        if self.reply.as_ref().is_none_or(|reply| reply.key != key) {
            self.show_thinking(replied);
        }
        self.turn_to(key);
        if let Some(reply) = &self.reply {
            match reply.rest(&text) {
                Rest::Of(rest) => self.add_text(rest),
                Rest::Instead(whole) => {
                    self.withdraw(key);
                    self.turn_to(key);
                    self.add_text(whole);
                }
            }
        }
        self.finish_reply();
        self.said.push_str(&text);
        self.awaited = Awaited::Nothing;
    }

    /// Thoughts that were not streamed.
    fn show_thinking(&mut self, replied: &ModelReplied) {
        if self.fold == Fold::Open {
            for part in &replied.parts {
                if let Part::Thinking { text, .. } = part {
                    let look = self.look();
                    dimmed(text, look).into_iter().for_each(|line| self.put_line(line));
                }
            }
        }
    }

    fn answered(&mut self, answered: &QuestionAnswered) {
        self.awaited = Awaited::Calls;
        match answered.by {
            AnsweredBy::Person => {}
            AnsweredBy::Expiry => {
                let taken = match answered.answer.option {
                    QuestionOption::No => "taken as no",
                    QuestionOption::Once | QuestionOption::Session | QuestionOption::Always | QuestionOption::Edit => {
                        "taken as yes"
                    }
                    QuestionOption::RunAgain => "the call is run again",
                    QuestionOption::Interrupt => "the call is taken as interrupted",
                    QuestionOption::Submit | QuestionOption::Dismiss => "its tool is told so",
                };
                self.say(Style::DIM, &format!("no answer came: {taken}"));
            }
        }
    }

    fn plan(&mut self, plan: &PlanChanged) {
        for item in &plan.items {
            let (mark, style) = match (item.status, self.look().glyphs) {
                (PlanStatus::Open, _) => ("[ ]", Style::PLAIN),
                (PlanStatus::Doing, Glyphs::Ascii) => ("[>]", Style::BOLD),
                (PlanStatus::Doing, Glyphs::Unicode) => ("[▸]", Style::BOLD),
                (PlanStatus::Done, _) => ("[x]", Style::DIM),
            };
            let line = Line::of(style, &format!("  {mark} {}", short_line(&item.step, TEXT)));
            self.put_line(line.clipped(self.look().columns(), self.look().glyphs.dots()));
        }
    }
}

fn key_of(envelope: &Envelope, attempt: u32) -> AttemptKey {
    (envelope.run.unwrap_or_default(), envelope.turn.unwrap_or_default(), attempt)
}

fn text_of(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text } => Some(text),
        Part::Thinking { .. } | Part::Call { .. } => None,
    }
}
