//! `windlass mcp`: manages and inspects the MCP servers. Calls no model.

mod add;
mod call;
mod consent;
mod inquiry;
mod list;
mod login;
mod strange;

use std::path::PathBuf;

use windlass_setup::secrets;
use windlass_setup::servers::{AttachedServers, ConsentAnswer};
use windlass_setup::settings::{Env, Settings, SettingsScope, Sources};

use self::inquiry::{Inquiry, OutputFormat, parse_server_name};
use super::block_on::block_on;
use super::prepared_run;
use crate::args::{McpArgs, McpCommand};
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::output::harmless_line;
use crate::output::setting_words::settings_notice;
use crate::streams::print_notice;

pub(super) fn mcp(data_dir: Option<PathBuf>, args: &McpArgs, env: Env) -> CommandResult {
    let sources = prepared_run::gather_unasked(args.flags(data_dir), env)?;
    match &args.command {
        McpCommand::Add(add) => return add::add(add, &sources),
        McpCommand::Remove { server, project } => {
            let scope = if *project { SettingsScope::Project } else { SettingsScope::User };
            return add::remove(&parse_server_name(server)?, scope, &sources);
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
        prepared_run::make_data_dir(&settings.place)?;
        for notice in &settings.notices {
            print_notice(&format!("windlass: {}", harmless_line(&settings_notice(notice))));
        }
        let attached = attached(&settings, &sources)?;
        let format = if args.json { OutputFormat::Json } else { OutputFormat::Text };
        let refused = AttachedServers::refused(&settings);
        let inquiry = Inquiry { attached, refused, configured: settings.servers, format };
        let done = serve(&inquiry, &args.command).await;
        inquiry.attached.close().await;
        done
    })
}

/// Runs a command that needs the servers.
async fn serve(inquiry: &Inquiry, command: &McpCommand) -> CommandResult {
    match command {
        McpCommand::List => list::list(inquiry).await,
        McpCommand::Test { server } => list::test(inquiry, &inquiry.server(server)?).await,
        McpCommand::Tools { server } => {
            let server = server.as_deref().map(|server| inquiry.server(server)).transpose()?;
            list::tools(inquiry, server.as_ref()).await
        }
        McpCommand::Call { server, tool, arguments, timeout } => {
            call::call(inquiry, &inquiry.server(server)?, tool, arguments, *timeout).await
        }
        McpCommand::Accept { server } => consent::accept(inquiry, &inquiry.server(server)?).await,
        McpCommand::Login { server } => login::login(inquiry, &inquiry.server(server)?).await,
        McpCommand::Logout { server } => login::logout(inquiry, &inquiry.server(server)?),
        // These need no server connection; the caller has handled them.
        McpCommand::Add(_) | McpCommand::Remove { .. } | McpCommand::Approve { .. } => Ok(Exit::Done),
    }
}

fn attached(settings: &Settings, sources: &Sources) -> Result<AttachedServers, CommandError> {
    let secrets = secrets::known_secrets(&sources.env, Some(settings));
    // Consent has a command of its own: ask nothing here.
    let attached = AttachedServers::new(settings, &secrets, &sources.env, None);
    attached.map_err(|error| CommandError::output(&error))
}
