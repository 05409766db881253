//! Lists and displays the servers and their tools.

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::{Value, json};
use tokio::time::Instant;
use windlass_mcp::{ConnectionState, ServerName, ServerState, UnofferedTool};
use windlass_setup::settings::ConfiguredServer;
use windlass_tools::ToolServers as _;
use windlass_vocab::{EffectClass, ToolSpec};

use super::inquiry::{Inquiry, NO_SERVER, OutputFormat, progress_lines};
use super::strange;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::setting_words::place_text;
use crate::output::{harmless_line, harmless_lines, short_line};
use crate::streams::print;

const DESCRIPTION: usize = 100;
const REASON: usize = 160;
/// How many of a server's unusable tools a list names.
const LEFT_OUT: usize = 5;

pub(super) async fn list(inquiry: &Inquiry) -> CommandResult {
    let waiting = inquiry.waiting();
    for (name, server) in &inquiry.configured {
        strange::report(name, server);
    }
    let Some(servers) = inquiry.attached.servers() else {
        // An empty list is explained in text only; JSON output is one line per server, so it has none.
        if waiting.is_empty() && inquiry.format == OutputFormat::Text {
            print(&format!("{NO_SERVER}\n"))?;
        }
        list_waiting(inquiry, &waiting)?;
        return Ok(Exit::Done);
    };
    let names: Vec<ServerName> = servers.states().into_iter().map(|state| state.name).collect();
    let width = names.iter().map(|name| name.as_str().len()).max().unwrap_or(0);
    let reached = |name: ServerName| async move {
        // The result is in the server's state.
        let _ = servers.connect(&name).await;
        name
    };
    let mut reaching: FuturesUnordered<_> = names.iter().cloned().map(reached).collect();
    let (mut awaited, mut lines) = (names.clone(), progress_lines());
    // Print in name order, each server as soon as it and those before it are settled.
    let mut unprinted = names.iter().peekable();
    while !awaited.is_empty() {
        lines.show(&waiting_for(&awaited, names.len()));
        if let Some(settled) = reaching.next().await {
            awaited.retain(|name| *name != settled);
        }
        lines.erase();
        let states = servers.states();
        while let Some(name) = unprinted.next_if(|name| !awaited.contains(name)) {
            if let Some(state) = states.iter().find(|state| state.name == *name) {
                print(&server_text(inquiry, state, width))?;
            }
        }
    }
    list_waiting(inquiry, &waiting)?;
    Ok(Exit::Done)
}

/// Says how many of all servers are still awaited, and which.
fn waiting_for(awaited: &[ServerName], all: usize) -> String {
    let names: Vec<&str> = awaited.iter().map(ServerName::as_str).collect();
    format!("waiting for {} of {all}: {}", names.len(), names.join(", "))
}

fn server_text(inquiry: &Inquiry, state: &ServerState, width: usize) -> String {
    match inquiry.format {
        OutputFormat::Json => lines(std::iter::once(server_json(inquiry, state))),
        OutputFormat::Text => line(inquiry, state, width) + &unusable_tools(state),
    }
}

/// Describes the tools that a server lists and that can't be offered, one line each.
fn unusable_tools(state: &ServerState) -> String {
    let line =
        |out: &UnofferedTool| format!("  left out: `{}`: {}\n", harmless_line(&out.tool), harmless_line(&out.reason));
    let mut lines: String = state.left_out.iter().take(LEFT_OUT).map(line).collect();
    if let Some(more @ 1..) = state.left_out.len().checked_sub(LEFT_OUT) {
        lines += &format!("  left out: {more} more; `windlass mcp test {}` names them\n", state.name);
    }
    lines
}

/// Prints the servers that nobody has agreed to.
fn list_waiting(inquiry: &Inquiry, waiting: &[(&ServerName, &ConfiguredServer)]) -> Result<(), CommandError> {
    for (name, server) in waiting {
        let (state, told) = if inquiry.refused.contains(*name) {
            ("declined", "declined by you; `windlass mcp approve` takes that back")
        } else {
            ("waits for consent", "waits for your consent: windlass mcp approve")
        };
        let line = match inquiry.format {
            OutputFormat::Json => {
                json!({"name": name.as_str(), "state": state, "from": place_text(&server.origin)}).to_string()
            }
            OutputFormat::Text => format!("{name}  {told}  ({})", place_text(&server.origin)),
        };
        print(&format!("{line}\n"))?;
    }
    Ok(())
}

/// Returns where a server is configured.
fn origin(inquiry: &Inquiry, name: &ServerName) -> Option<String> {
    inquiry.configured.get(name).map(|server| place_text(&server.origin))
}

fn line(inquiry: &Inquiry, state: &ServerState, width: usize) -> String {
    let revision = state.revision.as_deref().unwrap_or("-");
    let what = match (&state.last_error, state.tools.len()) {
        (Some(_), _) if state.state == ConnectionState::NeedsAuth => format!("run `windlass mcp login {}`", state.name),
        (Some(error), _) => short_line(error, REASON),
        (None, 1) => "1 tool".to_owned(),
        (None, tools) => format!("{tools} tools"),
    };
    let changed = match state.changed.len() {
        0 => String::new(),
        count => format!(", {count} changed: `windlass mcp accept {}`", state.name),
    };
    let from = origin(inquiry, &state.name).map(|origin| format!("  ({origin})")).unwrap_or_default();
    format!("{:<width$}  {:<11}  {revision:<10}  {what}{changed}{from}\n", state.name.as_str(), word(state.state))
}

fn word(state: ConnectionState) -> &'static str {
    match state {
        ConnectionState::Disabled => "disabled",
        ConnectionState::Idle => "idle",
        ConnectionState::Connecting => "connecting",
        ConnectionState::Connected => "connected",
        ConnectionState::Restarting => "restarting",
        ConnectionState::NeedsAuth => "needs login",
        ConnectionState::Failed => "failed",
        ConnectionState::Closed => "closed",
    }
}

pub(super) async fn test(inquiry: &Inquiry, name: &ServerName) -> CommandResult {
    if let Some(server) = inquiry.configured.get(name) {
        strange::report(name, server);
    }
    let begun = Instant::now();
    let state = inquiry.connect(name).await?;
    let took = begun.elapsed().as_millis();
    if inquiry.format == OutputFormat::Json {
        let mut described = server_json(inquiry, &state);
        described["took_ms"] = json!(took);
        print(&lines(std::iter::once(described)))?;
        return Ok(Exit::Done);
    }
    let about = state.about.as_deref().map(harmless_line).unwrap_or_else(|| "it does not say what it is".into());
    let revision = state.revision.as_deref().unwrap_or("unknown");
    print(&format!("{name} answers after {took} ms: {about}, protocol {revision}\n"))?;
    if let Some(instructions) = &state.instructions {
        print(&format!("It says: {}\n", harmless_lines(instructions)))?;
    }
    print_tools(&state.tools)?;
    for changed in &state.changed {
        let name = harmless_line(&changed.name);
        print(&format!(
            "{name} has changed since you accepted it; it says now: {}\n",
            short_line(&changed.now.0, REASON)
        ))?;
    }
    Ok(Exit::Done)
}

pub(super) async fn tools(inquiry: &Inquiry, name: Option<&ServerName>) -> CommandResult {
    let names = match name {
        Some(name) => vec![name.clone()],
        None => {
            let servers = inquiry.servers()?;
            // Connect to all at once; wait for one after the other.
            servers.wake();
            servers.states().into_iter().map(|state| state.name).collect()
        }
    };
    let mut exit = Exit::Done;
    for one in &names {
        match (inquiry.connect(one).await, name) {
            (Ok(state), _) if inquiry.format == OutputFormat::Json => print(&lines(state.tools.iter().map(tool)))?,
            (Ok(state), _) => print_tools(&state.tools)?,
            (Err(error), Some(_)) => return Err(error),
            (Err(error), None) => {
                super::print_notice(&format!("windlass: {}", harmless_line(&error.message)));
                exit = Exit::Failed;
            }
        }
    }
    Ok(exit)
}

fn print_tools(tools: &[ToolSpec]) -> Result<(), CommandError> {
    let width = tools.iter().map(|tool| tool.name.as_str().len()).max().unwrap_or(0).min(48);
    for tool in tools {
        let (name, effect) = (harmless_line(tool.name.as_str()), effect(tool.effect));
        print(&format!("  {name:<width$}  {effect:<12}  {}\n", short_line(&tool.description, DESCRIPTION)))?;
    }
    Ok(())
}

fn effect(class: EffectClass) -> &'static str {
    match class {
        EffectClass::ReadOnly => "reads",
        EffectClass::Idempotent => "sets",
        EffectClass::Verifiable => "can be asked",
        EffectClass::Once => "acts",
    }
}

fn server_json(inquiry: &Inquiry, state: &ServerState) -> Value {
    json!({
        "name": state.name.as_str(),
        "state": word(state.state),
        "revision": state.revision,
        "about": state.about,
        "tools": state.tools.iter().map(|tool| tool.name.bare()).collect::<Vec<_>>(),
        "changed": state.changed.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
        "left_out": state.left_out.iter().map(|out| json!({"tool": out.tool, "reason": out.reason})).collect::<Vec<_>>(),
        "last_error": state.last_error,
        "from": origin(inquiry, &state.name),
    })
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name.as_str(),
        "description": spec.description,
        "effect": spec.effect,
        "input_schema": spec.schema.to_value(),
        "tags": spec.tags,
    })
}

fn lines(values: impl Iterator<Item = Value>) -> String {
    values.map(|value| value.to_string() + "\n").collect()
}
