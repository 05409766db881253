//! Consent of the person: to the servers a project configures, and to tools that have changed.

use windlass_mcp::ServerName;
use windlass_setup::servers::{self, ConsentAnswer, ConsentAnswers};
use windlass_setup::settings::{ServerConsent, Sources};

use super::super::prepared_run;
use super::inquiry::Inquiry;
use crate::consent::{about, description_lines};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::{harmless_line, short_line};
use crate::streams::print;

const SAID: usize = 300;

/// Approves or declines the servers in this project's files, as they are configured now.
pub(super) fn approve(sources: &Sources, answer: ConsentAnswer) -> CommandResult {
    let settings = sources.resolve()?;
    prepared_run::make_data_dir(&settings.place)?;
    let mut agreements = ConsentAnswers::read(&servers::folder(&settings.place.data_dir.value));
    let mut asked: Vec<&ServerConsent> =
        settings.servers.values().filter_map(|server| server.consent.as_ref()).collect();
    asked.sort();
    asked.dedup();
    if asked.is_empty() {
        return Err(CommandError::new(Exit::Usage, "this project names no MCP servers that wait for your consent"));
    }
    for consent in asked {
        let about = about(&agreements, consent);
        agreements.record(consent, answer).map_err(|error| CommandError::output(&error))?;
        let said = match answer {
            ConsentAnswer::Yes => "Agreed to",
            ConsentAnswer::InSandbox => "Agreed, in the sandbox, to",
            ConsentAnswer::No => "Refused",
        };
        print(&format!("{said} {}:\n", consent.file.display()))?;
        let named = settings.servers.iter().filter(|(_, server)| server.consent.as_ref() == Some(consent));
        for (name, server) in named {
            for line in description_lines(name, &server.config) {
                print(&format!("  {line}\n"))?;
            }
        }
        for line in about {
            print(&format!("{line}\n"))?;
        }
    }
    Ok(Exit::Done)
}

/// Accepts a server's tools as they are now.
pub(super) async fn accept(inquiry: &Inquiry, name: &ServerName) -> CommandResult {
    let state = inquiry.connect(name).await?;
    if state.changed.is_empty() {
        print(&format!("No tool of {name} has changed since you accepted it.\n"))?;
        return Ok(Exit::Done);
    }
    for changed in &state.changed {
        let tool = harmless_line(&changed.name);
        let (before, now) = (short_line(&changed.before.0, SAID), short_line(&changed.now.0, SAID));
        print(&format!("{tool}\n  said: {before}\n  says: {now}\n"))?;
        if changed.before.1 != changed.now.1 {
            print("  and takes other arguments\n")?;
        }
    }
    inquiry.servers()?.accept(name)?;
    print(&format!("Accepted as they are now: {} of {name}.\n", state.changed.len()))?;
    Ok(Exit::Done)
}
