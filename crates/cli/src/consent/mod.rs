//! Implements [`Person`] for the terminal: asks which projects to trust, which servers may start, which model to use.

mod model_server;
mod servers;
mod trust;

use std::io::{self, BufRead, Write};

use windlass_setup::asking::{Person, ServersQuestion, YesNo};
use windlass_setup::servers::ConsentAnswer;
use windlass_setup::settings::{ChangedFile, Sources};

pub(crate) use self::servers::{about, description_lines, wording};
use crate::output::harmless_line;
use crate::streams::print_notice;

/// The person at the terminal: questions go to standard error, answers come from standard input.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TerminalPerson;

impl Person for TerminalPerson {
    fn report(&mut self, sentence: &str) {
        print_notice(&format!("windlass: {}", harmless_line(sentence)));
    }

    fn trusts_new(&mut self, sources: &Sources) -> io::Result<Option<YesNo>> {
        trust::ask_new(sources)
    }

    fn trusts_changed(&mut self, changes: &[ChangedFile]) -> io::Result<Option<YesNo>> {
        trust::ask_changed(changes)
    }

    fn agrees_to_servers(&mut self, question: &ServersQuestion<'_>) -> io::Result<Option<ConsentAnswer>> {
        servers::ask(question)
    }

    fn uses_model_server(&mut self, doubt: &str) -> io::Result<YesNo> {
        model_server::ask(doubt, io::stdin().lock(), io::stderr().lock())
    }
}

/// Asks until the answer is one of `letters`. Returns `None` at the end of input, which counts as no decision.
pub(crate) fn ask<T>(question: &str, letters: &str, read: impl Fn(&str) -> Option<T>) -> io::Result<Option<T>> {
    let mut screen = io::stderr().lock();
    loop {
        write!(screen, "{question}")?;
        screen.flush()?;
        let mut line = String::new();
        if io::stdin().lock().read_line(&mut line)? == 0 {
            writeln!(screen)?;
            return Ok(None);
        }
        match read(&line.trim().to_lowercase()) {
            Some(answer) => return Ok(Some(answer)),
            None => writeln!(screen, "not understood: answer {letters}")?,
        }
    }
}
