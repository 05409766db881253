//! The effect of each record on the screen: the wait status, and the narrator's lines.

use std::io::Write;

use windlass_narrate::{LineSpeaker, NarratedLine};
use windlass_vocab::{AttemptFailed, Envelope, ModelReplied, ModelRole, NextAttempt, Part, Record, StopBy};

use super::awaited::WaitStatus;
use super::look::ThinkingFold;
use super::reply::{ReplyKey, ReplyRest, dimmed};
use super::{Screen, ScreenRun};
use crate::output::advice::with_remedies;

impl<W: Write> Screen<W> {
    pub(super) fn record(&mut self, envelope: &Envelope) {
        let lines = with_remedies(self.narrator.record(&envelope.record, envelope.at));
        match &envelope.record {
            Record::RunStarted(_) => self.run_opened(),
            Record::RunResumed(_) => {
                self.run_opened();
                self.print_lines(&lines);
            }
            Record::TurnStarted(_) => self.awaited = WaitStatus::Model { since: self.now },
            // Nobody waits for a title.
            Record::AttemptFailed(failed) if failed.role == ModelRole::Title => {}
            Record::AttemptFailed(failed) => self.attempt_failed(failed, envelope, &lines),
            // A reply in another role is not part of the conversation.
            Record::ModelReplied(replied) if !replied.role.is_of_conversation() => self.awaited = WaitStatus::Nothing,
            Record::ModelReplied(replied) => {
                self.replied(replied, envelope);
                // The model's own words are on the screen.
                lines.iter().filter(|line| line.by == LineSpeaker::Windlass).for_each(|line| self.print_line(line));
            }
            Record::CallRequested(call) => {
                self.calls.requested(call.call, self.narrator.call_name(call.call));
                self.awaited = WaitStatus::Calls;
            }
            Record::CallStarted(call) => {
                self.calls.started(call.call, self.narrator.call_name(call.call), self.now);
                self.awaited = WaitStatus::Calls;
            }
            Record::CallFinished(call) => {
                self.calls.finished(call.call);
                self.print_lines(&lines);
            }
            // The chat itself asks the person.
            Record::QuestionAsked(_) => self.awaited = WaitStatus::Person { since: self.now },
            Record::QuestionAnswered(_) => {
                self.awaited = WaitStatus::Calls;
                self.print_lines(&lines);
            }
            Record::CancelAsked(asked) => {
                match asked.by {
                    StopBy::Person => {}
                    // Nobody at this terminal requested the stop, so its reason must stay visible.
                    StopBy::Deadline | StopBy::Fork => self.print_lines(&lines),
                }
                let what = lines.first().map(NarratedLine::to_string).unwrap_or_default();
                self.awaited = WaitStatus::Stop { since: self.now, what };
            }
            Record::RunEnded(_) => self.close_run(),
            // The message that begins a run was typed right above.
            Record::MessageAccepted(_) if self.run == ScreenRun::None => {}
            // The chat itself reports the state of its servers.
            Record::ContextPinned(_) => {}
            // All other records, known or unknown, only add lines.
            _ => self.print_lines(&lines),
        }
    }

    fn run_opened(&mut self) {
        // Unfinished output belongs to another run, perhaps of another session.
        self.close_run();
        self.over = None;
        self.run = ScreenRun::Open;
        self.replied_text.clear();
        self.awaited = WaitStatus::Model { since: self.now };
    }

    fn attempt_failed(&mut self, failed: &AttemptFailed, envelope: &Envelope, lines: &[NarratedLine]) {
        let key = key_of(envelope, failed.attempt);
        if lines.is_empty() {
            // The text of the last attempt stays; the end of the run explains the failure.
            self.finish_reply();
        } else {
            self.end_thought();
            self.withdraw(key);
            self.over = Some(key);
            self.print_lines(lines);
        }
        self.awaited = match &failed.next {
            NextAttempt::Retry { at } => {
                let until = self.now.saturating_add(at.ms_since(envelope.at));
                WaitStatus::Retry { until, why: self.narrator.retry_problem().to_owned() }
            }
            NextAttempt::Model { .. }
            | NextAttempt::Whole
            | NextAttempt::Shorter
            | NextAttempt::Dialect { .. }
            | NextAttempt::Output { .. }
            | NextAttempt::PlainSummary => WaitStatus::Model { since: self.now },
            NextAttempt::End => WaitStatus::Nothing,
        };
    }

    /// Makes the display match the record: adds text that was not streamed, withdraws text that differs.
    fn replied(&mut self, replied: &ModelReplied, envelope: &Envelope) {
        let key = key_of(envelope, replied.attempt);
        let text = Part::joined_text(&replied.parts);
        if self.reply.as_ref().is_none_or(|reply| reply.key != key) {
            self.show_thinking(replied);
        }
        self.turn_to(key);
        if let Some(reply) = &self.reply {
            match reply.rest(&text) {
                ReplyRest::Of(rest) => self.add_text(rest),
                ReplyRest::Instead(whole) => {
                    self.withdraw(key);
                    self.turn_to(key);
                    self.add_text(whole);
                }
            }
        }
        self.finish_reply();
        self.replied_text.push_str(&text);
        self.awaited = WaitStatus::Nothing;
    }

    /// Shows thinking that was not streamed.
    fn show_thinking(&mut self, replied: &ModelReplied) {
        if self.fold == ThinkingFold::Open {
            for part in &replied.parts {
                if let Part::Thinking { text, .. } = part {
                    let look = self.look();
                    dimmed(text, look).into_iter().for_each(|line| self.put_line(line));
                }
            }
        }
    }
}

fn key_of(envelope: &Envelope, attempt: u32) -> ReplyKey {
    (envelope.run.unwrap_or_default(), envelope.turn.unwrap_or_default(), attempt)
}
