//! What there is to see: every server, one server, the tools.

use serde_json::{Value, json};
use tokio::time::Instant;
use windlass::mcp::{ServerName, ServerState, State};
use windlass::vocab::{EffectClass, ToolSpec};

use super::super::streams::print;
use super::super::{CommandError, Done};
use super::{Desk, Shape};
use crate::exit::Exit;
use crate::output::{harmless_line, harmless_lines, short_line};
use crate::settings::Server;

const DESCRIPTION: usize = 100;
const REASON: usize = 160;

pub(super) async fn list(desk: &Desk) -> Done {
    let waiting = desk.waiting();
    let Some(servers) = desk.attached.servers() else {
        list_waiting(desk, &waiting)?;
        return if waiting.is_empty() { desk.servers().map(|_| Exit::Done) } else { Ok(Exit::Done) };
    };
    let names: Vec<ServerName> = servers.states().into_iter().map(|state| state.name).collect();
    let reached = names.iter().map(|name| async move {
        // How it went stands in its state.
        let _ = servers.connect(name).await;
    });
    futures(reached).await;
    let states = servers.states();
    match desk.shape {
        Shape::Json => print(&lines(states.iter().map(|state| described(desk, state))))?,
        Shape::Text => {
            let width = names.iter().map(|name| name.as_str().len()).max().unwrap_or(0);
            for state in &states {
                print(&line(desk, state, width))?;
            }
        }
    }
    list_waiting(desk, &waiting)?;
    Ok(Exit::Done)
}

/// Those that nobody has agreed to yet.
fn list_waiting(desk: &Desk, waiting: &[(&ServerName, &Server)]) -> Result<(), CommandError> {
    for (name, server) in waiting {
        let line = match desk.shape {
            Shape::Json => {
                json!({"name": name.as_str(), "state": "waits for consent", "from": server.origin.place()}).to_string()
            }
            Shape::Text => format!("{name}  waits for your consent: windlass mcp approve  ({})", server.origin.place()),
        };
        print(&format!("{line}\n"))?;
    }
    Ok(())
}

/// All at once.
async fn futures(all: impl Iterator<Item = impl Future<Output = ()>>) {
    let mut all: Vec<_> = all.map(Box::pin).collect();
    std::future::poll_fn(|context| {
        all.retain_mut(|one| one.as_mut().poll(context).is_pending());
        if all.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
}

/// Where a server is configured.
fn origin(desk: &Desk, name: &ServerName) -> Option<String> {
    desk.configured.get(name).map(|server| server.origin.place())
}

fn line(desk: &Desk, state: &ServerState, width: usize) -> String {
    let revision = state.revision.as_deref().unwrap_or("-");
    let what = match (&state.last_error, state.tools.len()) {
        (Some(error), _) => short_line(error, REASON),
        (None, 1) => "1 tool".to_owned(),
        (None, tools) => format!("{tools} tools"),
    };
    let changed = match state.changed.len() {
        0 => String::new(),
        count => format!(", {count} changed: `windlass mcp accept {}`", state.name),
    };
    let from = origin(desk, &state.name).map(|origin| format!("  ({origin})")).unwrap_or_default();
    format!("{:<width$}  {:<11}  {revision:<10}  {what}{changed}{from}\n", state.name.as_str(), word(state.state))
}

fn word(state: State) -> &'static str {
    match state {
        State::Disabled => "disabled",
        State::Idle => "idle",
        State::Connecting => "connecting",
        State::Connected => "connected",
        State::Restarting => "restarting",
        State::NeedsAuth => "needs login",
        State::Failed => "failed",
        State::Closed => "closed",
    }
}

pub(super) async fn test(desk: &Desk, name: &ServerName) -> Done {
    let begun = Instant::now();
    let state = desk.connect(name).await?;
    let took = begun.elapsed().as_millis();
    if desk.shape == Shape::Json {
        let mut described = described(desk, &state);
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

pub(super) async fn tools(desk: &Desk, name: Option<&ServerName>) -> Done {
    let names = match name {
        Some(name) => vec![name.clone()],
        None => desk.servers()?.states().into_iter().map(|state| state.name).collect(),
    };
    let mut exit = Exit::Done;
    for one in &names {
        match (desk.connect(one).await, name) {
            (Ok(state), _) if desk.shape == Shape::Json => print(&lines(state.tools.iter().map(tool)))?,
            (Ok(state), _) => print_tools(&state.tools)?,
            (Err(error), Some(_)) => return Err(error),
            (Err(error), None) => {
                super::tell(&format!("windlass: {}", harmless_line(&error.message)));
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

fn described(desk: &Desk, state: &ServerState) -> Value {
    json!({
        "name": state.name.as_str(),
        "state": word(state.state),
        "revision": state.revision,
        "about": state.about,
        "tools": state.tools.iter().map(|tool| tool.name.bare()).collect::<Vec<_>>(),
        "changed": state.changed.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
        "last_error": state.last_error,
        "from": origin(desk, &state.name),
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
