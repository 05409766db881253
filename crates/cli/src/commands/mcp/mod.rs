//! `windlass mcp`: the servers as a person sees them. Calls no model.

mod add;
mod call;
mod consent;
mod list;
mod login;
mod strange;

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use windlass::mcp::{ServerError, ServerName, ServerState, Servers};
use windlass_setup::secrets;
use windlass_setup::servers::{Attached, ConsentAnswer};
use windlass_setup::settings::{Env, Server, Settings, Sources, Whose, nearest};

use super::block_on::block_on;
use super::job;
use crate::args::{McpArgs, McpCommand};
use crate::consent::wording;
use crate::error::{CommandError, Done};
use crate::exit::Exit;
use crate::output::{Lines, Stream, harmless_line};
use crate::streams::tell;

const NO_SERVER: &str = "no MCP server is configured: `windlass mcp add NAME -- COMMAND` adds one, and so does \
                         `mcpServers` in windlass.toml";

pub(super) fn mcp(data_dir: Option<PathBuf>, args: &McpArgs, env: Env) -> Done {
    let sources = job::gather_unasked(args.flags(data_dir), env)?;
    match &args.command {
        McpCommand::Add(add) => return add::add(add, &sources),
        McpCommand::Remove { server, project } => {
            let whose = if *project { Whose::Project } else { Whose::User };
            return add::remove(&named(server)?, whose, &sources);
        }
        McpCommand::Approve { no, sandbox } => {
            let answer = match (*no, *sandbox) {
                (true, _) => ConsentAnswer::No,
                (false, true) => ConsentAnswer::InSandbox,
                (false, false) => ConsentAnswer::Yes,
            };
            return consent::approve(&sources, answer);
        }
        McpCommand::List
        | McpCommand::Test { .. }
        | McpCommand::Tools { .. }
        | McpCommand::Call { .. }
        | McpCommand::Accept { .. }
        | McpCommand::Login { .. }
        | McpCommand::Logout { .. } => {}
    }
    block_on(async {
        let settings = sources.resolve()?;
        job::make_data_dir(&settings.place)?;
        for notice in &settings.notices {
            tell(&format!("windlass: {}", harmless_line(notice)));
        }
        let attached = attached(&settings, &sources)?;
        let shape = if args.json { Shape::Json } else { Shape::Text };
        let inquiry = Inquiry { attached, configured: settings.servers, shape };
        let done = inquiry.serve(&args.command).await;
        inquiry.attached.close().await;
        done
    })
}

/// How answers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Text,
    Json,
}

/// The servers, and how what is asked of them is answered.
struct Inquiry {
    attached: Attached,
    configured: BTreeMap<ServerName, Server>,
    shape: Shape,
}

impl Inquiry {
    async fn serve(&self, command: &McpCommand) -> Done {
        match command {
            McpCommand::List => list::list(self).await,
            McpCommand::Test { server } => list::test(self, &self.server(server)?).await,
            McpCommand::Tools { server } => {
                let server = server.as_deref().map(|server| self.server(server)).transpose()?;
                list::tools(self, server.as_ref()).await
            }
            McpCommand::Call { server, tool, arguments, timeout } => {
                call::call(self, &self.server(server)?, tool, arguments, *timeout).await
            }
            McpCommand::Accept { server } => consent::accept(self, &self.server(server)?).await,
            McpCommand::Login { server } => login::login(self, &self.server(server)?).await,
            McpCommand::Logout { server } => login::logout(self, &self.server(server)?),
            // Needs no server.
            McpCommand::Add(_) | McpCommand::Remove { .. } | McpCommand::Approve { .. } => Ok(Exit::Done),
        }
    }

    /// The server a person names, if it is there to be used.
    fn server(&self, text: &str) -> Result<ServerName, CommandError> {
        let name = named(text)?;
        let usage = |text: String| Err(CommandError::new(Exit::Usage, text));
        if self.configured.is_empty() {
            return self.servers().map(|_| name);
        }
        if !self.configured.contains_key(&name) {
            let known: Vec<&str> = self.configured.keys().map(ServerName::as_str).collect();
            return usage(format!("there is no MCP server `{name}`; {}", nearest(name.as_str(), &known)));
        }
        if self.waiting().iter().any(|(waiting, _)| **waiting == name) {
            return usage(format!("MCP server `{name}` waits for your consent; `windlass mcp approve` gives it"));
        }
        Ok(name)
    }

    fn servers(&self) -> Result<&Servers, CommandError> {
        let waiting = self.waiting();
        let none = || {
            if !waiting.is_empty() {
                let names: Vec<&str> = waiting.iter().map(|(name, _)| name.as_str()).collect();
                let text = format!(
                    "these MCP servers wait for your consent: {}; `windlass mcp approve` gives it",
                    names.join(", ")
                );
                return CommandError::new(Exit::Usage, text);
            }
            CommandError::new(Exit::Usage, NO_SERVER)
        };
        self.attached.servers().ok_or_else(none)
    }

    /// Those that are configured and not used before the person agrees.
    fn waiting(&self) -> Vec<(&ServerName, &Server)> {
        let used = self.attached.servers().map(Servers::states).unwrap_or_default();
        let is_used = |name: &ServerName| used.iter().any(|state| state.name == *name);
        self.configured.iter().filter(|(name, _)| !is_used(name)).collect()
    }

    /// Reaches a server; what it has to tell is told.
    async fn connect(&self, name: &ServerName) -> Result<ServerState, CommandError> {
        let (servers, mut lines) = (self.servers()?, progress_lines());
        lines.show(&format!("waiting for {name}"));
        let state = servers.connect(name).await;
        lines.erase();
        match &state {
            Ok(_) => self.tell_news(),
            // The error says it all.
            Err(_) => drop(self.attached.news()),
        }
        Ok(state?)
    }

    fn tell_news(&self) {
        for news in self.attached.news() {
            tell(&format!("windlass: {}", harmless_line(&wording(&news))));
        }
    }
}

/// Where is told what is awaited.
fn progress_lines() -> Lines<io::Stderr> {
    let stream = if io::stderr().is_terminal() { Stream::Terminal } else { Stream::Piped };
    Lines::new(io::stderr(), stream)
}

fn attached(settings: &Settings, sources: &Sources) -> Result<Attached, CommandError> {
    let secrets = secrets::known(&sources.env, Some(settings));
    // Consent has a command of its own.
    let attached = Attached::new(settings, &secrets, &sources.env, None);
    attached.map_err(|error| CommandError::output(&error))
}

fn named(text: &str) -> Result<ServerName, CommandError> {
    text.parse::<ServerName>().map_err(|error| CommandError::new(Exit::Usage, error.to_string()))
}

impl From<ServerError> for CommandError {
    fn from(error: ServerError) -> Self {
        let exit = match &error {
            ServerError::Unknown(_) => Exit::Usage,
            ServerError::Unavailable { .. } => Exit::Failed,
        };
        Self::new(exit, error.to_string())
    }
}
