//! A person for tests: answers as the test says, and remembers what they were asked.

use std::io;

use crate::asking::{Answer, Person, ServersQuestion};
use crate::servers::ConsentAnswer;
use crate::settings::{Changed, Sources};

pub(crate) struct ScriptedPerson {
    /// What they answer.
    pub(crate) answer: Answer,
    /// What they were asked about, a word each.
    pub(crate) asked: Vec<&'static str>,
}

impl ScriptedPerson {
    pub(crate) fn saying(answer: Answer) -> Self {
        Self { answer, asked: Vec::new() }
    }
}

impl Person for ScriptedPerson {
    fn tell(&mut self, _sentence: &str) {}

    fn trusts_new(&mut self, _sources: &Sources) -> io::Result<Option<Answer>> {
        self.asked.push("new");
        Ok(Some(self.answer))
    }

    fn trusts_changed(&mut self, _changes: &[Changed]) -> io::Result<Option<Answer>> {
        self.asked.push("changed");
        Ok(Some(self.answer))
    }

    fn agrees_to_servers(&mut self, _question: &ServersQuestion<'_>) -> io::Result<Option<ConsentAnswer>> {
        self.asked.push("servers");
        Ok(Some(match self.answer {
            Answer::Yes => ConsentAnswer::Yes,
            Answer::No => ConsentAnswer::No,
        }))
    }

    fn uses_model_server(&mut self, _doubt: &str) -> io::Result<Answer> {
        self.asked.push("model server");
        Ok(self.answer)
    }
}
