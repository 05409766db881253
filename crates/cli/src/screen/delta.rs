//! The effect of each delta on the screen: the streamed reply, from its first thought to its end.

use std::io::Write;

use windlass_narrate::{NarratedLine, Tone, WITHDRAWN, harmless_line, source_left_out, thought_for, waiting};
use windlass_vocab::{Delta, DeltaBody};

use super::answer::DisplayedAnswer;
use super::awaited::WaitStatus;
use super::look::{Glyphs, ThinkingFold};
use super::reply::{ReplyKey, StreamedReply, StreamedThought, key_of};
use super::style::{Style, StyledLine};
use super::{Screen, ScreenRun};

impl<W: Write> Screen<W> {
    pub(super) fn delta(&mut self, delta: &Delta) {
        let key = key_of(delta);
        match &delta.body {
            DeltaBody::CallDelta { call, name, text } => {
                if !self.calls.add_progress(*call, text) && self.over.is_none_or(|over| over < key) {
                    self.end_thought();
                    self.call_written(name.as_deref(), text.len());
                }
            }
            DeltaBody::Waiting { call: Some(call), wait } => {
                self.calls.add_progress(*call, &format!("{}\n", waiting(wait)));
            }
            DeltaBody::Waiting { call: None, wait } => {
                self.end_thought();
                self.awaited = WaitStatus::Servers { what: waiting(wait), since: self.now };
            }
            DeltaBody::SourceLeftOut { source, why } => {
                self.print_lines(&[NarratedLine::new(Tone::Quiet, source_left_out(source, why))]);
            }
            _ if self.over.is_some_and(|over| key <= over) => {}
            DeltaBody::TextDelta { text } => {
                self.turn_to(key);
                if let Some(reply) = &mut self.reply {
                    let fresh = reply.fresh(delta.offset, text);
                    self.add_text(fresh);
                }
            }
            DeltaBody::ThinkingDelta { text } => {
                self.turn_to(key);
                self.add_thinking(text);
            }
            // The text or the call that follows ends a thought on the screen.
            DeltaBody::ThinkingStarted {} | DeltaBody::ThinkingEnded {} => {}
            DeltaBody::Cleared {} => self.withdraw(key),
        }
    }

    /// Makes this attempt the displayed one.
    pub(super) fn turn_to(&mut self, key: ReplyKey) {
        if let Some(old) = self.reply.as_ref().map(|reply| reply.key).filter(|old| *old != key) {
            self.withdraw(old);
        }
        self.reply.get_or_insert_with(|| StreamedReply::new(key));
    }

    pub(super) fn add_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.end_thought();
        if !matches!(self.awaited, WaitStatus::Answering { .. }) {
            self.awaited = WaitStatus::Answering { since: self.now };
        }
        let look = self.look();
        if let Some(reply) = &mut self.reply {
            let displayed = reply.answer.displayed();
            let lines = reply.answer.push(text, look);
            self.put_text(displayed, lines);
        }
    }

    fn add_thinking(&mut self, text: &str) {
        let (now, look) = (self.now, self.look());
        if self.reply.as_ref().is_some_and(|reply| reply.thought.is_none()) {
            self.cut_reply();
            self.awaited = WaitStatus::Thinking { since: now };
        }
        let Some(reply) = &mut self.reply else { return };
        let thought = reply.thought.get_or_insert_with(|| StreamedThought::new(now));
        thought.push(text);
        if self.fold == ThinkingFold::Open {
            let lines = thought.whole_lines(look);
            lines.into_iter().for_each(|line| self.put_line(line));
        }
    }

    /// Ends a thought; one line of it stays.
    pub(super) fn end_thought(&mut self) {
        let (now, look) = (self.now, self.look());
        let Some(thought) = self.reply.as_mut().and_then(|reply| reply.thought.take()) else { return };
        if self.fold == ThinkingFold::Open {
            thought.tail(look).into_iter().for_each(|line| self.put_line(line));
        }
        self.put_line(StyledLine::of(Style::DIM, &thought_for(now.saturating_sub(thought.since))));
    }

    fn call_written(&mut self, name: Option<&str>, more: usize) {
        match (&mut self.awaited, name) {
            (WaitStatus::Writing { bytes, .. }, None) => *bytes += more,
            (_, name) => {
                let tool = harmless_line(name.unwrap_or("a tool"));
                self.awaited = WaitStatus::Writing { tool, bytes: more, since: self.now };
            }
        }
    }

    /// Drops the output of an attempt; if some of it is already final, reports that it is void.
    pub(super) fn withdraw(&mut self, key: ReplyKey) {
        let Some(reply) = self.reply.take_if(|reply| reply.key <= key) else { return };
        self.over = Some(reply.key);
        if reply.answer.displayed() == DisplayedAnswer::Something {
            let up = if self.look().glyphs == Glyphs::Unicode { "↑ " } else { "" };
            self.put_styled(Style::DIM, &format!("{up}{WITHDRAWN}"));
        }
        self.awaited = WaitStatus::Model { since: self.now };
    }

    /// Ends everything unfinished of the run.
    pub(super) fn close_run(&mut self) {
        self.finish_reply();
        self.calls.clear();
        self.narrator.forget_calls();
        self.awaited = WaitStatus::Nothing;
        self.run = ScreenRun::None;
    }

    /// Ends the reply with the text received so far.
    pub(super) fn finish_reply(&mut self) {
        self.end_thought();
        let look = self.look();
        if let Some(reply) = self.reply.take() {
            self.over = Some(reply.key);
            let displayed = reply.answer.displayed();
            self.put_text(displayed, reply.answer.finish(look));
        }
    }

    pub(super) fn cut_reply(&mut self) {
        let look = self.look();
        if let Some(reply) = &mut self.reply {
            let displayed = reply.answer.displayed();
            let lines = reply.answer.cut(look);
            self.put_text(displayed, lines);
        }
    }
}
