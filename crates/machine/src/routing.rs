//! The intent router (T2): where the policy says so, a model is asked before anything is pinned whether the request needs
//! tools. Its verdict is part of the record of its reply; an unclear one, a failing call and a limit that forbids it mean
//! that tools are offered.
//!
//! It is asked only as long as no tool was called in the conversation. After that, the definitions of the tools belong to
//! what the provider has cached, and some wires refuse a history with calls but without definitions.

use windlass_vocab::{
    Intent, IntentRouter, Message, ModelReplied, ModelRole, Part, Planning, Spending, StopReason, TurnMode,
    TurnStarted, Usage,
};

use crate::AttemptKey;
use crate::control::Run;
use crate::draft::Draft;
use crate::notes::cut_text;
use crate::state::State;

/// The most bytes of the request and of the last answer that the router is shown.
const SHOWN_REQUEST: usize = 2_000;
const SHOWN_ANSWER: usize = 500;

/// Returns the message that asks a model whether the request needs tools.
#[must_use]
pub fn intent_request(state: &State) -> String {
    let asked = state.transcript.newest_words().unwrap_or_default();
    let answered = state.control.last.as_ref().map_or("", |(_, ended)| &ended.answer);
    let (asked, answered) = (cut_text(asked.trim(), SHOWN_REQUEST), cut_text(answered.trim(), SHOWN_ANSWER));
    let before = if answered.is_empty() { String::new() } else { format!("<before>\n{answered}\n</before>\n\n") };
    format!(
        "An assistant with tools (files, commands, the network, other programs) gets the request below. Reply with one \
         word.\n\nDIRECT: it can be answered well without any tool: small talk, a general question, an explanation, a \
         text to write in the answer.\nAGENT: something has to be looked up, read, changed, made, sent or run, or you are \
         not sure.\n\n{before}<request>\n{asked}\n</request>"
    )
}

/// Returns the verdict in a router's reply: its first word, if that stands by itself and the other word does not follow. "No
/// direct answer is possible" is none, and neither is "Direct answers are impossible".
fn intent_in(text: &str) -> Option<Intent> {
    let is_letter = |c: char| c.is_alphanumeric();
    let text = text.trim_start_matches(|c: char| !is_letter(c));
    let (first, rest) = text.split_at(text.find(|c: char| !is_letter(c)).unwrap_or(text.len()));
    let goes_on = rest.trim_start_matches(' ').starts_with(is_letter);
    let follows = |word: &str| rest.split(|c: char| !is_letter(c)).any(|other| other.eq_ignore_ascii_case(word));
    let is = |word: &str, other: &str| first.eq_ignore_ascii_case(word) && !goes_on && !follows(other);
    match (is("direct", "agent"), is("agent", "direct")) {
        (true, _) => Some(Intent::Direct),
        (false, true) => Some(Intent::Agent),
        (false, false) => None,
    }
}

impl Run {
    /// Whether a router is asked. A plan, a summary and a second try are wanted as they are.
    fn asks_router(&self) -> bool {
        let is_on = match self.policy().router {
            IntentRouter::Off => false,
            IntentRouter::Model => true,
        };
        let plans = self.policy().planning == Planning::Always;
        is_on && !plans && !self.policy().tools.is_empty() && !self.started.compact && self.started.retry_of.is_none()
    }
}

impl Draft<'_> {
    /// Starts the turn in which a router is asked, if this run begins with one.
    pub(crate) fn ask_router(&mut self) {
        let Some(run) = self.run().filter(|run| run.asks_router()) else { return };
        let has_calls = |message: &Message| matches!(message, Message::Assistant { calls, .. } if !calls.is_empty());
        if self.state.transcript.history.iter().any(has_calls) {
            return;
        }
        let (turn, chain) = (run.turn.next(), run.started.chain_of(ModelRole::Router));
        let first = chain.first().cloned().unwrap_or_default();
        // A limit is asked about when the first turn begins.
        if self.breach(&first, Spending::default()).is_none() {
            self.push(TurnStarted::new(turn, TurnMode::Route));
        }
    }

    /// Records a router's reply with its verdict. The context is pinned next.
    pub(crate) fn take_intent(&mut self, key: AttemptKey, parts: Vec<Part>, stop: StopReason, usage: Usage) {
        let Some((run, attempt)) = self.current(key) else { return };
        let reply = run.plain_reply((key, attempt), parts, stop, usage);
        let intent = match stop {
            StopReason::Stop | StopReason::Calls => intent_in(&Part::joined_text(&reply.parts)),
            StopReason::Length
            | StopReason::Paused
            | StopReason::Filtered
            | StopReason::Refused
            | StopReason::Error => None,
        };
        self.push(ModelReplied { intent: Some(intent.unwrap_or(Intent::Agent)), ..reply });
    }
}

#[cfg(test)]
mod tests {
    use windlass_vocab::Intent;

    use super::intent_in;

    // proves T2: only a clear verdict leaves the tools out
    #[test]
    fn a_verdict_is_one_of_the_two_words() {
        for (reply, verdict) in [
            ("DIRECT", Some(Intent::Direct)),
            ("**Direct.**\n", Some(Intent::Direct)),
            ("AGENT: the file has to be read", Some(Intent::Agent)),
            ("DIRECT\nSmall talk.", Some(Intent::Direct)),
            ("direct - a general question", Some(Intent::Direct)),
            ("It is DIRECT, not AGENT", None),
            ("DIRECT or AGENT?", None),
            ("DIRECT/AGENT", None),
            ("No direct answer is possible, tools are needed", None),
            ("Direct answers are not possible here", None),
            ("indirectly", None),
            ("Hello! How can I help?", None),
            ("", None),
        ] {
            assert_eq!(intent_in(reply), verdict, "{reply:?}");
        }
    }
}
