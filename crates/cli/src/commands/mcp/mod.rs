//! `windlass mcp`: the servers as a person sees them. Calls no model.

mod add;
mod call;
mod consent;
mod list;
mod login;

use std::collections::BTreeMap;
use std::path::PathBuf;

use windlass::mcp::{ServerError, ServerName, ServerState, Servers};
use windlass::vocab::Attendance;

use super::streams::{output_failed, tell};
use super::{CommandError, Done, block_on, job};
use crate::args::{McpArgs, McpCommand};
use crate::exit::Exit;
use crate::output::harmless_line;
use crate::secrets;
use crate::servers::{Attached, ConsentAnswer};
use crate::settings::{Env, Server, Settings, Sources, Whose};

pub(super) fn mcp(data_dir: Option<PathBuf>, args: &McpArgs, env: Env) -> Done {
    let sources = job::gather(args.flags(data_dir), env)?;
    match &args.command {
        McpCommand::Add(add) => return add::add(add, &sources),
        McpCommand::Remove { server, project } => {
            let whose = if *project { Whose::Project } else { Whose::User };
            return add::remove(&named(server)?, whose, &sources);
        }
        McpCommand::Approve { no } => {
            let answer = if *no { ConsentAnswer::No } else { ConsentAnswer::Yes };
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
        let attached = attached(&settings, &sources)?;
        let shape = if args.json { Shape::Json } else { Shape::Text };
        let desk = Desk { attached, configured: settings.servers, shape };
        let done = desk.serve(&args.command).await;
        desk.attached.close().await;
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
struct Desk {
    attached: Attached,
    configured: BTreeMap<ServerName, Server>,
    shape: Shape,
}

impl Desk {
    async fn serve(&self, command: &McpCommand) -> Done {
        match command {
            McpCommand::List => list::list(self).await,
            McpCommand::Test { server } => list::test(self, &named(server)?).await,
            McpCommand::Tools { server } => list::tools(self, server.as_deref().map(named).transpose()?.as_ref()).await,
            McpCommand::Call { server, tool, arguments, timeout } => {
                call::call(self, &named(server)?, tool, arguments, *timeout).await
            }
            McpCommand::Accept { server } => consent::accept(self, &named(server)?).await,
            McpCommand::Login { server } => login::login(self, &named(server)?).await,
            McpCommand::Logout { server } => login::logout(self, &named(server)?),
            // Needs no server.
            McpCommand::Add(_) | McpCommand::Remove { .. } | McpCommand::Approve { .. } => Ok(Exit::Done),
        }
    }

    fn servers(&self) -> Result<&Servers, CommandError> {
        let none = || {
            let text = "no MCP server is configured: `windlass mcp add NAME -- COMMAND` adds one, and so does \
                        `mcpServers` in windlass.toml";
            CommandError::new(Exit::Usage, text)
        };
        self.attached.servers().ok_or_else(none)
    }

    /// Reaches a server; what it has to tell is told.
    async fn connect(&self, name: &ServerName) -> Result<ServerState, CommandError> {
        let state = self.servers()?.connect(name).await;
        match &state {
            Ok(_) => self.tell_news(),
            // The error says it all.
            Err(_) => drop(self.attached.news()),
        }
        Ok(state?)
    }

    fn tell_news(&self) {
        for text in self.attached.news() {
            tell(&format!("windlass: {}", harmless_line(&text)));
        }
    }
}

fn attached(settings: &Settings, sources: &Sources) -> Result<Attached, CommandError> {
    let secrets = secrets::known(&sources.env, Some(settings));
    // Consent has a command of its own.
    let attached = Attached::new(settings, &secrets, &sources.env, Attendance::Unattended);
    attached.map_err(|error| output_failed(&error))
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
