//! What a run does, for clients that show thinking: the model's reasoning, and a line for each thing that happens.

use windlass_narrate::{Detail, LineSpeaker, Narrator, Tone};
use windlass_vocab::{DeltaBody, Event};

/// Folds the events of a run into text about what it does.
#[derive(Debug)]
pub(super) struct Progress {
    narrator: Narrator,
    line: LineState,
}

/// Where the text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineState {
    AtStart,
    Within,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { narrator: Narrator::new(Detail::Brief), line: LineState::AtStart }
    }

    /// Returns the text about an event.
    pub(super) fn text(&mut self, event: &Event) -> Option<String> {
        match event {
            Event::Record(_) => {
                let lines = self.narrator.event(event);
                // Lines of the model and of people are the conversation itself; passing ones are about the next moment.
                let shown = lines.iter().filter(|line| match (line.by, line.tone) {
                    (LineSpeaker::Model | LineSpeaker::Person, _) => false,
                    (LineSpeaker::Tool | LineSpeaker::Windlass, Tone::Passing | Tone::Delay | Tone::Bookkeeping) => {
                        false
                    }
                    (LineSpeaker::Tool | LineSpeaker::Windlass, _) => true,
                });
                let text: String = shown.map(|line| format!("{line}\n")).collect();
                (!text.is_empty()).then(|| self.own_line(&text))
            }
            Event::Delta(delta) => match &delta.body {
                DeltaBody::ThinkingDelta { text } => {
                    self.line = if text.ends_with('\n') { LineState::AtStart } else { LineState::Within };
                    Some(text.clone())
                }
                DeltaBody::ThinkingEnded {} if self.line == LineState::Within => Some(self.own_line("")),
                DeltaBody::ThinkingEnded {}
                | DeltaBody::TextDelta { .. }
                | DeltaBody::ThinkingStarted {}
                | DeltaBody::CallDelta { .. }
                | DeltaBody::Cleared {}
                | DeltaBody::Waiting { .. }
                | DeltaBody::SourceLeftOut { .. } => None,
            },
        }
    }

    fn own_line(&mut self, text: &str) -> String {
        let begin = if self.line == LineState::Within { "\n" } else { "" };
        self.line = LineState::AtStart;
        format!("{begin}{text}")
    }
}
