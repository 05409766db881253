//! `windlass mcp-serve`: offers the agent and its sessions to other programs (P5). [`crate::serve`] handles requests.

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use windlass_runtime::LiveSessions;
use windlass_setup::built_agents::BuiltAgents;
use windlass_setup::servers::SharedServers;
use windlass_setup::session_agent::{SessionAgents, SharedStore};
use windlass_setup::settings::Env;
use windlass_setup::store;

use super::block_on::block_on;
use super::prepared_run;
use crate::args::{McpServeArgs, flags};
use crate::demo::WORDS;
use crate::error::{CommandError, CommandResult};
use crate::exit::Exit;
use crate::serve::{self, ServerContext};
use crate::streams::print_notice;

pub(super) fn mcp_serve(data_dir: Option<PathBuf>, args: &McpServeArgs, env: Env) -> CommandResult {
    if args.common.json {
        let text = "mcp-serve prints nothing but the protocol; leave --json out";
        return Err(CommandError::new(Exit::Usage, text));
    }
    let flags = flags(data_dir, &args.rules, &args.common);
    let place = prepared_run::place(&prepared_run::gather(flags.clone(), env.clone())?)?;
    if io::stdin().is_terminal() {
        print_notice(
            "windlass: this speaks MCP on standard input and output, for another program; \
              `windlass mcp-serve --help` shows how to name it there, Ctrl-D ends it",
        );
    }
    block_on(async {
        let store = SharedStore(store::open(&place)?);
        let agents = SessionAgents {
            flags,
            env,
            current_folder: prepared_run::current_folder()?,
            place,
            store,
            servers: SharedServers::default(),
            http: prepared_run::http_client()?,
            built: BuiltAgents::default(),
            live: LiveSessions::default(),
            deadline: args.common.deadline,
            demo_words: WORDS,
        };
        serve::serve(ServerContext { agents, folder: args.common.workspace.clone() }).await
    })
}
