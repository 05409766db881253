//! The arguments of `windlass mcp-serve`.

use clap::Args;

use super::common::{CommonFlags, RuleFlags};

pub(super) const SERVE_EXAMPLES: &str = r#"Examples:
  windlass mcp-serve
  windlass mcp-serve --workspace ~/project --allow 'run_command(cargo *)'

For another program's `mcpServers`:
  {
    "mcpServers": {
      "windlass": {
        "command": "windlass",
        "args": ["mcp-serve", "--workspace", "/home/me/project"],
        "env": { "OPENAI_API_KEY": "..." }
      }
    }
  }

It offers the tools ask, resume, stop, list_sessions and read_session, and sessions as resources. What
needs a person's consent is asked of the client where it can ask its person, and denied elsewhere:
allow it with --allow, or in windlass.toml."#;

// `windlass mcp-serve`.
#[derive(Clone, Debug, Args)]
#[command(mut_arg("json", |json| json.hide(true)))]
pub struct McpServeArgs {
    /// The rules of new runs.
    #[command(flatten)]
    pub rules: RuleFlags,
    /// Flags shared by several commands.
    #[command(flatten)]
    pub common: CommonFlags,
}
