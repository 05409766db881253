//! A person for tests: gives a fixed answer and records the questions.

use std::io;

use crate::asking::{Person, ServersQuestion, YesNo};
use crate::servers::ConsentAnswer;
use crate::settings::{ChangedFile, Sources};

pub(crate) struct ScriptedPerson {
    /// The answer to every question.
    pub(crate) answer: YesNo,
    /// The questions asked so far, one word each.
    pub(crate) asked: Vec<&'static str>,
}

impl ScriptedPerson {
    pub(crate) fn saying(answer: YesNo) -> Self {
        Self { answer, asked: Vec::new() }
    }
}

impl Person for ScriptedPerson {
    fn report(&mut self, _sentence: &str) {}

    fn trusts_new(&mut self, _sources: &Sources) -> io::Result<Option<YesNo>> {
        self.asked.push("new");
        Ok(Some(self.answer))
    }

    fn trusts_changed(&mut self, _changes: &[ChangedFile]) -> io::Result<Option<YesNo>> {
        self.asked.push("changed");
        Ok(Some(self.answer))
    }

    fn agrees_to_servers(&mut self, _question: &ServersQuestion<'_>) -> io::Result<Option<ConsentAnswer>> {
        self.asked.push("servers");
        Ok(Some(match self.answer {
            YesNo::Yes => ConsentAnswer::Yes,
            YesNo::No => ConsentAnswer::No,
        }))
    }

    fn uses_model_server(&mut self, _doubt: &str) -> io::Result<YesNo> {
        self.asked.push("model server");
        Ok(self.answer)
    }
}
