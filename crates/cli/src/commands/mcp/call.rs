//! `windlass mcp call`: calls a tool by hand. The person who types the command has thereby approved the call.

use std::io::{self, IsTerminal as _, Read as _};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use windlass_mcp::ServerName;
use windlass_setup::settings::nearest;
use windlass_tools::{CallContext, Tool, ToolServers as _};
use windlass_vocab::{Outcome, OutcomeKind, SessionId, Wait};

use super::inquiry::{Inquiry, OutputFormat, progress_lines};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::{ThrottledProgress, broken_json, harmless_codes, harmless_json, harmless_lines};
use crate::streams::print;

/// Default timeout of a call by hand.
const PATIENCE: Duration = Duration::from_secs(300);

pub(super) async fn call(
    inquiry: &Inquiry,
    server: &ServerName,
    tool: &str,
    arguments: &str,
    timeout: Option<Duration>,
) -> CommandResult {
    let arguments = read(arguments)?;
    inquiry.connect(server).await?;
    let tools = inquiry.servers()?.tools();
    let of_server: Vec<&Arc<dyn Tool>> =
        tools.iter().filter(|one| one.spec().name.server() == server.as_str()).collect();
    let Some(found) = of_server.iter().find(|one| one.spec().name.bare() == tool) else {
        let names: Vec<&str> = of_server.iter().map(|one| one.spec().name.bare()).collect();
        let text = format!("`{server}` has no tool `{tool}`; {}", nearest(tool, &names));
        return Err(CommandError::new(Exit::Usage, text));
    };
    let (words, mut passing) = ThrottledProgress::on(progress_lines());
    let waiting = words.clone();
    let waits = Arc::new(move |wait: Wait| drop(waiting.send_replace(windlass_narrate::waiting(&wait))));
    let progress = Arc::new(move |text: &str| drop(words.send_replace(text.trim_end().to_owned())));
    let context = CallContext { progress, waits, ..CallContext::detached(SessionId(uuid::Uuid::now_v7())) };
    let cancel = context.cancel.clone();
    let call = tokio::time::timeout(timeout.unwrap_or(PATIENCE), found.run(context, arguments));
    let given_up = |text: &str| Err(CommandError::new(Exit::Cancelled, text));
    let outcome = tokio::select! {
        outcome = call => {
            outcome.or_else(|_| given_up("the call took too long and was given up; --timeout gives it more time"))
        }
        _ = tokio::signal::ctrl_c() => {
            cancel.cancel();
            given_up("the call was stopped")
        }
        () = passing.show() => given_up("the call was stopped"),
    };
    passing.finish();
    inquiry.print_news();
    show(inquiry.format, &outcome?)
}

fn show(format: OutputFormat, outcome: &Outcome) -> CommandResult {
    if outcome.pause.is_some() {
        let text = "the tool wants an answer from you before it goes on, which a call by hand can't give: use a chat";
        return Err(CommandError::new(Exit::Waiting, text));
    }
    let exit = if outcome.kind == OutcomeKind::Ok { Exit::Done } else { Exit::Failed };
    match format {
        OutputFormat::Json => {
            let structured = outcome.structured.as_ref().map(windlass_vocab::Json::to_value);
            let value = json!({"outcome": outcome.kind, "text": outcome.text, "structured": structured});
            print(&(harmless_json(value.to_string()) + "\n"))?;
        }
        OutputFormat::Text if exit == Exit::Done => {
            let text = outcome.text.trim_end_matches('\n');
            // Control codes of a server's output must not reach the terminal, not even through a pipe.
            let text = if io::stdout().is_terminal() { harmless_lines(text).into() } else { harmless_codes(text) };
            print(&format!("{text}\n"))?;
        }
        OutputFormat::Text => return Err(CommandError::new(exit, outcome.text.clone())),
    }
    Ok(exit)
}

fn read(text: &str) -> Result<Value, CommandError> {
    let wrong = |problem: String| CommandError::new(Exit::Usage, problem);
    let mut piped = String::new();
    let text = if text == "-" {
        io::stdin().lock().read_to_string(&mut piped).map_err(|error| wrong(error.to_string()))?;
        &piped
    } else {
        text
    };
    match serde_json::from_str(text) {
        Ok(object @ Value::Object(_)) => Ok(object),
        Ok(_) => Err(wrong("the arguments must be a JSON object, e.g. '{\"path\": \".\"}'".into())),
        Err(error) => {
            let what = broken_json(text, &error);
            Err(wrong(format!("the arguments are no JSON: {what}; write e.g. '{{\"path\": \".\"}}'")))
        }
    }
}
