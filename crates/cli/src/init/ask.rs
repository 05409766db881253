//! The questions of `windlass init`. Each has a default answer, which an empty line accepts; ending the input (Ctrl-D)
//! cancels everything.

use std::io::{self, BufRead, Write};

use url::Url;
use windlass_machine::PRESETS;
use windlass_setup::settings::SettingsScope;
use windlass_tools::Rule;

use super::{SettingsDraft, names_server, rule};

/// The answer that leaves the server to the model's name.
const SERVER_IN_NAME: &str = "that of the model";

/// The input and output of the dialog.
pub(crate) struct InitDialog<In, Out> {
    pub(crate) keyboard: In,
    pub(crate) screen: Out,
}

/// Asks about everything in the draft. `user_file` is the path of the person's own settings.
pub(crate) fn ask<In: BufRead, Out: Write>(
    draft: &SettingsDraft,
    user_file: Option<&str>,
    person: &mut InitDialog<In, Out>,
) -> io::Result<SettingsDraft> {
    let scope = match (draft.scope, user_file) {
        (SettingsScope::Project, Some(file)) => {
            let question = format!("For [1] this folder, or [2] all of yours ({file})?");
            person.answer(&question, "1", |text| match text {
                "1" => Ok(SettingsScope::Project),
                "2" => Ok(SettingsScope::User),
                _ => Err("type 1 or 2".to_owned()),
            })?
        }
        (scope, _) => scope,
    };
    let in_name = draft.model.as_deref().is_some_and(names_server);
    let usual = if in_name { SERVER_IN_NAME } else { "OpenAI" };
    let found = draft.server.as_ref().map_or(usual, String::as_str).to_owned();
    let server = person.answer("The server's address, or OpenAI:", &found, server)?;
    let model = person.answer("The model:", draft.model.as_deref().unwrap_or("none"), |text| {
        if text == "none" { Ok(None) } else { Ok(Some(text.to_owned())) }
    })?;
    let preset = person.answer(&format!("The preset ({}):", PRESETS.join(", ")), &draft.preset, |text| {
        if PRESETS.contains(&text) { Ok(text.to_owned()) } else { Err(format!("there is no preset {text:?}")) }
    })?;
    let commands = match scope {
        SettingsScope::User => {
            person.answer("Commands to run unasked, with commas between, e.g. cargo *, git diff:", "none", commands)?
        }
        SettingsScope::Project => Vec::new(),
    };
    Ok(SettingsDraft { scope, server, model, preset, commands })
}

impl<In: BufRead, Out: Write> InitDialog<In, Out> {
    /// Asks until the answer is valid.
    fn answer<T>(&mut self, question: &str, usual: &str, read: impl Fn(&str) -> Result<T, String>) -> io::Result<T> {
        loop {
            write!(self.screen, "{question} [{usual}] ")?;
            self.screen.flush()?;
            let mut line = String::new();
            if self.keyboard.read_line(&mut line)? == 0 {
                writeln!(self.screen)?;
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let text = if line.trim().is_empty() { usual } else { line.trim() };
            match read(text) {
                Ok(answer) => return Ok(answer),
                Err(problem) => writeln!(self.screen, "  {problem}")?,
            }
        }
    }
}

fn server(text: &str) -> Result<Option<String>, String> {
    if text.eq_ignore_ascii_case("openai") || text == SERVER_IN_NAME {
        return Ok(None);
    }
    match Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(Some(text.to_owned())),
        Ok(_) | Err(_) => Err("write it like http://127.0.0.1:11434/v1".to_owned()),
    }
}

fn commands(text: &str) -> Result<Vec<String>, String> {
    if text == "none" {
        return Ok(Vec::new());
    }
    let commands: Vec<String> =
        text.split(',').map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned).collect();
    for command in &commands {
        rule(command).parse::<Rule>().map_err(|error| error.to_string())?;
    }
    Ok(commands)
}
