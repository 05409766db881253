//! Why an agent can't be built.

use windlass_machine::PRESETS;
#[cfg(feature = "mcp")]
use windlass_mcp::ConfigError;
use windlass_provider::{HttpError, ModelConfigError};
use windlass_store::StoreError;
use windlass_tools::{ParseRuleError, RegistryError, WorkspaceError};
use windlass_vocab::NotBuilt;

/// Something an agent needs is missing or wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No model was named.
    #[error(
        "no model is named; give one with `model`, e.g. `ollama:qwen3` or `openai:gpt-5-mini`, or in the environment as \
         WINDLASS_MODEL where it is read"
    )]
    NoModel,
    /// No model was named, and the server's list does not settle which one is meant.
    #[error("no model is named, and {base_url} does not settle which one is meant: {problem}")]
    NoModelPicked {
        /// The server.
        base_url: String,
        /// Why its list does not help.
        problem: String,
    },
    /// No server was named.
    #[error(
        "no server is named; write the model with its server, e.g. `ollama:qwen3`, `openai:gpt-5-mini` or \
         `http://127.0.0.1:8080/v1`, or give the address with `base_url`"
    )]
    NoBaseUrl,
    /// What stands before the colon of a model's name is no provider.
    #[error(
        "there is no provider `{prefix}`; a server with a protocol of OpenAI's is named by its address, e.g. \
         `https://llm.example/v1#big`"
    )]
    NoProvider {
        /// What stands there.
        prefix: String,
    },
    /// The chain contains a model twice.
    #[error("the chain of models contains `{name}` twice")]
    ModelTwice {
        /// The model's name.
        name: String,
    },
    /// The policy limits money, and a model costs nobody knows what: the limit would do nothing.
    #[error(
        "`{limit}` can't be kept: the price of the model `{model}` is not known; give its prices in the configuration of \
         the model, or limit tokens with `{instead}`"
    )]
    UnknownPrice {
        /// The row of the policy.
        limit: &'static str,
        /// The model's name.
        model: String,
        /// The row that limits tokens in the same way.
        instead: &'static str,
    },
    /// A chain of its own is given for a role that has none.
    #[error("the role `{role}` has no chain of its own: {problem}")]
    Role {
        /// The role.
        role: &'static str,
        /// Why.
        problem: &'static str,
    },
    /// An environment variable is invalid.
    #[error("{name}: {problem}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// There is no such preset.
    #[error("there is no preset `{name}`; there are: {known}", known = PRESETS.join(", "))]
    Preset {
        /// The requested preset.
        name: String,
    },
    /// A policy setting has a value that is not implemented yet.
    #[error(transparent)]
    NotBuilt(#[from] NotBuilt),
    /// The policy asks for passages of the program's own sources, and there are none.
    #[error("`own` in `retrieve` means sources that the program adds with `context_source`, and it adds none")]
    NoContextSource,
    /// The policy asks for passages of the workspace's files, and there is no workspace.
    #[error("`workspace` in `retrieve` needs a workspace to search")]
    NothingToRetrieve,
    /// The policy asks for passages of the workspace's files, and the rules don't let the model read them unasked.
    #[error(
        "`workspace` in `retrieve` shows the model files of the workspace unasked, which the permission rules don't \
         allow: a rule denies search_files or read_file, or asks about them"
    )]
    RetrieveForbidden,
    /// The policy asks for passages of the workspace's files, and the index of files is not compiled in.
    #[cfg(not(feature = "sqlite"))]
    #[error("`workspace` in `retrieve` needs the feature `sqlite`")]
    NoRetrieval,
    /// A permission rule is invalid.
    #[error(transparent)]
    Rule(#[from] ParseRuleError),
    /// The workspace can't be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// No place for journals was given, and no store is compiled in.
    #[cfg(not(feature = "sqlite"))]
    #[error("journals have nowhere to be kept: turn on the feature `sqlite`, give a `store`, or ask for `in_memory`")]
    NoStore,
    /// The data folder can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A tool can't be offered.
    #[error(transparent)]
    Tool(#[from] RegistryError),
    /// The output's schema can't be used.
    #[error("the schema of the output can't be used: {problem}")]
    Output {
        /// What is wrong with the schema.
        problem: String,
    },
    /// Runs of this policy end by a tool, whose text is the answer.
    #[error(
        "an output is asked for, but runs of this policy end by a tool; take a preset whose runs end by text, or set \
         `ends_by` to text and leave `ending` out of `tools`"
    )]
    OutputByTool,
    /// The configuration of the model server is invalid.
    #[error(transparent)]
    Server(#[from] ModelConfigError),
    /// The HTTP client can't be created.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The configuration of an MCP server is invalid.
    #[cfg(feature = "mcp")]
    #[error(transparent)]
    McpServer(#[from] ConfigError),
    /// The program of an MCP server needs a guard process, which ends it even if this program is killed.
    #[cfg(feature = "mcp")]
    #[error(
        "the MCP server `{server}` is a program and needs a guard process: call `windlass::init` first thing in main"
    )]
    NoGuard {
        /// The server.
        server: String,
    },
    /// Commands need a guard process, which ends them even if this program is killed.
    #[cfg(feature = "commands")]
    #[error(
        "commands in the workspace need a guard process: call `windlass::init` first thing in main, or leave them out \
         with the rule `deny(\"run_command\")`"
    )]
    NoCommandGuard,
    /// Tool servers were given with both methods.
    #[cfg(feature = "mcp")]
    #[error("give tool servers with `mcp_server` or with `tool_servers`, not with both")]
    TwoKindsOfServers,
}
